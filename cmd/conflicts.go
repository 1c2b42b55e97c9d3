package cmd

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/reverie-memory/reverie/cmd/usage"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/share"
	"github.com/reverie-memory/reverie/internal/dossier"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

func conflictsCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:  "conflicts",
		Usage: "list memories that a merge left undecided",
		Action: usage.Alone(func(c *cli.Context) error {
			return env.paged(c.Context, func(w *workspace) error { return runConflicts(c.Context, w) })
		}),
	}
}

type conflictJSON struct {
	ID    string         `json:"id"`
	Kind  string         `json:"kind"`
	Path  string         `json:"path"`
	Texts []dossier.Text `json:"texts"`
}

func runConflicts(ctx context.Context, w *workspace) error {
	var contested []record.Memory
	err := w.View(ctx, func(v *record.View) error {
		v, err := w.ForAsker(ctx, v)
		if err != nil {
			return err
		}
		contested = slices.DeleteFunc(share.Contested(v), func(m record.Memory) bool { return !m.Live(w.env.Now()) })
		return nil
	})
	if err != nil {
		return err
	}
	texts := map[string][]dossier.Text{}
	for _, m := range contested {
		texts[m.ID] = dossier.Texts(ctx, w.Reader, m)
	}
	err = rows(w.env, contested, func(m record.Memory) conflictJSON {
		return conflictJSON{ID: m.ID, Kind: string(m.Kind), Path: m.Path(), Texts: texts[m.ID]}
	}, func(m record.Memory) {
		w.env.Print("%s %s\n", w.env.Paint(term.Bold, m.ID), m.Kind)
		for i, v := range texts[m.ID] {
			number, by := fmt.Sprintf("  %d) ", i+1), ""
			if v.Author != "" {
				by = "  (" + term.Visible(v.Author) + ", " + v.Time.Format(time.DateOnly) + ")"
			}
			w.env.Lay(len(number), term.Span("", number+term.Visible(v.Text)), term.Span(term.Dim, by))
		}
	})
	if len(contested) == 0 {
		w.env.Say("no memory is contested")
	} else {
		w.env.Say("next: reverie edit ID --take NUMBER, or reverie edit ID \"a better text\"")
	}
	return err
}
