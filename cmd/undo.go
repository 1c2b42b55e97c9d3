package cmd

import (
	"context"
	"time"

	"github.com/reverie-memory/reverie/cmd/usage"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/internal/undo"
	"github.com/urfave/cli/v2"
)

func undoCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:  "undo",
		Usage: "undo your last decision about a memory or a pending operation",
		Description: "Reverts what you remembered, edited, forgot, imported, accepted or rejected last, in this repository or\n" +
			"your own memory. Operations return to the inbox, those decided together all at once. Run\n" +
			"again, it undoes the decision before that. History keeps all of it.",
		Action: usage.Alone(func(c *cli.Context) error {
			w, err := env.openToDecide(c.Context, "undo")
			if err != nil {
				return err
			}
			return undoLast(c.Context, w, time.Time{})
		}),
	}
}

// undoLast undoes the last decision since a time.
func undoLast(ctx context.Context, w *workspace, since time.Time) error {
	d, err := undo.Newest(ctx, w.Clone, since)
	if err == nil {
		err = d.Undo(ctx)
	}
	if err != nil {
		return err
	}
	refreshGuards(ctx, w)
	if w.env.JSON {
		return w.env.Object(d)
	}
	w.env.Print("undone: %s\n", term.Visible(d.Subject))
	return nil
}
