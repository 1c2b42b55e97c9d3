// Package prompts holds the questions to a model: for each the texts, the JSON schema of the
// answer, a typed input, and the answer's type.
//
// Begin with Load; the methods of its Set render a question. A Set is read-only and safe for
// concurrent use. An input is data: it stands between delimiters that it cannot close, and is never
// a template.
package prompts

import (
	"context"
	"encoding/json"
	"time"
)

// Rendered is a question as a model is asked it.
type Rendered struct {
	Name    string          // of the prompt: reflect, dream, …
	System  string          // what the model is to do
	User    string          // what it is to do it with
	Schema  json.RawMessage // of the answer
	Hash    string          // SHA-256 in hex of texts and schema as they are before any data is filled in
	Longest int             // length of the longest answer that the schema allows, in bytes
}

// Answer is a model's answer to a question.
type Answer struct {
	Text   json.RawMessage // what it said; that it is JSON, and fits the schema, is for the reader to check
	Asked  int             // tokens of the question
	Said   int             // tokens of the answer
	Took   time.Duration
	Cached bool // it was given before, to the same question
}

// Model is a model that can be asked. A nil *Model is no model.
type Model struct {
	Name    string // as the server calls it
	Digest  string // of its weights and settings, hex
	Context int    // tokens that a question and its answer may have together

	// Ask puts a question. An error says that there is no answer, not that it is a bad one; it wraps
	// the context's when that has ended.
	Ask func(context.Context, Rendered) (Answer, error)
}

// Predict is the most tokens that an answer of at most longest bytes is given in a context. A token
// of prose is two bytes or more in any script; and the question needs its half.
func Predict(context, longest int) int { return min(longest/2+100, context/2) }

// bytesPerToken is a lower bound for the bytes of English or code per token, so that the length of
// a question is not underestimated.
const bytesPerToken = 3

// Room returns the bytes of System and User together that fit beside the longest answer.
func (m *Model) Room(longest int) int {
	return (m.Context - Predict(m.Context, longest)) * bytesPerToken
}
