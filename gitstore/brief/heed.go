package brief

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/guard"
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
}

// MuchOverruled counts the overrulings after which a person should review a guard.
const MuchOverruled = 2

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
			switch {
			case at < 0:
			case in.Ruling == string(hooks.Ask) && ran(session[at:], in.Call):
				h.Overruled++
			case slices.ContainsFunc(session[at+1:], func(e transcript.Event) bool { return matches(t, g.ID, e, top) }):
				h.Ignored++
			default:
				h.Heeded++
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
	dir := e.Dir
	if dir == "" {
		dir = top
	}
	return slices.ContainsFunc(t.Match(call, guard.Place{Top: top, Dir: dir}, e.Time), func(r guard.Rule) bool { return r.ID == id })
}
