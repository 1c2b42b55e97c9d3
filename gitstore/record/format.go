package record

import (
	"bytes"
	"fmt"
	"strings"
	"time"
	"unicode"
)

// fence opens and closes the front matter, and stands between the variants of a contested
// memory. A text's own line of this form is written with a backslash before it.
const fence = "+++"

// Format is the memory's text form, as FORMAT.md describes it. Its texts stand in the order in which a merge puts
// them, each once: what says the same is then the same file, however it came about.
func (m Memory) Format() []byte {
	texts := m.textFacts()
	m.setTexts(texts[textField], texts)
	var b bytes.Buffer
	line := func(key, value string) { fmt.Fprintf(&b, "%s = %s\n", key, value) }
	b.WriteString(fence + "\n")
	// Keys that change are kept apart by keys that do not, so that git merges two changes.
	line("kind", quote(string(m.Kind)))
	line("id", quote(m.ID))
	line("status", quote(string(m.Status)))
	line("source", quote(m.Source.String()))
	line("paths", quoteList(m.Paths))
	line("ref", quote(m.Ref))
	line("tags", quoteList(m.Tags))
	if len(m.Supersedes) > 0 {
		line("supersedes", quoteList(m.Supersedes))
	}
	if m.Topic != "" {
		line("topic", quote(m.Topic))
	}
	if m.Branch != "" {
		line("branch", quote(m.Branch))
	}
	if !m.Expires.IsZero() {
		line("expires", quote(m.Expires.UTC().Format(time.RFC3339)))
	}
	if len(m.Anchors) > 0 {
		line("anchors", quoteList(m.Anchors))
	}
	for _, f := range m.Extra {
		line(f.Key, f.Value)
	}
	b.WriteString(fence + "\n")
	writeText(&b, m.Text, m.Body)
	for _, v := range m.Variants {
		b.WriteString(fence + "\n")
		writeText(&b, v.Text, v.Body)
	}
	return b.Bytes()
}

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

// guard puts a backslash before a line that would be read as a fence; unguard takes it away.
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
	return strings.TrimRight(strings.TrimLeft(line, `\`), " \t") == fence
}

// oneLine joins the words of a statement by single spaces.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// trimBlank takes empty lines off both ends.
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

// readable writes control characters, and those that turn the direction of text or have no
// width, as <U+001B>. Line feeds, tabs, and what joins emoji and scripts stay.
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

// quote is a TOML basic string.
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
