package cmd

import (
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/attack"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/internal/unseen"
)

// What is stored may come from a stranger or a model. Where it goes into a text that an agent reads, it can neither
// end the frame around it nor hide anything.

// statement is a memory in one line, with its places, its other texts, a label where it is stale, and the beginning of
// its id. safe makes a text harmless where the line will stand.
func statement(m item, safe func(string) string) string {
	line := safe(m.Text)
	if len(m.Paths) > 0 {
		line += " (" + safe(strings.Join(m.Paths, ", ")) + ")"
	}
	if m.Status == record.Contested {
		line += " Contested; also said:"
		for _, v := range m.Variants {
			line += " " + safe(v.Text)
		}
	}
	if m.stale {
		line += staleLabel
	}
	return line + " [" + m.ID[:8] + "]"
}

// staleLabel says in a rendered text that code a memory rests on is gone.
const staleLabel = " (may be out of date: code it names has changed)"

// inert makes text harmless inside Markdown: it cannot open or close a comment, and hidden
// characters show.
func inert(s string) string {
	s = term.Visible(strings.Join(strings.Fields(s), " "))
	return strings.NewReplacer("<!--", "&lt;!--", "-->", "--&gt;").Replace(s)
}

// tagless makes text harmless inside an element: it holds no closing tag, no tag of ours and none of a client's, and
// nothing in it is unseen. It stays on its line.
func tagless(s string) string { return attack.Untag(unseen.Reveal(inert(s))) }

// taglessLines is tagless for Markdown of several lines.
func taglessLines(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, line := range lines {
		rest := strings.TrimLeft(line, " \t")
		lines[i] = strings.TrimRight(strings.ReplaceAll(line[:len(line)-len(rest)], "\t", "    ")+tagless(rest), " ")
	}
	return strings.Join(lines, "\n")
}
