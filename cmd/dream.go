package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/urfave/cli/v2"
)

func dreamCommand(env *Env) *cli.Command {
	var dryRun bool
	return &cli.Command{
		Name:  "dream",
		Usage: "hold new reflections against what is known, and put what follows into the inbox",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "dry-run", Usage: "show what would be proposed, and propose nothing", Destination: &dryRun}},
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return usage("it considers every reflection that is new", "dream takes no arguments")
			}
			return runDream(c.Context, env, dryRun)
		},
	}
}

func runDream(ctx context.Context, env *Env, dryRun bool) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	var plan dream.Result
	if dryRun {
		err = w.view(ctx, func(v *record.View) error {
			c, err := w.restrict(v)
			if err == nil {
				plan, _, err = w.plan(ctx, v, c)
			}
			return err
		})
	} else {
		plan, _, err = w.dream(ctx)
		w.landAll(ctx)
	}
	if err != nil {
		return err
	}
	for _, o := range plan.Operations {
		if env.JSON {
			if err := env.object(newOperationJSON(o, "")); err != nil {
				return err
			}
			continue
		}
		env.print("%s\t%s\t%s\t%s\n", o.ID[:8], o.Op, o.Memory.Kind, visible(o.Memory.Text))
	}
	return nil
}

// maxReflections is how many reflections one dream considers, the oldest first; the rest waits
// for the next.
const maxReflections = 1000

// plan works out what follows from the reflections that no dream has considered. Only this clone's own count: those
// that came with the branch, and those that a stranger put into a synced journal, are evidence to be read.
func (w *workspace) plan(ctx context.Context, v *record.View, c config.Config) (dream.Result, dream.Input, error) {
	in := dream.Input{Now: w.env.Now(), Memories: v.Memories(), Private: private(c), Blobs: map[string]string{}}
	for _, m := range in.Memories {
		blob, _ := v.Blob(m.ID)
		in.Blobs[m.ID] = string(blob)
	}
	dreams, err := v.Dreams()
	reflections, err2 := v.Reflections()
	if err := w.tolerate(errors.Join(err, err2)); err != nil {
		return dream.Result{}, in, err
	}
	foreign, err := w.foreignRecords(ctx, v)
	if err != nil {
		return dream.Result{}, in, err
	}
	dreams = slices.DeleteFunc(dreams, func(d record.Dream) bool { return foreign(d.Path()) })
	reflections = slices.DeleteFunc(reflections, func(r record.Reflection) bool { return foreign(r.Path()) })
	considered := map[string]bool{}
	for _, d := range dreams {
		for _, id := range d.Reflections {
			considered[id] = true
		}
	}
	slices.SortStableFunc(reflections, func(a, b record.Reflection) int { return a.Started.Compare(b.Started) })
	for _, r := range reflections {
		switch {
		case considered[r.ID()]:
			in.Considered = append(in.Considered, r)
		case len(in.New) < maxReflections:
			in.New = append(in.New, r)
		}
	}
	if len(in.New) == 0 {
		return dream.Result{}, in, nil
	}
	in.Pending, err = v.Operations()
	in.Rejected, err2 = v.Rejections()
	if err := w.tolerate(errors.Join(err, err2)); err != nil {
		return dream.Result{}, in, err
	}
	if _, err := w.foreign(ctx, v); err != nil {
		return dream.Result{}, in, err
	}
	plan := dream.Plan(in)
	w.settle(ctx, &plan, in)
	return plan, in, nil
}

// dream plans, and says over how many reflections; it writes the operations, and only then the record of the dream: after an
// interruption between the two, the next dream plans the same again and finds it pending.
func (w *workspace) dream(ctx context.Context) (plan dream.Result, considered int, err error) {
	var in dream.Input
	var d record.Dream
	var commit gitstore.Commit
	err = w.update(ctx, func(tx *record.Tx, c config.Config) error {
		var err error
		if plan, in, err = w.plan(ctx, tx.View, c); err != nil || len(in.New) == 0 {
			return err
		}
		d = record.Dream{Time: in.Now, Notes: dreamNotes(plan)}
		for _, r := range in.New {
			d.Reflections = append(d.Reflections, r.ID())
		}
		for _, o := range plan.Operations {
			d.Operations = append(d.Operations, o.ID)
		}
		d = record.NewDream(d, tx.Key())
		for _, o := range plan.Operations {
			o.Dream = d.ID
			if err := tx.PutOperation(o); err != nil {
				return err
			}
		}
		for _, id := range plan.Withdrawn {
			tx.DropOperation(id)
		}
		commit = gitstore.Commit{
			Subject:  fmt.Sprintf("dream: %s from %s", count(plan.Proposed, "operation", "operations"), count(len(in.New), "reflection", "reflections")),
			Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "dream"}, {Key: "Reverie-Dream", Value: d.ID}},
		}
		tx.Describe(commit)
		return nil
	})
	if err != nil || len(in.New) == 0 {
		return plan, 0, err
	}
	err = w.update(ctx, func(tx *record.Tx, _ config.Config) error {
		tx.PutDream(d)
		tx.Describe(commit)
		return nil
	})
	w.env.say("dream    %s: %s new, %d borne out, %d set aside", count(len(in.New), "reflection", "reflections"), count(plan.Proposed, "operation", "operations"), plan.BorneOut, len(plan.Notes))
	return plan, len(in.New), err
}

// dreamNotes is what a dream set aside, as Markdown.
func dreamNotes(plan dream.Result) string {
	var b strings.Builder
	for _, n := range plan.Notes {
		fmt.Fprintf(&b, "- %s (%s): %s\n", n.Text, n.Reflection, n.Why)
	}
	return b.String()
}
