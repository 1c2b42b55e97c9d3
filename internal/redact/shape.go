package redact

import "unicode"

// shape holds the counts of one pass over a string.
type shape struct {
	n                           int // bytes
	lower, upper, digit, symbol int // ASCII; symbol is every other printable byte
	space, control, high        int // high: bytes of 0x80 and above
	// maximal runs of digits, of lower case (a capital before it included), of capitals
	parts      int
	steps      int  // bytes that follow their predecessor in ASCII order, or repeat it
	pairs, odd int  // pairs of letters of one part, and those that words seldom have
	distinct   int  // different ASCII bytes
	other      int  // letters outside ASCII
	unspaced   bool // some are of a script without blanks between words
	counts     bool // one of these follows a digit: 8文字
}

func shapeOf(s string) shape {
	sh := shape{n: len(s)}
	var seen [2]uint64
	var prev byte
	prevKind := byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		k := kind[c]
		switch k {
		case kLower:
			sh.lower++
		case kUpper:
			sh.upper++
		case kDigit:
			sh.digit++
		case kSpace:
			sh.space++
		case kControl:
			sh.control++
		case kHigh:
			sh.high++
		default:
			sh.symbol++
		}
		if c < 0x80 {
			seen[c>>6] |= 1 << (c & 63)
		}
		letter, prevLetter := k == kLower || k == kUpper, prevKind == kLower || prevKind == kUpper
		joined := k == prevKind || k == kLower && prevKind == kUpper
		if (letter || k == kDigit) && !joined {
			sh.parts++
		}
		if letter && prevLetter && joined {
			sh.pairs++
			if usual[prev&31-1]&(1<<(c&31-1)) == 0 {
				sh.odd++
			}
		}
		if i > 0 && (c == prev+1 || c == prev) {
			sh.steps++
		}
		prev, prevKind = c, k
	}
	for _, w := range seen {
		for ; w != 0; w &= w - 1 {
			sh.distinct++
		}
	}
	if sh.high > 0 {
		sh.addOther(s)
	}
	return sh
}

// addOther counts the letters and digits of s outside ASCII.
func (sh *shape) addOther(s string) {
	afterDigit := false
	for _, r := range s {
		switch {
		case r >= 0x80 && unicode.IsLetter(r):
			sh.other++
			if unspaced(r) {
				sh.unspaced = true
				sh.counts = sh.counts || afterDigit
			}
		case r >= 0x80 && unicode.IsDigit(r):
			sh.digit++
		}
		afterDigit = unicode.IsDigit(r)
	}
}

// unspaced reports whether a letter belongs to a script that writes words without blanks between
// them, such as Thai and Chinese. Full-width Latin does not.
func unspaced(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// choppy reports whether letters and digits change places more often than words and numbers do: on
// average a part is shorter than three bytes, and there are digits.
func (sh shape) choppy() bool {
	return sh.digit > 0 && sh.parts > 0 && sh.lower+sh.upper+sh.digit < 3*sh.parts
}

// unpronounceable reports whether too many pairs of letters are ones that words seldom have: one in
// 40 in English and in identifiers, more than half in random letters.
func (sh shape) unpronounceable() bool { return sh.pairs >= 4 && sh.odd*4 > sh.pairs }

// random reports whether a string looks drawn rather than written. Strings shorter than ten bytes
// tell too little.
func (sh shape) random() bool {
	return sh.n >= 10 && sh.distinct*4 >= min(sh.n, 32) && sh.distinct >= 6 && sh.steps*3 < sh.n &&
		(sh.choppy() || sh.unpronounceable())
}

// mixed reports whether there are both letters and digits, and more than a count: 8文字.
func (sh shape) mixed() bool { return sh.digit > 0 && (sh.letters() > 0 || sh.other > 0 && !sh.counts) }

const (
	kSymbol byte = iota
	kLower
	kUpper
	kDigit
	kSpace
	kControl
	kHigh
)

// kind classes every byte.
var kind = func() (t [256]byte) {
	for c := range t {
		switch {
		case c >= 'a' && c <= 'z':
			t[c] = kLower
		case c >= 'A' && c <= 'Z':
			t[c] = kUpper
		case c >= '0' && c <= '9':
			t[c] = kDigit
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			t[c] = kSpace
		case c < ' ' || c == 0x7f:
			t[c] = kControl
		case c >= 0x80:
			t[c] = kHigh
		}
	}
	return t
}()

// usual holds for each letter, as bits, the letters that often follow it in words. The 307 pairs
// make up 97.5 % of the pairs in the words of the Go and Python standard libraries and of npm's
// packages, counted once a file.
var usual = func() (t [26]uint32) {
	for first, followers := range [26]string{
		"abcdefgiklmnpqrstuvwxy", "abceijlorsuy", "acehiklorstuy", "adeilorsuy", "abcdefgilmnopqrstvwxy", "aefilorstuy",
		"aehilnorstu", "aeiortu", "abcdefgklmnoprstvxz", "eosu", "aeins", "adefilopstuvy", "abeimopsu",
		"acdefgiklnopstuvy", "abcdefgiklmnoprstuvw", "aeilmoprstuy", "eu", "abcdefgiklmnoprstuvwy",
		"acdefhiklmnopstuwy", "acdefhiloprstuwy", "abcdefgilmnprst", "aeio", "aehinors", "aceipt", "eilmnoprst", "e",
	} {
		for _, c := range followers {
			t[first] |= 1 << (c - 'a')
		}
	}
	return t
}()

func (sh shape) letters() int { return sh.lower + sh.upper }
