package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/cmd/wire"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/learn/ingest"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/reflect"
	"github.com/reverie-memory/reverie/reflect/transcript"
	"github.com/urfave/cli/v2"
)

func ingestCommand(env *Env) *cli.Command {
	format := string(transcript.Auto)
	return &cli.Command{
		Name:      "ingest",
		Usage:     "read transcripts into sessions, without learning",
		ArgsUsage: "FILE…|-",
		Flags:     []cli.Flag{formatFlag(&format)},
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return exit.Usage("to read standard input: reverie ingest -", "ingest takes at least one file")
			}
			as, err := parseFormat(format)
			if err != nil {
				return err
			}
			return env.with(c.Context, func(w *workspace) error { return runIngest(c.Context, w, c.Args().Slice(), as) })
		},
	}
}

func runIngest(ctx context.Context, w *workspace, files []string, format transcript.Format) error {
	kept, ingestErr := w.ingest(ctx, files, format)
	if len(kept) > 0 {
		if err := w.create(ctx); err != nil {
			return errors.Join(err, ingestErr)
		}
	}
	if err := rows(w.env, kept, wire.OfSession, func(k reflect.Kept) {
		w.env.Print("%s\t%s\t%s\n", k.Name(), k.Change, plural.Count(k.Events, "event", "events"))
	}); err != nil {
		return err
	}
	if len(kept) > 0 && w.Asker() != "" {
		w.env.Say("read in a shell of %s: its results wait for a person; next: reverie learn", w.Asker())
	}
	return ingestErr
}

func parseFormat(name string) (transcript.Format, error) {
	if !slices.Contains(transcript.Formats, transcript.Format(name)) {
		return "", exit.Usage("it is one of "+joinFormats(), "%q is not a format of transcripts", name)
	}
	return transcript.Format(name), nil
}

func formatFlag(to *string) cli.Flag {
	return &cli.StringFlag{Name: "format", Usage: "read transcripts of this `FORMAT`: " + joinFormats(), Value: *to, Destination: to}
}

func joinFormats() string {
	var names []string
	for _, f := range transcript.Formats {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}

// ingest reads transcripts into the sessions. "-" is standard input.
func (w *workspace) ingest(ctx context.Context, files []string, format transcript.Format) ([]reflect.Kept, error) {
	var sources []ingest.Source
	for _, name := range files {
		sources = append(sources, ingest.Source{Name: name, Open: func() (io.ReadCloser, error) { return w.env.transcript(ctx, name) }})
	}
	return ingester(w).Files(ctx, sources, format)
}

// shownReader shows on a terminal how much of a file was read.
type shownReader struct {
	io.Reader
	close func() error
}

func (r shownReader) Close() error { return r.close() }

// transcript opens a file that a person named, or standard input.
func (env *Env) transcript(ctx context.Context, name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(env.In), nil
	}
	f, err := env.openNamed(ctx, name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, file.Bare(err)
	}
	if info.IsDir() {
		f.Close()
		return nil, errors.New("is a folder; name a transcript in it")
	}
	var in io.Reader = f
	if !info.Mode().IsRegular() { // a FIFO may keep us waiting
		in = &term.Interruptible{Ctx: ctx, From: f}
	}
	progress := term.NewProgress(&env.Terminal, filepath.Base(name), in, info.Size())
	return shownReader{progress, func() error {
		progress.Done()
		return f.Close()
	}}, nil
}

// ingester returns the way from what agents leave behind to sessions. Its notes go to the terminal.
func ingester(w *workspace) *ingest.Ingester {
	steps := steps(w)
	return &ingest.Ingester{Clone: w.Clone, Spool: w.Spool(), Checkpoint: notebook(w).Due, Report: func(n ingest.Note) {
		if s, ok := n.(ingest.Step); ok {
			steps(s.N, s.All, s.Name)
			return
		}
		tellIngested(w, n)
	}}
}

// tellIngested words a note of ingesting.
func tellIngested(w *workspace, n ingest.Note) {
	env := w.env
	switch n := n.(type) {
	case ingest.FileRead:
		sum := ingested{sessions: len(n.Sessions), bad: n.Skipped}
		for _, k := range n.Sessions {
			sum.secrets += k.Redacted.Found
			sum.events += k.Events
		}
		stage(w, sum.secrets > 0, "ingest   %s: %s, %s", n.Name, n.Format, sum)
	case ingest.BadLine:
		env.Warn("%s:%d: skipped: %v", n.Name, n.Line, n.Err)
	case ingest.MoreBadLines:
		env.Warn("%s: %d more bad lines skipped", n.Name, n.N)
	case ingest.Elsewhere:
		env.Warn("session %s: it belongs to another repository and was not kept", n.Session)
	case ingest.NotCopied:
		env.Warn("session %s: %v", n.Session, n.Err)
	case ingest.Passed:
		env.Warn("passed over: %v", n.Err)
	case ingest.MorePassed:
		env.Warn("%d more of the agents' files cannot be read", int(n))
	}
}

// ingested counts what was read.
type ingested struct{ sessions, events, secrets, bad int }

func (n ingested) String() string {
	line := plural.Count(n.sessions, "session", "sessions") + ", " + plural.Count(n.events, "event", "events")
	if n.secrets > 0 {
		line += fmt.Sprintf(", %s redacted", plural.Count(n.secrets, "secret", "secrets"))
	}
	if n.bad > 0 {
		line += fmt.Sprintf(", %s skipped", plural.Count(n.bad, "bad line", "bad lines"))
	}
	return line
}
