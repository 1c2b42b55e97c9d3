package record

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"pgregory.net/rapid"
)

// world models many clones: the commits of one file and the tip of each clone. Merges follow
// gitstore when it asks for every version.
type world struct {
	t        *rapid.T
	path     string
	versions []gitstore.Version
	contents map[gitstore.ID][]byte
	past     []map[int]bool // commit → all before it, and itself
	tips     []int
	clock    time.Time
}

func (w *world) content(data []byte) gitstore.ID {
	if data == nil {
		return ""
	}
	id := gitstore.ID(data)
	w.contents[id] = data
	return id
}

func (w *world) commit(id gitstore.ID, parents ...int) int {
	past := map[int]bool{len(w.versions): true}
	for _, p := range parents {
		maps.Copy(past, w.past[p])
	}
	w.versions, w.past = append(w.versions, gitstore.Version{ID: id, Parents: parents}), append(w.past, past)
	return len(w.versions) - 1
}

// merged returns the content of a merge of two commits.
func (w *world) merged(a, b int) gitstore.ID {
	o, err := resolve(context.Background(), w.path, gitstore.History{Versions: w.versions, Ours: a, Theirs: b,
		Read: func(id gitstore.ID) ([]byte, error) { return w.contents[id], nil }})
	if err != nil {
		w.t.Fatal(err)
	}
	if o.ID != "" || o.Text.Len() == 0 {
		return o.ID
	}
	return w.content(o.Text.Bytes())
}

// pull merges the tip of b into clone a.
func (w *world) pull(a, b int) {
	x, y := w.tips[a], w.tips[b]
	switch {
	case w.past[x][y]:
	case w.past[y][x]:
		w.tips[a] = y
	default:
		id, other := w.merged(x, y), w.merged(y, x)
		if id != other {
			w.t.Fatalf("merging from the other side gives another file:\n%s\n--\n%s", id, other)
		}
		if quick := w.quick(x, y); quick != nil {
			if !w.same(id, *quick) {
				w.t.Fatalf("one side alone changed the file since, but the merge says something else:\n%s\n--\n%s", id, *quick)
			}
			id = *quick
		}
		w.tips[a] = w.commit(id, x, y)
	}
}

// quick returns the merged content if no versions are needed, or nil.
func (w *world) quick(x, y int) *gitstore.ID {
	touched := func(a, b int) bool {
		for c := range w.past[a] {
			if w.past[b][c] {
				continue
			}
			for _, p := range w.versions[c].Parents {
				if w.versions[p].ID != w.versions[c].ID {
					return true
				}
			}
			if len(w.versions[c].Parents) == 0 {
				return true
			}
		}
		return false
	}
	switch l, r := touched(x, y), touched(y, x); {
	case l && !r:
		return &w.versions[x].ID
	case r && !l:
		return &w.versions[y].ID
	}
	return nil
}

// same reports whether two contents are equal.
func (w *world) same(a, b gitstore.ID) bool {
	if a == "" || b == "" {
		return a == b
	}
	x, err := memoryFacts(w.path, w.contents[a])
	y, err2 := memoryFacts(w.path, w.contents[b])
	if err != nil || err2 != nil {
		w.t.Fatal(err, err2)
	}
	return x.equal(y)
}

func (w *world) memory(tip int) *Memory {
	data := w.contents[w.versions[tip].ID]
	if data == nil {
		return nil
	}
	m, err := ParseMemory(w.path, data)
	if err != nil {
		w.t.Fatalf("a merge made a file that cannot be read: %v\n%s", err, data)
	}
	return &m
}

// change makes one commit in a clone, as a person or a command would.
func (w *world) change(clone int) {
	t, tip := w.t, w.tips[clone]
	m := w.memory(tip)
	if m == nil {
		m = w.birth()
	}
	m.Variants = slices.Clone(m.Variants)
	switch rapid.IntRange(0, 9).Draw(t, "change") {
	case 0, 1, 2:
		m.Text, m.Variants = rapid.SampledFrom([]string{"Use pnpm.", "Use npm.", "Use yarn.", "Use bun."}).Draw(t, "text"), nil
		if m.Status == Contested {
			m.Status = Active
		}
	case 3:
		m.Body = rapid.SampledFrom([]string{"", "One.\n\nTwo.\n\nThree.", "One!\n\nTwo.\n\nThree.", "One.\n\nTwo.\n\nThree!", "Retired: not really"}).Draw(t, "body")
	case 4:
		if m.Status != Retired {
			*m = m.Retire(rapid.SampledFrom([]string{"gone", "wrong"}).Draw(t, "reason"))
		}
	case 5:
		if m.Status == Retired && rapid.Bool().Draw(t, "revive") {
			*m = m.Revive()
		}
	case 6:
		m.Kind = rapid.SampledFrom([]Kind{Convention, Decision, Fact}).Draw(t, "kind")
	case 7:
		m.Tags = rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), rapid.ID[string]).Draw(t, "tags")
		m.Tags = set(m.Tags)
	case 8:
		m.Topic = rapid.SampledFrom([]string{"", "build", "test"}).Draw(t, "topic")
	case 9:
		if rapid.IntRange(0, 3).Draw(t, "delete") == 0 {
			w.tips[clone] = w.commit("", tip)
			return
		}
	}
	w.tips[clone] = w.commit(w.content(m.Format()), tip)
}

// birth returns a new memory with a random time.
func (w *world) birth() *Memory {
	at := rapid.SampledFrom([]time.Time{w.clock, w.clock.AddDate(-10, 0, 0), w.clock.AddDate(10, 0, 0)}).Draw(w.t, "when")
	m := New(Memory{Kind: Convention, Text: "Use pnpm.", Source: Source{Time: at, By: "human", How: Written}})
	return &m
}

func newWorld(t *rapid.T) *world {
	w := &world{t: t, contents: map[gitstore.ID][]byte{}, clock: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)}
	m := New(Memory{Kind: Convention, Text: "Use pnpm.", Source: Source{Time: w.clock, By: "human", How: Written}})
	w.path = m.Path()
	root := w.commit("")
	first := root
	if rapid.Bool().Draw(t, "shared") {
		first = w.commit(w.content(m.Format()), root)
	}
	for range rapid.IntRange(2, 5).Draw(t, "clones") {
		w.tips = append(w.tips, first)
	}
	return w
}

// run lets clones change and pull from each other at random.
func (w *world) run() {
	for range rapid.IntRange(1, 25).Draw(w.t, "steps") {
		clone := rapid.IntRange(0, len(w.tips)-1).Draw(w.t, "clone")
		if rapid.IntRange(0, 2).Draw(w.t, "what") > 0 {
			w.change(clone)
		} else {
			w.pull(clone, rapid.IntRange(0, len(w.tips)-1).Draw(w.t, "from"))
		}
	}
}

// TestMergeForgetsTheOrder lets clones go apart at random and then brings all together in two
// random orders: the outcome is the same file.
func TestMergeForgetsTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		w.run()
		ends := map[gitstore.ID][]int{}
		start := slices.Clone(w.tips)
		for round := range 2 {
			tips := slices.Clone(start)
			for len(tips) > 1 { // any two meet, so not only one clone collects the others
				i := rapid.IntRange(0, len(tips)-1).Draw(t, fmt.Sprint("order", round))
				j := rapid.IntRange(0, len(tips)-2).Draw(t, fmt.Sprint("with", round))
				if j >= i {
					j++
				}
				w.tips = []int{tips[i], tips[j]}
				w.pull(0, 1)
				tips[i] = w.tips[0]
				tips = slices.Delete(tips, j, j+1)
			}
			end := w.versions[tips[0]].ID
			ends[end] = append(ends[end], round)
		}
		if len(ends) > 1 {
			t.Fatalf("two orders give two files: %q", slices.Collect(maps.Keys(ends)))
		}
	})
}

// TestMergeLosesNoText: a text that no commit removed is in the merge, alone or in a composite. A
// retired memory that no commit restored stays retired.
func TestMergeLosesNoText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		w.path = New(Memory{Text: "Use pnpm."}).Path()
		n := 0
		gone, all, retired := map[string]bool{}, map[string]bool{}, false
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			clone := rapid.IntRange(0, len(w.tips)-1).Draw(t, "clone")
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0, 1:
				m := w.memory(w.tips[clone])
				if m == nil {
					m = w.birth()
				}
				for _, v := range append([]Variant{{Text: m.Text}}, m.Variants...) {
					gone[v.Text] = true
				}
				n++
				m.Text, m.Variants = fmt.Sprintf("Text %d.", n), nil
				if m.Status == Contested {
					m.Status = Active
				}
				all[m.Text] = true
				w.tips[clone] = w.commit(w.content(m.Format()), w.tips[clone])
			case 2:
				if m := w.memory(w.tips[clone]); m != nil && m.Status != Retired && rapid.IntRange(0, 3).Draw(t, "retire") == 0 {
					w.tips[clone], retired = w.commit(w.content(m.Retire("gone").Format()), w.tips[clone]), true
				}
			case 3:
				w.pull(clone, rapid.IntRange(0, len(w.tips)-1).Draw(t, "from"))
			}
		}
		for range w.tips {
			for a := range w.tips {
				w.pull(0, a)
			}
		}
		end := w.memory(w.tips[0])
		if end == nil {
			return
		}
		file := string(end.Format())
		for text := range all {
			if !gone[text] && !strings.Contains(file, text) {
				t.Fatalf("%q is lost:\n%s", text, file)
			}
		}
		if retired != (end.Status == Retired) {
			t.Fatalf("retired: %v, but the memory is %s", retired, end.Status)
		}
	})
}

// TestMergeSurvivesSquashes: a squash or rebase of a branch restores nothing that the branch
// removed.
func TestMergeSurvivesSquashes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		w.tips = w.tips[:1]
		base := w.tips[0]
		for range rapid.IntRange(1, 6).Draw(t, "before") {
			w.change(0)
		}
		proposed := w.tips[0]
		forge := base
		if rapid.Bool().Draw(t, "squash") {
			forge = w.commit(w.versions[proposed].ID, forge)
		} else {
			for c := base + 1; c <= proposed; c++ {
				forge = w.commit(w.versions[c].ID, forge)
			}
		}
		if got := w.merged(proposed, forge); !w.same(got, w.versions[proposed].ID) {
			t.Fatalf("the merge of a branch and its own squash is something else:\n%s\n--\n%s", got, w.versions[proposed].ID)
		}
		for range rapid.IntRange(1, 4).Draw(t, "after") { // work goes on before the squash is seen
			w.change(0)
		}
		if got := w.merged(w.tips[0], forge); !w.same(got, w.versions[w.tips[0]].ID) {
			t.Fatalf("the squash of an older state changed a newer one:\n%s\n--\n%s", got, w.versions[w.tips[0]].ID)
		}
	})
}

// If two people each choose the other text, no removed text returns: only a text that one of them
// chose remains.
func TestMergeOfTwoDecisionsKeepsBoth(t *testing.T) {
	m := New(Memory{Kind: Fact, Text: "First.", Source: Source{By: "human", How: Written}})
	texts := func(all ...string) gitstore.ID {
		m.Text, m.Variants, m.Status = all[0], nil, Active
		for _, text := range all[1:] {
			m.Variants, m.Status = append(m.Variants, Variant{Text: text}), Contested
		}
		return gitstore.ID(m.Format())
	}
	h := gitstore.History{Read: func(id gitstore.ID) ([]byte, error) { return []byte(id), nil }}
	for _, v := range []gitstore.Version{
		{ID: texts("First.")},
		{ID: texts("A."), Parents: []int{0}}, {ID: texts("B."), Parents: []int{0}},
		{ID: texts("A.", "B."), Parents: []int{1, 2}},
		{ID: texts("A."), Parents: []int{3}}, {ID: texts("B."), Parents: []int{3}},
	} {
		h.Versions = append(h.Versions, v)
	}
	h.Ours, h.Theirs = 4, 5
	o, err := resolve(t.Context(), m.Path(), h)
	if err != nil || o.Text.String() != string(texts("A.", "B.")) {
		t.Errorf("merged: %v\n%s", err, o.Text)
	}
}

// If one clone retires a memory and another makes it active, the result may be in force with a
// reason. Retired again for the same or another reason, it has the same bytes as a merge of the
// same facts.
func TestReasonsHaveOneForm(t *testing.T) {
	m := New(Memory{Kind: Fact, Text: "First.", Body: "Why.", Source: Source{By: "human", How: Written}})
	again := m.Retire("wrong").Retire("gone").Retire("wrong")
	if want := "Why.\n\nRetired: gone\n\nRetired: wrong"; again.Body != want {
		t.Fatalf("the body is %q, want %q", again.Body, want)
	}
	f, err := memoryFacts(again.Path(), again.Format())
	if err != nil {
		t.Fatal(err)
	}
	if text, _, err := factsMemory(again.Path(), f); err != nil || string(text) != string(again.Format()) {
		t.Fatalf("a merge would write it otherwise (%v):\n%s\n--\n%s", err, text, again.Format())
	}
}
