package dreams

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/learn/inbox"
	"github.com/reverie-memory/reverie/prompts"
)

// A dream is due if enough reflections are new and the last dream is a day old, or if very many are
// new.
const (
	dueReflections = 5
	dueAtOnce      = 20
	dueAfter       = 24 * time.Hour
)

// Wait gives the reason why a dream is not due. The zero value means that it is due.
type Wait struct {
	New, Wanted int       // reflections
	Last        time.Time // the last dream, if that was too recent
}

// Due reports whether a dream is due: one with m, or without a model one of code alone. The records
// give the time of the last one, so a failed dream does not count. Nothing is asked.
func (d *Dreamer) Due(ctx context.Context, m *prompts.Model) (due bool, wait Wait, err error) {
	counts, which := byCode, SessionFilter{}
	if m != nil {
		counts, which.client = byModel, m.Client
	}
	err = d.View(ctx, func(v *record.View, t clone.Team) error {
		in, err := d.newReflections(ctx, v, t, counts, which)
		if err != nil {
			return err
		}
		dreams, _, err := d.ownRecords(ctx, v, t)
		if err != nil {
			return err
		}
		var last time.Time
		for _, past := range dreams {
			if counts(past) && past.Time.After(last) {
				last = past.Time
			}
		}
		due, wait = dueNow(len(in.New), last, d.Now())
		return nil
	})
	return due, wait, err
}

func dueNow(fresh int, last, now time.Time) (due bool, wait Wait) {
	switch {
	case fresh >= dueAtOnce:
		return true, Wait{}
	case fresh < dueReflections:
		return false, Wait{New: fresh, Wanted: dueReflections}
	case now.Sub(last) < dueAfter:
		return false, Wait{New: fresh, Wanted: dueAtOnce, Last: last}
	}
	return true, Wait{}
}

// Consider asks a model about the reflections that no model considered, and puts the results into
// the inbox. Nothing is locked while the model thinks, and outdated results are dropped. A failure
// leaves no trace, so the next dream asks the same again.
func (d *Dreamer) Consider(ctx context.Context, m *prompts.Model, set prompts.Set, which SessionFilter) (got dream.Considered, err error) {
	purges := purge.Mark(d.State)
	which.client = m.Client
	in, err := d.toConsider(ctx, which)
	if err != nil {
		return got, err
	}
	found, err := dream.Consider(ctx, m, set, in, dream.Result{})
	if err != nil {
		return got, err
	}
	if found.Asked == 0 && len(found.Read) == 0 {
		d.Note(NothingToAsk(m.Name))
		return found, nil
	}
	return d.KeepConsidered(ctx, m, found, in.Now, purges)
}

// Preview is Consider without writing. plan holds the operations that Dream would have proposed
// before.
func (d *Dreamer) Preview(ctx context.Context, m *prompts.Model, set prompts.Set, which SessionFilter, plan dream.Result) (got dream.Considered, err error) {
	which.client = m.Client
	in, err := d.toConsider(ctx, which)
	if err != nil {
		return got, err
	}
	if got, err = dream.Consider(ctx, m, set, in, plan); err != nil {
		return got, err
	}
	d.PreviewAnswers(ctx, m, got, in)
	return got, nil
}

// PreviewAnswers completes a model's answers about in, and reports them.
func (d *Dreamer) PreviewAnswers(ctx context.Context, m *prompts.Model, found dream.Considered, in dream.Input) {
	anchorNew(ctx, d.Code, found.Operations, in)
	d.Note(Asked{m.Name, found})
}

// toConsider collects the questions to a model.
func (d *Dreamer) toConsider(ctx context.Context, which SessionFilter) (in dream.Input, err error) {
	err = d.View(ctx, func(v *record.View, t clone.Team) error {
		in, err = d.input(ctx, v, t, byModel, which)
		return err
	})
	return in, err
}

// ToConsider names the set of reflections that a model would consider, on the sessions of one agent
// or of all.
func (d *Dreamer) ToConsider(ctx context.Context, client string) (string, error) {
	var about string
	err := d.View(ctx, func(v *record.View, t clone.Team) error {
		in, err := d.newReflections(ctx, v, t, byModel, SessionFilter{client: client})
		h := sha256.New()
		for _, r := range in.New {
			h.Write([]byte(r.ID() + "\n"))
		}
		about = hex.EncodeToString(h.Sum(nil))
		return err
	})
	return about, err
}

// KeepConsidered writes the still valid answers of a model into the inbox, and then the dream into
// the journal. now is the dream's time. It writes nothing if a purge came since the mark.
func (d *Dreamer) KeepConsidered(ctx context.Context, m *prompts.Model, found dream.Considered, now time.Time, purges string) (got dream.Considered, err error) {
	var done record.Dream
	var commit gitstore.Commit
	err = d.Update(ctx, func(tx *record.Tx, t clone.Team) error {
		if err := purge.Since(d.State, purges); err != nil {
			return fmt.Errorf("dream: %w", err)
		}
		in, err := d.input(ctx, tx.View, t, byModel, SessionFilter{})
		if err != nil {
			return err
		}
		got = found.Standing(in, dream.Result{})
		anchorNew(ctx, d.Code, got.Operations, in)
		if err := settle(tx, got, m.Name, now); err != nil {
			return err
		}
		done, err = propose(tx, record.Dream{Time: now, Model: m.Name, Digest: m.Digest, Prompt: strings.Join(got.Prompts, " "),
			Reflections: got.Read, Weighed: got.Weighed, Notes: notes(got.Notes, got.Refused)}, got.Operations)
		if err != nil {
			return err
		}
		commit = modelCommit(fmt.Sprintf("dream: %s from %s", inbox.Count(len(got.Operations), "operation"), inbox.Count(len(got.Read), "reflection")), done)
		tx.Describe(commit)
		return nil
	})
	if err != nil {
		return got, err
	}
	d.Note(Asked{m.Name, got})
	return got, d.keep(ctx, done, commit)
}

// settle writes the pending operations that a model joined, and takes others out of the inbox as a
// rejection does. Inbox.Restore returns them.
func settle(tx *record.Tx, got dream.Considered, model string, now time.Time) error {
	for _, o := range got.Joined {
		if err := tx.PutOperation(o); err != nil {
			return err
		}
	}
	for _, s := range got.Settled {
		if err := tx.Reject(s.Operation.Reject(s.Reason(), model, now)); err != nil {
			return err
		}
	}
	return nil
}

// Questions prepares the questions for a model that Reverie cannot reach. tokens is the model's
// context.
func (d *Dreamer) Questions(ctx context.Context, set prompts.Set, tokens int, which SessionFilter) (ask dream.Elsewhere, err error) {
	ask.Context, ask.Set = tokens, set
	err = d.View(ctx, func(v *record.View, t clone.Team) error {
		ask.Plan, _, err = d.plan(ctx, v, t, which)
		if err == nil {
			ask.In, err = d.input(ctx, v, t, byModel, which)
		}
		return err
	})
	return ask, err
}

func modelCommit(subject string, d record.Dream) gitstore.Commit {
	return gitstore.Commit{Subject: subject, Trailers: []gitstore.Trailer{
		{Key: "Reverie-Op", Value: "dream"}, {Key: "Reverie-Dream", Value: d.ID}, {Key: "Reverie-Model", Value: d.Model}, {Key: "Reverie-Prompt", Value: d.Prompt}}}
}

func sortedKeys(m map[string]int) []string { return slices.Sorted(maps.Keys(m)) }
