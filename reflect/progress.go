package reflect

import (
	"path"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// Progress describes the present state of a session: its requests and results.
type Progress struct {
	Asked   []string // the user's typed words, oldest first
	Changed []string // edited files, relative to the session's directory, sorted
	Failing []string // commands whose last run failed, in the order of those runs
	Passing []string // commands whose last run passed, likewise
	Said    []string // the user's words that are meant to last
}

// maxStood bounds the events examined, from the end: the agent waits for the answer.
const maxStood = 10_000

// Stand returns the progress of a session after some events. It depends on them alone. The events
// must have been redacted.
func Stand(s transcript.Session, events []transcript.Event) Progress {
	var p Progress
	events = events[max(0, len(events)-maxStood):]
	v := digest(s, events)
	for i := range events {
		e := &events[i]
		switch {
		case e.Kind == transcript.User && e.Origin == transcript.Typed && e.Agent == "":
			if text := strings.TrimSpace(e.Text); text != "" {
				p.Asked = append(p.Asked, text)
			}
		case e.Kind == transcript.Call && e.Action == transcript.Edit:
			for _, file := range e.Paths {
				if file = edited(file, s.Dir); file != "" && !slices.Contains(p.Changed, file) {
					p.Changed = append(p.Changed, file)
				}
			}
		}
	}
	slices.Sort(p.Changed)
	last := map[string]transcript.Outcome{}
	var order []string // of the last runs
	for _, a := range v.acts {
		if len(a.step.words) == 0 || a.outcome == transcript.Unknown || looks(a.step) || a.step.writes || !worthFixing(a.step) {
			continue
		}
		key := a.step.key
		if len(a.step.env) > 0 {
			key = strings.Join(a.step.env, " ") + " " + key
		}
		if a.step.dir != "" {
			key = "(in " + a.step.dir + ") " + key
		}
		last[key] = a.outcome
		order = append(slices.DeleteFunc(order, func(k string) bool { return k == key }), key)
	}
	for _, key := range order {
		if last[key] == transcript.Failed {
			p.Failing = append(p.Failing, key)
		} else {
			p.Passing = append(p.Passing, key)
		}
	}
	for _, c := range Study(s, events).Candidates {
		if c.How == record.Said && !record.Doubtful(c.Evidence) {
			p.Said = append(p.Said, c.Text)
		}
	}
	return p
}

// edited returns a file relative to the session's directory, or its base name outside of it,
// because a machine's folders are private.
func edited(file, dir string) string {
	rel := strings.TrimPrefix(path.Clean(strings.ReplaceAll(relative(file, dir), "\\", "/")), "./")
	switch {
	case rel == "." || rel == "":
		return ""
	case strings.HasPrefix(rel, "/"), strings.HasPrefix(rel, ".."), strings.HasPrefix(rel, "~"), len(rel) > 1 && rel[1] == ':':
		return path.Base(rel)
	}
	return rel
}
