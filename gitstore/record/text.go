package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// fence delimits the front matter and separates the variants of a contested memory. A backslash
// escapes such a line in a text.
const fence = "+++"

func writeText(b *bytes.Buffer, text, body string) {
	b.WriteString(guard(text) + "\n")
	if body == "" {
		return
	}
	b.WriteByte('\n')
	for l := range strings.SplitSeq(body, "\n") {
		b.WriteString(guard(l) + "\n")
	}
}

// guard escapes a line that would be read as a fence or as one of git's conflict markers; unguard
// reverses it.
func guard(line string) string {
	if isGuarded(line) {
		return `\` + line
	}
	return line
}

func unguard(line string) string {
	if strings.HasPrefix(line, `\`) && isGuarded(line) {
		return line[1:]
	}
	return line
}

func isGuarded(line string) bool {
	line = strings.TrimLeft(line, `\`)
	return strings.TrimRight(line, " \t") == fence || isMarker(line)
}

// markers begin the lines with which git reports a conflict: of our side, the base and their side.
var markers = [3]string{"<<<<<<< ", "||||||| ", ">>>>>>> "}

func isMarker(line string) bool {
	return slices.ContainsFunc(markers[:], func(mark string) bool { return strings.HasPrefix(line, mark) })
}

// Conflict returns the first line, from 1, with a conflict marker of git, or 0. A line of = alone
// is no sign: it also underlines a heading.
func Conflict(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		if n++; isMarker(line) {
			return n
		}
	}
	return 0
}

// sides returns both texts of a file with git's conflict markers, without the base.
func sides(text string) (ours, theirs string) {
	var out [2]strings.Builder
	in := ""
	for line := range strings.Lines(text) {
		switch {
		case isMarker(line):
			in = line[:1]
		case (in == "<" || in == "|") && strings.TrimRight(line, "\n") == "=======":
			in = "="
		case in == "|":
		default:
			if in != "=" {
				out[0].WriteString(line)
			}
			if in != "<" {
				out[1].WriteString(line)
			}
		}
	}
	return out[0].String(), out[1].String()
}

// oneLine joins the words of a statement by single spaces.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// trimBlank removes empty lines at both ends.
func trimBlank(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return strings.Join(lines, "\n")
}

// readable writes control characters, and those with no width or a change of text direction, as
// <U+001B>. It keeps line feeds, tabs and joiners of emoji and scripts.
func readable(s string) string {
	strange := func(r rune) bool {
		switch {
		case r == '\n' || r == '\t' || r == '\u200c' || r == '\u200d':
			return false
		}
		return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u200b' || r == '\ufeff' || r >= 0xe0000 && r <= 0xe007f
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if !strings.ContainsFunc(s, strange) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if strange(r) {
			fmt.Fprintf(&b, "<U+%04X>", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// quote returns text as a TOML basic string.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x20 || r == 0x7f:
			b.WriteString(`\u` + fmt.Sprintf("%04X", r))
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func quoteList(values []string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = quote(v)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

func join[T ~string](values []T) string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return strings.Join(out, ", ")
}

// FormatError locates a fault in a record's text. Line counts from 1. Line is 0 and Field empty if
// the fault has no single place.
type FormatError struct {
	Path   string
	Line   int
	Field  string
	Reason string
}

func (e *FormatError) Error() string {
	var b strings.Builder
	b.WriteString(e.Path)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	if e.Field != "" {
		fmt.Fprintf(&b, ": %s", e.Field)
	}
	return b.String() + ": " + e.Reason
}

func splitPath(at string) (id, slug string, ok bool) {
	name, isMarkdown := strings.CutSuffix(path.Base(at), ".md")
	id, slug, _ = strings.Cut(name, "-")
	ok = isMarkdown && ValidID(id) && path.Dir(at) == MemoryDir+"/"+id[:2]
	return id, slug, ok
}

// lineOf returns the line of the file where the front matter sets key, or 0.
func lineOf(front, key string) int {
	n := 1
	for l := range strings.SplitSeq(front, "\n") {
		n++
		if name, _, ok := strings.Cut(l, "="); ok && strings.Trim(strings.TrimSpace(name), `"'`) == key {
			return n
		}
	}
	return 0
}

// cutLine cuts text around the first line that is exactly sep.
func cutLine(text, sep string) (before, after string, found bool) {
	for at := 0; at < len(text); {
		end := strings.IndexByte(text[at:], '\n')
		stop, next := at+end, at+end+1
		if end < 0 {
			stop, next = len(text), len(text)
		}
		if strings.TrimRight(text[at:stop], " \t") == sep {
			return text[:at], text[next:], true
		}
		at = next
	}
	return text, "", false
}

func invalidAt(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(data)
}

// formatJSON formats a record for readable diffs: one field a line.
func formatJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	if b.Len() > MaxRecord {
		return nil, fmt.Errorf("is %d bytes long; a record may have %d", b.Len(), MaxRecord)
	}
	return b.Bytes(), nil
}

// MaxRecord bounds the text form of any record except a memory, in bytes.
const MaxRecord = 256 << 10

func parseJSON(at string, data []byte, v any) error {
	if len(data) > MaxRecord {
		return &FormatError{Path: at, Reason: fmt.Sprintf("is %d bytes long; a record may have %d", len(data), MaxRecord)}
	}
	err := json.Unmarshal(data, v)
	switch e := err.(type) {
	case nil:
		return nil
	case *json.SyntaxError:
		return &FormatError{Path: at, Line: 1 + bytes.Count(data[:e.Offset], []byte("\n")), Reason: e.Error()}
	case *json.UnmarshalTypeError:
		return &FormatError{Path: at, Line: 1 + bytes.Count(data[:e.Offset], []byte("\n")), Field: e.Field, Reason: "is a JSON " + e.Value + ", which does not belong there"}
	default:
		return &FormatError{Path: at, Reason: err.Error()}
	}
}

func isSHA256(s string) bool { return len(s) == 2*sha256.Size && isHex(s) }

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }

func short(hash string) string { return hash[:min(8, len(hash))] }

// month returns the folder for a time, "2026-11", or "undated" for the zero time.
func month(t time.Time) string {
	if t.IsZero() {
		return "undated"
	}
	return t.UTC().Format("2006-01")
}

var (
	// ErrNoMemory means that no memory or operation has the given id.
	ErrNoMemory = errors.New("there is no such id")
	// ErrAmbiguous means that several ids begin with the given prefix.
	ErrAmbiguous = errors.New("several ids begin like that")
	// ErrChanged means that a memory has changed since an operation was proposed for it.
	ErrChanged = errors.New("the memory has changed since this was proposed")
	// ErrTaken means that a memory with another text has the same id.
	ErrTaken = errors.New("another memory has this id")
	// ErrRetired means that a retired memory would return unasked.
	ErrRetired = errors.New("it was retired")
	// ErrDecided means that an operation is no longer pending.
	ErrDecided = errors.New("it was decided meanwhile")

	// errMoved means that plain git moved a ref between our read and our write.
	errMoved = errors.New("the ref was moved")
)

// ErrPurged means that a history, or data to be written, holds purged content.
var ErrPurged = errors.New("holds what was purged")

// Unreadable separates records that cannot be parsed, which hide no others, from all other errors.
func Unreadable(err error) (records []string, rest error) {
	var bad *FormatError
	var others []error
	for _, e := range Errors(err) {
		if errors.As(e, &bad) {
			records = append(records, e.Error())
		} else {
			others = append(others, e)
		}
	}
	return records, errors.Join(others...)
}

// Errors lists the errors that were joined.
func Errors(err error) []error {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, e := range many.Unwrap() {
			all = append(all, Errors(e)...)
		}
		return all
	}
	if err == nil {
		return nil
	}
	return []error{err}
}
