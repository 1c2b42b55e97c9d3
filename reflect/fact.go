package reflect

import (
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// Facts are what a person told about how something is, marked as worth knowing.

var (
	telling = lazy(`(?i)^(?:\W*(?:please|and|so|also|ok|but|oh|hey)\W+)*(?:fyi\b|for your information|note that\b|` +
		`note:|nb:|heads up|keep in mind\b|bear in mind\b|remember that\b|remember:|just so you know|for (?:future )?(?:reference|` +
		`context)|be aware|beware|important:|reminder:|gotcha:|(?:btw|by the way),? (?:the|our|we|ci|all|` +
		`prod|production|staging|every|each)\b)`)
	present = lazy(`(?i)\b(?:is|are|has|have|needs?|requires?|uses?|lives?|runs?|works?|only|expects?|returns?|comes?|` +
		`depends?|supports?|must|can't|cannot|doesn't|don't|does not|do not|assumes?|listens?|contains?|` +
		`points?|means?|writes?|reads?|handles?|owns?|takes?|gets?|goes|breaks?|fails?|rejects?|sets?|` +
		`limits?|ships?|deploys?|builds?|generates?|caches?|syncs?)\b`)
	origins = lazy(`(?i)^(?:(?:the|our|all|everything|anything|files?|code)\s+)*\S.*\b(?:(?:is|are) (?:auto-?)?generated (?:from|` +
		`by|with|using)|(?:is|are) the (?:single )?source of truth|(?:is|are) vendored from|(?:is|are) owned by the|` +
		`(?:is|are) deployed (?:by|from|via|through|with)|(?:is|are) mirrored (?:from|to))\b`)
	ourThings = lazy(`(?i)^our\s+(?:[\w-]+\s+){0,5}?(?:is|are|uses?|runs?|lives?|only|requires?|needs?|deploys?|targets?|supports?)\b`)
	zhTelling = lazy(`^(?:注意|提醒|补充|备注|记住|请注意|顺便说一下|ちなみに|なお|注意|補足|참고로|주의)[，,：:、\s]`)
)

// findFacts looks for statements of how something is.
func findFacts(v *view) []finding {
	var out []finding
	for i := range v.sentences {
		s := &v.sentences[i]
		if s.lang != "en" {
			if (zhTelling.MatchString(s.text) || s.marked) && concreteForeign(s.form) && len(s.form) > 18 {
				out = append(out, v.say(i, record.Fact))
			}
			continue
		}
		text := s.form
		if text == "" || speculation.MatchString(text) || status.MatchString(text) || narrative.MatchString(text) {
			continue
		}
		names := pathName.MatchString(text) || symbol.MatchString(text) || namedAny.MatchString(text)
		switch {
		case (telling.MatchString(s.text) || s.marked) && present.MatchString(text) && (names || nounAny.MatchString(text)):
		case strings.HasSuffix(s.raw, "!!") && notThat.MatchString(text) && (names || nounAny.MatchString(text)):
		case weAreOn.MatchString(text):
		case (inRepo.MatchString(s.text) || quantified.MatchString(text)) && !s.task && (notThat.MatchString(text) || areNever.MatchString(text)) && nounAny.MatchString(text):
		case origins.MatchString(text) && names:
		case ourThings.MatchString(text) && !ongoing.MatchString(text) && names && !s.task:
		default:
			continue
		}
		out = append(out, v.say(i, record.Fact))
	}
	return out
}

// notThat is how something is, against what one would think.
var notThat = lazy(`(?i)^(?:[\w.-]+ ){1,5}?(?:are|is) (?:\w+ ){1,3}?not \w+`)

var (
	weAreOn  = lazy(`(?i)^we(?:'re| are) on (?:[\w.]+ )v?\d[\w.]*\b`)
	areNever = lazy(`(?i)\b(?:is|are) [^,]{3,50}, (?:never|not) \w+`)
)

// ongoing is something under way, no fact about how things are.
var ongoing = lazy(`(?i)\b(?:is|are) (?:\w+ly )?\w+ing\b|^our (?:\w+ )*(?:plan|goal|idea|problem|issue|task|aim|question|` +
	`guess|option|options|choice|next|first|best|only|demo|deadline) `)
