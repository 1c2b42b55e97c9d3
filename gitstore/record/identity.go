package record

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

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

// Fingerprint reduces a statement for comparison. It holds the hashes of its words, of word pairs,
// and of words that can reverse its meaning. Each set is a string of four bytes a hash, sorted and
// unique, so that reading it from the cache is free.
type Fingerprint struct {
	words string // all words; two neighbouring characters count as a word for Han, kana and Hangul
	pairs string // words with the word after them
	turns string // negations, numbers and versions
}

// Print computes the fingerprint of a statement.
func Print(text string) Fingerprint {
	var all, pairs, turning []uint32
	normal := Normal(text)
	eachWord(normal, func(w string) {
		if w == "the" || w == "a" || w == "an" {
			return // "the x before the y" has to differ from "the y before the x"
		}
		h := hash32(w)
		if n := len(all); n > 0 {
			pairs = append(pairs, all[n-1]*31+h)
		}
		all = append(all, h)
		if turns(w) {
			turning = append(turning, h)
		}
	})
	for _, n := range cjkNegations {
		if strings.Contains(normal, n) {
			turning = append(turning, hash32(n))
		}
	}
	return Fingerprint{pack(all), pack(pairs), pack(turning)}
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

// Minimum shares, |A∩B| / |A∪B|, of words and of word pairs in equal statements. The second is
// lower, because clauses may be reordered.
const (
	sameWords = 0.9
	sameOrder = 0.5
)

// Same reports whether two statements mean the same: nearly the same words, mostly in the same
// order, and exactly the same negations and numbers. "Node 18" and "Node 20", "use x" and "never
// use x", "use x, not y" and "use y, not x" differ.
func (f Fingerprint) Same(g Fingerprint) bool {
	return f.turns == g.turns && len(f.words) > 0 && shared(f.words, g.words) >= sameWords &&
		(f.pairs == g.pairs || shared(f.pairs, g.pairs) >= sameOrder)
}

// Swapped reports whether two statements differ only in two words that change places: "run A before
// B" and "run B before A". Their fingerprints may be the same. The order of a list does not count.
func Swapped(a, b string) bool {
	if a == b {
		return false
	}
	var words, others []string
	var differ []int
	eachWord(Normal(a), func(w string) { words = append(words, w) })
	eachWord(Normal(b), func(w string) { others = append(others, w) })
	if len(words) != len(others) {
		return false
	}
	for i, w := range words {
		if w != others[i] {
			differ = append(differ, i)
		}
	}
	if len(differ) != 2 {
		return false
	}
	i, j := differ[0], differ[1]
	list := j == i+1 || j == i+2 && (words[i+1] == "and" || words[i+1] == "or")
	return !list && words[i] == others[j] && words[j] == others[i]
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

func turns(word string) bool {
	return negations.Has(word) || strings.ContainsFunc(word, unicode.IsDigit)
}

// eachWord splits a normal text. A word is a run of letters, digits and the marks inside
// identifiers, paths and versions. Runs of Han, kana and Hangul become pairs of neighbours; a
// single character is a word.
func eachWord(normal string, fn func(string)) {
	begin, cjk := -1, false // start and kind of the current run
	flush := func(end int) {
		switch {
		case begin < 0:
		case cjk:
			eachPair(normal[begin:end], fn)
		default:
			if w := strings.Trim(normal[begin:end], "-./_'"); w != "" {
				fn(w)
			}
		}
		begin = -1
	}
	for i, r := range normal {
		isCJK := r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
		inWord := isCJK || 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || strings.ContainsRune("-./_'", r) ||
			r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r))
		if !inWord || isCJK != cjk {
			flush(i)
		}
		if inWord && begin < 0 {
			begin, cjk = i, isCJK
		}
	}
	flush(len(normal))
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
