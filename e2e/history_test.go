package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
)

// history records the users' requests and the answers.
type history struct {
	mu     sync.Mutex
	events []event
}

// event is one command. token is a word that only its text contains.
type event struct {
	clone, op, id, token string
	ok                   bool
}

func (h *history) add(e event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
}

func (h *history) size() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.events)
}

func (h *history) counts() map[string]int {
	n := map[string]int{}
	for _, e := range h.events {
		if e.ok {
			n[e.op+" ok"]++
		} else {
			n[e.op+" failed"]++
		}
	}
	return n
}

// known is a memory in a clone's final state.
type known struct {
	Status   string
	Text     string
	Variants []string
}

func (k known) texts() []string { return append([]string{k.Text}, k.Variants...) }

// check compares clones with the history as an independent observer: it reads the order of edits
// from git's own graph of commits.
func (h *history) check(t *testing.T, clones []*clone) {
	t.Helper()
	for _, c := range clones {
		all := map[string]known{}
		for line := range strings.Lines(must(t, c.dir, "list", "--all", "--json")) {
			var m struct {
				ID string
				known
			}
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatal(err)
			}
			all[m.ID] = m.known
		}
		for _, wrong := range h.wrong(all, readGraph(t, c.dir)) {
			t.Errorf("clone %s: %s", c.name, wrong)
		}
	}
}

// wrong lists the differences from the acknowledged state. A remembered or accepted memory exists.
// A forgotten one is retired for good, and no other is. A text stays, alone or as a variant, until
// a user who had it edits it, and does not return afterwards.
func (h *history) wrong(all map[string]known, g graph) []string {
	var out []string
	forgotten, edits := map[string]bool{}, map[string][]event{}
	for _, e := range h.events {
		switch {
		case e.op == "forget":
			forgotten[e.id] = true // even an unacknowledged one may have been done
		case e.op == "edit" || e.op == "remember" && e.ok:
			edits[e.id] = append(edits[e.id], e)
		}
	}
	for _, e := range h.events {
		m, there := all[e.id]
		switch {
		case !e.ok || e.op == "sync":
			continue
		case !there:
			out = append(out, "acknowledged and gone: "+e.op+" "+e.token+" "+e.id)
			continue
		case e.op == "forget" && m.Status != "retired":
			out = append(out, "forgotten and "+m.Status+": "+e.id)
		case m.Status == "retired" && !forgotten[e.id]:
			out = append(out, "retired by nobody: "+e.id)
		}
		if e.op != "edit" && e.op != "remember" {
			continue
		}
		commit := g.by[e.token]
		if commit == "" {
			out = append(out, "acknowledged, and no commit has it: "+e.op+" "+e.token+" "+e.id)
			continue
		}
		seen := slices.ContainsFunc(edits[e.id], func(later event) bool {
			return later.token != e.token && g.by[later.token] != "" && g.reaches(g.by[later.token], commit)
		})
		has := slices.ContainsFunc(m.texts(), func(text string) bool { return strings.HasPrefix(text, e.token+" ") })
		switch {
		case !seen && !has:
			out = append(out, "nobody edited it, and the text is gone: "+e.token+" of "+e.id+": "+strings.Join(m.texts(), " | "))
		case seen && has:
			out = append(out, "edited away, and back: "+e.token+" of "+e.id+": "+strings.Join(m.texts(), " | "))
		}
	}
	return out
}

// graph holds a repository's commits.
type graph struct {
	parents map[string][]string
	by      map[string]string   // commit by the token of its subject
	below   map[string][]uint64 // reachable commits, computed on demand: one bit per commit
	number  map[string]int      // of a commit's bit
}

func readGraph(t *testing.T, dir string) graph {
	t.Helper()
	g := newGraph()
	for line := range strings.Lines(git(t, dir, "log", "--format=%H%x09%P%x09%s", "reverie/memory")) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		g.parents[fields[0]] = strings.Fields(fields[1])
		if op, text, ok := strings.Cut(fields[2], ": "); ok && (op == "remember" || op == "edit") {
			token, _, _ := strings.Cut(text, " ")
			g.by[token] = fields[0]
		}
	}
	return g
}

func newGraph() graph {
	return graph{parents: map[string][]string{}, by: map[string]string{}, below: map[string][]uint64{}, number: map[string]int{}}
}

// reaches reports whether a commit has another in its history.
func (g graph) reaches(from, to string) bool {
	bit := func(commit string) (word int, mask uint64) {
		n, known := g.number[commit]
		if !known {
			n = len(g.number)
			g.number[commit] = n
		}
		return n / 64, 1 << (n % 64)
	}
	below := g.below[from]
	if below == nil {
		below = make([]uint64, len(g.parents)/64+2)
		seen := func(commit string) bool {
			word, mask := bit(commit)
			was := below[word]&mask != 0
			below[word] |= mask
			return was
		}
		seen(from)
		for todo := []string{from}; len(todo) > 0; {
			c := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			for _, p := range g.parents[c] {
				if !seen(p) {
					todo = append(todo, p)
				}
			}
		}
		g.below[from] = below
	}
	word, mask := bit(to)
	return below[word]&mask != 0
}

// A checker that never complains is worthless.
func TestHistoryCheckerComplains(t *testing.T) {
	h := &history{events: []event{
		{op: "remember", id: "1", token: "x1", ok: true},
		{op: "edit", id: "1", token: "x2", ok: true},
		{op: "edit", id: "1", token: "x3", ok: true},
		{op: "remember", id: "2", token: "y1", ok: true},
		{op: "forget", id: "2", ok: true},
		{op: "accept", id: "3", ok: true},
		{op: "remember", id: "4", token: "z1"}, // was never acknowledged
	}}
	g := newGraph()
	g.by = map[string]string{"x1": "A", "x2": "B", "x3": "C", "y1": "D"}
	// x2 and x3 did not know each other
	g.parents = map[string][]string{"A": nil, "B": {"A"}, "C": {"A"}, "D": {"B", "C"}}
	state := func(texts []string, second, third string) map[string]known {
		m := known{Status: "contested", Text: texts[0], Variants: texts[1:]}
		all := map[string]known{"1": m, "2": {Status: second, Text: "y1 is so"}}
		if third != "" {
			all["3"] = known{Status: third}
		}
		return all
	}
	for _, c := range []struct {
		all  map[string]known
		want string
	}{
		{state([]string{"x2 is so", "x3 is so"}, "retired", "active"), ""},
		{state([]string{"x2 is so"}, "retired", "active"), "x3"},
		{state([]string{"x1 is so", "x2 is so", "x3 is so"}, "retired", "active"), "edited away, and back: x1"},
		{state([]string{"x2 is so", "x3 is so"}, "active", "active"), "forgotten and active"},
		{state([]string{"x2 is so", "x3 is so"}, "retired", ""), "acknowledged and gone: accept"},
		{state([]string{"x2 is so", "x3 is so"}, "retired", "retired"), "retired by nobody"},
	} {
		got := strings.Join(h.wrong(c.all, g), "\n")
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("the checker says %q, want %q", got, c.want)
		}
	}
	h.events = append(h.events, event{op: "remember", id: "1", token: "lost", ok: true})
	if got := h.wrong(state([]string{"x2 is so", "x3 is so"}, "retired", "active"), g); len(got) != 1 || !strings.Contains(got[0], "no commit has it") {
		t.Errorf("the checker says %q of a commit that is gone", got)
	}
}
