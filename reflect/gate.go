package reflect

import (
	"regexp"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// A gate holds what passed and counts what it refused, by reason.
type gate struct {
	view    *view
	kept    []record.Candidate
	dropped map[string]int
}

var (
	concrete  = regexp.MustCompile("`[^`]+`")
	report    = regexp.MustCompile(`(?i)^(?:(?:i|we)(?:'ve| have)? (?:just )?(?:added|fixed|updated|changed|created|implemented|finished)|all tests pass|done\b|fixed\b|updated\b|added\b)`)
	transient = regexp.MustCompile(`(?i)/tmp/|/var/folders|/private/|\bpid \d+|\b\d{5,}\b|\b[0-9a-f]{12,40}\b|\b20\d\d-\d\d-\d\d\b`)
	vague     = regexp.MustCompile(`(?i)^(?:always |never |please )*(?:be (?:careful|smart|precise|thorough|patient|honest|more careful)|think(?: (?:hard|carefully|deeply|step by step|first|before.*|harder))?|do (?:your best|it right|this|that|it|better)|try (?:harder|again|your best)|pay attention|double[- ]check(?: (?:everything|your work))?|check(?: (?:everything|your work))?|take your time|give up|make mistakes?|stop|assume|guess|trust)[.]?$`)
	redacted  = regexp.MustCompile(`\[redacted:[^\]]*\]`)
)

// offer lets a candidate pass or counts why not.
func (g *gate) offer(f finding) {
	c := f.Candidate
	if f.said != nil {
		for i := range g.kept {
			if g.kept[i].How == record.Said && g.kept[i].Evidence[0] == c.Evidence[0] {
				return // another detector had this sentence
			}
		}
		if why := refuseSaid(f.said, c.Text); why != "" {
			g.dropped[why]++
			return
		}
	}
	if why := g.refuse(c); why != "" {
		g.dropped[why]++
		return
	}
	same := fold(c.Text)
	for i := range g.kept {
		k := &g.kept[i]
		if fold(k.Text) == same {
			k.Evidence = mergeEvidence(k.Evidence, c.Evidence)
			g.dropped["repeated"]++
			return
		}
	}
	g.kept = append(g.kept, c)
}

// refuse returns why a candidate may not pass, empty if it may.
func (g *gate) refuse(c record.Candidate) string {
	text := strings.TrimSpace(c.Text)
	switch {
	case len(c.Evidence) == 0:
		return "no evidence"
	case strings.ContainsAny(text, "\n\r"):
		return "not one line"
	case len(text) > maxStatement:
		return "too long"
	case redacted.MatchString(text):
		return "redacted"
	case vague.MatchString(text):
		return "vague"
	case transient.MatchString(text):
		return "transient"
	case report.MatchString(text):
		return "status report"
	}
	if f := fold(text); len(f) > 12 && strings.Contains(g.view.injected, f) {
		return "echo"
	}
	if c.How == record.Seen && !concrete.MatchString(text) {
		return "unspecific"
	}
	for _, e := range c.Evidence {
		if !g.stands(e) {
			return "evidence not verbatim"
		}
		if c.How == record.Said && g.echoed(e.Quote) {
			return "echo"
		}
	}
	return ""
}

// refuseSaid returns why a person's sentence may not become the statement made of it.
func refuseSaid(s *sentence, text string) string {
	switch {
	case s.asking:
		return "question"
	case passing[s.lang].MatchString(s.text):
		return "for now"
	case unresolved(text, s.lang):
		return "points at its session"
	case s.lang == "en" && len(strings.Fields(text)) < 3, len(text) < 12:
		return "too short"
	case s.lang == "en" && personal.MatchString(text):
		return "personal"
	}
	return ""
}

// personal words are left where a statement could not be freed of who speaks to whom.
var personal = regexp.MustCompile(`(?i)\b(?:i|i'm|i've|i'll|i'd|me|my|mine|myself|yourself)\b`)

// echoed tells whether a person's words stand in text that was injected: pasted back, or
// given by a client as if typed.
func (g *gate) echoed(quote string) bool {
	f := fold(quote)
	return len(f) > 12 && strings.Contains(g.view.injected, f)
}

// stands tells whether a quote occurs verbatim in its event.
func (g *gate) stands(e record.Evidence) bool {
	if e.Quote == "" || len(e.Quote) > record.MaxQuote {
		return false
	}
	i, found := g.view.index(e.Event)
	if !found {
		return false
	}
	ev := &g.view.events[i]
	return strings.Contains(ev.Text, e.Quote) || strings.Contains(ev.Command, e.Quote) || strings.Contains(ev.New, e.Quote)
}

// settle puts what passed in the order of the session, lets later words of a person replace
// earlier ones, and bounds the number.
func (g *gate) settle() {
	sortCandidates(g.kept)
	g.kept = g.replaceEarlier(g.kept)
	if n := len(g.kept); n > maxCandidates {
		g.dropped["too many"] += n - maxCandidates
		g.kept = g.kept[:maxCandidates]
	}
}

func mergeEvidence(a, b []record.Evidence) []record.Evidence {
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
