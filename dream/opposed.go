package dream

import (
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/pattern"
)

// minOpposed is the share of words in common below which two statements are about different things.
const minOpposed = 0.2

// contrastWord parts what a statement wants from what it refuses: "use a, not b", "a instead of b".
var contrastWord = pattern.New(`(?i)(?:[,;:–—-]\s*|\s(?:and|but)\s+)(?:not|never|no|don'?t use|do not use|avoid)\s+|\s(?:instead of|rather than|over)\s+`)

// clauseEnd ends what is refused.
var clauseEnd = pattern.New(`[.,;:!?()]\s|[.,;:!?()]$|\s(?:in|for|because|since|when|unless|as|so)\s`)

// contrast returns the words that a statement wants and those that it refuses in their place. Without both it is no contrast,
// and what is wanted is all of it.
func contrast(text string) (wanted, refused map[string]bool) {
	at := contrastWord.FindStringIndex(text)
	if at == nil || at[0] == 0 {
		return content(text), nil
	}
	before, after := text[:at[0]], text[at[1]:]
	rest := ""
	if end := clauseEnd.FindStringIndex(after); end != nil {
		after, rest = after[:end[0]], after[end[0]:]
	}
	wanted, refused = content(before+" "+rest), content(after)
	for w := range content(before) {
		delete(refused, w) // said of both: "use tabs, not 4 spaces, in files"
	}
	return wanted, refused
}

// content is the stems of the words of a text that carry meaning.
func content(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(" \t`'\"“”‘’(),;:!?", r) }) {
		w = strings.Trim(w, ".-*_")
		if w != "" && !contentless.Has(w) {
			out[stem(w)] = true
		}
	}
	return out
}

var contentless = pattern.NewWords(`a an the to of in on at by for with from into and or but not no never always only ever any all every each use uses using run
	must should shall may can cannot will would do does don't is are be it its this that these those we our you your i my please instead rather than over as so if
	when then there here have has one`)

// Opposed reports whether two statements cannot both hold: one refuses, in a contrast, what the other wants, or they are the
// same but for a negation.
func Opposed(a, b string, ofA, ofB record.Fingerprint) bool {
	alike := ofA.Alike(ofB)
	if alike < minOpposed {
		return false
	}
	wantA, notA := contrast(a)
	wantB, notB := contrast(b)
	if refuses(notA, wantB, notB) || refuses(notB, wantA, notA) {
		return true
	}
	return negated.MatchString(a) != negated.MatchString(b) && sameContent(content(a), content(b))
}

// refuses reports whether all that one statement refuses is wanted by another, which does not refuse it too.
func refuses(refused, wanted, alsoRefused map[string]bool) bool {
	for w := range refused {
		if !wanted[w] || alsoRefused[w] {
			return false
		}
	}
	return len(refused) > 0
}

var negated = pattern.New(`(?i)\b(?:not|never|don'?t|no|avoid|without|mustn'?t|shouldn'?t|cannot|can'?t)\b`)

// sameContent reports whether two statements have the same words that carry meaning.
func sameContent(a, b map[string]bool) bool {
	if len(a) < 2 || len(a) != len(b) {
		return false
	}
	for w := range a {
		if !b[w] {
			return false
		}
	}
	return true
}
