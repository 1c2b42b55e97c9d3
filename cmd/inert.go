package cmd

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/pattern"
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
	s = visible(strings.Join(strings.Fields(s), " "))
	return strings.NewReplacer("<!--", "&lt;!--", "-->", "--&gt;").Replace(s)
}

// tagless makes text harmless inside an element: it holds no closing tag, no tag of ours and none of a client's, and
// nothing in it is unseen. It stays on its line.
func tagless(s string) string { return untag(revealed(inert(s))) }

// taglessLines is tagless for Markdown of several lines.
func taglessLines(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, line := range lines {
		rest := strings.TrimLeft(line, " \t")
		lines[i] = strings.TrimRight(strings.ReplaceAll(line[:len(line)-len(rest)], "\t", "    ")+tagless(rest), " ")
	}
	return strings.Join(lines, "\n")
}

// revealed makes readable what visible lets through and a reader does not see all the same.
func revealed(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r >= unicode.MaxASCII }) < 0 {
		return s
	}
	var b strings.Builder
	runes := []rune(s)
	for i, r := range runes {
		if conceals(runes, i) {
			fmt.Fprintf(&b, "<U+%04X>", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// shownRune is how visible and revealed write a character.
var shownRune = pattern.New(`^<U\+[0-9A-F]{4,6}>`)

// tagged is what begins a tag behind its "<".
var tagged = pattern.New(`(?i)^\s*(?:/|!|\?|reverie)`)

// clientTag is the name of a tag such as system-reminder or hook_context: no type is called so.
var clientTag = pattern.New(`^[A-Za-z0-9]+[-_]`)

// untag writes the "<" of what may be a tag as "&lt;". That of a type with parameters, as in List<String>, stays: it
// stands behind a letter, and opens nothing that anybody closes.
func untag(s string) string {
	var b strings.Builder
	for i, r := range s {
		if r == '<' && isTag(s, i) {
			b.WriteString("&lt;")
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isTag(s string, at int) bool {
	rest := s[at+1:]
	switch {
	case shownRune.MatchString(s[at:]):
		return false
	case tagged.MatchString(rest):
		return true
	case rest == "" || !isLetter(rest[0]):
		return false
	case clientTag.MatchString(rest):
		return true
	}
	return at == 0 || !isLetter(s[at-1]) && (s[at-1] < '0' || s[at-1] > '9') && s[at-1] != '_'
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
