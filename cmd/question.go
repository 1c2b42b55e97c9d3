package cmd

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/internal/model"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/prompts"
	"github.com/reverie-memory/reverie/reflect"
)

// printPrompts prints what a model would be asked about sessions: the model that is wanted, or one
// of which only the context is known.
func printPrompts(ctx context.Context, w *workspace, names []string, o reflectOptions) error {
	m, set, err := w.model(ctx, o.model.asked())
	if err != nil {
		return err
	}
	if m == nil {
		m = &prompts.Model{Context: w.Settings.Config.Model.Context}
		if set, err = model.Prompts(w.Config); err != nil {
			return err
		}
	}
	l := w.learner()
	if o.pending {
		if names, err = l.Unread(ctx, nil, set); err != nil {
			return err
		}
		names, _ = oldest(names, o.limit)
	}
	for _, name := range names {
		kept, events, err := w.Sessions.Load(name)
		if err != nil {
			return fmt.Errorf("reflect: %w", err)
		}
		known, err := l.KnownAbout(ctx, events, false) // it may be for a model elsewhere
		if err != nil {
			return err
		}
		questions, err := reflect.Questions(m, set, kept.Session, events, known)
		if err != nil {
			return err
		}
		for _, q := range questions {
			if err := printQuestion(w.env, q, questionJSON{Session: kept.Name()}); err != nil {
				return err
			}
		}
	}
	return nil
}

// printQuestion prints a question; about says what it is about, in JSON.
func printQuestion(e *Env, q prompts.Rendered, about questionJSON) error {
	if e.JSON {
		about.Prompt, about.Hash, about.System, about.User, about.Schema = q.Name, q.Hash, q.System, q.User, q.Schema
		return e.Object(about)
	}
	e.Print("%s\n\n%s\n\n%s\n", term.VisibleLines(q.System), term.VisibleLines(q.User), q.Schema)
	return nil
}

// questionJSON is a question as --print-prompt gives it.
type questionJSON struct {
	Session   string          `json:"session,omitempty"`   // that reflect asks about
	Questions string          `json:"questions,omitempty"` // name of those that dream asks together
	Prompt    string          `json:"prompt"`
	Hash      string          `json:"hash"`
	System    string          `json:"system"`
	User      string          `json:"user"`
	Schema    json.RawMessage `json:"schema"`
}

// maxImport is the longest answer taken from a file, in bytes.
const maxImport = 1 << 20

// unnamed is the model of an answer without a model's name.
const unnamed = "unnamed"

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

// importAnswer takes in what a model that is out of reach answered about a session.
func importAnswer(ctx context.Context, w *workspace, name string, o reflectOptions) error {
	answer, err := readAnswer(w, o.from)
	if err != nil {
		return fmt.Errorf("reflect: %w", err)
	}
	set, err := model.Prompts(w.Config)
	if err != nil {
		return err
	}
	purges := purge.Mark(w.State)
	kept, events, err := w.Sessions.Load(name)
	if err != nil {
		return fmt.Errorf("reflect: %w", err)
	}
	base := reflect.Study(kept.Session, events)
	got, err := reflect.Import(set, kept.Session, events, base, answer, cmp.Or(o.model.name, unnamed))
	if err != nil {
		return fmt.Errorf("reflect: %s: %w", o.from, err)
	}
	if !o.dryRun {
		if err := w.create(ctx); err != nil {
			return err
		}
		if err := w.learner().KeepReading(ctx, got, purges); err != nil {
			return err
		}
	}
	return tellReading(w, got)
}
