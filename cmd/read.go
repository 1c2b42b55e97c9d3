package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/prompts"
	"github.com/reverie-memory/reverie/prompts/door"
	"github.com/reverie-memory/reverie/reflect"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// A model reads sessions after the detectors have studied them. It takes minutes where they take milliseconds, so what
// they found is kept first, and each session's reading is kept when it is done: whatever ends it loses one question.

// readings is what a model's pass over some sessions came to.
type readings struct {
	read     int // sessions
	left     int // that the pass did not come to
	unusable int // whose answers were of no use
}

// maxUnusable is after how many sessions in a row without a usable answer a pass gives the model up.
const maxUnusable = 5

// errCalled ends a question that was not asked because the worker has other things to do first.
var errCalled = errors.New("there is something else to do first")

// readAll has a model read sessions, one after the other, and hands each reflection to keep when it is there. What ends
// the pass early and is no fault of a session's is said, and is no error; ctx's end is one.
func (w *workspace) readAll(ctx context.Context, m *prompts.Model, set prompts.Set, names []string, keep func(record.Reflection) error) (readings, error) {
	var all readings
	unread := w.openUnread(m)
	inARow := 0
	for i, name := range names {
		all.left = len(names) - i
		r, err := w.readOne(ctx, m, set, name)
		switch {
		case ctx.Err() != nil:
			return all, ctx.Err()
		case errors.Is(err, reflect.ErrUnusable):
			all.unusable++
			if inARow++; inARow == maxUnusable {
				w.env.warn("%s gives nothing usable: %v", m.Name, err)
				return all, unread.failed(r.Hash)
			}
			w.env.say("reflect  %s: %v", name, err)
			if err := unread.failed(r.Hash); err != nil {
				return all, err
			}
			continue
		case errors.Is(err, errCalled):
			return all, nil
		case errors.Is(err, door.ErrSpent):
			return all, w.tellSpent(ctx, err)
		case errors.Is(err, errModel):
			w.env.warn("the model is not asked any more: %v", err)
			return all, nil
		case err != nil:
			return all, err
		}
		inARow = 0
		if err := keep(r); err != nil {
			return all, err
		}
		all.read++
	}
	all.left = 0
	return all, nil
}

// errModel marks an error of the model's, or of its server's, that the next session would meet too.
var errModel = errors.New("no answer")

// readOne has a model read one session. With reflect.ErrUnusable the reflection is the detectors'.
func (w *workspace) readOne(ctx context.Context, m *prompts.Model, set prompts.Set, name string) (record.Reflection, error) {
	kept, events, err := w.sessions.Load(name)
	if err != nil {
		return record.Reflection{}, fmt.Errorf("reflect: %w", err)
	}
	base := reflect.Study(kept.Session, events)
	known, err := w.knownAbout(ctx, events)
	if err != nil {
		return base, err
	}
	asking := *m
	asking.Ask = func(ctx context.Context, r prompts.Rendered) (prompts.Answer, error) {
		a, err := m.Ask(ctx, r)
		switch {
		case err == nil || ctx.Err() != nil || errors.Is(err, door.ErrSpent) || errors.Is(err, errCalled):
		case badAnswer(err):
			err = fmt.Errorf("%w: %w", reflect.ErrUnusable, err)
		default:
			err = fmt.Errorf("%w: %w", errModel, err)
		}
		return a, err
	}
	got, err := reflect.Read(ctx, &asking, set, kept.Session, events, base, known)
	if errors.Is(err, reflect.ErrNoRoom) {
		err = fmt.Errorf("%w: %w", errModel, err)
	}
	if err != nil {
		return base, err
	}
	return got.Reflection, nil
}

// maxKnown is how many memories a model is told not to find again.
const maxKnown = 20

// knownAbout are the statements of memories that are nearest to what a session's user said.
func (w *workspace) knownAbout(ctx context.Context, events []transcript.Event) ([]string, error) {
	var said strings.Builder
	for _, e := range events {
		if e.Kind == transcript.User && e.Origin == transcript.Typed && said.Len() < 4<<10 {
			said.WriteString(e.Text + "\n")
		}
	}
	var known []string
	err := w.view(ctx, func(v *record.View) error {
		known = nil
		live := slices.DeleteFunc(v.Memories(), func(m record.Memory) bool { return !m.Live(w.env.Now()) })
		for _, h := range recall.Search(live, said.String(), maxKnown) {
			known = append(known, h.Memory.Text)
		}
		return nil
	})
	if errors.Is(err, gitstore.ErrNoStore) && !errors.Is(err, gitstore.ErrDeleted) {
		return nil, nil
	}
	return known, err
}

// tellSpent says once a day that the budget is spent, and each time to a person who asked.
func (w *workspace) tellSpent(ctx context.Context, spent error) error {
	first, err := w.budget().TellOnce(ctx)
	if first || !w.env.background {
		w.env.warn("%v; what is left waits for tomorrow", spent)
	}
	return err
}

// unreadSessions are the names of the kept sessions that no model has read as they are now, the oldest first, without those that
// gave m nothing usable twice.
func (w *workspace) unreadSessions(ctx context.Context, m *prompts.Model) ([]string, error) {
	kept, err := w.sessions.List()
	if err != nil {
		w.env.warn("%v", err)
	}
	read := map[string]bool{}
	err = w.view(ctx, func(v *record.View) error {
		all, err := v.Reflections()
		for _, r := range all {
			if r.Model != "" {
				read[r.Hash] = true
			}
		}
		return w.tolerate(err)
	})
	if err != nil && (!errors.Is(err, gitstore.ErrNoStore) || errors.Is(err, gitstore.ErrDeleted)) {
		return nil, err
	}
	unread := w.openUnread(m)
	var names []string
	for _, k := range kept {
		if !read[k.Hash] && k.Hash != "" && unread.Failed[k.Hash] < maxAttempts {
			names = append(names, k.Name())
		}
	}
	return names, nil
}

// unread remembers which sessions gave a model nothing usable, so that it is not asked about them for ever.
type unread struct {
	Model  string         `json:"model"`  // digest; another model begins anew
	Failed map[string]int `json:"failed"` // hash of a session's events → attempts

	workspace *workspace
}

const (
	unreadFile  = "unread.json"
	maxAttempts = 2
	maxUnread   = 10_000 // of Failed; beyond, it begins anew
)

func (w *workspace) openUnread(m *prompts.Model) *unread {
	u := &unread{workspace: w}
	data, err := file.Read(filepath.Join(w.state, unreadFile), 4<<20)
	if err != nil || json.Unmarshal(data, u) != nil || u.Model != m.Digest || len(u.Failed) > maxUnread {
		*u = unread{Model: m.Digest, workspace: w}
	}
	if u.Failed == nil {
		u.Failed = map[string]int{}
	}
	return u
}

func (u *unread) failed(hash string) error {
	u.Failed[hash]++
	data, err := json.Marshal(u)
	if err != nil {
		return err
	}
	return u.workspace.repo.WriteState(unreadFile, data, false)
}

// askInBackground has the model of the settings read the sessions that it has not, and say what follows for the memory when
// that is due, until somebody calls the worker.
func (w *workspace) askInBackground(ctx context.Context, live map[string]bool) error {
	if w.narrowed.Background == "off" || w.config.Model.Name == config.Off || w.budget().Spent() != nil {
		return nil
	}
	m, set, err := w.model(ctx, "")
	if m == nil || err != nil {
		return err
	}
	giving := *m
	giving.Ask = func(ctx context.Context, r prompts.Rendered) (prompts.Answer, error) {
		if w.called() {
			return prompts.Answer{}, errCalled
		}
		return m.Ask(ctx, r)
	}
	names, err := w.unreadSessions(ctx, m)
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return live[name] })
	if len(names) > 0 {
		if _, err := w.ensure(ctx); err != nil {
			return err
		}
	}
	all, err := w.readAll(ctx, &giving, set, names, func(r record.Reflection) error {
		_, err := w.keepReflections(ctx, []record.Reflection{r})
		return err
	})
	if all.read > 0 && err == nil {
		err = w.conclude(ctx, &lesson{})
	}
	if err != nil || all.left > 0 {
		return err
	}
	due, _, err := w.dreamDue(ctx, true)
	if !due || err != nil {
		if errors.Is(err, gitstore.ErrNoStore) {
			err = nil
		}
		return err
	}
	_, err = w.consider(ctx, &giving, set, dream.Result{}, false)
	switch {
	case errors.Is(err, errCalled):
		return nil
	case errors.Is(err, door.ErrSpent):
		return w.tellSpent(ctx, err)
	}
	return err
}
