package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/cmd/usage"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/share"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

func mergeCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:      "merge",
		Usage:     "merge another memory branch without a checkout",
		ArgsUsage: "REF",
		Action: usage.One(func(c *cli.Context, word string) error {
			return env.with(c.Context, func(w *workspace) error { return runMerge(c.Context, w, word) })
		}),
	}
}

func runMerge(ctx context.Context, w *workspace, rev string) error {
	tip, err := clone.Resolve(ctx, w.Clone, rev)
	if err != nil {
		return err
	}
	m, err := share.Merge(ctx, w.Clone, tip, rev)
	w.tellCommitted(m.Note)
	if clone.NoMemory(err) {
		if _, rerr := w.Repo.Refs().Read(ctx, "refs/remotes/origin/"+w.Branch()); rerr == nil {
			return exit.New(exit.NoStore, fmt.Errorf("%w: this clone only reads origin/%s", err, w.Branch()),
				"adopt origin's branch first, then merge: reverie init")
		}
	}
	if err != nil {
		return err
	}
	for _, bad := range m.Bad {
		w.env.Warn("cannot be read: %v", bad)
	}
	if w.env.JSON {
		return w.env.Object(m)
	}
	tellMerged(w, m)
	if err := tellContradictions(ctx, w, m.Arrived); err != nil {
		return err
	}
	return tellForeign(ctx, w)
}

func tellMerged(w *workspace, m share.Merged) {
	switch gitstore.Way(m.Way) {
	case gitstore.Nothing:
		w.env.Print("everything in %s is already here\n", term.Visible(m.From))
		return
	case gitstore.Adopted:
		w.env.Print("%s has the same memories: took its history, kept ours in %s\n", term.Visible(m.From), m.Backup)
	default:
		w.env.Print("merged %s: %s\n", term.Visible(m.From), tallyWords(m.Tally))
	}
	tellOverruled(w.env, m.Overruled)
	for _, path := range m.Dropped {
		w.env.Warn("both sides changed %s; one text was kept, and the other is in history: reverie log", path)
	}
	if len(m.Contested) > 0 {
		w.env.Print("%s: both sides changed the text, and both texts were kept; next: reverie conflicts\n", plural.Count(len(m.Contested), "memory is contested", "memories are contested"))
	}
}

// tallyWords says what a merge did to the memories.
func tallyWords(t share.Tally) string {
	var parts []string
	for _, c := range []struct {
		n    int
		what string
	}{{t.Added, "added"}, {t.Changed, "changed"}, {t.Retired, "retired"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	if parts == nil {
		return "no memory changed"
	}
	return "memories: " + strings.Join(parts, ", ")
}

// maxContradictions bounds the contradictions of a merge that are shown.
const maxContradictions = 5

// tellContradictions shows memories that a merge brought in beside others that say otherwise.
func tellContradictions(ctx context.Context, w *workspace, arrived []string) error {
	if len(arrived) == 0 {
		return nil
	}
	return w.View(ctx, func(v *record.View) error {
		pairs, err := keeper(w).Contradictions(ctx, v, arrived)
		for _, p := range pairs[:min(maxContradictions, len(pairs))] {
			tellRow(w.env, "opposed", "%s  %s  (beside %s  %s)", p[0].ID[:8], term.OneLine(p[0].Text, 100), p[1].ID[:8], term.OneLine(p[1].Text, 100))
		}
		if n := len(pairs); n > 0 {
			w.env.Say("%s may contradict each other, and agents get both; to retire one: reverie forget ID --reason WHY", plural.Count(n, "pair of memories", "pairs of memories"))
		}
		return err
	})
}

// maxOverruled bounds the overruled memories that are shown.
const maxOverruled = 10

// tellOverruled shows the memories that a merge put out of force though they were edited meanwhile.
func tellOverruled(env *Env, all []record.Overruled) {
	for _, o := range all[:min(maxOverruled, len(all))] {
		why, next := "retired: "+term.OneLine(o.Why, 100), "reverie edit "+o.ID[:8]+" --status active"
		switch {
		case o.Gone:
			why, next = "its file was removed", "reverie remember TEXT"
		case o.Why == "":
			why = "retired"
		}
		tellRow(env, "was edited", "%s  %s  (%s); to restore it: %s", o.ID[:8], term.OneLine(o.Text, 100), why, next)
	}
	if more := len(all) - maxOverruled; more > 0 {
		tellRow(env, "", "and %d more that were edited: reverie list --all", more)
	}
}
