package reflect

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/pattern"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// Progress describes the present state of a session: its requests and results.
type Progress struct {
	Asked   []string // the user's typed words, oldest first
	Changed []string // edited files, relative to the session's directory, sorted
	Failing []string // commands whose last run failed, in the order of those runs
	Passing []string // commands whose last run passed, likewise
	Said    []string // the user's words that are meant to last, see Lasting
	Todo    []string // open entries of the agent's newest list of tasks
	Broken  bool     // the last of these commands failed, git's own aside
}

// maxStood bounds the events examined, from the end: the agent waits for the answer.
const maxStood = 10_000

// Stand returns the progress of a session after some events, without Said. It depends on them
// alone. The events must have been redacted.
func Stand(s transcript.Session, events []transcript.Event) Progress {
	var p Progress
	events = events[max(0, len(events)-maxStood):]
	v := actsOf(s, events)
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
		case e.Kind == transcript.Call && e.Agent == "" && taskLists.Has(strings.ToLower(e.Tool)):
			if open, ok := openTasks(e.Text); ok {
				p.Todo = open
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
		if a.step.words[0] != "git" {
			p.Broken = a.outcome == transcript.Failed
		}
		order = append(slices.DeleteFunc(order, func(k string) bool { return k == key }), key)
	}
	for _, key := range order {
		if last[key] == transcript.Failed {
			p.Failing = append(p.Failing, key)
		} else {
			p.Passing = append(p.Passing, key)
		}
	}
	return p
}

// Lasting returns the user's words in a session that are meant to last.
func Lasting(s transcript.Session, events []transcript.Event) (said []string) {
	for _, c := range Study(s, events[max(0, len(events)-maxStood):]).Candidates {
		if c.How == record.Said && !record.Doubtful(c.Evidence) {
			said = append(said, c.Text)
		}
	}
	return said
}

// taskLists names the agents' tools that replace the whole list of tasks, in lower case.
var taskLists = pattern.NewWords("todowrite update_plan write_todos")

// openTasks returns the entries of a list of tasks that are neither done nor dropped. ok is false
// if the input of the tool is no such list.
func openTasks(input string) (open []string, ok bool) {
	type task struct{ Content, Step, Description, Status string }
	var list struct{ Todos, Plan []task }
	if json.Unmarshal([]byte(input), &list) != nil || list.Todos == nil && list.Plan == nil {
		return nil, false
	}
	for _, t := range append(list.Todos, list.Plan...) {
		switch t.Status {
		case "completed", "cancelled":
			continue
		}
		if name := strings.TrimSpace(cmp.Or(t.Content, t.Step, t.Description)); name != "" {
			open = append(open, name)
		}
	}
	return open, true
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
