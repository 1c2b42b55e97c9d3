package redact

import (
	"strings"
)

// Scanner finds secrets. The zero value and nil work and know no literals.
type Scanner struct {
	literals *literalSet // nil without literals
}

// New returns a Scanner that also takes out the given values wherever they stand, as they are,
// JSON-escaped, URL-encoded or in base64. Values that would tear holes into ordinary text are
// ignored (see trivial): shorter than 6 bytes, numbers alone, UUIDs, placeholders, fewer than 12
// letters alone, words joined by dashes, dots or slashes, and fewer than 16 hex digits. Eight or
// more bytes with letters and digits tear none.
func New(literals ...string) *Scanner {
	var keep []string
	for _, v := range literals {
		if v = strings.TrimSpace(v); !trivial(v) || len(v) >= minPrivate && shapeOf(v).mixed() {
			keep = append(keep, v)
		}
	}
	return &Scanner{literals: newLiteralSet(keep)}
}

// maxPasses bounds how often a text with findings is scanned again. Each pass leaves fewer bytes
// that are not markers, and ordinary text needs two: one that finds, one that finds nothing more.
const maxPasses = 8

// Text scans plain text. Valid UTF-8 stays valid.
func (s *Scanner) Text(text string) (Redacted, Report) { return s.text(text, 0, false) }

// text is Text for one that follows others and that others may follow: see findKeys.
func (s *Scanner) text(text string, carry int, open bool) (Redacted, Report) {
	var report Report
	for range maxPasses {
		found := settle(text, append(s.find(text), keySpans(text, carry, open)...))
		if len(found) == 0 {
			return Redacted{text}, report
		}
		found = s.spread(text, found)
		text = replace(text, found, &report)
	}
	// Fail closed: a text that still changes is contrived.
	report.count(ruleUnstable)
	return Redacted{marker(ruleUnstable)}, report
}

// Values are the secrets that Text takes out of a text, in the order in which they are found.
func (s *Scanner) Values(text string) []string {
	var all []string
	for range maxPasses {
		found := settle(text, append(s.find(text), keySpans(text, 0, false)...))
		if len(found) == 0 {
			return all
		}
		found = s.spread(text, found)
		for _, f := range found {
			all = append(all, text[f.start:f.end])
		}
		text = replace(text, found, new(Report))
	}
	return append(all, text)
}

// find returns the secrets of a text but for private keys, in order, none overlapping another, none
// within a marker.
func (s *Scanner) find(text string) []span {
	found := findTriggered(text)
	found = append(found, findRuns(text, s)...)
	if s != nil && s.literals != nil {
		found = s.literals.find(text, ruleLiteral, found)
	}
	return settle(text, found)
}

// maxSpread bounds how many of the secrets of a text are looked for elsewhere in it.
const maxSpread = 2000

// spread adds every other occurrence of the secrets found in text.
func (s *Scanner) spread(text string, found []span) []span {
	var values []string
	for _, f := range found {
		if v := text[f.start:f.end]; len(values) < maxSpread && spreads(v) {
			values = append(values, v)
		}
	}
	if set := newLiteralSet(values); set != nil {
		set.careful = true
		found = settle(text, set.find(text, "", found))
	}
	return found
}

// spreads reports whether a secret found once can be looked for elsewhere without harming ordinary
// words: it looks drawn, or has letters and digits, or strange signs, and is no name of code.
// Private keys, which come in lines, have their own rule.
func spreads(v string) bool {
	if len(v) < 6 || len(v) > maxValue || strings.Contains(v, markerHead) || trivial(v) {
		return false
	}
	head := v[:min(len(v), maxJudged)]
	sh := shapeOf(head)
	return sh.random() || !codeName(head) && !dotted(head) && (sh.mixed() || traitsOf(head, sh, loose)&strange != 0)
}

// replace puts markers where the spans are and counts them.
func replace(text string, found []span, report *Report) string {
	var b strings.Builder
	b.Grow(len(text))
	at := 0
	for _, f := range found {
		b.WriteString(text[at:f.start])
		b.WriteString(marker(f.rule))
		report.count(f.rule)
		at = f.end
	}
	b.WriteString(text[at:])
	return b.String()
}
