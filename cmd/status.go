package cmd

import (
	"context"
	"strings"

	"github.com/reverie-memory/reverie/cmd/tell"
	"github.com/reverie-memory/reverie/cmd/usage"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/status"
	"github.com/urfave/cli/v2"
)

func statusCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:  "status",
		Usage: "show what is known, pending and kept",
		Action: usage.Alone(func(c *cli.Context) error {
			return env.with(c.Context, func(w *workspace) error { return runStatus(c.Context, w) })
		}),
	}
}

func runStatus(ctx context.Context, w *workspace) error {
	s, err := status.Read(ctx, w.Reader, w.learner())
	if err != nil {
		return err
	}
	if w.env.JSON {
		return w.env.Object(s)
	}
	tell.Status(&w.env.Terminal, s, w.Reader)
	return nil
}

// overviewJSON answers reverie --json.
type overviewJSON struct {
	status.Status
	Next string `json:"next"` // the command that the state calls for
}

// runOverview answers the program's name alone: the state of this repository's memory in one
// sentence, and the command to go on with.
func runOverview(ctx context.Context, w *workspace) error {
	s, err := status.Read(ctx, w.Reader, w.learner())
	if clone.NoMemory(err) && !w.env.JSON {
		next := "reverie look, then reverie init"
		if w.env.hasRemote(ctx) {
			next += ", or reverie sync to fetch one from a remote"
		}
		w.env.Print("no memory yet on %s\nnext: %s\nhelp: reverie help\n", w.Branch(), next)
		return nil
	}
	if err != nil {
		return err
	}
	next := s.Next()
	if w.env.JSON {
		return w.env.Object(overviewJSON{s, next})
	}
	parts := []string{plural.Count(s.Known(), "memory", "memories") + " on " + s.Branch}
	if s.Waiting > 0 {
		parts = append(parts, plural.Count(s.Waiting, "operation waits", "operations wait")+" for review")
	}
	parts = append(parts, plural.Count(s.Sessions, "session", "sessions")+" kept")
	w.env.Print("%s\nnext: %s\nhelp: reverie help\n", strings.Join(parts, ", "), next)
	return nil
}
