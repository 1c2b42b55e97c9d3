package recall

import (
	"testing"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// relevant returns the memories that a prompt is about.
func relevant(t testing.TB, all []record.Memory, prompt string) []Relevance {
	t.Helper()
	x, err := Of(all)
	if err != nil {
		t.Fatal(err)
	}
	found, err := Ask(prompt).Relevant(t.Context(), x, nil, nil)
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
