// Package redact removes secrets from text before it reaches a disk or a git object.
//
// Call New with the values of the project's ignored .env files (see EnvValues), then Text for plain
// text or JSON for a JSON document. Both return a Redacted, the only text that storage accepts,
// with a marker `[redacted:<rule>]` in place of each secret, and a Report of the findings.
//
// Promises:
//
// - Text without a finding is unchanged. Text then allocates only to decode base64 of text.
// - A second scan of redacted text with the same Scanner changes nothing.
// - A secret, once found, is removed everywhere in the same text.
// - Object ids, UUIDs, digests of lock files and image data stay.
// - The work per byte is bounded, without backtracking. Extra memory is that of the findings.
//
// Limits: redact is a net, not a proof. It knows the formats of rules.go, names that announce a
// secret (password = …), credentials in URLs and headers, private keys, and literals. It misses a
// password in plain words, an unannounced password, a UUID used as a key, and a number in JSON. It
// also misses secrets in images, split over two texts, or encoded twice; for a private key in
// several texts, use a Stream. It may redact harmless text.
//
// A Scanner never changes after New and is safe for concurrent use.
package redact

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Redacted is scanned text. Only this package makes one; its zero value is empty text. It
// deliberately has no way to be unmarshalled: bytes from outside are scanned, never cast.
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
	Found int `json:"found"` // markers put in
	// the same by the rule's name in the marker; nil if nothing was found
	ByRule map[string]int `json:"by_rule,omitempty"`
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
