package cmd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

type forgetOptions struct {
	reason      string
	chosen      choice
	dryRun, yes bool
}

func forgetCommand(env *Env) *cli.Command {
	var o forgetOptions
	return &cli.Command{
		Name:      "forget",
		Usage:     "retire memories",
		ArgsUsage: "ID…",
		Description: "Instead of ids, filters say which: a memory has to pass all that are given. They are shown, and a person is asked;\n" +
			"only what was shown goes. All goes in one commit, which 'reverie revert' undoes.",
		Flags: append(o.chosen.flags(),
			&cli.StringFlag{Name: "reason", Usage: "`WHY` it no longer holds", Destination: &o.reason},
			&cli.BoolFlag{Name: "dry-run", Usage: "say what would go", Destination: &o.dryRun},
			&cli.BoolFlag{Name: "yes", Usage: "do not ask", Destination: &o.yes},
		),
		Action: func(c *cli.Context) error {
			ids := c.Args().Slice()
			switch some := o.chosen.given(); {
			case some && len(ids) > 0:
				return exit.Usage("filters choose among all that is known", "forget wants ids or filters, not both")
			case !some && len(ids) == 0 || o.reason == "" && !o.dryRun:
				return exit.Usage(`reverie forget ID --reason "the v1 client is gone"`, "forget wants ids or filters, and a reason for those who wonder later")
			}
			return runForget(c.Context, env, ids, o)
		},
	}
}

func runForget(ctx context.Context, env *Env, ids []string, o forgetOptions) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	if env.caller != "" {
		return w.suggestForget(ctx, ids[0], o.reason)
	}
	if err := w.WantPerson("forget"); err != nil {
		return err
	}
	shown := map[string]string{} // id → blob
	if len(ids) == 0 || o.dryRun {
		if shown, err = w.showForget(ctx, ids, o); err != nil || len(shown) == 0 || o.dryRun {
			return err
		}
		ids = slices.Sorted(maps.Keys(shown))
		if !o.yes && !w.env.Ask("Forget "+these(len(ids))+"?", "n") {
			return exit.New(exit.NeedsPerson, errors.New("forget: nothing was forgotten"), "to go ahead: the same with --yes")
		}
	}
	gone, already, changed, err := w.forget(ctx, ids, shown, o.reason)
	if err != nil {
		return err
	}
	for _, m := range already {
		env.Say("it was retired already: %s", term.Visible(strings.Join(m.Reasons(), " ")))
	}
	for _, m := range append(already, gone...) {
		switch {
		case env.JSON:
			if err := env.Object(newMemoryJSON(m)); err != nil {
				return err
			}
		case len(shown) > 0: // they have been listed
		case slices.ContainsFunc(already, func(a record.Memory) bool { return a.ID == m.ID }):
			w.line("-", term.Red, m, strings.Join(m.Reasons(), " "))
		default:
			w.line("-", term.Red, m, "retired; its text stays in git's history")
		}
	}
	if len(shown) > 0 {
		env.Say("%s retired; what they say stays in git's history", term.Count(len(gone), "memory", "memories"))
	}
	if len(changed) > 0 {
		return exit.New(exit.NeedsPerson, fmt.Errorf("forget: changed since it was shown, and left: %s", strings.Join(changed, " ")), "look at it again: reverie show ID")
	}
	return nil
}

// showForget lists the memories that would go, by their ids or by what o chooses, and gives the blob of each.
func (w *workspace) showForget(ctx context.Context, ids []string, o forgetOptions) (map[string]string, error) {
	filters, err := o.chosen.filters(reader.Where(w.Repo.WorkTree, w.env.Dir))
	if err != nil {
		return nil, err
	}
	shown := map[string]string{}
	err = w.view(ctx, func(all *record.View) error {
		v, err := w.ForAsker(ctx, all)
		if err != nil {
			return err
		}
		w.tellBad(v)
		standings, err := w.Caveats(ctx, v)
		if err != nil {
			return err
		}
		var found []record.Memory
		for _, id := range ids {
			m, err := v.Find(id)
			if err != nil {
				return err
			}
			found = append(found, m)
		}
		for _, m := range v.Memories() {
			if len(ids) == 0 && w.passes(m, filters) {
				found = append(found, m)
			}
		}
		for _, m := range found {
			if m.Status == record.Retired || shown[m.ID] != "" {
				continue
			}
			blob, _ := all.Blob(m.ID) // what it goes by is what is there
			shown[m.ID] = string(blob)
			if w.env.JSON && !o.dryRun { // the answer is what became of them
				continue
			}
			if err := w.tell(m, standings(m)); err != nil {
				return err
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case len(shown) == 0:
		w.env.Say("nothing of what is known passes these filters")
	case o.dryRun:
		w.env.Say("%s would be retired", term.Count(len(shown), "memory", "memories"))
	}
	return shown, nil
}

// these is how a question names so many memories.
func these(n int) string {
	if n == 1 {
		return "this one"
	}
	return "these " + term.Count(n, "memory", "memories")
}

// forget retires memories in one commit. What has another blob than shown says for it is left.
func (w *workspace) forget(ctx context.Context, ids []string, shown map[string]string, reason string) (gone, already []record.Memory, changed []string, err error) {
	err = w.update(ctx, func(t *record.Tx, _ config.Config) error {
		gone, already, changed = nil, nil, nil
		seen := map[string]bool{}
		for _, id := range ids {
			held, err := t.Find(id)
			if err != nil {
				return err
			}
			blob, _ := t.Blob(held.ID)
			switch {
			case seen[held.ID]:
			case held.Status == record.Retired:
				already = append(already, held)
			case shown[held.ID] != "" && shown[held.ID] != string(blob):
				changed = append(changed, held.ID[:8])
			default:
				m := held.Retire(reason)
				if err := t.PutMemory(m, &held); err != nil {
					return err
				}
				gone = append(gone, m)
			}
			seen[held.ID] = true
		}
		commit := gitstore.Commit{Body: reason, Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "forget"}}}
		switch len(gone) {
		case 0:
			return nil
		case 1:
			commit.Subject = "forget: " + record.CommitSubject(gone[0].Text)
		default: // no statement: some may be private, and the commit is the branch's
			commit.Subject = fmt.Sprintf("forget: %d memories", len(gone))
		}
		t.Describe(commit)
		return nil
	})
	return gone, already, changed, err
}

// suggestForget puts into the inbox that an agent wants a memory out of force.
func (w *workspace) suggestForget(ctx context.Context, id, reason string) error {
	var o record.Operation
	var said string
	err := w.update(ctx, func(tx *record.Tx, _ config.Config) error {
		said = ""
		held, err := tx.Find(id)
		if err != nil {
			return err
		}
		if held.Status == record.Retired {
			said = "it was retired already"
			return nil
		}
		clean, _ := w.Book.Clean(held.Retire(reason))
		blob, _ := tx.Blob(held.ID)
		o = record.NewOperation(record.Operation{
			Op: record.Retire, How: record.Written, Memory: clean, Why: "an agent wants it forgotten: " + w.env.caller,
			Base: []record.Base{{ID: held.ID, Path: held.Path(), Blob: string(blob)}}, Proposed: w.env.Now().UTC().Truncate(time.Second),
		})
		pending, err := w.pending(tx.View)
		if err != nil {
			return err
		}
		rejected, err := tx.Rejections()
		if err := w.Tolerate(err); err != nil {
			return err
		}
		switch {
		case slices.ContainsFunc(pending, func(p record.Operation) bool { return p.ID == o.ID }):
			said = "that waits already"
			return nil
		case slices.ContainsFunc(rejected, func(r record.Rejection) bool { return r.ID == o.ID }):
			return exit.New(exit.NeedsPerson, errors.New("forget: a person rejected that before, and an agent cannot ask again"), "a person can: reverie forget, in a terminal")
		}
		tx.Describe(gitstore.Commit{Subject: "suggest: forget " + record.CommitSubject(held.Text), Body: reason, Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "suggest"}}})
		return tx.PutOperation(o)
	})
	if err != nil {
		return err
	}
	if said != "" {
		w.env.Say("%s", said)
		return nil
	}
	w.tidy(ctx)
	w.env.Say("an agent cannot decide this: it waits for a person; next: reverie review")
	w.env.Print("%s\n", o.ID)
	return nil
}
