package cmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/reverie-memory/reverie/cmd/wire"
	"github.com/reverie-memory/reverie/internal/learn"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/prompts"
)

// printPrompts prints the questions about sessions.
func printPrompts(ctx context.Context, w *workspace, names []string, o reflectOptions) error {
	all, err := learn.Questions(ctx, w.learner(), names, o.model.asked(), o.pending, o.limit)
	if err != nil {
		return err
	}
	for _, q := range all {
		if err := printQuestion(w.env, q.Rendered, wire.Question{Session: q.Session}); err != nil {
			return err
		}
	}
	return nil
}

// printQuestion prints a question; about says what it is about, in JSON.
func printQuestion(e *Env, q prompts.Rendered, about wire.Question) error {
	if e.JSON {
		about.Prompt, about.Hash, about.System, about.User, about.Schema = q.Name, q.Hash, q.System, q.User, q.Schema
		return e.Object(about)
	}
	e.Print("%s\n\n%s\n\n%s\n", term.VisibleLines(q.System), term.VisibleLines(q.User), q.Schema)
	return nil
}

// maxImport is the longest answer taken from a file, in bytes.
const maxImport = 1 << 20

// readAnswer reads what a model answered elsewhere from a file, or from standard input where it is
// called -.
func readAnswer(w *workspace, from string) ([]byte, error) {
	in := w.env.In
	if from != "-" {
		f, err := os.Open(w.env.path(from))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	answer, err := io.ReadAll(io.LimitReader(in, maxImport+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", from, err)
	}
	if len(answer) > maxImport {
		return nil, fmt.Errorf("%s is longer than %d bytes", from, maxImport)
	}
	return answer, nil
}

// importAnswer reads the answers about a session of a model that is out of reach. It always prints
// why items were refused, so that they can be mended and imported again.
func importAnswer(ctx context.Context, w *workspace, name string, o reflectOptions) error {
	answer, err := readAnswer(w, o.from)
	if err != nil {
		return fmt.Errorf("reflect: %w", err)
	}
	got, err := learn.Import(ctx, w.learner(), name, o.from, answer, cmp.Or(o.model.name, learn.Unnamed), o.dryRun)
	if err != nil {
		return err
	}
	return tellReading(w, got, true)
}
