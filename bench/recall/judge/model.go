package judge

import (
	"context"

	"github.com/reverie-memory/reverie/gitstore/recall/vector"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/ollama"
)

// Model is an embedding model of Dim numbers. Open prepares it for the memories of one store, with
// the store's queries and what each wants, for a model that is made up in a test.
type Model struct {
	Name string
	Dim  int
	Open func(memories []record.Memory, labelled map[string][]int) vector.Embed
}

// Served returns an embedding model of the Ollama server that OLLAMA_HOST names.
func Served(ctx context.Context, name string) (m Model, err error) {
	client, err := ollama.Open(ollama.Options{})
	if err != nil {
		return m, err
	}
	of, err := client.Choose(ctx, ollama.Want{Name: name, Need: ollama.Embedding})
	if err != nil {
		return m, err
	}
	embed := func(ctx context.Context, texts []string) ([][]float32, error) {
		return client.Embed(ctx, of.Name, texts)
	}
	return Model{of.Name, of.Dimension, func([]record.Memory, map[string][]int) vector.Embed { return embed }}, nil
}
