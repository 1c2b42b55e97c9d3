package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/urfave/cli/v2"
)

func mergeCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:      "merge",
		Usage:     "bring in the memory of another branch, by our own rules and without a checkout",
		ArgsUsage: "REF",
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return usage("reverie merge origin/reverie/memory", "merge wants one branch, ref or commit")
			}
			return runMerge(c.Context, env, c.Args().First())
		},
	}
}

// mergedJSON is what a merge did, of merge and of sync.
type mergedJSON struct {
	Way       string   `json:"way"` // nothing, fast-forward, adopted or joined
	From      string   `json:"from"`
	Commit    string   `json:"commit"`
	Added     int      `json:"added"`   // memories
	Changed   int      `json:"changed"` // memories
	Removed   int      `json:"removed"` // memories
	Contested []string `json:"contested"`
	Dropped   []string `json:"dropped"` // files of which one side's text is in history only
	Backup    string   `json:"backup,omitempty"`
}

func runMerge(ctx context.Context, env *Env, rev string) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	tip, err := w.memory.Resolve(ctx, rev)
	if err != nil {
		return err
	}
	m, err := w.merge(ctx, tip, rev)
	if err != nil {
		return err
	}
	if env.JSON {
		return env.object(m)
	}
	w.tellMerged(m)
	return w.tellForeign(ctx)
}

// merge brings a tip into the memory branch; from is its name for people.
func (w *workspace) merge(ctx context.Context, tip gitstore.ID, from string) (mergedJSON, error) {
	message := gitstore.Commit{Subject: "merge: " + from, Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "merge"}}}
	m, err := w.book.Merge(ctx, tip, message, func(theirs *gitstore.Tree) error { return w.accepts(from, theirs) })
	if err != nil {
		var bad gitstore.EntryErrors
		if errors.As(err, &bad) {
			for _, e := range bad {
				w.env.warn("%v", e)
			}
			return mergedJSON{}, &failure{exitFailed, fmt.Errorf("%s holds what a memory branch must not hold; nothing was merged", from),
				"whoever owns that branch takes these entries out of it"}
		}
		return mergedJSON{}, err
	}
	if m.Note != "" {
		w.env.say("%s", m.Note)
	}
	out := mergedJSON{Way: string(m.Way), From: from, Commit: string(m.Commit), Dropped: m.Dropped, Backup: m.Backup, Contested: []string{}}
	if out.Dropped == nil {
		out.Dropped = []string{}
	}
	if !m.Changed {
		return out, nil
	}
	return out, w.countMerged(ctx, m, &out)
}

// accepts refuses a tree that is no memory branch, or one of a format that this program does not know.
func (w *workspace) accepts(from string, theirs *gitstore.Tree) error {
	text, err := theirs.Read("reverie.toml")
	if errors.Is(err, gitstore.ErrNotFound) {
		return fmt.Errorf("%s has no reverie.toml: it is no memory branch", from)
	}
	if err != nil {
		return err
	}
	c := w.config
	return c.Restrict(from+":reverie.toml", text)
}

// countMerged says what a merge changed among the memories.
func (w *workspace) countMerged(ctx context.Context, m gitstore.Merged, out *mergedJSON) error {
	changed := map[string]bool{}
	err := w.memory.ViewAt(ctx, string(m.Old), func(old *gitstore.Tree) error {
		return w.memory.ViewAt(ctx, string(m.Commit), func(now *gitstore.Tree) error {
			return now.Diff(old.ID(), func(ch gitstore.Change) error {
				id, ok := record.MemoryID(ch.Path)
				switch {
				case !ok:
					return nil
				case ch.Old == "":
					out.Added++
				case ch.New == "":
					out.Removed++
				default:
					out.Changed++
				}
				changed[id] = true
				return nil
			})
		})
	})
	if err != nil {
		return w.tolerateEntries(err)
	}
	return w.book.View(ctx, func(v *record.View) error {
		for _, bad := range v.Bad {
			w.env.warn("cannot be read: %v", bad)
		}
		for id := range changed {
			if held, err := v.Find(id); err == nil && held.Status == record.Contested {
				out.Contested = append(out.Contested, id)
			}
		}
		slices.Sort(out.Contested)
		return nil
	})
}

// tolerateEntries passes over entries that were ours before; check names them.
func (w *workspace) tolerateEntries(err error) error {
	var bad gitstore.EntryErrors
	if errors.As(err, &bad) {
		return nil
	}
	return err
}

func (w *workspace) tellMerged(m mergedJSON) {
	switch gitstore.Way(m.Way) {
	case gitstore.Nothing:
		w.env.print("everything of %s is here already\n", visible(m.From))
		return
	case gitstore.Adopted:
		w.env.print("%s has the same memories: took its history, kept ours in %s\n", visible(m.From), m.Backup)
	default:
		w.env.print("merged %s: %s\n", visible(m.From), counts(m))
	}
	for _, path := range m.Dropped {
		w.env.warn("both sides changed %s; one text was kept, the other is in history: reverie log", path)
	}
	if len(m.Contested) > 0 {
		w.env.print("%s: both sides changed the text, and both texts stand; next: reverie conflicts\n", count(len(m.Contested), "memory is contested", "memories are contested"))
	}
}

// counts words what changed among the memories.
func counts(m mergedJSON) string {
	text := fmt.Sprintf("+%d ~%d", m.Added, m.Changed)
	if m.Removed > 0 {
		text += fmt.Sprintf(" -%d", m.Removed)
	}
	if m.Added+m.Changed+m.Removed == 0 {
		return "no memory changed"
	}
	return text + " memories"
}
