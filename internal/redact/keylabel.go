package redact

import "strings"

// keyLabel is a line that begins or ends a private key: text[start:end].
type keyLabel struct {
	start, end int
	kind       labelKind
	static     bool // of OpenVPN: the key is hexadecimal
}

type labelKind int

const (
	keyBegin labelKind = iota
	keyEnd
	keyEither // its beginning is gone
	keyValue  // no label, but a value whose name says that it is a key: WireGuard's
)

// maxLabel bounds how far, in bytes, a label is followed to either side. A label may be broken over
// two lines, with a prefix on the second.
const maxLabel = 120

// findLabels returns the labels of private keys, in order. Every one has a V: PRIVATE KEY,
// Private-Lines, OpenVPN.
func findLabels(text string) []keyLabel {
	var labels []keyLabel
	small, capital := -1, -1
	for at := 0; at < len(text); at++ {
		if small < at {
			small = indexByteFrom(text, 'v', at)
		}
		if capital < at {
			capital = indexByteFrom(text, 'V', at)
		}
		if at = min(small, capital); at == len(text) {
			break
		}
		low := 0
		if n := len(labels); n > 0 {
			low = labels[n-1].end
		}
		if l, ok := labelAt(text, at, low); ok {
			labels = append(labels, l)
			at = max(at, l.end-1)
		}
	}
	return labels
}

func indexByteFrom(text string, c byte, from int) int {
	if i := strings.IndexByte(text[from:], c); i >= 0 {
		return from + i
	}
	return len(text)
}

// labelAt returns the label whose V is at text[at]. It does not begin before text[low].
func labelAt(text string, at, low int) (l keyLabel, ok bool) {
	start := at - 3
	if start >= low && strings.EqualFold(text[start:at], "pri") {
		if start >= len(markerHead) && strings.HasPrefix(text[start-len(markerHead):], marker(ruleOpenKey)) {
			n := start - len(markerHead)
			return keyLabel{n, n + len(marker(ruleOpenKey)), keyBegin, false}, true
		}
		return privateLabel(text, start, at+1, low)
	}
	if start = at - 4; start >= low && strings.EqualFold(text[start:min(len(text), at+3)], "openvpn") {
		if end := spell(text, at+3, "STATICKEYV"); end > 0 {
			if end < len(text) && kind[text[end]] == kDigit {
				end++
			}
			l, ok = labelAround(text, start, end, low)
			l.static = true
			return l, ok
		}
	}
	if at+4 <= len(text) && strings.EqualFold(text[at+1:at+4], "ate") { // PRI is parted from VATE
		i, word := at, "pri"
		for n := 0; word != "" && i > low && n < 60; n++ {
			if i--; text[i]|0x20 == word[len(word)-1] {
				word = word[:len(word)-1]
			} else if kind[text[i]] == kLower || kind[text[i]] == kUpper {
				break
			}
		}
		if word == "" {
			return privateLabel(text, i, at+1, low)
		}
	}
	return l, false
}

// privateLabel returns the label whose word PRIVATE begins at text[start], and has its V before
// text[at].
func privateLabel(text string, start, at, low int) (l keyLabel, ok bool) {
	word := spell(text, at, "ATE")
	if word < 0 {
		return l, false
	}
	if end := spell(text, word, "KEY"); end > 0 {
		if block := spell(text, end, "BLOCK"); block > 0 {
			end = block
		}
		if l, ok = labelAround(text, start, end, low); ok {
			return l, ok
		}
		r, ok := valueAfter(text, end, false)
		return keyLabel{r.start, r.end, keyValue, false}, ok && r.width >= 43 && r.width <= 46 && r.random(text)
	}
	end, dashes := dashesAfter(text, word)
	for kind, name := range []string{keyBegin: "LINES", keyEnd: "MAC"} { // of PuTTY
		if at := spell(text, end, name); dashes == 1 && at > 0 && at < len(text) {
			if c, n := unit(text, at); c == ':' {
				return keyLabel{start, at + n, labelKind(kind), false}, true
			}
		}
	}
	return l, false
}

// valueAfter returns the run of base64 after a name that ends before text[at] and a colon or an
// equals sign.
func valueAfter(text string, at int, url bool) (r keyRun, ok bool) {
	if at = separatorEnd(text, at); at < 0 {
		return r, false
	}
	from := filler(text, at)
	for at = from; url && at < len(text); {
		c, n := unit(text, at)
		if c != '-' && c != '_' {
			break
		}
		at += n
	}
	lexer := keyLexer{text: text, at: at, url: url}
	r, ok = lexer.next(minKeyRun, min(len(text), at+1))
	ok = ok && r.start == at
	r.start = from
	return r, ok
}

// separatorEnd returns the end of a colon or an equals sign after a name that ends before text[at],
// or -1.
func separatorEnd(text string, at int) int {
	if at = filler(text, at); at >= len(text) {
		return -1
	}
	c, n := unit(text, at)
	if c != ':' && c != '=' {
		return -1
	}
	return at + n
}

// filler skips up to 32 bytes of blanks, quotes and other text around a separator. In a form, a
// plus sign is a blank.
func filler(text string, at int) int {
	for limit := min(len(text), at+32); at < limit; {
		c, n := unit(text, at)
		if c != unitOther && c != unitColour && !isOneOf(c, " +\"'`*,") {
			break
		}
		at += n
	}
	return at
}

// labelAround returns the label that names a key in text[start:end]. A BEGIN or an END must precede
// it, with dashes or capitals; otherwise dashes must follow.
func labelAround(text string, start, end, low int) (l keyLabel, ok bool) {
	capitals := text[start] == 'P' && text[start+1] == 'R' || text[start] == 'O'
	after, behind := dashesAfter(text, end)
	l = keyLabel{start, end, keyEither, false}
	if behind > 0 {
		l.end = after
	}
	low = max(low, start-maxLabel)
	before := text[low:start]
	for i := len(before) - 3; i >= 0; i-- {
		c := before[i] | 0x20
		if c == '-' && i+3 <= len(before) && before[i:i+3] == "---" {
			break // of another label
		}
		n := 0
		switch {
		case c == 'b' && i+5 <= len(before) && strings.EqualFold(before[i:i+5], "begin"):
			l.kind, n = keyBegin, 5
		case c == 'e' && strings.EqualFold(before[i:i+3], "end"):
			l.kind, n = keyEnd, 3
		}
		at := low + i
		if n == 0 || at > 0 && !boundary(text, at) && !escapedDash(text, at) {
			continue
		}
		if !labelWords(text, at+n, start) {
			break
		}
		l.start = at
		from := dashesBefore(text, at)
		if from < at {
			l.start = from
		}
		if from < at || behind > 0 || capitals && before[i] < 'a' {
			return l, true
		}
		break
	}
	l.kind, l.start = keyEither, start
	return l, behind >= 3
}

// labelWords reports whether text[i:end] holds only words, up to the end of a line.
func labelWords(text string, i, end int) bool {
	for i < end {
		c, n := unit(text, i)
		switch k := kind[c]; {
		case c == '\n':
			return true
		case k > kSpace && c != unitColour, k == kSymbol && !isOneOf(c, "+_-"):
			return false
		}
		i += n
	}
	return true
}

// dashesAfter counts the dashes, in any encoding, that follow text[at], and returns their end.
func dashesAfter(text string, at int) (end, n int) {
	for i, limit := at, at+maxLabel; i < len(text) && i < limit; {
		size := dashAt(text, i)
		if size > 0 {
			n++
			i += size
			end = i
			continue
		}
		c, size := unit(text, i)
		if n > 0 && c != unitColour || c != ' ' && c != unitColour && c != '+' && c != '_' {
			break
		}
		i += size
	}
	return end, n
}

// dashAt returns the length of a dash at text[at] in bytes, or 0.
func dashAt(text string, at int) int {
	switch text[at] {
	case '-':
		return 1
	case '%', '=', '\\', '&', 0xe2, 0xef:
	default:
		return 0
	}
	for _, d := range []string{"‐", "‑", "‒", "–", "—", "―", "−", "－", "﹣"} {
		if strings.HasPrefix(text[at:], d) {
			return len(d)
		}
	}
	c, n := unit(text, at)
	if c == '-' {
		return n
	}
	if text[at] == '\\' || text[at] == '&' { // \u2014, &#8212;
		for _, d := range []string{`\u2010`, `\u2011`, `\u2012`, `\u2013`, `\u2014`, `\u2015`, `\u2212`, "&#8208;", "&#8209;", "&#8211;", "&#8212;", "&#8722;"} {
			if len(text) >= at+len(d) && strings.EqualFold(text[at:at+len(d)], d) {
				return len(d)
			}
		}
	}
	return 0
}

// dashesBefore returns the start of the dashes before text[at], or at. Blanks and colours may
// intervene.
func dashesBefore(text string, at int) int {
	low := max(0, at-80)
	for i := at - 1; i >= low; i-- {
		if dashAt(text, i) == 0 {
			continue
		}
		end, n := dashesAfter(text, i)
		if n == 0 || blankBetween(text, end, at) != at {
			break
		}
		from := i
		for i > low {
			if i--; dashAt(text, i) > 0 {
				if end, _ := dashesAfter(text, i); end >= from {
					from = i
					continue
				}
			}
			if from-i > 8 {
				break
			}
		}
		return from
	}
	return at
}

// blankBetween skips blanks and colours from text[i] on, up to text[at].
func blankBetween(text string, i, at int) int {
	for i < at {
		c, n := unit(text, i)
		if c != ' ' && c != unitColour && c != '+' {
			return i
		}
		i += n
	}
	return i
}

// escapedDash reports whether an escape unknown to boundary ends before text[at]: =2D, an entity.
func escapedDash(text string, at int) bool {
	return at >= 3 && text[at-3] == '=' && sets[hexSet].has(text[at-1])
}

// spell returns the end of a word of capitals that begins at text[at] in any case, or -1.
// Non-letters may separate its letters, and it may continue on the next line after that line's
// prefix.
func spell(text string, at int, word string) int {
	crossed := false
	for limit := at + 24; word != ""; {
		if at >= min(len(text), limit) {
			return -1
		}
		c, n := text[at], 1
		if kind[c] != kLower && kind[c] != kUpper {
			c, n = unit(text, at)
		}
		switch letter := kind[c] == kLower || kind[c] == kUpper; {
		case letter && c&^0x20 == word[0] && (!crossed || len(text)-at >= len(word) && strings.EqualFold(text[at:at+len(word)], word)):
			word = word[1:]
		case c == '\n' && !crossed:
			crossed, limit = true, at+maxLabel
		case letter && !crossed:
			return -1
		}
		at += n
	}
	return at
}
