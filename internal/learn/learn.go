// Package learn turns stored sessions into memory, in three steps. It studies each session and
// keeps a reflection (reflect.go), has package dreams propose operations, and has package inbox
// accept those that the policy allows. The rest waits for a person. Package ingest makes the
// sessions. Begin with Learner.Learn. A Learner serves one goroutine.
package learn

import (
	"context"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/learn/dreams"
	"github.com/reverie-memory/reverie/internal/learn/inbox"
	"github.com/reverie-memory/reverie/internal/model"
	"github.com/reverie-memory/reverie/prompts"
	"github.com/reverie-memory/reverie/reflect"
)

// Learner learns from the sessions of a clone. All functions must be set.
type Learner struct {
	*dreams.Dreamer

	// Create creates the memory branch if it is missing.
	Create func(context.Context) error
	// Model returns the named model, or that of the settings for a task. It returns nil if no model
	// is wanted.
	Model func(ctx context.Context, task model.Task, name string) (*prompts.Model, prompts.Set, error)
	// Known returns the statements of at most n memories nearest to a text. private includes the
	// clone's private memories.
	Known func(ctx context.Context, text string, n int, private bool) ([]string, error)
}

// Notes that a Learner reports.
type (
	// Studied lists new reflections.
	Studied []Tally
	// Read sums up a model's reading that was kept.
	Read struct{ reflect.Reading }
	// Held is a model's reading without a candidate that the journal lacks.
	Held struct{ reflect.Reading }
	// Passed names a skipped session.
	Passed struct{ Err error }
	// Unusable names a session for which a model gave no usable answer.
	Unusable struct {
		Session string
		Err     error
	}
	// GaveUp means that a model is asked nothing more in this pass, after too many unusable answers.
	GaveUp struct {
		Model string
		Err   error
	}
	// NotAsked means that a model is asked nothing more in this pass, after an error of its server.
	NotAsked struct{ Err error }
	// NoRoom counts events of a session that did not fit into the questions.
	NoRoom struct {
		Session       string
		Events, Parts int
	}
	// Spent means that the budget of questions is spent.
	Spent struct{ Err error }
	// Step reports the progress of a pass over sessions. A pass ends with N == All.
	Step struct {
		N, All int
		Name   string
	}
)

// Result sums up what learning from some sessions changed.
type Result struct {
	Reflections int // new ones
	Found       int // statements in them, known ones too
	Accepted    []record.Operation
	Rest        []inbox.Waiting // operations proposed or confirmed now that wait
	Waiting     int             // all that wait

	studied Studied // not reported yet
}

// Learn studies sessions, dreams over every new reflection, and accepts the operations that the
// policy allows. The memory must exist.
func (l *Learner) Learn(ctx context.Context, names []string) (*Result, error) {
	r := &Result{}
	if err := l.StudyAll(ctx, names, r); err != nil {
		return r, err
	}
	return r, l.DreamAndAccept(ctx, r)
}

// BatchSessions is the number of sessions studied together.
const BatchSessions = 50

// StudyAll studies sessions and keeps the new reflections, a batch at a time. An interruption loses
// one batch.
func (l *Learner) StudyAll(ctx context.Context, names []string, r *Result) error {
	for some := range slices.Chunk(names, BatchSessions) {
		purges := purge.Mark(l.State)
		studied, err := l.Study(ctx, some, true)
		if err != nil {
			return err
		}
		fresh, err := l.KeepReflections(ctx, studied, purges)
		if err != nil {
			return err
		}
		r.Reflections += len(fresh)
		tallies := Tallies(fresh)
		for _, t := range tallies {
			r.Found += t.Found
		}
		r.studied = append(r.studied, tallies...)
	}
	return nil
}

// DreamAndAccept dreams over every unconsidered reflection, accepts the operations that the policy
// allows, and updates the memories of side branches.
func (l *Learner) DreamAndAccept(ctx context.Context, r *Result) error {
	l.Note(r.studied)
	touched := map[string]bool{}
	for considered := dreams.MaxReflections; considered == dreams.MaxReflections; {
		plan, n, err := l.Dream(ctx, dreams.SessionFilter{})
		if err != nil {
			return err
		}
		for _, o := range plan.Operations {
			touched[o.ID] = true
		}
		considered = n
	}
	var err error
	if r.Accepted, r.Rest, err = l.AcceptByPolicy(ctx); err != nil {
		return err
	}
	r.Waiting = len(r.Rest)
	r.Rest = slices.DeleteFunc(r.Rest, func(p inbox.Waiting) bool { return !touched[p.ID] })
	l.Land(ctx)
	return nil
}

// ReadAll has a model read sessions that the detectors studied, and adds the results to r. An agent
// reads its own.
func (l *Learner) ReadAll(ctx context.Context, m *prompts.Model, set prompts.Set, names []string, r *Result) error {
	if m.Client != "" {
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !strings.HasPrefix(name, m.Client+"/") })
	}
	more := &Result{}
	purges := purge.Mark(l.State)
	p := Pass{Learner: l, Model: m, Set: set, Keep: func(got reflect.Reading) error {
		more.Reflections++
		return l.KeepReading(ctx, got, purges)
	}}
	_, err := p.Over(ctx, names)
	if err != nil || more.Reflections == 0 {
		return err
	}
	if err := l.DreamAndAccept(ctx, more); err != nil {
		return err
	}
	again := map[string]bool{}
	for _, p := range more.Rest {
		again[p.ID] = true
	}
	r.Rest = append(slices.DeleteFunc(r.Rest, func(p inbox.Waiting) bool { return again[p.ID] }), more.Rest...)
	r.Accepted = append(r.Accepted, more.Accepted...)
	r.Reflections, r.Waiting = r.Reflections+more.Reflections, more.Waiting
	return nil
}

// Settings returns the user's settings, narrowed by the team's where there is a memory.
func (l *Learner) Settings(ctx context.Context) (config.Config, error) {
	c := l.Config
	err := l.View(ctx, func(_ *record.View, t clone.Team) error {
		c = t.Config
		return nil
	})
	if clone.NoMemory(err) {
		return l.Config, nil
	}
	return c, err
}
