package claim

import (
	"strings"
	"unicode"

	"github.com/reverie-memory/reverie/internal/pattern"
)

// Reasons of Own.
const (
	Pasted   = "pasted"   // fenced, quoted, indented, a log, a document
	Reported = "reported" // words of another person
	Asked    = "asked"    // a question
)

// Own returns the reason why the bytes between two positions of a message are not statements of its
// author, or "".
func Own(text string, from, to int) (why string) {
	if machineText.MatchString(text) || heading.MatchString(text[:from]) {
		return Pasted
	}
	at := from // the first byte not yet found in a typed paragraph
	paragraphs := typed(text, false)
	for p, par := range paragraphs {
		if par.end <= from || par.start >= to {
			continue
		}
		if hasWord(text, at, par.start) || len(text) > maxTyped && p > 0 && p < len(paragraphs)-1 {
			return Pasted
		}
		at = par.end
		for _, s := range sentences(text[par.start:par.end]) {
			start, end := par.start+s[0], par.start+s[1]
			if end <= from || start >= to {
				continue
			}
			sentence := text[start:end]
			asked := text[max(start, beginning(text[:max(from, start)], text)):end]
			switch {
			case Asks(asked) && (!politeAsk.MatchString(asked) || handedOver.MatchString(asked)):
				return Asked
			case ofAnother(text[par.start:end], sentence),
				inQuotation(sentence, max(from-start, 0), min(to, end)-start):
				return Reported
			}
		}
	}
	if hasWord(text, at, to) {
		return Pasted
	}
	return ""
}

// beginning returns where the part of a sentence begins that follows a text: behind a line's end,
// for a request may follow, or behind a comma before a clause of its own. "Did you add a slash,
// those are relative" asks with its first part alone.
func beginning(before, text string) int {
	at := strings.LastIndexByte(before, '\n') + 1
	if comma := strings.LastIndex(before, ", "); comma > at && clause.MatchString(text[comma+2:]) && !embedding.MatchString(text[at:comma]) {
		return comma + 2
	}
	return at
}

var (
	clause    = pattern.New(`(?i)^(?:those|these|they|it|this|that) (?:is|are|was|were|should|must|will|has|have)\b`)
	embedding = pattern.New(`(?i)\b(?:if|when|that|whether|think|say)\b`)
)

// heading matches a heading of a document.
var heading = pattern.New(`(?m)^#{1,6} \S`)

func hasWord(text string, from, to int) bool {
	return from < to && strings.ContainsFunc(text[from:to], unicode.IsLetter)
}

// ofAnother reports whether a sentence reports another's words. said is its paragraph so far.
func ofAnother(said, sentence string) bool {
	bare := inAccord.ReplaceAllString(onCondition.ReplaceAllString(inTicks.ReplaceAllString(option.ReplaceAllString(sentence, " x"), "`x`"), "x"), "$1 as")
	for _, s := range signs {
		switch s.what {
		case "source":
			if s.looks.MatchString(fileName.ReplaceAllString(bare, "x")) {
				return true
			}
		case "letter", "data":
			if s.looks.MatchString(bare) {
				return true
			}
		}
	}
	// "…, the auditors insist" is a reason
	if end := reported(bare); end > 0 && hasWord(bare, end, len(bare)) {
		return true
	}
	return Theirs(mentioned.ReplaceAllString(said, "x"))
}

// inAccord matches a way to make something, which names no source: "sorted according to the date",
// "passed verbatim".
var inAccord = pattern.New(`(?i)\b(made|sorted|ordered|named|grouped|built|formatted|written|chosen|calculated|generated?|be (?:passed|kept|stored|sent|shown|returned)) (?:according to|verbatim)\b`)

// onCondition matches words that only look like a report: "when replied to", "if the user insists",
// "make sure the rule says", or a mention of a file.
var onCondition = pattern.New(`(?i)\baccording to @[\w./-]+\.mdc?\b|\b(?:make sure|ensure)(?: that)? (?:the|our|this|that) (?:[\w.-]+ ){1,3}?(?:mentions?|says?|states?)\b|` +
	`\b(?:when|if) (?:[a-z]+ed to|(?:(?:the|a|an|any) )?(?:user|person|caller|someone|anyone|agent) (?:asks?|insists?|demands?|mentions?))\b`)

// option matches one at the end of a line, which looks like a signature.
var option = pattern.New(`(?m) --[a-z][\w-]+$`)

// mentioned matches a file that a person mentions to an agent.
var mentioned = pattern.New(`@[\w./-]+\.[a-z]\w{0,5}\b`)

// fileName matches the name of a file, whose words report nothing: transcript.json.
var fileName = pattern.New(`[\w@/-]+\.[a-z]\w{0,5}\b`)

// quotations matches words between quotation marks.
var quotations = pattern.New(`"[^"\n]+"|“[^”\n]+”|„[^“”\n]+[“”]|«[^»\n]+»|「[^」\n]+」|『[^』\n]+』`)

// inQuotation reports whether a part of a sentence lies between its quotation marks.
func inQuotation(sentence string, from, to int) bool {
	for rest, gone := sentence, 0; ; {
		at := quotations.FindStringIndex(rest)
		if at == nil {
			return false
		}
		if gone+at[0] <= from && to <= gone+at[1] {
			return true
		}
		rest, gone = rest[at[1]:], gone+at[1]
	}
}
