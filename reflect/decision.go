package reflect

import (
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// Decisions are choices a person made, with the reason or with what was turned down.

var (
	decided = lazy(`(?i)^(?:we(?:'ve| have)? (?:already |just |finally )?(?:decided|agreed|chose|chosen|settled|opted)\b|` +
		`(?:the )?decision(?: is| was)?\s?[:—–-]|it (?:was|has been) decided\b|i(?:'ve| have)? decided\b|` +
		`(?:the )?decision (?:is|was) to\b)`)
	choosing = lazy(`(?i)^(?:(?:let's|let us|we'll|we will|we're|we are|i'll|i want to|we should|i'm|we) )?(?:go(?:ing)? with|` +
		`stick(?:ing)? with|use|using|standardi[sz]e on|keep|switch(?:ing)? to|stay(?:ing)? with|adopt|` +
		`drop|support|store|choose|pick)\s+(.+)$`)
	letUs = lazy(`(?i)^(?:\W*(?:ok(?:ay)?|so|yes|yeah|no|alright|right|good|great|then|well|actually|fine|cool|` +
		`hm+|perfect|sounds good|agreed|and|but)\W+)*(?:let's|let us|we'll|we will|we're going|we are going|` +
		`we're sticking|we (?:stay|stick|go)\b|i decided|we should|go with|going with|stick with|sticking with)\b`)
	whyWords = lazy(`(?i)\b(?:because|since|so that|so we|so it|due to|as (?:it|they|we|that|the)|otherwise|` +
		`to avoid|to keep|to prevent)\b|\w: \w+ \w+`)
	zhDecided = lazy(`决定|就用|就采用|就走|就选|还是用|我们(?:选|选择|采用)|定下来|敲定|選びました|に決め|決定|` +
		`にしよう|にします|로 (?:결정|정했|가자|하기로)|하기로 (?:했|결정)`)
)

// findDecisions looks for a choice that a person made and gave a reason for.
func findDecisions(v *view) []finding {
	var out []finding
	for i := range v.sentences {
		s := &v.sentences[i]
		if f, found := v.chosenOption(i); found {
			out = append(out, f)
			continue
		}
		if s.lang != "en" {
			if zhDecided.MatchString(s.text) && because.MatchString(v.withNext(i)) && concreteForeign(s.text) {
				text, evidence := v.statementOf(i)
				out = append(out, v.sayAs(i, record.Decision, zhWe.ReplaceAllString(text, ""), evidence))
			}
			continue
		}
		if f, found := v.confirmed(i); found {
			out = append(out, f)
			continue
		}
		text, evidence := v.statementOf(i)
		switch {
		case decided.MatchString(text):
			if m := decidedForm.FindStringSubmatch(text); m != nil && (concreteWords(text) || named(m[1])) && (whyWords.MatchString(text) || rejected.MatchString(text)) {
				out = append(out, v.sayAs(i, record.Decision, finish(decidedOn(text, m[1]), "en"), evidence))
			}
		case letUs.MatchString(s.text) && choosing.MatchString(text) && whyWords.MatchString(text):
			if m := choosing.FindStringSubmatch(text); named(m[1]) {
				out = append(out, v.sayAs(i, record.Decision, chosen(text), evidence))
			}
		}
	}
	return out
}

var (
	decidedForm = lazy(`(?i)^(?:we(?:'ve| have)? (?:already |just |finally )?(?:decided|agreed|chose|chosen|settled|` +
		`opted)(?: that we(?:'ll|` +
		` will)?| that| to| on| for| in favou?r of)?|(?:the )?decision(?: is| was)?(?: to)?\s?[:—–-]?|` +
		`it (?:was|has been) decided (?:that|to)|i(?:'ve| have)? decided(?: that| to| on)?)\s+(.+)$`)
	goWith = lazy(`(?i)^(?:(?:let's|let us|we'll|we will|we're|we are|we should|i'm|i'll|` +
		`we)\s+)?(?:go(?:ing)? with|standardi[sz]e on)\s+`)
	weWill     = lazy(`(?i)^(?:we'll|we will|let's|let us|we should|we)\s+`)
	zhWe       = lazy(`^(?:我们)?(?:已经|最终|最后)?(?:决定|选择)(?:了|是)?[，,：:]?`)
	namedThing = lazy("`[^`]+`|\\b[A-Z][A-Za-z0-9]+|\\b\\w+[-_./]\\w+|\\b[A-Z]{2,}")
)

// confirmed makes the finding of a sentence that takes one of the things proposed, names it
// and says why: "yes, uuid v7, they sort by time".
func (v *view) confirmed(i int) (finding, bool) {
	s := &v.sentences[i]
	rest := assent.ReplaceAllString(s.text, "")
	m := itIs.FindStringSubmatch(rest)
	if m == nil {
		m = theOption.FindStringSubmatch(rest)
	}
	if m == nil && len(rest) < len(s.text) && !noName.MatchString(rest) {
		m = justName.FindStringSubmatch(rest)
	}
	if m == nil || s.asking || len(strings.Fields(m[1])) > 5 || speculation.MatchString(s.text) {
		return finding{}, false
	}
	evidence := []record.Evidence{v.quote(s.event, s.raw)}
	what, why := strings.TrimSpace(m[1]), strings.TrimRight(strings.TrimSpace(m[2]), ".!")
	if why == "" && s.more && i+1 < len(v.sentences) {
		if next := &v.sentences[i+1]; next.event == s.event && !next.asking && !imperative.MatchString(next.form) {
			why = settled(strings.TrimRight(next.text, ".!"))
			evidence = append(evidence, v.quote(next.event, next.raw))
		}
	}
	if len(strings.Fields(why)) < 3 || !named(what) && !versioned.MatchString(what) && !groundsIn(plainWords(what)) {
		return finding{}, false
	}
	return v.sayAs(i, record.Decision, finish("Use "+what+": "+why, "en"), evidence), true
}

var (
	assent = lazy(`(?i)^(?:(?:yes|yeah|yep|ok(?:ay)?|sure|agreed|right|fine|good|perfect|cool|great|sounds good|` +
		`go ahead)[,.! ]+)+(?:(?:please |let's )?do (?:that|it|so)[,.] )?`)
	// "uuid v7 it is, because …", not "check how it is connected": the words end there, or a reason follows.
	itIs = lazy(`(?i)^([^,.:;]{3,40}?) it is(?:$|[,:;.!]+\s*(?:because |since |for (?:exactly |just )?(?:that|the same) reason[,:;. ]*)?|\s+(?:because|since)\s+|` +
		`\s+for (?:exactly |just )?(?:that|the same) reason[,:;. ]*)(.*)$`)
	theOption = lazy(`(?i)^(?:let's |we'll |i'd )?(?:go(?:ing)? (?:with|for)|take|pick|choose|` +
		`use) (?:(?:the )?(?:first|second|third|last|other) (?:option|one)|(?:option|plan|variant) \w+|[a-d1-4])(?:, |` +
		`: | - |; )([^,.:;]+)(?:[,:;.]\s*(.*))?$`)
	noName   = lazy(`(?i)^(?:but|and|then|let|go|use|we|i|you|he|she|it|they|don't|do|please|what|why|how|can|this|that|there)\b`)
	justName = lazy(`(?i)^([^,.:;]{3,40})(?:(?:[,:;]| because| since)\s*(?:because |since )?((?:they|it|that|we|no|` +
		`the|our)\b.*))?[.!]?$`)
)

// rejected is what was turned down.
var rejected = lazy(`(?i)\b(?:instead of|rather than|over|not|against|in favou?r of)\b`)

// decidedOn makes an instruction of what was decided.
func decidedOn(text, what string) string {
	if rest, found := strings.CutPrefix(what, "against "); found {
		return "Do not use " + strings.TrimPrefix(rest, "using ")
	}
	if picked.MatchString(text) && !strings.HasPrefix(what, "use ") {
		return "Use " + what
	}
	return what
}

var picked = lazy(`(?i)^(?:we|i)(?:'ve| have)? (?:already |just |finally )?(?:chose|chosen|settled on|opted for|` +
	`decided on|agreed on|decided for)\b`)

// named tells whether a choice names what was chosen.
func named(what string) bool {
	return namedThing.MatchString(what) || namedAny.MatchString(what)
}

// chosen brings "Let's go with X because …" to "Use X because …".
func chosen(text string) string {
	if m := goWith.FindStringIndex(text); m != nil {
		return finish("Use "+text[m[1]:], "en")
	}
	return finish(weWill.ReplaceAllString(text, ""), "en")
}

// withNext is a sentence with the one after it, if they are of one paragraph.
func (v *view) withNext(i int) string {
	s := &v.sentences[i]
	if s.more && i+1 < len(v.sentences) && v.sentences[i+1].event == s.event {
		return s.text + v.sentences[i+1].text
	}
	return s.text
}
