// Package dreams runs package dream on a clone. It reads the reflections that no dream has
// considered yet, and puts the resulting operations into the inbox. Begin with Dreamer.Dream, which
// asks no model.
package dreams

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/learn/inbox"
)

// Dreamer dreams over the reflections of a clone.
type Dreamer struct{ *inbox.Inbox }

// Notes that a Dreamer reports.
type (
	// Dreamed sums up a dream of code alone.
	Dreamed struct {
		Reflections int
		dream.Result
	}
	// Asked sums up a dream with a model.
	Asked struct {
		Model string
		dream.Considered
	}
	// NothingToAsk reports that there is nothing new to ask the named model.
	NothingToAsk string
	// JournalDoubt gives the reason why nothing is learned from the journal.
	JournalDoubt struct{ Err error }
)

// MaxReflections bounds the reflections of one dream, oldest first.
const MaxReflections = 1000

// SessionFilter selects new reflections by their sessions. The others stay new. The zero value
// selects all.
type SessionFilter struct {
	Since time.Time // of the session's start
	Last  int       // at most that many, the latest; 0 sets no limit

	client string // only sessions of this agent, unless empty
}

// of selects among reflections that are sorted by their sessions' start.
func (f SessionFilter) of(all []record.Reflection) []record.Reflection {
	if f.client != "" {
		all = slices.DeleteFunc(slices.Clone(all), func(r record.Reflection) bool { return r.Client != f.client })
	}
	for len(all) > 0 && all[0].Started.Before(f.Since) {
		all = all[1:]
	}
	if f.Last > 0 {
		all = all[max(0, len(all)-f.Last):]
	}
	return all
}

// Dream plans, and writes first the operations and then the record of the dream. After an
// interruption between the two, the next dream plans the same and finds it pending. considered
// counts the reflections.
func (d *Dreamer) Dream(ctx context.Context, which SessionFilter) (plan dream.Result, considered int, err error) {
	var in dream.Input
	var done record.Dream
	var commit gitstore.Commit
	d.Documents() // reads them before the lock is taken
	err = d.Update(ctx, func(tx *record.Tx, t clone.Team) error {
		var err error
		if plan, in, err = d.plan(ctx, tx.View, t, which); err != nil || len(in.New) == 0 {
			return err
		}
		done = record.Dream{Time: in.Now, Notes: notes(plan.Notes, nil)}
		for _, r := range in.New {
			done.Reflections = append(done.Reflections, r.ID())
		}
		if done, err = propose(tx, done, plan.Operations); err != nil {
			return err
		}
		for _, id := range plan.Withdrawn {
			tx.DropOperation(id)
		}
		commit = gitstore.Commit{
			Subject:  fmt.Sprintf("dream: %s from %s", inbox.Count(plan.Proposed, "operation"), inbox.Count(len(in.New), "reflection")),
			Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "dream"}, {Key: "Reverie-Dream", Value: done.ID}},
		}
		tx.Describe(commit)
		return nil
	})
	if err != nil || len(in.New) == 0 {
		return plan, 0, err
	}
	err = d.keep(ctx, done, commit)
	d.Note(Dreamed{len(in.New), plan})
	return plan, len(in.New), err
}

// propose puts a dream's operations into the inbox and gives the dream its id.
func propose(tx *record.Tx, d record.Dream, ops []record.Operation) (record.Dream, error) {
	for _, o := range ops {
		d.Operations = append(d.Operations, o.ID)
	}
	d = record.NewDream(d, tx.Key())
	for _, o := range ops {
		o.Dream = d.ID
		if err := tx.PutOperation(o); err != nil {
			return d, err
		}
	}
	return d, nil
}

// keep writes a dream's record. Its operations must have been written before.
func (d *Dreamer) keep(ctx context.Context, done record.Dream, commit gitstore.Commit) error {
	return d.Update(ctx, func(tx *record.Tx, _ clone.Team) error {
		tx.PutDream(done)
		tx.Describe(commit)
		return nil
	})
}

// notes lists in Markdown a dream's rejected findings and the reasons for refusing a model's
// operations.
func notes(aside []dream.Note, refused map[string]int) string {
	var b strings.Builder
	for _, n := range aside {
		fmt.Fprintf(&b, "- %s (%s): %s\n", n.Text, n.Reflection, n.Why)
	}
	for _, why := range sortedKeys(refused) {
		fmt.Fprintf(&b, "- refused: %s: %d\n", why, refused[why])
	}
	return b.String()
}

// Plan returns the operations that Dream would propose.
func (d *Dreamer) Plan(ctx context.Context, which SessionFilter) (plan dream.Result, err error) {
	err = d.View(ctx, func(v *record.View, t clone.Team) error {
		plan, _, err = d.plan(ctx, v, t, which)
		return err
	})
	return plan, err
}

func (d *Dreamer) plan(ctx context.Context, v *record.View, t clone.Team, which SessionFilter) (dream.Result, dream.Input, error) {
	in, err := d.newReflections(ctx, v, t, byCode, which)
	if err != nil || len(in.New) == 0 {
		return dream.Result{}, in, err
	}
	if err := d.addPending(ctx, v, &in); err != nil {
		return dream.Result{}, in, err
	}
	plan := dream.Plan(in)
	anchorNew(ctx, d.Code, plan.Operations, in)
	widen(ctx, d.Code, &plan, in)
	return plan, in, nil
}

// byCode reports whether a dream asked no model.
func byCode(d record.Dream) bool { return d.Model == "" }

// byModel reports whether a dream asked a model for operations.
func byModel(d record.Dream) bool { return d.Model != "" && len(d.Distilled) == 0 }

// input collects the input of a dream.
func (d *Dreamer) input(ctx context.Context, v *record.View, t clone.Team, counts func(record.Dream) bool, which SessionFilter) (dream.Input, error) {
	in, err := d.newReflections(ctx, v, t, counts, which)
	if err == nil {
		err = d.addPending(ctx, v, &in)
	}
	return in, err
}

// newReflections collects the memories, and the selected reflections that no dream accepted by
// counts has considered. It uses only this clone's own reflections and dreams. Others, which came
// with the branch or a synced journal, are evidence for readers only.
func (d *Dreamer) newReflections(ctx context.Context, v *record.View, t clone.Team, counts func(record.Dream) bool, which SessionFilter) (dream.Input, error) {
	in := dream.Input{Now: d.Now(), Agent: d.Asker() != "", Memories: v.Memories(), Private: clone.Private(t.Config), Written: d.Documents(), Own: d.Own(ctx, v), Tree: os.DirFS(d.Repo.WorkTree),
		Blobs: map[string]string{}, Weighed: map[string]bool{}, Withheld: map[string]bool{}}
	for _, m := range in.Memories {
		blob, _ := v.Blob(m.ID)
		in.Blobs[m.ID] = string(blob)
	}
	dreams, reflections, err := d.ownRecords(ctx, v, t)
	if err != nil {
		return in, err
	}
	considered := map[string]bool{}
	for _, past := range dreams {
		for _, id := range past.Weighed {
			in.Weighed[id] = true
		}
		for _, id := range past.Reflections {
			considered[id] = considered[id] || counts(past)
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
	in.New = in.New[:min(len(in.New), MaxReflections)]
	return in, nil
}

// addPending adds pending, proposed, rejected and withheld items.
func (d *Dreamer) addPending(ctx context.Context, v *record.View, in *dream.Input) (err error) {
	var err2 error
	in.Pending, err = v.Inbox().Operations()
	in.Rejected, err2 = v.Inbox().Rejections()
	if err := d.Tolerate(errors.Join(err, err2)); err != nil {
		return err
	}
	if in.Proposed, err = d.Proposed(); err != nil {
		return err
	}
	held, err := d.Withheld(ctx, v)
	if err != nil {
		return err
	}
	for _, m := range in.Memories {
		if len(held.Whose(m)) > 0 {
			in.Withheld[m.ID] = true
		}
	}
	return nil
}

// ownRecords returns the dreams and reflections that this clone made. It returns none if the
// journal's history cannot be read.
func (d *Dreamer) ownRecords(ctx context.Context, v *record.View, t clone.Team) ([]record.Dream, []record.Reflection, error) {
	dreams, err := v.Journal().Dreams()
	reflections, err2 := v.Journal().Reflections()
	if err := d.Tolerate(errors.Join(err, err2)); err != nil {
		return nil, nil, err
	}
	by, err := d.Judge.Records(ctx, t.Config.Trust)
	if err != nil {
		return nil, nil, err
	}
	if by.Doubt != nil {
		d.Note(JournalDoubt{by.Doubt})
	}
	dreams = slices.DeleteFunc(dreams, func(r record.Dream) bool { return by.Foreign(r.Path()) })
	reflections = slices.DeleteFunc(reflections, func(r record.Reflection) bool { return by.Foreign(r.Path()) })
	return dreams, reflections, nil
}
