// Package redact takes secrets out of text before it reaches a disk or a git object.
//
// Call New with the values of the project's ignored .env files (see EnvValues), then Text for plain
// text or JSON for a JSON document. Both give a Redacted, the only text that storage accepts, in
// which a marker `[redacted:<rule>]` stands where a secret stood, and a Report of what was found.
//
// What it promises: text without a finding comes back unchanged, and Text allocates nothing for it
// (but to decode base64 of text); scanning redacted text again with the same Scanner changes
// nothing; once found, a secret is taken out wherever else it stands in the same text; object ids,
// UUIDs, digests of lock files and image data are left alone; the work per byte is bounded, there
// is no backtracking, and memory beyond the text is that of its findings.
//
// What it cannot promise: it is a net, not a proof. It knows the formats of rules.go, names that
// announce a secret (password = …), credentials in URLs and headers, private keys, and literals. A
// password in plain words, one that nothing near it announces, a UUID used as a key, a number in
// JSON, and what stands in an image, is split over two texts, or is encoded twice goes through; a
// private key in several texts is for a Stream. Where it errs the other way, a marker stands where
// none was needed.
//
// A Scanner never changes after New: any number of goroutines may use one.
package redact

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Redacted is text that a Scanner has been over. Only this package makes one; its zero value is
// empty text. There is deliberately no way to unmarshal one: bytes from outside are scanned, never
// cast.
type Redacted struct{ s string }

// String returns the text.
func (r Redacted) String() string { return r.s }

// Len is the length of the text in bytes.
func (r Redacted) Len() int { return len(r.s) }

// Bytes returns a copy of the text.
func (r Redacted) Bytes() []byte { return []byte(r.s) }

// MarshalText gives the text.
func (r Redacted) MarshalText() ([]byte, error) { return []byte(r.s), nil }

// MarshalJSON gives the text as a JSON string, also where the text is itself JSON.
func (r Redacted) MarshalJSON() ([]byte, error) { return json.Marshal(r.s) }

// Report counts what was taken out. Its zero value says: nothing.
type Report struct {
	Found  int            `json:"found"`             // markers put in
	ByRule map[string]int `json:"by_rule,omitempty"` // the same by the rule's name in the marker; nil if nothing was found
}

// Kinds names the rules that found something, in order, never what they found.
func (r Report) Kinds() string {
	return strings.Join(slices.Sorted(maps.Keys(r.ByRule)), ", ")
}

// Add counts what other counts too.
func (r *Report) Add(other Report) {
	if other.Found == 0 {
		return
	}
	r.Found += other.Found
	if r.ByRule == nil {
		r.ByRule = maps.Clone(other.ByRule)
		return
	}
	for rule, n := range other.ByRule {
		r.ByRule[rule] += n
	}
}

func (r *Report) count(rule string) {
	r.Found++
	if r.ByRule == nil {
		r.ByRule = make(map[string]int)
	}
	r.ByRule[rule]++
}
