package cmd

import (
	"context"
	"fmt"
	"slices"

	"github.com/reverie-memory/reverie/cmd/usage"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/share"
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
	ID    string     `json:"id"`
	Kind  string     `json:"kind"`
	Path  string     `json:"path"`
	Texts []textJSON `json:"texts"`
}

type textJSON struct {
	Text string `json:"text"`
	Body string `json:"body"`
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
	err = rows(w.env, contested, func(m record.Memory) conflictJSON {
		c := conflictJSON{ID: m.ID, Kind: string(m.Kind), Path: m.Path()}
		for _, v := range m.Texts() {
			c.Texts = append(c.Texts, textJSON(v))
		}
		return c
	}, func(m record.Memory) {
		w.env.Print("%s %s\n", w.env.Paint(term.Bold, m.ID), m.Kind)
		for i, v := range m.Texts() {
			number := fmt.Sprintf("  %d) ", i+1)
			w.env.Lay(len(number), term.Span("", number+term.Visible(v.Text)))
		}
	})
	if len(contested) == 0 {
		w.env.Say("no memory is contested")
	} else {
		w.env.Say("next: reverie edit ID --take NUMBER, or reverie edit ID \"a better text\"")
	}
	return err
}
