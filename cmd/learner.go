package cmd

import (
	"context"
	"maps"
	"slices"

	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/remotes"
	"github.com/reverie-memory/reverie/internal/learn"
	"github.com/reverie-memory/reverie/internal/learn/dreams"
	"github.com/reverie-memory/reverie/internal/learn/inbox"
	"github.com/reverie-memory/reverie/internal/offer"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/internal/term"
)

// learner returns the pipeline from sessions to memory. Its notes go to the terminal.
func (w *workspace) learner() *learn.Learner {
	b := &inbox.Inbox{
		Clone:    w.Clone,
		Withheld: w.Reader.Withheld,
		Tolerate: w.Reader.Tolerate,
		Offer:    func(ctx context.Context) error { return offer.Preferences(ctx, w.Reader) },
		Own:      func(ctx context.Context, v *record.View) []record.Memory { return reader.Own(ctx, w.Reader, v) },
		Documents: func() func(record.Memory) string {
			w.Documents.Read()
			return w.Documents.Stated
		},
		Proposed: func() (map[string]string, error) {
			known, err := remotes.Read(w.State)
			if err != nil {
				return nil, err
			}
			return known.Proposed(), nil
		},
		Report: learningNotes(w),
	}
	return &learn.Learner{
		Dreamer: &dreams.Dreamer{Inbox: b},
		Create:  w.create,
		Model:   w.model,
		Known: func(ctx context.Context, text string, n int, private bool) ([]string, error) {
			return reader.Nearest(ctx, w.Reader, text, n, private)
		},
	}
}

// learningNotes words the notes of learning.
func learningNotes(w *workspace) func(inbox.Note) {
	steps := steps(w)
	return func(n inbox.Note) {
		if s, ok := n.(learn.Step); ok {
			steps(s.N, s.All, s.Name)
			return
		}
		tellLearning(w, n)
	}
}

// steps returns a function that shows how far a long work is. The work ends with n == all.
func steps(w *workspace) func(n, all int, name string) {
	done := func() {}
	var step func(int, string)
	return func(n, all int, name string) {
		if n == all {
			done()
			step, done = nil, func() {}
			return
		}
		if step == nil {
			s := term.NewSteps(&w.env.Terminal, all)
			step, done = s.Step, s.Done
		}
		step(n, term.Visible(name))
	}
}

// tellLearning words a note of learning, but for its progress.
func tellLearning(w *workspace, n inbox.Note) {
	env := w.env
	switch n := n.(type) {
	case inbox.Doubt:
		env.Warn("%v", n.Err)
	case inbox.Committed:
		w.tellCommitted(string(n))
	case inbox.AcceptedByPolicy:
		stage(w, false, "accept   %s by policy", plural.Count(int(n), "statement", "statements"))
	case inbox.LandFailed:
		if env.Verbose {
			env.Warn("branches: %v", n.Err)
		}
	case inbox.Landed:
		env.Say("landed   %s of a side branch: now everywhere", plural.Count(int(n), "statement", "statements"))
	case inbox.Abandoned:
		env.Say("branch   %s of a deleted or abandoned side branch: reverie review", plural.Count(int(n), "statement", "statements"))
	case dreams.Dreamed:
		stage(w, false, "dream    %s: %s new, %d confirmed, %d set aside", plural.Count(n.Reflections, "reflection", "reflections"), plural.Count(n.Proposed, "operation", "operations"), n.BorneOut, len(n.Notes))
		for _, aside := range n.Notes {
			stage(w, false, "aside    %s: %s", term.Visible(aside.Text), term.Visible(aside.Why))
		}
		tellStated(w, n.Written)
	case dreams.Asked:
		tellConsidered(w, n.Model, n.Considered)
	case dreams.NothingToAsk:
		env.Say("dream    %s: nothing new to ask", string(n))
	case dreams.JournalDoubt:
		env.Warn("%v; nothing is learned from the journal", n.Err)
	default:
		tellReadingNote(w, n)
	}
}

// tellReadingNote words a note about the sessions that detectors or a model read.
func tellReadingNote(w *workspace, n inbox.Note) {
	env := w.env
	switch n := n.(type) {
	case learn.Studied:
		tellStudied(w, n)
	case learn.Read:
		refused := 0
		for _, some := range n.Refused {
			refused += some
		}
		env.Say("reflect  %s/%s by %s: %s found, %d confirmed, %d refused", n.Reflection.Client, n.Reflection.Session, n.Reflection.Model, plural.Count(n.Found, "candidate", "candidates"), n.Confirmed, refused)
	case learn.Held:
		env.Say("reflect  %s/%s by %s: nothing new; the journal holds all of it", n.Reflection.Client, n.Reflection.Session, n.Reflection.Model)
	case learn.Passed:
		env.Warn("%v", n.Err)
	case learn.Unusable:
		if env.background {
			env.Warn("%s: %v", n.Session, n.Err)
		} else {
			env.Say("reflect  %s: %v", n.Session, n.Err)
		}
	case learn.GaveUp:
		env.Warn("%s gives no usable answer: %v", n.Model, n.Err)
	case learn.NotAsked:
		env.Warn("the model is no longer asked: %v", n.Err)
	case learn.NoRoom:
		env.Say("reflect  %s: %s had no room in %s", n.Session, plural.Count(n.Events, "event", "events"), plural.Count(n.Parts, "question", "questions"))
	case learn.Spent:
		env.Warn("%v; the rest waits for tomorrow", n.Err)
	}
}

func tellConsidered(w *workspace, model string, got dream.Considered) {
	refused := 0
	for _, n := range got.Refused {
		refused += n
	}
	w.env.Say("dream    %s: %s about %s: %s for a person, %d refused, %d set aside", model, plural.Count(got.Asked, "question", "questions"),
		plural.Count(len(got.Read), "reflection", "reflections"), waits(len(got.Operations)), refused, len(got.Notes))
	if got.Left > 0 {
		w.env.Say("%s for the next dream", plural.Count(got.Left, "candidate is left", "candidates are left"))
	}
	for _, s := range got.Settled {
		w.env.Say("settled  %s %s; it %s; 'reverie reject --undo %[1]s' returns it", s.Operation.ID[:8], term.Visible(s.Operation.Memory.Text), term.Visible(s.Reason()))
	}
	tellRefused(w, w.env.Verbose, got.Refused)
}

// tellRefused counts what was refused of a model's answers, by reason, if that is to be shown.
func tellRefused(w *workspace, show bool, refused map[string]int, faults ...string) {
	if !show {
		return
	}
	for _, why := range slices.Sorted(maps.Keys(refused)) {
		w.env.Say("refused  %s: %d", why, refused[why])
	}
	for _, f := range faults {
		w.env.Say("refused  %s", term.Visible(f))
	}
}

func tellStudied(w *workspace, all learn.Studied) {
	if len(all) > maxReflected {
		sum := learn.Tally{Session: plural.Count(len(all), "session", "sessions")}
		for _, r := range all {
			sum.Found, sum.Refused = sum.Found+r.Found, sum.Refused+r.Refused
		}
		all = learn.Studied{sum}
	}
	for _, r := range all {
		stage(w, false, "reflect  %s: %s found, %d refused at the gate", r.Session, plural.Count(r.Found, "candidate", "candidates"), r.Refused)
	}
}
