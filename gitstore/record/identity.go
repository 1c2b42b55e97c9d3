package record

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/gitstore/record/wording"
	"github.com/reverie-memory/reverie/internal/pattern"
	"golang.org/x/text/unicode/norm"
)

// Normal reduces a text for comparison: NFKC, lower case, single spaces, no closing punctuation, no
// Markdown emphasis or code marks.
func Normal(text string) string {
	text = norm.NFKC.String(text)
	var b strings.Builder
	b.Grow(len(text))
	space := false
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			space = true
			continue
		case r == '`' || r == '*':
			continue
		}
		if space && b.Len() > 0 {
			b.WriteByte(' ')
		}
		space = false
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.TrimRight(b.String(), " .!。,;:")
}

// newID derives an id: the first 16 hex digits of SHA-256. The input is "ref\x00" and the ref, if
// there is one. Otherwise it is "text\x00", the normal statement, a line feed and the normal body.
// The kind does not matter.
func newID(ref, text, body string) string {
	in := "ref\x00" + ref
	if ref == "" {
		in = "text\x00" + Normal(text) + "\n" + Normal(body)
	}
	sum := sha256.Sum256([]byte(in))
	return hex.EncodeToString(sum[:8])
}

// ValidID reports whether id has the form of a memory's or an operation's id.
func ValidID(id string) bool {
	if len(id) != 16 {
		return false
	}
	for _, c := range []byte(id) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// maxSlug bounds a slug, in bytes, so that paths suit every file system.
const maxSlug = 40

// slug returns the ASCII letters and digits of the normal statement as words joined by hyphens,
// cut at a word's end. A statement without any has the empty slug.
func slug(text string) string {
	words := strings.FieldsFunc(Normal(text), func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z')
	})
	out := ""
	for _, w := range words {
		if out == "" && len(w) > maxSlug {
			return w[:maxSlug]
		}
		if len(out)+1+len(w) > maxSlug {
			break
		}
		if out != "" {
			out += "-"
		}
		out += w
	}
	return out
}

// Fingerprint reduces a statement for comparison. Its strings hold hashes, big-endian, so that
// reading it from the cache is free.
type Fingerprint struct {
	words string // roots of the words that carry meaning, sorted and unique
	row   string // of each of these words in order: its hash, that of its root or code, flags
	turns string // negations, numbers and versions, sorted and unique
}

// wide is the size of a word in a row, in bytes. Its last byte has these flags.
const (
	wide   = 9
	coded  = 1 << iota // it is code: its ending and its signs count
	base               // it has no ending
	begins             // it begins a sentence, or follows a colon or semicolon
	opens              // it may begin a part about place or time
	places             // it may begin a part about a place
)

// placing words may begin a part about a place.
var placing = pattern.NewWords(`in inside within dans en`)

var plainer struct {
	built sync.Once
	*strings.Replacer
}

// plain removes differences of spelling, and gives all contrasts one form.
func plain(text string) string {
	plainer.built.Do(func() { // not at the start of each command
		plainer.Replacer = strings.NewReplacer("*", "", "’", "'", "instead of", "not", "rather than", "not", "from now on", "", "From now on", "", "请", "", "請", "", "的", "")
	})
	return plainer.Replace(norm.NFKC.String(text))
}

// Print computes the fingerprint of a statement. Two neighbouring characters count as a word for
// Han, kana and Hangul.
func Print(text string) Fingerprint {
	var all, turns []uint32
	row := make([]byte, 0, 2*len(text))
	text = plain(text)
	before, begun := wording.Before{Nothing: true}, byte(0)
	eachWord(text, func(run string, quoted bool) {
		if !quoted && strings.Contains(".,;:!?", run) {
			before.Negated = false
			if run != "," && !before.Nothing {
				begun = begins
			}
			return
		}
		w, code := wordOf(run, quoted)
		if code == "" && !isAcronym(run) && before.Light(w) {
			return
		}
		before = wording.Before{Opening: code == "" && wording.Opens(w), Negated: before.Negated || negations.Has(w)}
		word, root, isBase := wording.Root(w)
		flags := begun
		begun = 0
		for _, f := range []struct {
			on   bool
			flag byte
		}{{code != "", coded}, {isBase, base}, {before.Opening, opens}, {code == "" && placing.Has(w), places}} {
			if f.on {
				flags |= f.flag
			}
		}
		all = append(all, hash32(root))
		row = binary.BigEndian.AppendUint32(row, hash32(word))
		row = append(binary.BigEndian.AppendUint32(row, hash32(cmp.Or(code, root))), flags)
		if isTurn(w) {
			turns = append(turns, hash32(cmp.Or(code, root)))
		}
	})
	for _, n := range cjkNegations {
		if strings.Contains(text, n) {
			turns = append(turns, hash32(n))
		}
	}
	return Fingerprint{pack(all), string(row), pack(turns)}
}

// pack sorts hashes, removes duplicates, and joins them big-endian, so that packed hashes sort like
// numbers.
func pack(hashes []uint32) string {
	slices.Sort(hashes)
	hashes = slices.Compact(hashes)
	out := make([]byte, 0, 4*len(hashes))
	for _, h := range hashes {
		out = binary.BigEndian.AppendUint32(out, h)
	}
	return string(out)
}

// Same reports whether two statements mean the same. Every word that carries meaning is in both, in
// the same order; only a word's ending may be missing from one. A part about place or time may move
// between the beginning and the end of a sentence: "In web/, use pnpm" and "Use pnpm in web/".
func (f Fingerprint) Same(g Fingerprint) bool {
	a, b := f.row, g.row
	if a == "" || len(a) != len(b) {
		return false
	}
	if sameWords(a, b) {
		return true
	}
	n := len(a)
	for at := wide; at < n; at += wide {
		moved := at > wide && a[wide-1]&opens != 0 || n-at > wide && a[at+wide-1]&opens != 0
		if moved && sameWords(a[at:], b[:n-at]) && sameWords(a[:at], b[n-at:]) {
			return !f.has(begins) && !g.has(begins)
		}
	}
	return false
}

// has reports whether a word of a statement has a flag.
func (f Fingerprint) has(flag byte) bool {
	for at := wide - 1; at < len(f.row); at += wide {
		if f.row[at]&flag != 0 {
			return true
		}
	}
	return false
}

// Within reports whether g says the same with one more part, about a place, at its beginning or
// end.
func (f Fingerprint) Within(g Fingerprint) bool {
	n := len(g.row) - len(f.row)
	return n >= 2*wide && f.row != "" && f.turns == g.turns && (g.row[wide-1]&places != 0 && sameWords(f.row, g.row[n:]) ||
		g.row[len(f.row)+wide-1]&places != 0 && sameWords(f.row, g.row[:len(f.row)]))
}

// sameWords reports whether two rows of one length have the same words.
func sameWords(a, b string) bool {
	for ; a != ""; a, b = a[wide:], b[wide:] {
		same := a[:4] == b[:4]
		switch one, other := a[8], b[8]; {
		case one&begins != other&begins:
			return false
		case one&coded&other != 0:
			same = a[4:8] == b[4:8]
		case (one|other)&coded == 0 && (one^other)&base != 0: // with an ending, and without
			same = same || a[4:8] == b[4:8]
		}
		if !same {
			return false
		}
	}
	return true
}

// Near reports whether two statements have nearly the same words in nearly the same order, and
// exactly the same negations and numbers.
func (f Fingerprint) Near(g Fingerprint) bool {
	return f.turns == g.turns && f.Alike(g) >= 0.9 && shared(f.neighbours(), g.neighbours()) >= 0.5
}

// neighbours returns hashes of the pairs of words that follow each other, sorted and unique.
func (f Fingerprint) neighbours() string {
	var all []uint32
	for at := wide; at < len(f.row); at += wide {
		all = append(all, hash32(f.row[at-wide+4:at-1])*31+hash32(f.row[at+4:at+wide-1]))
	}
	return pack(all)
}

// Turned reports whether two statements differ in negations, numbers or versions.
func (f Fingerprint) Turned(g Fingerprint) bool { return f.turns != g.turns }

// Alike returns the share of words in common, from 0 to 1.
func (f Fingerprint) Alike(g Fingerprint) float64 { return shared(f.words, g.words) }

// shared returns the share of hashes that two packed sets have in common.
func shared(a, b string) float64 {
	common, all := 0, (len(a)+len(b))/4
	for len(a) > 0 && len(b) > 0 {
		switch x, y := a[:4], b[:4]; {
		case x == y:
			common++
			a, b = a[4:], b[4:]
		case x < y:
			a = a[4:]
		default:
			b = b[4:]
		}
	}
	if all -= common; all == 0 {
		return 0
	}
	return float64(common) / float64(all)
}

var negations = pattern.NewWords(`not no never without don't dont doesn't cannot can't won't isn't aren't mustn't shouldn't avoid instead unless
	except before after off on disable enable nicht nie kein ne pas jamais`)

var cjkNegations = []string{"不", "别", "勿", "禁", "没", "無", "ない", "ません", "禁止", "않", "마세요", "말", "금지"}

func isTurn(word string) bool {
	return negations.Has(word) || strings.ContainsFunc(word, unicode.IsDigit)
}

// eachWord splits a text and calls fn with each word. A word is a run of letters, digits, signs and
// the marks inside identifiers, paths and versions; in quotes, of anything but blanks. A comma is a
// word, and so is a point, a colon or the like at the end of a clause. Runs of Han, kana and Hangul
// become pairs of neighbours; a single character is a word.
func eachWord(text string, fn func(run string, quoted bool)) {
	begin, cjk, quoted := -1, false, false // start and kind of the current run
	flush := func(end int) {
		switch {
		case begin < 0:
		case cjk:
			eachPair(text[begin:end], func(w string) { fn(w, false) })
		default:
			run := text[begin:end]
			fn(run, quoted)
			if last := run[len(run)-1:]; last == "." && !quoted {
				fn(last, false)
			}
		}
		begin = -1
	}
	for i, r := range text {
		quote := r == '`' || r == '"' || r == '“' || r == '”'
		isCJK := r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
		inWord := isCJK || unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-./_'%#@<>=+$~|^&", r) ||
			r >= utf8.RuneSelf && unicode.In(r, unicode.Sm, unicode.Sc, unicode.So) || quoted && !quote && !unicode.IsSpace(r)
		if !inWord || isCJK != cjk {
			flush(i)
		}
		switch {
		case inWord && begin < 0:
			begin, cjk = i, isCJK
		case inWord:
		case quote:
			quoted = !quoted
		case r == ',' || r == '、':
			fn(",", false)
		case r == '.' || r == '。':
			fn(".", false)
		case strings.ContainsRune("!?:;", r): // NFKC has made those of full width of these
			fn(string(r), false)
		}
	}
	flush(len(text))
}

// wordOf returns a word in lower case, without marks at its ends. code is the word with them, if it
// is quoted, or looks like an identifier, a path, a number or a sign; or "".
func wordOf(run string, quoted bool) (w, code string) {
	if !quoted {
		run = cmp.Or(strings.TrimRight(run, "-./'"), run)
	}
	code = strings.ToLower(run)
	w = cmp.Or(strings.Trim(code, "-./_'"), code)
	if !quoted && !isCode(run) {
		code = ""
	}
	return w, code
}

// isAcronym reports whether a word is a short one in capitals, as in "ask IT".
func isAcronym(w string) bool {
	return len(w) > 1 && len(w) <= 3 && w == strings.ToUpper(w) && w != strings.ToLower(w)
}

// isCode reports whether a word looks like an identifier, a path, a number or a sign.
func isCode(w string) bool {
	small := false
	return strings.ContainsFunc(w, func(r rune) bool {
		inner := small && unicode.IsUpper(r)
		small = unicode.IsLower(r)
		return inner || !unicode.IsLetter(r) && r != '-' && r != '\''
	})
}

func eachPair(run string, fn func(string)) {
	_, first := utf8.DecodeRuneInString(run)
	if first == len(run) {
		fn(run)
		return
	}
	for rest := run; first < len(rest); {
		_, second := utf8.DecodeRuneInString(rest[first:])
		fn(rest[:first+second])
		rest, first = rest[first:], second
	}
}

// hash32 is FNV-1a.
func hash32(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}
