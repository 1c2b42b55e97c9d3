package record

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
)

// ParseMemory parses the memory at path, which determines the id and the slug.
func ParseMemory(at string, data []byte) (Memory, error) {
	bad := func(line int, format string, args ...any) (Memory, error) {
		return Memory{}, &FormatError{Path: at, Line: line, Reason: fmt.Sprintf(format, args...)}
	}
	if _, _, ok := splitPath(at); !ok {
		return bad(0, "a memory's path is %s/<2 hex digits>/<16 hex digits>[-words].md", MemoryDir)
	}
	if len(data) > MaxMemory {
		return bad(0, "is %d bytes long; a memory may have %d", len(data), MaxMemory)
	}
	if at := bytes.IndexByte(data, 0); at >= 0 {
		return bad(1+bytes.Count(data[:at], []byte("\n")), "holds a zero byte")
	}
	if !utf8.Valid(data) {
		return bad(1+bytes.Count(data[:invalidAt(data)], []byte("\n")), "is not UTF-8")
	}
	text := strings.ReplaceAll(strings.TrimPrefix(string(data), "\ufeff"), "\r\n", "\n")
	line := Conflict(text)
	if line == 0 {
		return parsePlain(at, text)
	}
	ours, theirs := sides(text)
	m, ok := joinSides(at, ours, theirs)
	if !ok {
		return bad(line, "holds git's conflict markers, and neither side is a memory")
	}
	return m, nil
}

// parsePlain parses a memory without conflict markers.
func parsePlain(at, text string) (Memory, error) {
	bad := func(reason string) (Memory, error) {
		return Memory{}, &FormatError{Path: at, Line: 1, Reason: fmt.Sprintf(reason, fence)}
	}
	var m Memory
	head, rest, found := strings.Cut(text, "\n")
	if head != fence || !found {
		return bad("does not begin with a line %q")
	}
	front, rest, found := cutLine(rest, fence)
	if !found {
		return bad("has no second line %q after the front matter")
	}
	fields, err := parseFront(front)
	if err != nil {
		err.Path = at
		return Memory{}, err
	}
	m.ID, m.Slug, _ = splitPath(at)
	if err := m.setFields(fields); err != nil {
		err.Path, err.Line = at, lineOf(front, err.Field)
		return Memory{}, err
	}
	if err := m.setText(rest); err != nil {
		err.Path = at
		err.Line += 2 + strings.Count(front, "\n")
		return Memory{}, err
	}
	return m, nil
}

// joinSides merges both sides of a file with git's conflict markers. If one side cannot be read,
// the other's wins. In a field with one value ours wins; retirement on one side holds.
func joinSides(at, ours, theirs string) (Memory, bool) {
	m, merr := parsePlain(at, ours)
	b, berr := parsePlain(at, theirs)
	switch {
	case merr != nil:
		return b, berr == nil
	case berr != nil:
		return m, true
	}
	f := m.textFacts()
	for field, values := range b.textFacts() {
		f.add(field, values...)
	}
	if m.Status == Retired || b.Status == Retired {
		delete(f, forceField)
	}
	m.setTexts(f[textField], f)
	m.Topic, m.Branch, m.Expires = cmp.Or(m.Topic, b.Topic), cmp.Or(m.Branch, b.Branch), cmp.Or(m.Expires, b.Expires)
	both := func(a, b []string) []string { return set(slices.Concat(a, b)) }
	m.Paths, m.Tags = both(m.Paths, b.Paths), both(m.Tags, b.Tags)
	m.Supersedes, m.Anchors = both(m.Supersedes, b.Supersedes), both(m.Anchors, b.Anchors)
	for _, e := range b.Extra {
		if !slices.ContainsFunc(m.Extra, func(own Field) bool { return own.Key == e.Key }) {
			m.Extra = append(m.Extra, e)
		}
	}
	slices.SortFunc(m.Extra, func(a, b Field) int { return strings.Compare(a.Key, b.Key) })
	return m, true
}

// parseFront parses front matter as TOML. Lines in the error count from the opening fence.
func parseFront(front string) (map[string]any, *FormatError) {
	fields := map[string]any{}
	err := toml.Unmarshal([]byte(front), &fields)
	var at *toml.DecodeError
	switch {
	case errors.As(err, &at):
		row, _ := at.Position()
		return nil, &FormatError{Line: row + 1, Field: strings.Join(at.Key(), "."), Reason: strings.TrimPrefix(at.Error(), "toml: ")}
	case err != nil:
		return nil, &FormatError{Line: 1, Reason: err.Error()}
	}
	return fields, nil
}

func (m *Memory) setFields(fields map[string]any) *FormatError {
	f := front{fields: fields}
	if id := f.text("id"); id != "" && id != m.ID {
		f.fail("id", "is %q, but the file is named for %q; an id never changes", id, m.ID)
	}
	m.Kind = Kind(f.text("kind"))
	if !m.Kind.Valid() {
		f.fail("kind", "%q is not one of %s", m.Kind, join(Kinds))
	}
	m.Status = Status(f.text("status"))
	switch m.Status {
	case "":
		m.Status = Active
	case Active, Contested, Retired:
	default:
		f.fail("status", "%q is not one of active, contested, retired", m.Status)
	}
	var err error
	if m.Source, err = ParseSource(f.text("source")); err != nil {
		f.fail("source", "%v", err)
	}
	m.Paths, m.Ref, m.Tags = f.list("paths"), f.text("ref"), f.list("tags")
	m.Topic, m.Branch = f.text("topic"), f.text("branch")
	m.Supersedes, m.Anchors = f.list("supersedes"), f.list("anchors")
	for _, id := range m.Supersedes {
		if !ValidID(id) {
			f.fail("supersedes", "%q is not an id of 16 hex digits", id)
		}
	}
	m.Expires = f.date("expires").UTC().Truncate(time.Second)
	for key, v := range f.fields {
		value, err := tomlValue(key, v)
		if err != nil {
			f.fail(key, "%v", err)
		}
		m.Extra = append(m.Extra, value)
	}
	slices.SortFunc(m.Extra, func(a, b Field) int { return strings.Compare(a.Key, b.Key) })
	return f.bad
}

// front holds the fields of front matter that are still to be read, and their first fault.
type front struct {
	fields map[string]any
	bad    *FormatError
}

func (f *front) fail(key, format string, args ...any) {
	if f.bad == nil {
		f.bad = &FormatError{Field: key, Reason: fmt.Sprintf(format, args...)}
	}
}

func (f *front) take(key string) (v any, ok bool) {
	v, ok = f.fields[key]
	delete(f.fields, key)
	return v, ok
}

func (f *front) text(key string) string {
	v, ok := f.take(key)
	s, isText := v.(string)
	if ok && !isText {
		f.fail(key, "is %v, not a string in quotes", v)
	}
	if strings.ContainsAny(s, "\n\r\x00") {
		f.fail(key, "has more than one line")
	}
	return strings.TrimSpace(s)
}

func (f *front) list(key string) []string {
	v, ok := f.take(key)
	if !ok {
		return nil
	}
	values, isList := v.([]any)
	if one, isText := v.(string); isText {
		values, isList = []any{one}, true // a person wrote paths = "web/**"
	}
	var out []string
	for _, v := range values {
		s, isText := v.(string)
		if !isText || strings.ContainsAny(s, "\n\r\x00") {
			isList = false
		}
		out = append(out, s)
	}
	if !isList {
		f.fail(key, "is not a list of one-line strings, such as [\"a\", \"b\"]")
	}
	return set(out)
}

func (f *front) date(key string) time.Time {
	v, _ := f.take(key)
	switch v := v.(type) {
	case nil:
		return time.Time{}
	case time.Time:
		return v
	case toml.LocalDate:
		return v.AsTime(time.UTC)
	case string:
		for _, layout := range []string{time.RFC3339, time.DateOnly} {
			if t, err := time.Parse(layout, v); err == nil {
				return t
			}
		}
		f.fail(key, "%q is not a date such as 2026-12-31", v)
	default:
		f.fail(key, "%v is not a date such as 2026-12-31", v)
	}
	return time.Time{}
}

// setText parses the text after the front matter. Lines in the error count from there, from 1.
func (m *Memory) setText(rest string) *FormatError {
	line := 1
	var all []Variant
	for more := true; more; {
		var part string
		part, rest, more = cutLine(rest, fence)
		v, skipped := splitText(part)
		switch {
		case v.Text == "":
			return &FormatError{Line: line, Reason: "has no statement: the first line after the front matter is the memory itself"}
		case len(v.Text) > MaxText:
			return &FormatError{Line: line + skipped, Reason: fmt.Sprintf("the statement is %d bytes long and may have %d; put the rest into the body, after an empty line", len(v.Text), MaxText)}
		}
		all = append(all, v)
		line += 1 + strings.Count(part, "\n")
	}
	if len(all) > 1 && m.Status == Active {
		return &FormatError{Reason: fmt.Sprintf("has %d variants but is not contested: keep one, or set status = \"contested\"", len(all))}
	}
	m.Text, m.Body = all[0].Text, all[0].Body
	m.Variants = all[1:]
	if len(m.Variants) == 0 {
		m.Variants = nil
	}
	return nil
}

// splitText splits a text into statement and body, and returns the number of empty lines before the
// statement.
func splitText(part string) (v Variant, skipped int) {
	var lines []string
	for l := range strings.SplitSeq(part, "\n") {
		lines = append(lines, unguard(l))
	}
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines, skipped = lines[1:], skipped+1
	}
	if len(lines) == 0 {
		return Variant{}, skipped
	}
	return Variant{Text: oneLine(lines[0]), Body: trimBlank(strings.Join(lines[1:], "\n"))}, skipped
}
