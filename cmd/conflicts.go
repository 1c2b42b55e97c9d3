package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/cmd/usage"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/share"
	"github.com/reverie-memory/reverie/internal/history"
	"github.com/reverie-memory/reverie/internal/reader"
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
	Text   string    `json:"text"`
	Body   string    `json:"body"`
	Author string    `json:"author,omitempty"` // of its newest line, with the time
	Time   time.Time `json:"time,omitzero"`
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
	texts := map[string][]textJSON{}
	for _, m := range contested {
		if texts[m.ID], err = attribute(ctx, w, m); err != nil {
			return err
		}
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

// attribute returns the texts of a contested memory, each with the author of its newest line. That
// is empty if the file does not hold the statement as a line, as where agents get an older version.
func attribute(ctx context.Context, w *workspace, m record.Memory) (out []textJSON, err error) {
	ref, path, err := reader.Place(ctx, w.Reader, m.ID)
	if err != nil {
		return nil, err
	}
	newest := map[string]history.Line{} // by statement
	statement := ""
	err = history.Blame(ctx, w.Repo, ref, path[0], func(l history.Line) error {
		switch {
		case slices.ContainsFunc(m.Texts(), func(v record.Variant) bool { return v.Text == l.Text }):
			statement = l.Text
		case l.Text == "+++" || record.Conflict([]byte(l.Text)) > 0:
			statement = ""
		}
		if statement != "" && strings.TrimSpace(l.Text) != "" && !l.Time.Before(newest[statement].Time) {
			newest[statement] = l
		}
		return nil
	})
	for _, v := range m.Texts() {
		by := newest[v.Text]
		out = append(out, textJSON{v.Text, v.Body, by.Author, by.Time})
	}
	return out, err
}
