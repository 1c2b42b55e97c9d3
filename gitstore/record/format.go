package record

import (
	"bytes"
	"fmt"
	"time"
)

// Format returns the memory's text form, as FORMAT.md describes it. Its texts are unique and in the
// order of a merge, so that equal memories give equal files.
func (m Memory) Format() []byte {
	texts := m.textFacts()
	m.setTexts(texts[textField], texts)
	var b bytes.Buffer
	line := func(key, value string) { fmt.Fprintf(&b, "%s = %s\n", key, value) }
	b.WriteString(fence + "\n")
	// Stable keys separate the changing ones, so that git can merge two changes.
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
