package reflect

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// A gate holds the accepted findings and counts the refused ones, by reason.
type gate struct {
	view    *view
	kept    []record.Candidate
	dropped map[string]int
	same    map[string]int           // place in kept by folded statement
	heard   map[record.Evidence]bool // a person's sentences already turned into statements
	refused map[refusal]bool
}

// A refusal is a sentence and the reason for its refusal.
type refusal struct {
	said *sentence
	why  string
}

// maxKept bounds the held candidates before the session's order decides.
const maxKept = 8 * maxCandidates

func newGate(v *view) *gate {
	return &gate{view: v, dropped: map[string]int{}, same: map[string]int{}, heard: map[record.Evidence]bool{}, refused: map[refusal]bool{}}
}

// offer accepts a candidate or counts the reason against it.
func (g *gate) offer(f finding) {
	c := f.Candidate
	if f.why != "" {
		g.dropped[f.why]++
		return
	}
	if f.said != nil {
		if g.heard[c.Evidence[0]] {
			return // another detector had this sentence
		}
		why := refuseSaid(f.said, c.Text)
		if why == "" && g.view.echoed(f.said) {
			why = "echo"
		}
		if why == "" {
			why = g.refuse(c)
		}
		if why != "" {
			if key := (refusal{f.said, why}); !g.refused[key] { // not again for the next detector
				g.refused[key] = true
				g.dropped[why]++
			}
			return
		}
	} else if why := g.refuse(c); why != "" {
		g.dropped[why]++
		return
	}
	if f.said != nil {
		for _, e := range c.Evidence {
			g.heard[e] = true // its reason too
		}
	}
	key := fold(c.Text)
	if at, found := g.same[key]; found {
		g.kept[at].Evidence = mergeEvidence(g.kept[at].Evidence, c.Evidence)
		g.dropped["repeated"]++
		return
	}
	if len(g.kept) == maxKept {
		g.dropped["too many"]++
		return
	}
	g.same[key] = len(g.kept)
	g.kept = append(g.kept, c)
}

// refuse returns why a candidate must not pass, or "".
func (g *gate) refuse(c record.Candidate) string {
	text := strings.TrimSpace(c.Text)
	switch {
	case len(c.Evidence) == 0:
		return "no evidence"
	case strings.ContainsAny(text, "\n\r"):
		return "not one line"
	case utf8.RuneCountInString(text) > maxStatement:
		return "too long"
	case redacted.MatchString(text):
		return "redacted"
	case vague.MatchString(text):
		return "vague"
	case transient.MatchString(text), c.How != record.Said && counted.MatchString(text):
		return "transient"
	case report.MatchString(text):
		return "status report"
	}
	if f := fold(text); c.How != record.Said && len(f) > 12 && strings.Contains(g.view.injected, f) {
		return "echo"
	}
	if c.How == record.Seen && !concrete.MatchString(text) {
		return "unspecific"
	}
	for _, e := range c.Evidence {
		if !g.stands(e) {
			return "evidence not verbatim"
		}
	}
	if overtaken(g.view, c) {
		return "code changed since"
	}
	return ""
}

// refuseSaid returns why a person's sentence must not become its statement, or "".
func refuseSaid(s *sentence, text string) string {
	switch {
	case s.theirs:
		return "reported"
	case s.Asks:
		return "question"
	case conjecture.MatchString(text):
		return "conjecture"
	case forNow.MatchString(s.raw), forNow.MatchString(text):
		return "for now"
	case s.lang == "en" && pointless(text), s.lang != "en" && unresolved(text, s.lang):
		return "points at its session"
	case s.lang == "en" && len(strings.Fields(text)) < 3, len(text) < minStatement:
		return "too short"
	}
	return ""
}

// conjecture matches speculation and wishes, which state nothing.
var conjecture = lazy(`(?i)^\W*(?:so |but |and |well )*(?:either|like for example|for example|for instance)\b|\b(?:we|you|i|it|they) (?:could|might)\b|` +
	`\b(?:ideally|possibly|maybe|perhaps|probably|i(?:['’]m| am) not sure|we(?:['’]re| are) not sure)\b|^\W*not sure\b|\bmust (?:be|have been) (?:an?|some|something|because|due)\b`)

// forNow matches a sentence that will not last.
var forNow = lazy(`(?i)\b(?:for now|for the moment|for the time being|(?:just|only) (?:this once|once|this time)|this time|right now|temporarily|` +
	`for this (?:pr|branch|commit|session|task|one|change)|diesmal|vorerst|por ahora|esta vez|pour l'instant|cette fois|por enquanto|desta vez)\b|` +
	`пока что|на этот раз|这次|本次|暂时|今回|とりあえず|一旦|이번(?:에|만|엔)|일단`)

// echoed reports whether the line of a sentence was injected before, verbatim: pasted back, or
// passed by a client as if typed. A person who repeats the same rule in other words does not count.
func (v *view) echoed(s *sentence) bool {
	text := v.events[s.event].Text
	at := strings.Index(text, s.raw)
	if at < 0 {
		return false
	}
	from := strings.LastIndexByte(text[:at], '\n') + 1
	line, _, _ := strings.Cut(text[from:], "\n")
	first, found := v.given[strings.TrimSpace(line)]
	return found && first < s.event
}

// stands reports whether a quote occurs verbatim in its event.
func (g *gate) stands(e record.Evidence) bool {
	if e.Quote == "" || len(e.Quote) > record.MaxQuote {
		return false
	}
	i, found := g.view.index(e.Event)
	if !found {
		return false
	}
	return slices.ContainsFunc(quotable(&g.view.events[i]), func(text string) bool { return strings.Contains(text, e.Quote) })
}

// settle sorts the accepted findings in session order, lets a person's later words replace earlier
// ones, and bounds their number.
func (g *gate) settle() {
	sortCandidates(g.kept)
	g.kept = g.replaceEarlier(g.kept)
	if n := len(g.kept); n > maxCandidates {
		g.dropped["too many"] += n - maxCandidates
		g.kept = slices.DeleteFunc(g.kept, func(c record.Candidate) bool {
			if n > maxCandidates && c.Weak {
				n--
				return true
			}
			return false
		})
		g.kept = g.kept[:min(n, maxCandidates)]
	}
}

// mergeEvidence joins quotes that say the same. If only one side is in doubt, it returns the other.
func mergeEvidence(a, b []record.Evidence) []record.Evidence {
	switch doubtA, doubtB := record.Doubtful(a), record.Doubtful(b); {
	case doubtA && !doubtB:
		return b
	case doubtB && !doubtA:
		return a
	}
	for _, e := range b {
		known := false
		for _, f := range a {
			known = known || e.Event == f.Event && e.Quote == f.Quote
		}
		if !known && len(a) < maxEvidence {
			a = append(a, e)
		}
	}
	return a
}
