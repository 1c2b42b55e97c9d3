package cmd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/prompts"
	"github.com/reverie-memory/reverie/prompts/door"
	"github.com/reverie-memory/reverie/reflect"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// A model reads sessions after the detectors have studied them. It takes minutes where they take milliseconds, so what
// they found is kept first, and each session's reading is kept when it is done: whatever ends it loses one question.

// readings is what a model's pass over some sessions came to.
type readings struct {
	read int // sessions
	left int // that the pass did not come to
}

// pass is one go of a model through sessions.
type pass struct {
	*workspace
	model *prompts.Model
	set   prompts.Set
	keep  func(reflect.Reading) error // what becomes of a reading; it may be called again
	dry   bool                        // nothing is kept, not even that a session gave nothing
}

// maxUnusable is after how many sessions in a row without a usable answer a pass gives the model up.
const maxUnusable = 5

// over reads sessions, one after the other, and hands each reading to keep when it is there. A session of which nothing can
// be had is named, and the next one read. What ends the pass early and is no fault of a session's is said, and is no
// error; ctx's end is one.
func (p pass) over(ctx context.Context, names []string) (readings, error) {
	var all readings
	unread := p.openUnread(p.model)
	steps := term.NewSteps(&p.env.Terminal, len(names))
	defer steps.Done()
	inARow := 0
	for i, name := range names {
		all.left = len(names) - i
		steps.Step(i, term.Visible(name))
		purges := purge.Mark(p.State)
		hash, got, err := p.read(ctx, name)
		if err == nil {
			err = purge.Since(p.State, purges)
		}
		switch {
		case ctx.Err() != nil:
			return all, ctx.Err()
		case errors.Is(err, reflect.ErrUnusable):
			if !p.dry {
				if err := unread.failed(hash); err != nil {
					return all, err
				}
			}
			if inARow++; inARow == maxUnusable {
				p.env.Warn("%s gives nothing usable: %v", p.model.Name, err)
				return all, nil
			}
			if p.env.background {
				p.env.Warn("%s: %v", name, err)
			} else {
				p.env.Say("reflect  %s: %v", name, err)
			}
			continue
		case errors.Is(err, errSession):
			p.env.Warn("%v", err)
			continue
		case errors.Is(err, door.ErrSpent):
			return all, p.tellSpent(ctx, err)
		case errors.Is(err, errModel):
			p.env.Warn("the model is not asked any more: %v", err)
			return all, nil
		case err != nil:
			return all, err
		}
		inARow = 0
		if got.Left > 0 {
			p.env.Say("reflect  %s: %s had no room in %s", name, term.Count(got.Left, "event", "events"), term.Count(got.Parts, "question", "questions"))
		}
		if err := p.keep(got); err != nil {
			return all, err
		}
		all.read++
	}
	all.left = 0
	return all, nil
}

var (
	// errModel marks an error of the model's, or of its server's, that the next session would meet too.
	errModel = errors.New("no answer")
	// errSession marks an error that is a session's own.
	errSession = errors.New("the session is passed over")
)

// read has the model read one session; hash is that of its events.
func (p pass) read(ctx context.Context, name string) (hash string, got reflect.Reading, err error) {
	kept, events, err := p.Sessions.Load(name)
	if err != nil {
		return "", got, fmt.Errorf("%w: %w", errSession, err)
	}
	base := reflect.Study(kept.Session, events)
	known, err := p.knownAbout(ctx, events, true)
	if err != nil {
		return base.Hash, got, err
	}
	asking := *p.model
	asking.Ask = func(ctx context.Context, r prompts.Rendered) (prompts.Answer, error) {
		a, err := p.model.Ask(ctx, r)
		switch {
		case err == nil || ctx.Err() != nil || errors.Is(err, door.ErrSpent):
		case badAnswer(err):
			err = fmt.Errorf("%w: %w", reflect.ErrUnusable, err)
		default:
			err = fmt.Errorf("%w: %w", errModel, err)
		}
		return a, err
	}
	got, err = reflect.Read(ctx, &asking, p.set, kept.Session, events, base, known)
	if errors.Is(err, reflect.ErrNoRoom) {
		err = fmt.Errorf("%w: %w", errModel, err)
	}
	return base.Hash, got, err
}

// keepReading writes a reading to the journal, unless a purge came after the mark: what it quotes may be what went. Told is what
// the model added.
func (w *workspace) keepReading(ctx context.Context, got reflect.Reading, purges string) error {
	fresh, err := w.keepReflections(ctx, []record.Reflection{got.Reflection}, purges)
	if err == nil && len(fresh) > 0 {
		refused := 0
		for _, n := range got.Refused {
			refused += n
		}
		w.env.Say("reflect  %s/%s by %s: %s found, %d confirmed, %d refused", got.Reflection.Client, got.Reflection.Session, got.Reflection.Model,
			term.Count(got.Found, "candidate", "candidates"), got.Confirmed, refused)
	}
	return err
}

// maxKnown is how many memories a model is told not to find again.
const maxKnown = 20

// knownAbout are the statements of memories that are nearest to what a session's user said: those that agents are given, and
// where private is true this clone's own.
func (w *workspace) knownAbout(ctx context.Context, events []transcript.Event, private bool) ([]string, error) {
	var said strings.Builder
	for _, e := range events {
		if e.Kind == transcript.User && e.Origin == transcript.Typed && said.Len() < 4<<10 {
			said.WriteString(e.Text + "\n")
		}
	}
	var known []string
	defer w.OpenIndex()()
	err := w.view(ctx, func(v *record.View) error {
		known = nil
		return w.SearchGiven(ctx, v, false, recall.Limits{}, func(x *recall.Index, _ func() *recall.Index) error {
			known = nil
			keep := x.Keep(recall.Query{}, w.env.Now())
			for _, f := range x.Rank(recall.Request{Text: said.String(), N: 4 * maxKnown, Keep: keep}) {
				m, err := x.Memory(f.Ref)
				if err != nil {
					return err
				}
				if len(known) < maxKnown && (private || !m.Private) {
					known = append(known, m.Text)
				}
			}
			return nil
		})
	})
	if clone.NoMemory(err) {
		return nil, nil
	}
	return known, err
}

// tellSpent says once a day that the budget is spent, and each time to a person who asked.
func (w *workspace) tellSpent(ctx context.Context, spent error) error {
	first, err := w.Budget().TellOnce(ctx)
	if first || !w.env.background {
		w.env.Warn("%v; what is left waits for tomorrow", spent)
	}
	return err
}

// unreadSessions are the names of the kept sessions that m has not read as they are now, by the prompt of set, the oldest first,
// without those that gave it nothing usable twice. Without m they are those that no model has read.
func (w *workspace) unreadSessions(ctx context.Context, m *prompts.Model, set prompts.Set) ([]string, error) {
	kept, err := w.Sessions.List()
	if err != nil {
		w.env.Warn("%v", err)
	}
	ids := map[string]bool{}
	err = w.view(ctx, func(v *record.View) (err error) {
		ids, err = v.ReflectionIDs()
		return err
	})
	if err != nil && !clone.NoMemory(err) {
		return nil, err
	}
	by := record.Reflection{}
	if m != nil {
		by.Model, by.Digest = m.Name, m.Digest
		if by.Prompt, err = reflect.PromptHash(set); err != nil {
			return nil, err
		}
	}
	read := map[string]bool{}
	for id := range ids {
		read[record.ReadOf(id)] = true
	}
	failed := w.openUnread(m).Failed
	var names []string
	for _, k := range kept {
		by.Client, by.Session, by.Hash = k.Client, k.ID, k.Hash
		was := ids[by.ID()]
		if m == nil {
			was = read[by.ID()]
		}
		if k.Hash != "" && !was && failed[k.Hash] < maxAttempts {
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

// openUnread is what is remembered of a model; without one, of the last.
func (w *workspace) openUnread(m *prompts.Model) *unread {
	u := &unread{}
	data, err := file.Read(filepath.Join(w.State, unreadFile), 4<<20)
	if err != nil || json.Unmarshal(data, u) != nil || m != nil && u.Model != m.Digest || len(u.Failed) > maxUnread {
		*u = unread{}
		if m != nil {
			u.Model = m.Digest
		}
	}
	u.workspace = w
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
	return u.workspace.Repo.WriteState(unreadFile, data, false)
}

// askInBackground has the model of the settings read the sessions that none has, and say what follows for the memory when that
// is due. It finds the model only where there is something to ask.
func (w *workspace) askInBackground(ctx context.Context, live map[string]bool) error {
	if err := w.Narrow(ctx); err != nil {
		return err
	}
	if w.Settings.Config.Background == "off" || w.Settings.Config.Model.Name == config.Off {
		return nil
	}
	names, err := w.unreadSessions(ctx, nil, prompts.Set{})
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return live[name] })
	due, _, err := w.dreamDue(ctx, true)
	if clone.NoMemory(err) {
		due, err = false, nil
	}
	if err != nil || len(names) == 0 && !due {
		return err
	}
	if spent := w.Budget().Spent(); spent != nil {
		return w.tellSpent(ctx, spent)
	}
	m, set, err := w.model(ctx, "")
	if m == nil || err != nil {
		return err
	}
	if len(names) > 0 {
		if _, err := w.ensure(ctx); err != nil {
			return err
		}
	}
	purges := purge.Mark(w.State)
	p := pass{workspace: w, model: m, set: set, keep: func(got reflect.Reading) error { return w.keepReading(ctx, got, purges) }}
	all, err := p.over(ctx, names)
	if all.read > 0 && err == nil {
		if err = w.conclude(ctx, &lesson{}); err == nil {
			due, _, err = w.dreamDue(ctx, true)
		}
	}
	if err != nil || all.left > 0 || !due {
		return err
	}
	return w.considerInBackground(ctx, m, set)
}

// considerInBackground asks what follows for the memory. Where the model gave nothing usable about the same reflections before, it
// is not asked again until there are others.
func (w *workspace) considerInBackground(ctx context.Context, m *prompts.Model, set prompts.Set) error {
	about, err := w.aboutToConsider(ctx)
	unread := w.openUnread(m)
	if err != nil || unread.Failed[about] >= maxAttempts {
		return err
	}
	_, err = w.consider(ctx, m, set, lately{}, dream.Result{}, false)
	switch {
	case errors.Is(err, door.ErrSpent):
		return w.tellSpent(ctx, err)
	case err != nil && ctx.Err() == nil:
		return errors.Join(err, unread.failed(about))
	}
	return err
}

// aboutToConsider names the reflections that a model would be asked about.
func (w *workspace) aboutToConsider(ctx context.Context) (string, error) {
	var about string
	err := w.view(ctx, func(v *record.View) error {
		in, err := w.newReflections(ctx, v, w.Settings.Config, byModel, lately{})
		h := sha256.New()
		for _, r := range in.New {
			h.Write([]byte(r.ID() + "\n"))
		}
		about = "dream " + hex.EncodeToString(h.Sum(nil))
		return err
	})
	return about, err
}
