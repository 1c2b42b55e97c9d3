// Package reflect studies a session: it turns session events into a reflection.
//
// Begin with Study, which needs no model. Detectors look for a person's lasting statements, and for
// the lessons of commands and their outcomes. A gate drops findings that are not worth keeping, and
// counts the reasons. Study is a pure function, safe for concurrent use; its cost is linear in the
// size of the events.
package reflect

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"sort"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// Detectors is the version of the detectors. It grows when they find different things in the same
// session.
const Detectors = 8

// A detector finds candidates of one kind in a session. It may offer too much: the gate decides.
type detector struct {
	name string
	find func(*view) []finding
}

// detectors run in this order. If two say the same, the first keeps its name.
var detectors = []detector{
	{"correction", findCorrections},
	{"said", findSaid},
	{"fix", findFixes},
	{"hook", findHooks},
	{"variant", findVariants},
	{"separator", findSeparators},
	{"deadend", findDeadEnds},
	{"routine", findRoutines},
	{"audit", findAudited},
	{"diagnosis", findDiagnoses},
	{record.Order, findOrders},
}

// maxCandidates bounds the proposals of one session: more is noise by itself.
const maxCandidates = 24

// Study returns what the detectors find in one session. The events must have been redacted.
func Study(s transcript.Session, events []transcript.Event) record.Reflection {
	return studyOf(s, events, digest(s, events))
}

// Examine returns what Study and Failures return, at little more than the cost of Study.
func Examine(s transcript.Session, events []transcript.Event) (record.Reflection, []Failed) {
	v := digest(s, events)
	return studyOf(s, events, v), failuresOf(v)
}

func studyOf(s transcript.Session, events []transcript.Event, v *view) record.Reflection {
	r := record.Reflection{
		Client:    s.Client,
		Session:   s.ID,
		Parent:    s.Parent,
		Hash:      Hash(events),
		Events:    len(events),
		Started:   s.Started,
		Ended:     s.Ended,
		Commit:    s.Commit,
		Branch:    s.Branch,
		Detectors: Detectors,
		Outcome:   outcome(events),
	}
	g := newGate(v)
	for _, d := range detectors {
		for _, f := range d.find(v) {
			f.Detector = d.name
			g.offer(f)
		}
	}
	g.settle()
	r.Candidates = g.kept
	if len(g.dropped) > 0 {
		r.Dropped = g.dropped
	}
	r.Observations = observe(v)
	return r
}

// Hash returns the SHA-256, in hex, of the events as JSON, one object per line in the form of
// transcript.Event's field tags. Equal events give equal hashes, whichever program wrote them.
func Hash(events []transcript.Event) string {
	h := sha256.New()
	enc := json.NewEncoder(h)
	enc.SetEscapeHTML(false)
	for i := range events {
		e := events[i]
		if !e.Time.IsZero() {
			e.Time = e.Time.UTC()
		}
		if err := enc.Encode(&e); err != nil {
			// strings, numbers and times always encode, years past 9999 aside
			panic("hash session event: " + err.Error())
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// outcome returns the end of a session: completed, interrupted, failed, or "" if unknown.
func outcome(events []transcript.Event) string {
	for i := len(events) - 1; i >= 0; i-- {
		e := &events[i]
		if e.Agent != "" {
			continue
		}
		switch e.Kind {
		case transcript.End, transcript.Error:
			switch e.Outcome {
			case transcript.OK:
				return "completed"
			case transcript.Failed:
				return "failed"
			case transcript.Aborted, transcript.Denied:
				return "interrupted"
			}
			if e.Kind == transcript.Error {
				return "failed"
			}
		case transcript.Assistant:
			return "completed"
		case transcript.Call:
			return "interrupted"
		case transcript.Result:
			if e.Outcome == transcript.Denied || e.Outcome == transcript.Aborted {
				return "interrupted"
			}
			return ""
		case transcript.User:
			if e.Origin == transcript.Typed {
				return ""
			}
		}
	}
	return ""
}

// sortCandidates brings candidates into the order of the session.
func sortCandidates(list []record.Candidate) {
	sort.SliceStable(list, func(i, j int) bool {
		return list[i].Evidence[0].Event < list[j].Evidence[0].Event
	})
}
