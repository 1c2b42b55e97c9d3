package brief

import (
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/attack"
	"github.com/reverie-memory/reverie/internal/unseen"
)

// Stored text may come from a stranger or a model. In a text for an agent it must neither end its
// frame nor hide anything.

// Item is a memory in the form for agents.
type Item struct {
	record.Memory
	Stale bool // its anchored code is gone
}

// Line returns a memory as a line of the managed block.
func (i Item) Line() string { return "- " + i.statement(Inert) + "\n" }

// statement returns a memory in one line, with its places, its other texts, labels where it is
// stale or the person's own, and the beginning of its id. safe makes a text harmless where the line
// will be.
func (i Item) statement(safe func(string) string) string {
	line := safe(i.Text)
	if len(i.Paths) > 0 {
		line += " (" + safe(strings.Join(i.Paths, ", ")) + ")"
	}
	if i.Status == record.Contested {
		line += contested(i.Memory, safe)
	}
	if i.Stale {
		line += StaleLabel
	}
	line += Label(i.Memory)
	return line + " [" + i.ID[:8] + "]"
}

// Contested lists the other texts of a memory, or returns "" if it has none.
func Contested(m record.Memory) string { return contested(m, Tagless) }

func contested(m record.Memory, safe func(string) string) string {
	if len(m.Variants) == 0 {
		return ""
	}
	var texts []string
	for _, v := range m.Variants {
		texts = append(texts, safe(v.Text))
	}
	return " (contested; also said: " + strings.Join(texts, "; ") + ")"
}

// StaleLabel marks a memory whose anchored code is gone.
const StaleLabel = " (may be out of date: code it names has changed)"

// Label marks a memory of the person's own, and an agent's note.
func Label(m record.Memory) string {
	switch {
	case m.Own:
		return " (the user's own, in every repository)"
	case m.Noted != "":
		return " (noted by " + Tagless(m.Noted) + ", unreviewed)"
	}
	return ""
}

// Inert makes text harmless in a line of Markdown: it cannot open or close a comment, and hidden
// characters show.
func Inert(s string) string {
	s = unseen.Visible(strings.Join(strings.Fields(s), " "))
	return strings.NewReplacer("<!--", "&lt;!--", "-->", "--&gt;").Replace(s)
}

// Tagless makes text harmless in an element. It has no closing tag, none of our or a client's tags,
// and no invisible characters. It stays on one line.
func Tagless(s string) string { return attack.Untag(unseen.Reveal(Inert(s))) }

// TaglessLines is Tagless for Markdown of several lines.
func TaglessLines(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, line := range lines {
		rest := strings.TrimLeft(line, " \t")
		lines[i] = strings.TrimRight(strings.ReplaceAll(line[:len(line)-len(rest)], "\t", "    ")+Tagless(rest), " ")
	}
	return strings.Join(lines, "\n")
}
