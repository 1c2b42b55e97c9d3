package redact

import "strings"

// Classes that unit returns besides ASCII characters.
const (
	unitOther  byte = 0    // no ASCII character
	unitColour byte = 1    // a terminal's sequence, to be ignored
	unitEscape byte = 0x1b // ESC
)

// unit reads one character at text[i] through the encodings of carriers: JSON's escapes, up to
// three times over, percent and quoted-printable encoding, HTML's entities. It returns the
// character ('\n' for any line end, ' ' for a blank) or a class, and its length in bytes, at least
// one.
func unit(text string, i int) (c byte, n int) {
	c = text[i]
	switch {
	case kind[c] == kLower || kind[c] == kUpper || kind[c] == kDigit:
		return c, 1
	case c == '\r':
		return '\n', 1
	case c == '\t':
		return ' ', 1
	case c == '\\':
		return backslashed(text, i)
	case c == '%' || c == '=':
		return hexed(text, i)
	case c == '&':
		return entity(text, i)
	case c == unitEscape:
		return sequence(text, i, 1)
	case c == '^' && strings.HasPrefix(text[i:], "^[["):
		return sequence(text, i, 2)
	case c < ' ' && c != '\n' || c >= 0x7f:
		return unitOther, 1
	}
	return c, 1
}

// backslashed reads an escape that begins with any number of backslashes.
func backslashed(text string, i int) (byte, int) {
	n := 1
	for n < 16 && i+n < len(text) && text[i+n] == '\\' {
		n++
	}
	if i+n >= len(text) {
		return unitOther, n
	}
	c := byte(0)
	switch d := text[i+n]; d {
	case 'n', 'r', '\n', '\r':
		return '\n', n + 1
	case 't':
		return ' ', n + 1
	case '/':
		return '/', n + 1
	case 'e':
		c, n = unitEscape, n+1
	case '0':
		if !strings.HasPrefix(text[i+n:], "033") {
			return unitOther, n
		}
		c, n = unitEscape, n+3
	case 'u', 'x':
		digits := 2
		if d == 'u' {
			digits = 4
		}
		if len(text) < i+n+1+digits || !isHex(text[i+n+1:i+n+1+digits]) {
			return unitOther, n
		}
		r := rune(hexByte(text[i+n+1], text[i+n+2]))
		if d == 'u' {
			r = hex4(text, i+n+1)
		}
		n += 1 + digits
		if r >= 0x80 {
			return unitOther, n
		}
		c = plain(byte(r))
	default:
		return unitOther, n
	}
	if c == unitEscape {
		return sequence(text, i, n)
	}
	return c, n
}

// hexed reads %2B, %252B and =2B. Any other equals sign stands for itself.
func hexed(text string, i int) (byte, int) {
	n := 1
	for text[i] == '%' && strings.HasPrefix(text[i+n:], "25") && n < 7 {
		n += 2
	}
	if len(text) < i+n+2 || !sets[hexSet].has(text[i+n]) || !sets[hexSet].has(text[i+n+1]) {
		return text[i], 1
	}
	c := hexByte(text[i+n], text[i+n+1])
	if text[i] == '=' && !isOneOf(c, "+/=\r\n-") {
		return '=', 1 // of base64, or of an assignment
	}
	if c >= 0x80 {
		return unitOther, n + 2
	}
	if c = plain(c); c == unitEscape {
		return sequence(text, i, n+2)
	}
	return c, n + 2
}

func hexByte(a, b byte) byte {
	digit := func(c byte) byte {
		if kind[c] == kDigit {
			return c - '0'
		}
		return c | 0x20 - 'a' + 10
	}
	return digit(a)<<4 | digit(b)
}

// plain maps a character to unit's result.
func plain(c byte) byte {
	switch {
	case c == '\r':
		return '\n'
	case c == '\t':
		return ' '
	case c < ' ' && c != '\n' && c != unitEscape:
		return unitOther
	}
	return c
}

var entities = []struct {
	name string
	c    byte
}{{"plus;", '+'}, {"sol;", '/'}, {"equals;", '='}, {"hyphen;", '-'}, {"dash;", '-'}, {"ndash;", '-'}, {"mdash;", '-'}, {"minus;", '-'},
	{"lowbar;", '_'}, {"nbsp;", ' '}, {"Tab;", ' '}, {"NewLine;", '\n'}, {"quot;", '"'}, {"apos;", '\''}, {"lt;", '<'}, {"gt;", '>'}}

// entity reads &#43;, &#x2b;, &plus; and the same with the ampersand itself as an entity.
func entity(text string, i int) (byte, int) {
	n := 1
	for n < 13 && strings.HasPrefix(text[i+n:], "amp;") {
		n += len("amp;")
	}
	rest := text[i+n:]
	if !strings.HasPrefix(rest, "#") {
		for _, e := range entities {
			if strings.HasPrefix(rest, e.name) {
				return e.c, n + len(e.name)
			}
		}
		return '&', 1
	}
	base, j, v := 10, 1, 0
	if len(rest) > 1 && rest[1]|0x20 == 'x' {
		base, j = 16, 2
	}
	from := j
	for ; j < len(rest) && j < from+6 && sets[hexSet].has(rest[j]); j++ {
		v = v*base + int(hexByte('0', rest[j]))
	}
	if j == from || j == len(rest) || rest[j] != ';' {
		return '&', 1
	}
	if v >= 0x80 {
		return unitOther, n + j + 1
	}
	if c := plain(byte(v)); c != unitEscape {
		return c, n + j + 1
	}
	return sequence(text, i, n+j+1)
}

// sequence reads the text after ESC, which takes n bytes at text[i]: [0;31m.
func sequence(text string, i, n int) (byte, int) {
	if i+n >= len(text) {
		return unitOther, n
	}
	c, m := text[i+n], 1
	if c == '%' || c == '&' {
		c, m = unit(text, i+n)
	}
	if c != '[' {
		return unitOther, n
	}
	for j := i + n + m; j < len(text) && j < i+n+24; j++ {
		if k := kind[text[j]]; k == kLower || k == kUpper {
			return unitColour, j + 1 - i
		} else if k != kDigit && !isOneOf(text[j], ";:?%") {
			break
		}
	}
	return unitOther, n
}

// keyRun is a run of base64 characters: text[start:end] with the escapes in it.
type keyRun struct {
	start, end int
	width      int  // in characters, its padding too
	plus       bool // it begins with a plus sign, which may be a diff's
	padded     bool
	tally
}

// tally counts the kinds of characters of base64. A repeated character counts once.
type tally struct {
	upper, lower, digit, odd int // odd: neither letter nor digit
	turns                    int // changes between the first three
	beyond                   int // letters that are no hexadecimal digits
	seen                     [2]uint64
}

func (t *tally) add(c, prev byte) {
	if c == prev { // zeros
		return
	}
	k := kind[c]
	switch k {
	case kUpper:
		t.upper++
	case kLower:
		t.lower++
	case kDigit:
		t.digit++
	default:
		t.odd++
		return
	}
	if prev != 0 && kind[prev] != k && kind[prev] != kSymbol {
		t.turns++
	}
	if k != kDigit && c|0x20 > 'f' {
		t.beyond++
	}
	t.seen[c>>6] |= 1 << (c & 63)
}

func (t *tally) merge(o tally) {
	t.upper, t.lower, t.digit, t.odd = t.upper+o.upper, t.lower+o.lower, t.digit+o.digit, t.odd+o.odd
	t.turns, t.beyond = t.turns+o.turns, t.beyond+o.beyond
	t.seen[0] |= o.seen[0]
	t.seen[1] |= o.seen[1]
}

func (t *tally) alnum() int { return t.upper + t.lower + t.digit }

// hex reports whether all are hexadecimal digits of one case: an object id, a digest.
func (t *tally) hex() bool { return t.beyond == 0 && t.odd == 0 && (t.upper == 0 || t.lower == 0) }

// drawn reports whether characters change between capitals, small letters and digits at percent of
// the places. Random ones do at 64, words joined by capitals and digits at 35 or fewer.
func (t *tally) drawn(percent int) bool {
	n := t.alnum()
	return t.upper >= 2 && t.lower >= 2 && n >= 12 && t.turns*100 >= percent*(n-1) && (n < 24 || t.digit+t.odd > 0)
}

// random reports whether a run is drawn, and is neither words nor a path with an id.
func (r *keyRun) random(text string) bool {
	n := r.alnum()
	if !r.drawn(35) || n >= minCluster && (r.upper*8 < n || r.lower*8 < n) {
		return false
	}
	sh := shapeOf(r.characters(text, 256))
	return sh.choppy() || sh.unpronounceable()
}

// keyLexer iterates over runs of base64. It must begin between two units.
type keyLexer struct {
	text string
	at   int
	url  bool // - and _ also belong to a run
	line int  // line ends that were passed
}

// next returns the next run of at least least characters that begins before text[limit].
func (l *keyLexer) next(least, limit int) (r keyRun, ok bool) {
	text := l.text
	for l.at < limit {
		c, n := unit(text, l.at)
		if !sets[base64Plain].has(c) {
			if c == '\n' {
				l.line++
			}
			if c == '[' {
				n = max(n, markerAt(text, l.at))
			}
			l.at += n
			continue
		}
		r = keyRun{start: l.at, plus: c == '+'}
		var prev byte
		dashes := 0 // that may stand behind the run
		for l.at < len(text) {
			switch {
			case sets[base64Plain].has(c):
				r.width += 1 + dashes
				dashes = 0
				r.tally.add(c, prev)
				prev = c
				r.end = l.at + n
			case l.url && (c == '-' || c == '_'):
				dashes++
				r.tally.add(c, prev)
			case c != unitColour:
				goto ended
			}
			if l.at += n; l.at < len(text) {
				c, n = unit(text, l.at)
			}
		}
	ended:
		for pad := 0; pad < 3 && l.at < len(text) && c == '='; pad++ {
			r.width++
			r.padded = true
			l.at += n
			r.end = l.at
			if l.at < len(text) {
				c, n = unit(text, l.at)
			}
		}
		if r.width >= least {
			return r, true
		}
	}
	return keyRun{}, false
}

// characters returns at most most characters of a run, without its escapes.
func (r keyRun) characters(text string, most int) string {
	if r.width == r.end-r.start {
		return text[r.start:min(r.end, r.start+most)]
	}
	b := make([]byte, 0, min(r.width, most))
	for i := r.start; i < r.end && len(b) < most; {
		c, n := unit(text, i)
		if c != unitColour {
			b = append(b, c)
		}
		i += n
	}
	return string(b)
}
