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
	"github.com/reverie-memory/reverie/gitstore/trust"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

// dreamOptions are those of dream and of distill.
type dreamOptions struct {
	model  modelChoice
	ifDue  bool
	dryRun bool
	lately lately // which reflections; dream's alone
}

func dreamCommand(env *Env) *cli.Command {
	var e elsewhere
	var l latelyFlags
	return dreaming(env, &cli.Command{
		Name:  "dream",
		Usage: "turn reflections into pending operations",
		Description: "With a model, which a setting or --model names, it is asked what else follows, and which of the statements\n" +
			"that do not agree hold. What it proposes always waits for a person. --print-prompt prints what a model would be asked,\n" +
			"and --import takes in the answers to that, from a model that Reverie cannot reach.",
		Flags: slices.Concat(l.flags(), e.flags()),
	}, "5 reflections are new and the last dream is a day old, or 20 are new", "--since and --last choose among the reflections that are new",
		func(c *cli.Context, env *Env, o dreamOptions) (err error) {
			if o.lately, err = l.choice(c, o.ifDue, env.Now()); err != nil {
				return err
			}
			ctx := c.Context
			if e == (elsewhere{}) {
				return runDream(ctx, env, o)
			}
			if err := e.check(o); err != nil {
				return err
			}
			return e.run(ctx, env, o)
		})
}

// dreaming gives a command the flags of one that puts what follows from the sessions into the inbox. due is when it is, and all
// says what else to choose by.
func dreaming(env *Env, command *cli.Command, due, all string, run func(*cli.Context, *Env, dreamOptions) error) *cli.Command {
	var o dreamOptions
	command.Flags = slices.Concat([]cli.Flag{
		&cli.BoolFlag{Name: "if-due", Usage: "only if " + due, Destination: &o.ifDue},
		&cli.BoolFlag{Name: "dry-run", Usage: "show what would be proposed, and propose nothing", Destination: &o.dryRun},
	}, command.Flags, modelFlags(&o.model))
	command.Action = func(c *cli.Context) error {
		if c.NArg() > 0 {
			return exit.Usage(all, "%s takes no arguments", command.Name)
		}
		if err := o.model.check(); err != nil {
			return err
		}
		return run(c, env, o)
	}
	return command
}

func runDream(ctx context.Context, env *Env, o dreamOptions) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	m, set, err := modelOf(w, ctx, o.model.asked())
	if err != nil {
		return err
	}
	if o.ifDue {
		due, why, err := w.dreamDue(ctx, m != nil)
		if err != nil {
			return err
		}
		if !due {
			env.Say("not due: %s", why)
			return nil
		}
	}
	var plan dream.Result
	if o.dryRun {
		err = w.view(ctx, func(v *record.View) error {
			c, err := w.Restrict(ctx, v)
			if err == nil {
				plan, _, err = w.plan(ctx, v, c, o.lately)
			}
			return err
		})
	} else {
		plan, _, err = w.dream(ctx, o.lately)
		w.landAll(ctx)
	}
	if err != nil {
		return err
	}
	if err := w.tellProposed(plan.Operations); err != nil || m == nil {
		return err
	}
	asked, err := w.consider(ctx, m, set, o.lately, plan, o.dryRun)
	if err != nil {
		return noAnswer(err, "what code alone found waits; the next dream asks again")
	}
	return w.tellProposed(asked.Operations)
}

// noAnswer is the end of a command that a model gave no usable answer.
func noAnswer(err error, hint string) error {
	if f := new(exit.Error); errors.As(err, &f) || term.Interrupted(err) {
		return err
	}
	return exit.New(exit.Failed, err, hint)
}

func (w *workspace) tellProposed(ops []record.Operation) error {
	for _, o := range ops {
		if w.env.JSON {
			if err := w.env.Object(newOperationJSON(o, "")); err != nil {
				return err
			}
			continue
		}
		w.env.Print("%s\t%s\t%s\t%s\n", o.ID[:8], o.Op, o.Memory.Kind, term.Visible(o.Memory.Text))
	}
	return nil
}

// maxReflections is how many reflections one dream considers, the oldest first; the rest waits
// for the next.
const maxReflections = 1000

// plan works out what follows from the wanted of the reflections that no dream has considered.
func (w *workspace) plan(ctx context.Context, v *record.View, c config.Config, which lately) (dream.Result, dream.Input, error) {
	in, err := w.newReflections(ctx, v, c, byCode, which)
	if err != nil || len(in.New) == 0 {
		return dream.Result{}, in, err
	}
	if err := w.whatWaits(ctx, v, &in); err != nil {
		return dream.Result{}, in, err
	}
	plan := dream.Plan(in)
	w.settle(ctx, &plan, in)
	return plan, in, nil
}

// byCode reports whether a dream was one of code alone.
func byCode(d record.Dream) bool { return d.Model == "" }

// dreamInput is everything that a dream looks at.
func (w *workspace) dreamInput(ctx context.Context, v *record.View, c config.Config, counts func(record.Dream) bool, which lately) (dream.Input, error) {
	in, err := w.newReflections(ctx, v, c, counts, which)
	if err == nil {
		err = w.whatWaits(ctx, v, &in)
	}
	return in, err
}

// newReflections is what is known, and which reflections are new: those that no dream considered for which counts is
// true, and of them those that are wanted. Only this clone's own reflections and dreams count: those that came with the branch, and those that a stranger put
// into a synced journal, are evidence to be read.
func (w *workspace) newReflections(ctx context.Context, v *record.View, c config.Config, counts func(record.Dream) bool, which lately) (dream.Input, error) {
	in := dream.Input{Now: w.env.Now(), Memories: v.Memories(), Private: clone.Private(c), Written: w.Documents.Stated, Blobs: map[string]string{}, Weighed: map[string]bool{}, Withheld: map[string]bool{}}
	for _, m := range in.Memories {
		blob, _ := v.Blob(m.ID)
		in.Blobs[m.ID] = string(blob)
	}
	dreams, reflections, err := w.ownRecords(ctx, v)
	if err != nil {
		return in, err
	}
	considered := map[string]bool{}
	for _, d := range dreams {
		for _, id := range d.Weighed {
			in.Weighed[id] = true
		}
		for _, id := range d.Reflections {
			considered[id] = considered[id] || counts(d)
		}
	}
	slices.SortStableFunc(reflections, func(a, b record.Reflection) int { return a.Started.Compare(b.Started) })
	for _, r := range reflections {
		if considered[r.ID()] {
			in.Considered = append(in.Considered, r)
		} else {
			in.New = append(in.New, r)
		}
	}
	in.New = which.of(in.New)
	in.New = in.New[:min(len(in.New), maxReflections)]
	return in, nil
}

// whatWaits adds what was proposed, what was rejected, and what is withheld.
func (w *workspace) whatWaits(ctx context.Context, v *record.View, in *dream.Input) (err error) {
	var err2 error
	in.Pending, err = v.Operations()
	in.Rejected, err2 = v.Rejections()
	if err := w.Tolerate(errors.Join(err, err2)); err != nil {
		return err
	}
	foreign, err := w.Withheld(ctx, v)
	if err != nil {
		return err
	}
	for _, m := range in.Memories {
		if len(foreign.Whose(m)) > 0 {
			in.Withheld[m.ID] = true
		}
	}
	return nil
}

// foreignRecords says which records of the journal somebody not trusted here changed last. If history cannot be read, all
// are.
func (w *workspace) foreignRecords(ctx context.Context, v *record.View) (trust.Records, error) {
	c, err := w.Restrict(ctx, v)
	if err != nil {
		return trust.Records{}, err
	}
	records, err := w.Judge.Records(ctx, c.Trust)
	if err == nil && records.Doubt != nil {
		w.env.Warn("%v; nothing is learned from the journal", records.Doubt)
	}
	return records, err
}

// ownRecords are the dreams and reflections that this clone made itself.
func (w *workspace) ownRecords(ctx context.Context, v *record.View) ([]record.Dream, []record.Reflection, error) {
	dreams, err := v.Dreams()
	reflections, err2 := v.Reflections()
	if err := w.Tolerate(errors.Join(err, err2)); err != nil {
		return nil, nil, err
	}
	foreign, err := w.foreignRecords(ctx, v)
	if err != nil {
		return nil, nil, err
	}
	dreams = slices.DeleteFunc(dreams, func(d record.Dream) bool { return foreign.Foreign(d.Path()) })
	reflections = slices.DeleteFunc(reflections, func(r record.Reflection) bool { return foreign.Foreign(r.Path()) })
	return dreams, reflections, nil
}

// dream plans, and says over how many reflections; it writes the operations, and only then the record of the dream: after an
// interruption between the two, the next dream plans the same again and finds it pending.
func (w *workspace) dream(ctx context.Context, which lately) (plan dream.Result, considered int, err error) {
	var in dream.Input
	var d record.Dream
	var commit gitstore.Commit
	w.Documents.Read() // read before the lock
	err = w.update(ctx, func(tx *record.Tx, c config.Config) error {
		var err error
		if plan, in, err = w.plan(ctx, tx.View, c, which); err != nil || len(in.New) == 0 {
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
			Subject:  fmt.Sprintf("dream: %s from %s", term.Count(plan.Proposed, "operation", "operations"), term.Count(len(in.New), "reflection", "reflections")),
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
	w.env.Say("dream    %s: %s new, %d borne out, %d set aside", term.Count(len(in.New), "reflection", "reflections"), term.Count(plan.Proposed, "operation", "operations"), plan.BorneOut, len(plan.Notes))
	w.tellStated(plan.Written)
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
