// Package prompts holds the questions to a model, each with its texts, its typed input, and the
// JSON schema and type of the answer.
//
// Begin with Load; the methods of its Set render a question. A Set is read-only and safe for
// concurrent use. An input is data: delimiters that it cannot close enclose it, and it is never a
// template.
package prompts

import (
	"context"
	"encoding/json"
	"time"
)

// Rendered is a question in its final form.
type Rendered struct {
	Name    string          // of the prompt: reflect, dream, …
	System  string          // the task
	User    string          // the data
	Schema  json.RawMessage // of the answer
	Hash    string          // SHA-256 in hex of texts and schema without data
	Longest int             // length of the longest answer that the schema allows, in bytes
}

// Answer is a model's answer to a question.
type Answer struct {
	Text   json.RawMessage // the answer; the reader checks that it is JSON and fits the schema
	Asked  int             // tokens of the question
	Said   int             // tokens of the answer
	Took   time.Duration
	Cached bool // an earlier answer to the same question
}

// Model is a model that can be asked. A nil *Model means no model.
type Model struct {
	Name    string // as the server calls it
	Digest  string // of its weights and settings, hex
	Context int    // tokens of a question and its answer together
	// the agent that answers, if its provider does: it reads only what that agent's sessions and the
	// shared memory hold
	Client string

	// Ask asks a question. An error means that there is no answer, not that it is a bad one; it wraps
	// the context's when that has ended.
	Ask func(context.Context, Rendered) (Answer, error)
}

// usual is the number of tokens that answers seldom exceed.
const usual = 600

// Predict returns the tokens to allow for an answer of at most longest bytes: all that it may need,
// but in a small context only the usual number. A token of prose has two bytes or more in any
// script.
func Predict(context, longest int) int {
	return min(longest/2+100, max(usual, context/8), context/2)
}

// bytesPerToken is a lower bound for the bytes of English or code per token, so that the length of
// a question is not underestimated.
const bytesPerToken = 3

// Room returns the bytes of System and User together that fit beside the longest answer.
func (m *Model) Room(longest int) int {
	return (m.Context - Predict(m.Context, longest)) * bytesPerToken
}
