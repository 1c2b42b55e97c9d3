package cmd

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/prompts"
)

// When a dream is due: enough reflections are new and the last dream is some time ago, or very many are new.
const (
	dueReflections = 5
	dueAtOnce      = 20
	dueAfter       = 24 * time.Hour
)

// modelOf is workspace.model; tests put a scripted one in its place.
var modelOf = (*workspace).model

// byModel reports whether a dream was one in which a model was asked what follows.
func byModel(d record.Dream) bool { return d.Model != "" && len(d.Distilled) == 0 }

// dreamDue reports whether a dream is due: one with a model, or one of code alone. The records tell when the last one was, so
// that one that failed never was.
func (w *workspace) dreamDue(ctx context.Context, model bool) (due bool, why string, err error) {
	counts := byCode
	if model {
		counts = byModel
	}
	err = w.view(ctx, func(v *record.View) error {
		c, err := w.Restrict(ctx, v)
		if err != nil {
			return err
		}
		in, err := w.newReflections(ctx, v, c, counts, lately{})
		if err != nil {
			return err
		}
		dreams, _, err := w.ownRecords(ctx, v)
		if err != nil {
			return err
		}
		var last time.Time
		for _, d := range dreams {
			if counts(d) && d.Time.After(last) {
				last = d.Time
			}
		}
		due, why = dueNow(len(in.New), last, w.env.Now())
		return nil
	})
	return due, why, err
}

func dueNow(fresh int, last, now time.Time) (due bool, why string) {
	switch {
	case fresh >= dueAtOnce:
		return true, ""
	case fresh < dueReflections:
		return false, fmt.Sprintf("%s new, and it takes %d", term.Count(fresh, "reflection is", "reflections are"), dueReflections)
	case now.Sub(last) < dueAfter:
		return false, fmt.Sprintf("the last dream was at %s, less than a day ago, and fewer than %d reflections are new", last.Format(time.RFC3339), dueAtOnce)
	}
	return true, ""
}

// consider asks a model what follows from the reflections that none was asked about, and puts that into the inbox. Nothing
// is locked while it thinks: what does not stand any more afterwards is left out. A failure leaves no trace, so that the
// next dream asks the same again. In a dry run nothing is written, and plan is what would wait.
func (w *workspace) consider(ctx context.Context, m *prompts.Model, set prompts.Set, which lately, plan dream.Result, dryRun bool) (got dream.Considered, err error) {
	purges := purge.Mark(w.State)
	in, err := w.toConsider(ctx, which)
	if err != nil {
		return got, err
	}
	if !dryRun {
		plan = dream.Result{} // it waits in the inbox
	}
	found, err := dream.Consider(ctx, m, set, in, plan)
	if err != nil {
		return got, err
	}
	if dryRun {
		w.settleEach(ctx, found.Operations, in)
		w.tellConsidered(m, found)
		return found, nil
	}
	if found.Asked == 0 && len(found.Read) == 0 {
		w.env.Say("dream    %s: nothing new to ask", m.Name)
		return found, nil
	}
	return w.keepConsidered(ctx, m, found, in.Now, purges)
}

// toConsider is what a model is asked about.
func (w *workspace) toConsider(ctx context.Context, which lately) (in dream.Input, err error) {
	err = w.view(ctx, func(v *record.View) error {
		c, err := w.Restrict(ctx, v)
		if err == nil {
			in, err = w.dreamInput(ctx, v, c, byModel, which)
		}
		return err
	})
	return in, err
}

// keepConsidered puts what still stands of what a model found into the inbox, and then the dream into the journal. now is the dream's
// time. Nothing is kept if a purge came since the mark.
func (w *workspace) keepConsidered(ctx context.Context, m *prompts.Model, found dream.Considered, now time.Time, purges string) (got dream.Considered, err error) {
	var d record.Dream
	var commit gitstore.Commit
	err = w.update(ctx, func(tx *record.Tx, c config.Config) error {
		if err := purge.Since(w.State, purges); err != nil {
			return fmt.Errorf("dream: %w", err)
		}
		in, err := w.dreamInput(ctx, tx.View, c, byModel, lately{})
		if err != nil {
			return err
		}
		got = found.Standing(in, dream.Result{})
		w.settleEach(ctx, got.Operations, in)
		d = record.Dream{Time: now, Model: m.Name, Digest: m.Digest, Prompt: strings.Join(got.Prompts, " "),
			Reflections: got.Read, Weighed: got.Weighed, Notes: consideredNotes(got)}
		for _, o := range got.Operations {
			d.Operations = append(d.Operations, o.ID)
		}
		d = record.NewDream(d, tx.Key())
		for _, o := range got.Operations {
			o.Dream = d.ID
			if err := tx.PutOperation(o); err != nil {
				return err
			}
		}
		commit = modelCommit(fmt.Sprintf("dream: %s from %s", term.Count(len(got.Operations), "operation", "operations"), term.Count(len(got.Read), "reflection", "reflections")), d)
		tx.Describe(commit)
		return nil
	})
	if err != nil {
		return got, err
	}
	w.tellConsidered(m, got)
	return got, w.keepDream(ctx, d, commit)
}

// keepDream writes a dream's record, after everything that came of it.
func (w *workspace) keepDream(ctx context.Context, d record.Dream, commit gitstore.Commit) error {
	return w.update(ctx, func(tx *record.Tx, _ config.Config) error {
		tx.PutDream(d)
		tx.Describe(commit)
		return nil
	})
}

func modelCommit(subject string, d record.Dream) gitstore.Commit {
	return gitstore.Commit{Subject: subject, Trailers: []gitstore.Trailer{
		{Key: "Reverie-Op", Value: "dream"}, {Key: "Reverie-Dream", Value: d.ID}, {Key: "Reverie-Model", Value: d.Model}, {Key: "Reverie-Prompt", Value: d.Prompt}}}
}

func (w *workspace) tellConsidered(m *prompts.Model, got dream.Considered) {
	refused := 0
	for _, n := range got.Refused {
		refused += n
	}
	w.env.Say("dream    %s: %s about %s: %s for a person, %d refused, %d set aside", m.Name, term.Count(got.Asked, "question", "questions"),
		term.Count(len(got.Read), "reflection", "reflections"), waits(len(got.Operations)), refused, len(got.Notes))
	if got.Left > 0 {
		w.env.Say("%s for the next dream", term.Count(got.Left, "candidate is left", "candidates are left"))
	}
	w.tellRefused(got.Refused)
}

// tellRefused says, to who wants to know more, how much of what a model asked for was refused, and why.
func (w *workspace) tellRefused(refused map[string]int) {
	if w.env.Verbose {
		for _, why := range slices.Sorted(maps.Keys(refused)) {
			w.env.Say("refused  %s: %d", why, refused[why])
		}
	}
}

// consideredNotes is what came of nothing, as Markdown.
func consideredNotes(got dream.Considered) string {
	return dreamNotes(dream.Result{Notes: got.Notes}) + refusedNotes(got.Refused)
}

func refusedNotes(refused map[string]int) string {
	var b strings.Builder
	for _, why := range slices.Sorted(maps.Keys(refused)) {
		fmt.Fprintf(&b, "- refused: %s: %d\n", why, refused[why])
	}
	return b.String()
}
