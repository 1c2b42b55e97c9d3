package wording

import (
	"slices"
	"strings"
	"unicode"

	"github.com/reverie-memory/reverie/internal/pattern"
)

// Restates reports whether one statement may replace another, if a reader of both says that they
// mean the same. It is looser than Same: it asks for a share of common words and few words of its
// own in one of them, and refuses another value, number, negation, exception or order, and a word
// that takes another's place. The kept statement may name more. With sameProof both rest on one
// quote, and more words may differ.
func Restates(kept, gone string, sameProof bool) bool {
	k, g := dissect(kept), dissect(gone)
	least, few := restated, 2
	if sameProof {
		least, few = proven, few+1
	}
	if overlap(k.values, g.values) {
		few++
	}
	all := func(d dissected) []string { return slices.Concat(d.stems, d.values) }
	switch {
	case share(all(k), all(g)) < least, min(beyond(k.stems, g.stems), beyond(g.stems, k.stems)) >= few:
		return false
	case k.negated != g.negated, k.hedged != g.hedged, k.limited != g.limited:
		return false
	case !within(g.values, k.values), !equalSets(k.numbers, g.numbers), overlap(k.refused, g.wanted), overlap(g.refused, k.wanted):
		return false
	case overlap(k.first, g.second) && overlap(k.second, g.first):
		return false
	}
	return !exchanged(strings.Fields(plain(kept)), strings.Fields(plain(gone)))
}

// exchanged reports whether two rows of words differ in one word, or in two that change places.
func exchanged(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	differ := 0
	for i := range a {
		if a[i] != b[i] {
			differ++
		}
	}
	return differ == 1 || differ == 2 && equalSets(a, b)
}

// plain returns a statement in lower case without punctuation and code marks.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("`\"'“”,;:!?().", r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
}

// Shares of common words from which statements may be restated, in general and by one quote.
const (
	restated = 0.4
	proven   = 0.3
)

// dissected has the words of a statement by their meaning for Restates.
type dissected struct {
	Reading
	stems           []string // that are no values
	values, numbers []string // outside quoted messages
	limited         bool     // by an "only"
	wanted, refused []string // values
	first, second   []string // what comes before what
}

var (
	message = pattern.New("\"[^\"]*( [^\"]*){2,}\"|“[^”]*( [^”]*){2,}”")
	order   = pattern.New(`(?i)\b(before|after|then)\b`)
	digits  = pattern.New(`\d+`)
	only    = pattern.New(`(?i)\bonly\b`)
)

func dissect(text string) dissected {
	text = message.ReplaceAllString(text, " ") // its words differ from run to run
	p := dissected{Reading: Read(text), numbers: digits.FindAllString(text, -1), limited: only.MatchString(text)}
	for _, c := range p.clauses {
		for _, v := range c.wants {
			p.wanted = append(p.wanted, v.text)
		}
		p.wanted = append(p.wanted, c.places...)
		for _, w := range c.refuses {
			if _, ok := valueOf(w); ok || hasValue("`"+w+"`") && strings.Contains(text, "`"+w) {
				p.refused = append(p.refused, w)
			}
		}
	}
	p.values = slices.Concat(p.wanted, p.refused)
	for _, w := range p.Reading.words {
		if !slices.Contains(p.values, w) {
			p.stems = append(p.stems, w)
		}
	}
	p.first, p.second = ordered(text)
	return p
}

// ordered returns the words that come first and second, by the first "before", "after" or "then".
func ordered(text string) (first, second []string) {
	at := order.FindStringIndex(text)
	if at == nil {
		return nil, nil
	}
	left, right := text[:at[0]], text[at[1]:]
	if Read(left).words == nil { // "Before A, run B"
		right, left, _ = strings.Cut(right, ",")
	}
	if strings.EqualFold(text[at[0]:at[1]], "after") {
		left, right = right, left
	}
	return Read(left).words, Read(right).words
}

// beyond counts the words that others lacks.
func beyond(words, others []string) (n int) {
	for _, w := range words {
		if !slices.Contains(others, w) {
			n++
		}
	}
	return n
}
