package recall

import (
	"testing"
	"time"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// Two memories are searched as one: words are as rare as in both, and only those of the second are
// marked.
func TestWithSearchesTwoMemories(t *testing.T) {
	note := func(id, text string) record.Memory {
		return record.Memory{ID: id, Kind: record.Note, Status: record.Active, Text: text}
	}
	all := []record.Memory{note("1111111111111111", "the pump needs oil"), note("2222222222222222", "the gate needs paint"),
		note("3333333333333333", "oil the hinge"), note("4444444444444444", "answer in short sentences")}
	index := func(m ...record.Memory) *Index {
		x, err := Of(m)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(x.Close)
		return x
	}
	own := func(m *record.Memory) { m.Own = true }
	one, both := index(all...), index(all[:2]...).With(index(all[2:]...), own)
	if got, want := both.Totals(), one.Totals(); got != want {
		t.Errorf("totals %+v, want %+v", got, want)
	}
	for _, text := range []string{"oil", "needs oil", "short answer"} {
		q := Request{Text: text, Now: time.Unix(1e9, 0)}
		want := one.Rank(q)
		got := both.Rank(q)
		if len(got) != len(want) || len(got) == 0 {
			t.Fatalf("%s: %d answers, want %d", text, len(got), len(want))
		}
		for i := range got {
			g, err := both.Memory(got[i].Ref)
			w, err2 := one.Memory(want[i].Ref)
			if err != nil || err2 != nil || g.ID != w.ID || got[i].Score != want[i].Score {
				t.Errorf("%s: answer %d is %s with %v, want %s with %v (%v, %v)", text, i, g.ID, got[i].Score, w.ID, want[i].Score, err, err2)
			}
			if g.Own != (g.ID[0] >= '3') || w.Own {
				t.Errorf("%s: own is %v", g.ID, g.Own)
			}
		}
	}
	none := index().With(index(all[3]), own)
	if found := none.Rank(Request{Text: "sentences"}); len(found) != 1 {
		t.Errorf("beside an empty memory: %d answers", len(found))
	} else if m, err := none.Memory(found[0].Ref); err != nil || !m.Own {
		t.Errorf("beside an empty memory: %+v, %v", m, err)
	}
}
