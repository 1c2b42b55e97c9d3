package brief

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/guard"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// Heed counts the times that a memory acted at a call, and the outcomes in sessions that are kept.
type Heed struct {
	Acted     int `json:"acted"`
	Heeded    int `json:"heeded"`    // the session made no such call afterwards
	Ignored   int `json:"ignored"`   // it made one
	Overruled int `json:"overruled"` // a person let the call run
	Against   int `json:"-"`         // ignored or overruled at its present strength
}

// muchAgainst counts the calls against a guard after which a person should review it.
const muchAgainst = 2

// Advice returns the strength that a guard should have instead of its own, and why, or "".
func (h Heed) Advice(now record.Strength) (rather record.Strength, why string) {
	if h.Against < muchAgainst {
		return "", ""
	}
	switch now {
	case record.Say:
		return record.Hold, "ignored"
	case record.Hold:
		return record.Say, "insisted on"
	case record.Ask:
		return record.Say, "overruled"
	}
	return "", ""
}

func (h Heed) String() string {
	parts := []string{"acted " + plural.Count(h.Acted, "time", "times")}
	for _, p := range []struct {
		n    int
		name string
	}{{h.Heeded, "heeded"}, {h.Ignored, "ignored"}, {h.Overruled, "overruled"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", p.name, p.n))
		}
	}
	return strings.Join(parts, " · ")
}

// Heeds returns the counts by the ids of memories. events returns the events of a kept session, or
// nil. top is the work tree's.
func Heeds(all []Injection, t guard.Table, top string, events func(session string) []transcript.Event) map[string]Heed {
	kept := map[string][]transcript.Event{}
	heeds := map[string]Heed{}
	present := map[string]string{} // rulings by ids; "" for Say
	for _, r := range t.Rules() {
		if r.Strength != record.Say {
			present[r.ID] = string(r.Strength)
		}
	}
	for _, in := range all {
		if in.For != Calling && in.For != Called {
			continue
		}
		session, known := kept[in.Session]
		if !known {
			session = events(in.Session)
			kept[in.Session] = session
		}
		at := slices.IndexFunc(session, func(e transcript.Event) bool {
			return e.Kind == transcript.Call && e.CallID == in.Call && in.Call != ""
		})
		for _, g := range in.Items {
			h := heeds[g.ID]
			h.Acted++
			before := h.Ignored + h.Overruled
			switch {
			case at < 0:
			case in.Ruling == string(hooks.Ask) && ran(session[at:], in.Call):
				h.Overruled++
			case slices.ContainsFunc(session[at+1:], func(e transcript.Event) bool { return matches(t, g.ID, e, top) }):
				h.Ignored++
			default:
				h.Heeded++
			}
			if in.Ruling == present[g.ID] {
				h.Against += h.Ignored + h.Overruled - before
			}
			heeds[g.ID] = h
		}
	}
	return heeds
}

// KeptHeeds is Heeds with the sessions that are kept in a clone.
func KeptHeeds(r *reader.Reader, all []Injection, t guard.Table) map[string]Heed {
	return Heeds(all, t, r.Repo.WorkTree, func(session string) []transcript.Event {
		_, events, _ := r.Sessions.Load(session) // it may have expired
		return events
	})
}

// tallied bounds the sessions of a tally: those with guards are read whole.
const tallied = 50

// Tally counts what agents were given in the latest sessions, at most tallied.
type Tally struct {
	Memories int `json:"memories"` // distinct ones
	Sessions int `json:"sessions"`
	Heed
}

// TallyOf counts the injections of a clone.
func TallyOf(ctx context.Context, r *reader.Reader) (n Tally, err error) {
	all := Ledger{r.Repo, r.Scanner}.All(tallied)
	memories, sessions := map[string]bool{}, map[string]bool{}
	for _, in := range all {
		sessions[in.Session] = true
		for _, g := range in.Items {
			memories[g.ID] = true
		}
	}
	n.Memories, n.Sessions = len(memories), len(sessions)
	if !slices.ContainsFunc(all, func(in Injection) bool { return in.For == Calling || in.For == Called }) {
		return n, nil
	}
	t, err := ReadGuards(ctx, r)
	for _, h := range KeptHeeds(r, all, t) {
		n.Acted, n.Heeded, n.Ignored, n.Overruled = n.Acted+h.Acted, n.Heeded+h.Heeded, n.Ignored+h.Ignored, n.Overruled+h.Overruled
	}
	return n, err
}

// ran reports whether a call ended by itself.
func ran(events []transcript.Event, call string) bool {
	return slices.ContainsFunc(events, func(e transcript.Event) bool {
		return e.Kind == transcript.Result && e.CallID == call && (e.Outcome == transcript.OK || e.Outcome == transcript.Failed)
	})
}

// matches reports whether an event is a call at which a memory acts.
func matches(t guard.Table, id string, e transcript.Event, top string) bool {
	call := hooks.Call{Tool: e.Tool}
	switch {
	case e.Kind != transcript.Call:
		return false
	case e.Action == transcript.Run:
		call = hooks.Call{Tool: hooks.Bash, Command: e.Command}
	case e.Action == transcript.Edit:
		call = hooks.Call{Tool: hooks.Edit, Files: e.Paths}
	}
	dir := cmp.Or(e.Dir, top)
	return slices.ContainsFunc(t.Match(call, guard.Place{Top: top, Dir: dir}, e.Time), func(r guard.Rule) bool { return r.ID == id })
}

// Shown is a memory of an injection in its current state.
type Shown struct {
	Given
	Memory  record.Memory // zero where it is not here any more, or damaged
	Damaged bool          // its file is here, and cannot be read
}

// Look returns the current state of an injection's memories.
func Look(ctx context.Context, r *reader.Reader, in Injection) (all []Shown, err error) {
	err = r.View(ctx, func(v *record.View) error {
		for _, g := range in.Items {
			m, err := v.Find(g.ID)
			if errors.Is(err, record.ErrNoMemory) {
				m, err = reader.FindBeside(ctx, r, v, g.ID)
			}
			if err != nil && !errors.Is(err, record.ErrNoMemory) {
				return err
			}
			all = append(all, Shown{g, m, err != nil && damaged(v, g.ID)})
		}
		return nil
	})
	return all, err
}

// damaged reports whether a memory's file is here and cannot be read.
func damaged(v *record.View, id string) bool {
	return slices.ContainsFunc(v.Bad(), func(e *record.FormatError) bool {
		of, ok := record.MemoryID(e.Path)
		return ok && of == id
	})
}

// Uses lists the times that a memory was given.
type Uses struct {
	Memory  record.Memory // its id alone where it is not here any more
	Caveats reader.Caveats
	Times   []Use
	Heed    Heed
}

// Sessions counts the sessions that were given the memory.
func (u Uses) Sessions() int {
	names := map[string]bool{}
	for _, use := range u.Times {
		names[use.Injection.Session] = true
	}
	return len(names)
}

// Use is one time that a memory was given.
type Use struct {
	Injection Injection
	Given     Given
}

// UsesOf finds when a memory was given, by the beginning of its id.
func UsesOf(ctx context.Context, r *reader.Reader, all []Injection, id string) (u Uses, err error) {
	err = r.View(ctx, func(v *record.View) (err error) {
		if u.Memory, err = v.Find(id); err != nil {
			return err
		}
		caveats, err := r.Caveats(ctx, v)
		if err == nil {
			u.Caveats = caveats(u.Memory)
		}
		return err
	})
	if errors.Is(err, record.ErrNoMemory) {
		if own, missing := reader.FindOwn(ctx, r, id); missing == nil {
			u.Memory, err = own, nil
		}
	}
	switch {
	case errors.Is(err, record.ErrNoMemory) || errors.Is(err, gitstore.ErrNoStore):
		if u.Memory.ID = lostID(all, id); u.Memory.ID == "" {
			return u, err
		}
	case err != nil:
		return u, err
	}
	var its []Injection
	for _, in := range all {
		if i := slices.IndexFunc(in.Items, func(g Given) bool { return g.ID == u.Memory.ID }); i >= 0 {
			u.Times = append(u.Times, Use{in, in.Items[i]})
			its = append(its, in)
		}
	}
	if t, err := ReadGuards(ctx, r); err == nil {
		u.Heed = KeptHeeds(r, its, t)[u.Memory.ID]
	}
	return u, nil
}

// lostID returns the full id of a memory that was given and no longer exists, or "".
func lostID(all []Injection, prefix string) string {
	for _, in := range all {
		for _, g := range in.Items {
			if len(prefix) >= 4 && strings.HasPrefix(g.ID, prefix) {
				return g.ID
			}
		}
	}
	return ""
}
