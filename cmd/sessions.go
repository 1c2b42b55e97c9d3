package cmd

import (
	"context"
	"errors"

	"github.com/reverie-memory/reverie/cmd/tell"
	"github.com/reverie-memory/reverie/cmd/wire"
	"github.com/reverie-memory/reverie/hooks/githook"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/reflect"
	"github.com/urfave/cli/v2"
)

func sessionsCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:      "sessions",
		Usage:     "list the sessions kept in this clone, or show one",
		ArgsUsage: "[show SESSION]",
		Action: func(c *cli.Context) error {
			switch {
			case c.NArg() == 0:
				return env.paged(c.Context, func(w *workspace) error { return runSessions(c.Context, w) })
			case c.NArg() == 2 && c.Args().First() == "show":
				return env.paged(c.Context, func(w *workspace) error { return runSessionsShow(c.Context, w, c.Args().Get(1)) })
			}
			return exit.Usage("reverie sessions show SESSION", "sessions takes no arguments, or show and one session")
		},
	}
}

func runSessions(ctx context.Context, w *workspace) error {
	kept, err := w.Sessions.List()
	links, unread := linked(ctx, w)
	if err = errors.Join(err, unread); err != nil {
		w.env.Warn("passed over: %v", err)
	}
	if len(kept) == 0 {
		w.env.Say("no session is kept here yet; 'reverie learn' takes in past ones")
	}
	return rows(w.env, kept, func(k reflect.Kept) wire.Session {
		j := wire.OfSession(k)
		j.Commits, j.Prompt = links[k.Name()], term.OneLine(w.Sessions.Prompt(k), 240)
		return j
	}, func(k reflect.Kept) { tell.Session(&w.env.Terminal, k, w.Sessions.Prompt(k)) })
}

func runSessionsShow(ctx context.Context, w *workspace, name string) error {
	kept, events, err := w.Sessions.Load(name)
	if errors.Is(err, reflect.ErrNoSession) {
		return exit.New(exit.Failed, err, "'reverie sessions' lists the kept sessions")
	}
	if err != nil {
		return err
	}
	if w.env.JSON {
		return rows(w.env, events, itself, nil)
	}
	w.env.Print("%s\n", w.env.Paint(term.Bold, term.Visible(kept.Name())))
	links, err := linked(ctx, w)
	if err != nil {
		w.env.Warn("passed over: %v", err)
	}
	if commits := links[kept.Name()]; len(commits) > 0 {
		for _, line := range githook.Lines(ctx, w.Local, commits) {
			w.env.Print("made commit %s\n", w.env.Beside(12, line))
		}
	}
	for _, e := range events {
		w.env.Print("%4d %s %s\n", e.N, term.Pad(string(e.Kind), 10), w.env.Brief(16, e.Brief()))
	}
	return nil
}

// linked returns the commits that each session made. It tells doubts about copies under -v.
func linked(ctx context.Context, w *workspace) (map[string][]githook.LinkedCommit, error) {
	links, doubt, err := githook.Linked(ctx, w.Local, w.Scanner)
	if doubt != nil && w.env.Verbose {
		w.env.Warn("%v", doubt)
	}
	return links, err
}
