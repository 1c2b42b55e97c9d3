package redact

import "strings"

// charset is a set of ASCII bytes.
type charset [2]uint64

func (c *charset) has(b byte) bool { return b < 0x80 && c[b>>6]&(1<<(b&63)) != 0 }

// setName names a charset of the rules' tables.
type setName int

const (
	hexSet setName = iota
	digitSet
	upperSet  // A-Z 0-9
	alnumSet  // A-Z a-z 0-9
	wordSet   // alnum _
	dashSet   // alnum _ -
	dotSet    // alnum _ - .
	base64Set // alnum + / =
	anySet    // the union of the above, and : % ~

	// Sets that one or two formats use.
	dotTilde    // alnum _ - . ~
	dashPercent // alnum _ - %
	base64Under // alnum + / = _
	dollarSet   // alnum $
	atSet       // anySet and @

	tokenSet  // alnum + / = _ - . ~
	runSet    // alnum + / _ -
	typeSet   // alnum _ - . : and the signs of types
	lookupSet // alnum _ . $ and the signs of a lookup
	cryptSet  // alnum . / $ = , + - _ :
	hashSet   // cryptSet and }

	base64Plain // alnum + /
	wideSet     // base64Plain, =, and the bytes of escapes and colours in a run
)

var sets = [...]charset{
	hexSet:    newCharset("0123456789abcdefABCDEF"),
	digitSet:  newCharset("0123456789"),
	upperSet:  newCharset(upperCase + "0123456789"),
	alnumSet:  newCharset(alphanumeric),
	wordSet:   newCharset(alphanumeric + "_"),
	dashSet:   newCharset(alphanumeric + "_-"),
	dotSet:    newCharset(alphanumeric + "_-."),
	base64Set: newCharset(alphanumeric + "+/="),
	anySet:    newCharset(alphanumeric + "_-.+/=:%~"),

	dotTilde:    newCharset(alphanumeric + "_-.~"),
	dashPercent: newCharset(alphanumeric + "_-%"),
	base64Under: newCharset(alphanumeric + "+/=_"),
	dollarSet:   newCharset(alphanumeric + "$"),
	atSet:       newCharset(alphanumeric + "_-.+/=:%~@"),

	tokenSet:  newCharset(alphanumeric + "_-.+/=~"),
	runSet:    newCharset(alphanumeric + "_-+/"),
	typeSet:   newCharset(alphanumeric + "_-.:/+<>[]*&?|"),
	lookupSet: newCharset(alphanumeric + "_.$[]()'\"!?"),
	cryptSet:  newCharset(alphanumeric + "./$=,+-_:"),
	hashSet:   newCharset(alphanumeric + "./$=,+-_:}"),

	base64Plain: newCharset(alphanumeric + "+/"),
	wideSet:     newCharset(alphanumeric + "+/=\\%&#;[^\x1b"),
}

const (
	upperCase    = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	alphanumeric = upperCase + "abcdefghijklmnopqrstuvwxyz0123456789"
)

func newCharset(chars string) (c charset) {
	for i := 0; i < len(chars); i++ {
		c[chars[i]>>6] |= 1 << (chars[i] & 63)
	}
	return c
}

// run returns the end of the longest run of bytes of the set that begins at text[at], at most limit
// bytes long.
func (n setName) run(text string, at, limit int) int {
	set := &sets[n]
	end := min(len(text), at+limit)
	for at < end && set.has(text[at]) {
		at++
	}
	return at
}

// back returns the start of the longest run of bytes of the set that ends before text[at], at most
// limit bytes long.
func (n setName) back(text string, at, limit int) int {
	set := &sets[n]
	low := max(0, at-limit)
	for at > low && set.has(text[at-1]) {
		at--
	}
	return at
}

// boundary reports whether a token may begin at text[at]. The byte before must not be a letter,
// digit or underscore, unless it ends an escape (\n, \u0026, %3D, a terminal's colour).
func boundary(text string, at int) bool {
	if at == 0 || !sets[wordSet].has(text[at-1]) {
		return true
	}
	return escapeEnd(text, at)
}

// escapeEnd reports whether an escape sequence ends just before text[at].
func escapeEnd(text string, at int) bool {
	if at >= 2 && text[at-2] == '\\' && isOneOf(text[at-1], "nrtbfv0") {
		return true
	}
	if at >= 3 && text[at-3] == '%' && sets[hexSet].has(text[at-2]) && sets[hexSet].has(text[at-1]) {
		return true
	}
	if at >= 6 && text[at-6] == '\\' && text[at-5] == 'u' && isHex(text[at-4:at]) {
		return true
	}
	return text[at-1] == 'm' && colourStart(text, at) < at
}

// colourStart returns the start of the terminal's colour sequence that ends before text[at]
// (`[0;31m` with its ESC in any form), or at.
func colourStart(text string, at int) int {
	i := at - 1
	if i < 0 || text[i] != 'm' {
		return at
	}
	for i > 0 && at-i < 16 && (kind[text[i-1]] == kDigit || text[i-1] == ';') {
		i--
	}
	if i == 0 || text[i-1] != '[' {
		return at
	}
	i--
	for _, esc := range []string{"\x1b", `\u001b`, `\u001B`, `\x1b`, `\x1B`, `\033`, `\e`, "^["} {
		if i >= len(esc) && text[i-len(esc):i] == esc {
			return i - len(esc)
		}
	}
	return at
}

// colourEnd returns the end of the colour sequence that begins at text[at], or at.
func colourEnd(text string, at int) int {
	for _, esc := range []string{"\x1b[", `\u001b[`, `\u001B[`, `\x1b[`, `\x1B[`, `\033[`, `\e[`, "^[["} {
		if len(text)-at > len(esc) && text[at:at+len(esc)] == esc {
			for i := at + len(esc); i < len(text) && i < at+len(esc)+16; i++ {
				if text[i] == 'm' || text[i] == 'K' {
					return i + 1
				}
				if kind[text[i]] != kDigit && text[i] != ';' {
					return at
				}
			}
		}
	}
	return at
}

func isOneOf(b byte, chars string) bool {
	for i := 0; i < len(chars); i++ {
		if chars[i] == b {
			return true
		}
	}
	return false
}

func isHex(v string) bool {
	for i := 0; i < len(v); i++ {
		if !sets[hexSet].has(v[i]) {
			return false
		}
	}
	return v != ""
}

// joined removes line ends from base64.
func joined(v string) string {
	if !strings.ContainsAny(v, "\n\\") {
		return v
	}
	return strings.NewReplacer("\r", "", "\n", "", `\r`, "", `\n`, "").Replace(v)
}
