package recall

import (
	"cmp"
	"slices"
	"testing"

	"github.com/reverie-memory/reverie/gitstore/recall/segment"
	"github.com/reverie-memory/reverie/gitstore/recall/terms"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// indexOf is an index of memories, in memory.
func indexOf(t testing.TB, all []record.Memory) *Index {
	t.Helper()
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b record.Memory) int { return cmp.Compare(a.ID, b.ID) })
	all = slices.CompactFunc(all, func(a, b record.Memory) bool { return a.ID == b.ID })
	entries := make([]Entry, len(all))
	for i, m := range all {
		entries[i] = Entry{keyOf(m.ID, m.Private), m.ID}
	}
	var a terms.Analyzer
	x, err := Open("", MemoryAnalysis()).Bring(t.Context(), State{Key: "test"}, entries, Limits{}, func(i int) (segment.Doc, error) { return Document(&a, all[i]), nil })
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// relevant is what a prompt is about.
func relevant(t testing.TB, all []record.Memory, prompt string) []Relevance {
	t.Helper()
	found, err := Ask(prompt).Relevant(indexOf(t, all), nil)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func memories(texts ...string) []record.Memory {
	var out []record.Memory
	for _, text := range texts {
		out = append(out, record.New(record.Memory{Kind: record.Fact, Text: text}))
	}
	return out
}
