package record

import (
	"bytes"
	"fmt"
	"strings"
	"time"
)

// Dream records one consolidation: the reflections it considered for the first time, and the
// resulting operations.
type Dream struct {
	ID          string    // 16 hex digits, from the reflections and the memories it saw
	Time        time.Time // to the second, UTC
	Model       string    // "" when code alone decided
	Digest      string    // of the model, or ""
	Prompt      string    // hash of the model's prompt; several are separated by spaces
	Reflections []string  // ids considered for the first time, by code or by a model, sorted
	Operations  []string  // ids proposed or supported, sorted
	// Weighed are the ids of operations and blobs of contested memories that a model had to decide,
	// sorted.
	Weighed   []string
	Distilled []string // ids of operations from workflows offered to a model as skills; sorted
	Notes     string   // Markdown: findings that were not proposed, with reasons
}

// NewDream sets a dream's id, derived from its inputs and the memory tree.
func NewDream(d Dream, tree string) Dream {
	d.Reflections, d.Operations = set(d.Reflections), set(d.Operations)
	d.Weighed, d.Distilled = set(d.Weighed), set(d.Distilled)
	about := "dream:" + tree + ":" + d.Model + ":" + strings.Join(d.Reflections, ",")
	for _, list := range [][]string{d.Weighed, d.Distilled} {
		if len(list) > 0 {
			about += ":" + strings.Join(list, ",")
		}
	}
	d.ID = newID(about, "", "")
	d.Time = d.Time.UTC().Truncate(time.Second)
	return d
}

// DreamDir is the folder of dreams in a tree.
const DreamDir = "dreams"

// Path returns the dream's path in its tree.
func (d Dream) Path() string { return DreamDir + "/" + month(d.Time) + "/" + d.ID + ".md" }

// Format returns the dream's text form: front matter and notes.
func (d Dream) Format() []byte {
	var b bytes.Buffer
	b.WriteString(fence + "\n")
	fmt.Fprintf(&b, "id = %s\n", quote(d.ID))
	fmt.Fprintf(&b, "time = %s\n", quote(d.Time.Format(time.RFC3339)))
	fmt.Fprintf(&b, "model = %s\n", quote(d.Model))
	if d.Digest != "" {
		fmt.Fprintf(&b, "digest = %s\n", quote(d.Digest))
	}
	fmt.Fprintf(&b, "prompt = %s\n", quote(d.Prompt))
	fmt.Fprintf(&b, "reflections = %s\n", quoteLines(d.Reflections))
	fmt.Fprintf(&b, "operations = %s\n", quoteLines(d.Operations))
	if len(d.Weighed) > 0 {
		fmt.Fprintf(&b, "weighed = %s\n", quoteLines(d.Weighed))
	}
	if len(d.Distilled) > 0 {
		fmt.Fprintf(&b, "distilled = %s\n", quoteLines(d.Distilled))
	}
	b.WriteString(fence + "\n")
	if d.Notes != "" {
		b.WriteString(trimBlank(d.Notes) + "\n")
	}
	return b.Bytes()
}

// ParseDream reads the text form of the dream at path.
func ParseDream(at string, data []byte) (Dream, error) {
	bad := func(line int, field, reason string) (Dream, error) {
		return Dream{}, &FormatError{Path: at, Line: line, Field: field, Reason: reason}
	}
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	front, found := strings.CutPrefix(text, fence+"\n")
	if !found {
		return bad(1, "", "does not begin with a line "+fence)
	}
	front, notes, found := cutLine(front, fence)
	if !found {
		return bad(1, "", "has no second line "+fence+" after the front matter")
	}
	fields, err := parseFront(front)
	if err != nil {
		err.Path = at
		return Dream{}, err
	}
	var d Dream
	str := func(key string) string { s, _ := fields[key].(string); return s }
	list := func(key string) []string {
		values, _ := fields[key].([]any)
		var out []string
		for _, v := range values {
			if s, ok := v.(string); ok {
				out = append(out, s)
			}
		}
		return set(out)
	}
	d.ID, d.Model, d.Digest, d.Prompt = str("id"), str("model"), str("digest"), str("prompt")
	if !ValidID(d.ID) {
		return bad(lineOf(front, "id"), "id", "is not 16 hex digits")
	}
	when, e := time.Parse(time.RFC3339, str("time"))
	if e != nil {
		return bad(lineOf(front, "time"), "time", "is not a time such as 2026-01-31T15:04:05Z")
	}
	d.Time = when.UTC()
	d.Reflections, d.Operations = list("reflections"), list("operations")
	d.Weighed, d.Distilled = list("weighed"), list("distilled")
	d.Notes = trimBlank(notes)
	if at != d.Path() {
		return bad(0, "", "belongs at "+d.Path())
	}
	return d, nil
}

// quoteLines returns a TOML list with one value a line: it diffs and merges by values.
func quoteLines(values []string) string {
	if len(values) == 0 {
		return "[]"
	}
	var b strings.Builder
	b.WriteString("[\n")
	for _, v := range values {
		b.WriteString("  " + quote(v) + ",\n")
	}
	return b.String() + "]"
}
