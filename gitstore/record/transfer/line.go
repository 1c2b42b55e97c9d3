// Package transfer exports and imports memories as JSON lines, a JSON array, or Markdown, each with
// every field of a memory.
//
// Begin with Of and Line.Memory, which convert a memory to a line and back. Plan sorts imported
// memories into new, changed, known and unwanted ones. All functions are pure, and read nothing but
// the View they are given. Errors about a line name its number in the input, from 1.
package transfer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// Line is an exported memory. Only Text is required.
type Line struct {
	ID string `json:"id,omitempty"` // 16 hex digits; a Ref goes before it
	// Path is that of its file. With an ID, it holds the words in the file's name at birth.
	Path     string    `json:"path,omitempty"`
	Text     string    `json:"text"`
	Body     string    `json:"body,omitempty"`
	Variants []Variant `json:"variants,omitempty"` // other texts of a contested memory
	Kind     string    `json:"kind,omitempty"`     // ours, or another tool's
	Status   string    `json:"status,omitempty"`   // empty means active
	// Source is the whole line, in the form of record.Source.String.
	Source string `json:"source,omitempty"`
	// Created is in the form of RFC 3339. It is read if Source is empty, and never written.
	Created    string   `json:"created,omitempty"`
	Paths      []string `json:"paths,omitempty"`
	Tags       []string `json:"tags,omitempty"`
	Ref        string   `json:"ref,omitempty"`
	Topic      string   `json:"topic,omitempty"`
	Branch     string   `json:"branch,omitempty"` // as in the memory's file, with its commits
	Supersedes []string `json:"supersedes,omitempty"`
	Expires    string   `json:"expires,omitempty"` // RFC 3339, or a date
	Anchors    []string `json:"anchors,omitempty"`
	Extra      []Extra  `json:"extra,omitempty"`
	Private    bool     `json:"private,omitempty"` // it stays in the clone
}

// Variant is one more text of a contested memory.
type Variant struct {
	Text string `json:"text"`
	Body string `json:"body,omitempty"`
}

// Extra is an unknown key of a memory's file, with its value in TOML.
type Extra struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Of returns the line of a memory.
func Of(m record.Memory) Line {
	l := Line{ID: m.ID, Path: m.Path(), Text: m.Text, Body: m.Body, Kind: string(m.Kind), Status: string(m.Status), Source: m.Source.String(),
		Paths: m.Paths, Tags: m.Tags, Ref: m.Ref, Topic: m.Topic, Branch: m.Branch, Supersedes: m.Supersedes, Anchors: m.Anchors, Private: m.Private}
	for _, v := range m.Variants {
		l.Variants = append(l.Variants, Variant(v))
	}
	if !m.Expires.IsZero() {
		l.Expires = m.Expires.UTC().Format(time.RFC3339)
	}
	for _, f := range m.Extra {
		l.Extra = append(l.Extra, Extra(f))
	}
	return l
}

// Memory converts a line to a memory. If the line has no ID or kind, they stay empty for Plan to
// set. by and now complete the source. The error names the field.
func (l Line) Memory(by string, now time.Time) (record.Memory, error) {
	m := record.Memory{Paths: l.Paths, Tags: l.Tags, Ref: l.Ref, Kind: record.Kind(l.Kind), Topic: l.Topic, Branch: l.Branch, Supersedes: l.Supersedes,
		Anchors: l.Anchors, Private: l.Private, Status: record.Active, Source: record.Source{Time: now, By: by, How: record.Written}}
	if m.Text, m.Body = fitStatement(l.Text, l.Body); m.Text == "" {
		return m, errors.New("text: is empty")
	}
	switch known := kindElsewhere(l.Kind); {
	case known != "":
		m.Kind = known
	case l.Kind != "" && !m.Kind.Valid():
		m.Kind = record.Fact
		m.Tags = append(slices.Clone(m.Tags), l.Kind)
	}
	for _, v := range l.Variants {
		m.Status = record.Contested
		m.Variants = append(m.Variants, record.Variant(v))
	}
	switch l.Status {
	case "", string(record.Active), string(record.Contested): // its texts say which
	case string(record.Retired):
		m.Status = record.Retired
	default:
		return m, fmt.Errorf("status: %q is not one of active, contested, retired", l.Status)
	}
	for _, f := range l.Extra {
		m.Extra = append(m.Extra, record.Field(f))
	}
	if err := l.times(&m); err != nil {
		return m, err
	}
	if err := l.name(&m); err != nil {
		return m, err
	}
	return m, check(m)
}

// times sets the source and the expiry from the line.
func (l Line) times(m *record.Memory) (err error) {
	if l.Source != "" {
		if m.Source, err = record.ParseSource(l.Source); err != nil {
			return fmt.Errorf("source: %w", err)
		}
	} else if l.Created != "" {
		if m.Source.Time, err = moment(l.Created); err != nil {
			return fmt.Errorf("created: %w", err)
		}
	}
	if l.Expires != "" {
		if m.Expires, err = moment(l.Expires); err != nil {
			return fmt.Errorf("expires: %w", err)
		}
	}
	return nil
}

func moment(text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		at, err = time.Parse(time.DateOnly, text)
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is not a time such as 2026-01-31T15:04:05Z", text)
	}
	return at.UTC().Truncate(time.Second), nil
}

// name sets the memory's id and the words of its path from the line. A ref determines both.
func (l Line) name(m *record.Memory) error {
	if l.ID != "" && !record.ValidID(l.ID) {
		return fmt.Errorf("id: %q is not 16 hex digits", l.ID)
	}
	if l.ID == "" || l.Ref != "" {
		return nil
	}
	named := record.New(record.Memory{Text: m.Text})
	m.ID, m.Slug = l.ID, named.Slug
	if l.Path == "" {
		return nil
	}
	held := record.Memory{ID: l.ID}
	rest, ok := strings.CutPrefix(l.Path, strings.TrimSuffix(held.Path(), ".md"))
	rest, whole := strings.CutSuffix(rest, ".md")
	if !ok || !whole || rest != "" && rest[0] != '-' || strings.Trim(rest, "-abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		return fmt.Errorf("path: %q is not the path of %s", l.Path, l.ID)
	}
	m.Slug = strings.TrimPrefix(rest, "-")
	return nil
}

// check returns an error if a field of a memory cannot be stored in its file.
func check(m record.Memory) error {
	if m.Kind == "" { // decided later against existing memories
		m.Kind = record.Note
	}
	m = named(m)
	read, err := record.ParseMemory(m.Path(), m.Format())
	var f *record.FormatError
	switch {
	case errors.As(err, &f) && f.Field != "":
		return fmt.Errorf("%s: %s", f.Field, f.Reason)
	case errors.As(err, &f):
		return errors.New(f.Reason)
	case err != nil:
		return err
	}
	byKey := func(a, b record.Field) int { return strings.Compare(a.Key, b.Key) }
	if !slices.Equal(read.Extra, slices.SortedFunc(slices.Values(m.Extra), byKey)) {
		return errors.New("extra: is not as export writes it: keys that a memory has not, each once, with values in TOML")
	}
	return nil
}

// named returns a memory with an id: its own, or one from its ref or text.
func named(m record.Memory) record.Memory {
	given := m
	if m = record.New(m); given.Ref == "" && given.ID != "" {
		m.ID, m.Slug = given.ID, given.Slug
	}
	return m
}

// kindElsewhere translates another tool's kind to ours, or returns "".
func kindElsewhere(name string) record.Kind {
	switch name {
	case "rule":
		return record.Convention
	case "context", "semantic", "learning":
		return record.Fact
	case "gotcha", "failure_mode", "error-solution", "blocker":
		return record.Failure
	case "build-command", "procedural":
		return record.Workflow
	case "config-pattern":
		return record.Pattern
	case "episodic", "general":
		return record.Note
	}
	return ""
}

// fitStatement makes a one-line statement of a text. The excess goes before the body, so that
// nothing is lost.
func fitStatement(text, body string) (string, string) {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	first, rest, _ := strings.Cut(text, "\n")
	rest = strings.TrimSpace(rest)
	if first = strings.Join(strings.Fields(first), " "); len(first) > record.MaxText {
		cut := strings.LastIndexByte(first[:record.MaxText-4], ' ')
		if cut < record.MaxText/2 {
			for cut = record.MaxText - 4; !utf8.RuneStart(first[cut]); cut-- {
			}
		}
		rest = strings.TrimSpace("… " + strings.TrimSpace(first[cut:]) + "\n" + rest)
		first = strings.TrimSpace(first[:cut]) + " …"
	}
	switch {
	case rest == "":
		return first, body
	case body == "":
		return first, rest
	}
	return first, rest + "\n\n" + body
}
