package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

func mergeCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:      "merge",
		Usage:     "merge another memory branch without a checkout",
		ArgsUsage: "REF",
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return exit.Usage("reverie merge origin/reverie/memory", "merge wants one branch, ref or commit")
			}
			return runMerge(c.Context, env, c.Args().First())
		},
	}
}

// mergedJSON is what a merge did, of merge and of sync.
type mergedJSON struct {
	Way    string `json:"way"` // nothing, fast-forward, adopted or joined
	From   string `json:"from"`
	Commit string `json:"commit"`
	tallyJSON
	Contested []string `json:"contested"` // of the memories that it brought or changed
	Dropped   []string `json:"dropped"`   // files of which one side's text is in history only
	Backup    string   `json:"backup,omitempty"`
}

func runMerge(ctx context.Context, env *Env, rev string) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	tip, err := w.Memory.Resolve(ctx, rev)
	if err != nil {
		return err
	}
	m, err := w.merge(ctx, tip, rev)
	if clone.NoMemory(err) {
		if _, rerr := w.Repo.ReadRef(ctx, "refs/remotes/origin/"+w.Branch()); rerr == nil {
			return exit.New(exit.NoStore, fmt.Errorf("%w: this clone only reads origin/%s", err, w.Branch()),
				"take origin's over first, then merge: reverie init")
		}
	}
	if err != nil {
		return err
	}
	if env.JSON {
		return env.Object(m)
	}
	w.tellMerged(m)
	return w.tellForeign(ctx)
}

// merge brings a tip into the memory branch; from is its name for people.
func (w *workspace) merge(ctx context.Context, tip gitstore.ID, from string) (mergedJSON, error) {
	message := gitstore.Commit{Subject: "merge: " + from, Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "merge"}}}
	m, err := w.Book.Merge(ctx, tip, message, func(theirs *gitstore.Tree) error { return w.accepts(from, theirs) })
	if err != nil {
		return mergedJSON{}, refusedEntries(err, from)
	}
	if m.Note != "" {
		w.env.Say("%s", m.Note)
	}
	out := mergedJSON{Way: string(m.Way), From: from, Commit: string(m.Commit), Dropped: m.Dropped, Backup: m.Backup, Contested: []string{}}
	if out.Dropped == nil {
		out.Dropped = []string{}
	}
	if !m.Changed {
		return out, nil
	}
	if err := out.overrule(ctx, w.Memory, m, tip); err != nil {
		return out, err
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
	c := w.Config
	return c.Restrict(from+":reverie.toml", text)
}

// countMerged says what a merge changed among the memories.
func (w *workspace) countMerged(ctx context.Context, m gitstore.Merged, out *mergedJSON) error {
	ids, err := out.tally(ctx, w.Memory, m)
	if err != nil {
		return err
	}
	return w.Book.View(ctx, func(v *record.View) error {
		for _, bad := range v.Bad() {
			w.env.Warn("cannot be read: %v", bad)
		}
		for _, id := range ids {
			if held, err := v.Find(id); err == nil && held.Status == record.Contested {
				out.Contested = append(out.Contested, id)
			}
		}
		slices.Sort(out.Contested)
		return nil
	})
}

func (w *workspace) tellMerged(m mergedJSON) {
	switch gitstore.Way(m.Way) {
	case gitstore.Nothing:
		w.env.Print("everything of %s is here already\n", term.Visible(m.From))
		return
	case gitstore.Adopted:
		w.env.Print("%s has the same memories: took its history, kept ours in %s\n", term.Visible(m.From), m.Backup)
	default:
		w.env.Print("merged %s: %s\n", term.Visible(m.From), m.tallyJSON)
	}
	w.env.tellOverruled(m.Overruled)
	for _, path := range m.Dropped {
		w.env.Warn("both sides changed %s; one text was kept, the other is in history: reverie log", path)
	}
	if len(m.Contested) > 0 {
		w.env.Print("%s: both sides changed the text, and both texts stand; next: reverie conflicts\n", term.Count(len(m.Contested), "memory is contested", "memories are contested"))
	}
}
