package redact

import "strings"

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

// Stream scans texts that follow one another, such as the events of a session. A private key that
// begins in one of them goes out of those after it too, for Reach bytes or up to its end. It keeps
// no text. Its methods belong to one goroutine at a time.
type Stream struct {
	scanner *Scanner
	carry   int // bytes of what comes that may belong to a key that has begun
}

// Reach bounds the search for an unterminated private key, in bytes from its beginning.
const Reach = maxPrivateKey

// Stream begins a stream. A nil Scanner's works too.
func (s *Scanner) Stream() *Stream { return &Stream{scanner: s} }

// Text is Scanner.Text for the next text.
func (t *Stream) Text(text string) (Redacted, Report) {
	clean, report := t.scanner.text(text, t.carry, false)
	t.Skip(text)
	return clean, report
}

// JSON is Scanner.JSON for the next document.
func (t *Stream) JSON(doc []byte) (Redacted, Report, error) {
	clean, report, err := t.scanner.json(doc, t.carry)
	if err == nil {
		t.Skip(string(doc))
	}
	return clean, report, err
}

// Skip passes over a text, as it was or as an earlier stream left it: a marker tells where a key
// began.
func (t *Stream) Skip(text string) {
	t.carry = max(0, t.carry-len(text))
	for _, l := range findLabels(text) {
		switch l.kind {
		case keyBegin, keyEither:
			t.carry = max(0, maxPrivateKey-(len(text)-l.end))
		case keyEnd:
			t.carry = 0
		}
	}
}

// Glance scans what has come of a text that goes on. Lines at its end that may turn out to be a
// key's go out too.
func (s *Scanner) Glance(text string) Redacted {
	clean, _ := s.text(text, 0, true)
	return clean
}
