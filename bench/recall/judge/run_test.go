package judge

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// inOrder is an engine that answers every query with all memories, in their order.
type inOrder struct {
	ids   []string
	asked *[]int // how many it was asked for
}

func (e inOrder) Search(query string, n int) ([]string, error) {
	*e.asked = append(*e.asked, n)
	if query == "twice" {
		return []string{e.ids[0], e.ids[0]}, nil
	}
	return e.ids[:min(n, len(e.ids))], nil
}

func (e inOrder) Close() error { return nil }

func orderEngine(asked *[]int) Engine {
	return Engine{"order", func(memories []Memory) (Store, error) {
		e := inOrder{asked: asked}
		for _, m := range memories {
			e.ids = append(e.ids, m.ID)
		}
		return e, nil
	}}
}

func numbered(group string, n int) (all []Memory) {
	for i := range n {
		all = append(all, Memory{ID: fmt.Sprint("m", i), Group: group, Text: "text", Time: int64(100 - i)})
	}
	return all
}

func TestRunTakesOutWhatTheQueryDoesNotSee(t *testing.T) {
	var asked []int
	s := Set{Stores: map[string][]Memory{"": numbered("", 60), "other": numbered("other", 3)}, Queries: []Query{
		{ID: "plain", Text: "x", Rel: map[string]float64{"m1": 1}},
		{ID: "foreign", Text: "x"},
		{ID: "excluded", Text: "x", Rel: map[string]float64{"m1": 1}, Exclude: []string{"m0"}},
		// times 60 and lower: m40 and on, a third
		{ID: "before", Text: "x", Rel: map[string]float64{"m41": 1}, Before: 61},
		{ID: "group", Group: "other", Text: "x", Rel: map[string]float64{"m2": 1}},
	}}
	r, err := Run(orderEngine(&asked), s)
	if err != nil {
		t.Fatal(err)
	}
	var ranks []float64
	for _, v := range r.Scores {
		ranks = append(ranks, 1/v.MRR)
	}
	if diff := cmp.Diff([]float64{2, 1, 2, 3}, ranks); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{10, 11, 30, 120, 10}, asked); diff != "" {
		t.Errorf("asked for: %s", diff)
	}
	if len(r.Took) != 4 {
		t.Errorf("%d times for 4 queries", len(r.Took))
	}
}

func TestRunRefusesAnAnswerThatCannotBe(t *testing.T) {
	var asked []int
	s := Set{Name: "s", Stores: map[string][]Memory{"": numbered("", 3)}, Queries: []Query{{ID: "q7", Text: "twice", Rel: map[string]float64{"m1": 1}}}}
	_, err := Run(orderEngine(&asked), s)
	if err == nil || !strings.Contains(err.Error(), `order: s: query q7: the answer has "m0" twice`) {
		t.Errorf("%v", err)
	}
}

func TestRunGate(t *testing.T) {
	s := Set{Stores: map[string][]Memory{"": numbered("", 4)}, Queries: []Query{
		{ID: "1", Text: "all", Rel: map[string]float64{"m1": 1}},
		{ID: "2", Text: "nothing", Rel: map[string]float64{"m1": 1}},
		{ID: "3", Text: "one", Rel: map[string]float64{"m3": 1}},
		// then m1 is the first
		{ID: "4", Text: "one", Rel: map[string]float64{"m1": 1}, Exclude: []string{"m0"}},
		{ID: "5", Text: "one"},
		{ID: "6", Text: "nothing"},
	}}
	gate := func(memories []Memory, prompt string) (ids []string) {
		for _, m := range memories {
			ids = append(ids, m.ID)
		}
		return ids[:map[string]int{"all": len(ids), "one": 1, "nothing": 0}[prompt]]
	}
	want := Given{Right: []float64{1, 0, 0, 1}, Wrong: []float64{0, 0, 1, 0}, Silent: []float64{0, 1}}
	if diff := cmp.Diff(want, RunGate(gate, s)); diff != "" {
		t.Error(diff)
	}
}

func TestOursFindsWhatAnImportWouldKeep(t *testing.T) {
	long := strings.Repeat("word ", 250) + "tailpiece"
	s := Set{Stores: map[string][]Memory{"": {
		{ID: "titled", Title: "Use pnpm in web/", Text: "npm writes a lock file that CI rejects."},
		{ID: "lines", Text: "Migrations run before the tests.\n\nAlembic is at fault when they hang."},
		{ID: "long", Text: long, Kind: "learning"},
	}}, Queries: []Query{
		{ID: "1", Text: "which lock file does ci reject", Rel: map[string]float64{"titled": 1}},
		{ID: "2", Text: "alembic hangs", Rel: map[string]float64{"lines": 1}},
		{ID: "3", Text: "tailpiece", Rel: map[string]float64{"long": 1}},
	}}
	r, err := Run(Ours, s)
	if err != nil {
		t.Fatal(err)
	}
	for i, score := range r.Scores {
		if score.Recall1 != 1 {
			t.Errorf("query %d: %+v", i+1, score)
		}
	}
	for _, m := range s.Stores[""] {
		kept := m.Record()
		if len(kept.Text) > 1000 || kept.Body == "" || strings.Contains(kept.Text, "\n") {
			t.Errorf("%s: %d bytes of statement, %d of body", m.ID, len(kept.Text), len(kept.Body))
		}
	}
	if m := s.Stores[""][1].Record(); m.Text != "Migrations run before the tests." || m.Body != "Alembic is at fault when they hang." {
		t.Errorf("%q, %q", m.Text, m.Body)
	}
}
