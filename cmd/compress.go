package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/internal/upkeep"
	"github.com/reverie-memory/reverie/reflect"
	"github.com/reverie-memory/reverie/reflect/compress"
	"github.com/reverie-memory/reverie/reflect/transcript"
	"github.com/urfave/cli/v2"
)

type compressOptions struct {
	as, command string
	session     string
	limit       int
}

func compressCommand(env *Env) *cli.Command {
	o := compressOptions{as: "auto"}
	return &cli.Command{
		Name:      "compress",
		Usage:     "shorten a long output for a model",
		ArgsUsage: "[FILE|-]",
		Description: "Kept lines stay verbatim, and a note marks each omission. Errors and exit codes stay.\n" +
			"For example: go test ./... 2>&1 | reverie compress --command \"go test ./...\"",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "as", Usage: "treat the output as this `KIND`: " + strings.Join(compress.KindNames(), ", "), Value: o.as, Destination: &o.as},
			&cli.StringFlag{Name: "command", Usage: "name the command line `CMD` that printed it", Destination: &o.command},
			&cli.StringFlag{Name: "session", Usage: "print the kept `SESSION`, shortened", Destination: &o.session},
			&cli.IntFlag{Name: "limit", Usage: "with --session: shorten it to `N` bytes, as far as the rules allow", Destination: &o.limit},
		},
		Action: func(c *cli.Context) error {
			switch {
			case o.session != "" && (c.NArg() > 0 || c.IsSet("as") || c.IsSet("command")):
				return exit.Usage("", "compress takes a session, or an output")
			case o.session == "" && c.IsSet("limit"):
				return exit.Usage("", "--limit is for a session")
			case o.session != "":
				return env.with(c.Context, func(w *workspace) error { return runCompressSession(w, o) })
			case c.NArg() == 0 && env.Interactive:
				return exit.Usage("make 2>&1 | reverie compress", "compress needs a file, or output from a pipe")
			case c.NArg() > 1:
				return exit.Usage("", "compress takes one file, or standard input")
			}
			return runCompress(c.Context, env, c.Args().First(), o)
		},
	}
}

// compressedJSON is the answer of compress.
type compressedJSON struct {
	compress.Shortened
	Redacted int    `json:"redacted"`       // secrets
	Last     string `json:"last,omitempty"` // the line that tells how to expand it
}

func runCompress(ctx context.Context, env *Env, name string, o compressOptions) error {
	kind, ok := compress.KindNamed(o.as)
	if !ok {
		return exit.Usage("it is one of "+strings.Join(compress.KindNames(), ", "), "%q is not a kind of output", o.as)
	}
	text, err := readOutput(ctx, env, name)
	if err != nil {
		return err
	}
	store, scanner, why := originals(ctx, env)
	clean, found := scanner.Text(text)
	j := compressedJSON{Shortened: kind.Shorten(o.command, clean.String()), Redacted: found.Found}
	if j.Cut {
		if why == nil {
			if j.Hash, why = store.Put(clean); why == nil {
				store.Count(ctx, len(text)-len(j.Text))
			}
		}
		if why != nil {
			env.Warn("the original is not kept: %v", why)
		}
		j.Last = strings.TrimSpace(j.LastLine())
	}
	if found.Found > 0 {
		env.Say("%s redacted", plural.Count(found.Found, "secret was", "secrets were"))
	}
	if env.JSON {
		return env.Object(j)
	}
	env.Raw(j.Text)
	if j.Cut {
		if !strings.HasSuffix(j.Text, "\n") {
			env.Raw("\n")
		}
		env.Raw(j.LastLine())
	}
	return nil
}

// readOutput reads a file, or standard input.
func readOutput(ctx context.Context, env *Env, name string) (string, error) {
	in := env.In
	if name != "" && name != "-" {
		f, err := term.OpenFile(ctx, env.path(name))
		if err != nil {
			return "", err
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, compress.MaxOriginal+1))
	if err != nil {
		return "", fmt.Errorf("read the output: %w", err)
	}
	if len(data) > compress.MaxOriginal {
		err := fmt.Errorf("the output has more than %d MiB", compress.MaxOriginal>>20)
		return "", exit.New(exit.Failed, err, "pass only its end: … | tail -c 1M | reverie compress")
	}
	return string(data), nil
}

// originals returns the store of originals. The error says why originals are not kept here; the
// scanner is valid in any case.
func originals(ctx context.Context, env *Env) (compress.Store, *redact.Scanner, error) {
	w, err := env.open(ctx)
	switch {
	case errors.Is(err, git.ErrNotRepository):
		return compress.Store{}, redact.New(), errors.New("this is not a repository")
	case err != nil:
		return compress.Store{}, redact.New(), err
	case !w.Started():
		return compress.Store{}, w.Scanner, errors.New("Reverie was not started in this repository")
	}
	if _, err := upkeep.Originals(w.Clone).Expire(upkeep.KeptFrom(w.Reader), compress.MaxStore); err != nil && env.Verbose {
		env.Warn("upkeep: %v", err)
	}
	return upkeep.Originals(w.Clone), w.Scanner, nil
}

func runCompressSession(w *workspace, o compressOptions) error {
	_, events, err := w.Sessions.Load(o.session)
	if errors.Is(err, reflect.ErrNoSession) {
		return exit.New(exit.Failed, err, "'reverie sessions' lists the kept sessions")
	}
	if err != nil {
		return err
	}
	short := compress.Session(events, compress.Options{Limit: o.limit})
	before, after := compress.Size(events), compress.Size(short)
	if err := rows(w.env, short, itself, func(e transcript.Event) { w.env.Raw(e.Whole()) }); err != nil {
		return err
	}
	w.env.Say("%d of %s stay, in %s", after, plural.Count(before, "byte", "bytes"), plural.Count(len(events), "event", "events"))
	if o.limit > 0 && after > o.limit {
		w.env.Say("no rule leaves out more; %d bytes are over the limit", after-o.limit)
	}
	return nil
}
