package vector

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// Embed returns the vector of each text, in order: len(texts) × Space.Dim, of any length but 0. An
// error means that it returned none; it wraps the context's if that has ended.
type Embed func(ctx context.Context, texts []string) ([][]float32, error)

// Space identifies comparable vectors.
type Space struct {
	Name   string // of the model, as on its server
	Digest string // of its weights and settings
	Dim    int    // numbers in a vector, 1 to MaxDim
}

// MaxDim is the most numbers that a vector may have.
const MaxDim = 4096

// maxEmbedded bounds the embedded part of a body, in bytes from its beginning. Many models read at
// most 256 to 512 tokens.
const maxEmbedded = 1500

// file returns the name of the space's file: the first 12 hex digits of a SHA-256 of the model, and
// the dimension.
func (s Space) file() string {
	sum := sha256.Sum256([]byte(s.Name + "\x00" + s.Digest))
	return fmt.Sprintf("%s-%d", hex.EncodeToString(sum[:6]), s.Dim)
}

func (s Space) valid() bool {
	return s.Name != "" && len(s.Name) <= maxName && len(s.Digest) <= maxName && s.Dim > 0 && s.Dim <= MaxDim
}

// prompted are the families of models trained with a prefix that announces the kind of text.
// Without it the vectors are worse, and no server adds it.
var prompted = []struct{ family, document, query string }{
	{"nomic-embed-text", "search_document: ", "search_query: "},
	{"embeddinggemma", "title: none | text: ", "task: search result | query: "},
	{"qwen3-embedding", "", "Instruct: Find the statements about a software project that answer the query\nQuery: "},
	{"mxbai-embed-large", "", "Represent this sentence for searching relevant passages: "},
}

// Query returns a query as the model is to read it.
func (s Space) Query(query string) string {
	_, prefix := s.prompts()
	return prefix + query
}

func (s Space) prompts() (document, query string) {
	name := strings.ToLower(s.Name[strings.LastIndexByte(s.Name, '/')+1:])
	for _, p := range prompted {
		if strings.HasPrefix(name, p.family) {
			return p.document, p.query
		}
	}
	return "", ""
}

// keys returns the keys of a memory's texts, in order, or nil for an invalid id.
func (s Space) keys(m *record.Memory) (keys []key) {
	s.eachText(m, func(k key, _ []byte) { keys = append(keys, k) })
	return keys
}

// eachText calls fn for every embedded text of a memory; a contested one has several. fn must not
// keep the text.
func (s Space) eachText(m *record.Memory, fn func(k key, text []byte)) {
	id, err := hex.DecodeString(m.ID)
	if err != nil || len(id) != idSize {
		return
	}
	prefix, _ := s.prompts()
	var buffer []byte
	one := func(text, body string) {
		buffer = append(append(buffer[:0], prefix...), text...)
		if body != "" {
			if len(body) > maxEmbedded {
				body = strings.ToValidUTF8(body[:maxEmbedded], "")
			}
			buffer = append(append(buffer, "\n\n"...), body...)
		}
		sum := sha256.Sum256(buffer)
		fn(key(append(slices.Clone(id), sum[:]...)), buffer)
	}
	one(m.Text, m.Body)
	for _, v := range m.Variants {
		one(v.Text, v.Body)
	}
}
