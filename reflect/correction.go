package reflect

import (
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/record/wording"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// Corrections are a person's words against the agent's last action, which gives them their subject:
// "use pnpm" after `npm install` means pnpm, not npm.

var useInstead = lazy("(?i)^(?:(?:no|nope|actually|please|pls|ok|hey|again|stop)[,.!:]* )*(?:(?:always|just|you should|we) )?(?:use|run)\\s+`?([a-z][\\w.-]*)((?: [\\w:./-]+){0,3}?)`?(?:\\s+(?:instead|" +
	"here|please|for (?:that|this)|in (?:this|the|our) (?:repo|project|repository)))*\\s*(?:[.,;:—–-]+\\s*(.*))?$")

// itDoes matches a reason about the tool just named.
var itDoes = lazy(`(?i)^(?:it|they) \w+`)

// findCorrections looks for sentences that name a tool right after the agent used a rival.
func findCorrections(v *view) []finding {
	var out []finding
	for i := range v.sentences {
		s := &v.sentences[i]
		if s.lang != "en" || s.Asks || s.Proposed() {
			continue // a rule stated by itself needs no rival
		}
		m := useInstead.FindStringSubmatch(strings.TrimRight(oneLine(s.raw), "."))
		if m == nil {
			continue
		}
		tool := strings.ToLower(m[1])
		rival, call := v.rivalBefore(s.event, tool, strings.TrimSpace(m[2]))
		if rival == "" {
			continue
		}
		named := strings.TrimSpace(tool + m[2])
		if strings.Contains(named, " ") {
			named = "`" + named + "`"
		}
		statement := "Use " + named + ", not " + rival
		if why := strings.TrimSpace(m[3]); why != "" && (itDoes.MatchString(why) || !unresolved(why, "en")) {
			statement += ": " + why
		}
		evidence := []record.Evidence{v.quote(s.event, s.raw), v.quote(call, v.events[call].Command)}
		if evidence[0].Doubt == "" && !s.Accepted() {
			evidence[0].Doubt = record.Passing // it may apply only this once
		}
		out = append(out, say(s, record.Convention, finish(statement), evidence))
	}
	return out
}

// rivalBefore returns the rival of a tool that the agent ran since the person last spoke, and its
// event. A refused command counts even from another family, if both are command lines.
func (v *view) rivalBefore(event int, tool, rest string) (string, int) {
	mine := wording.Tool(tool)
	for i := event - 1; i >= 0 && event-i < maxActs; i-- {
		e := &v.events[i]
		if e.Kind == transcript.User && e.Origin == transcript.Typed {
			break
		}
		if e.Kind != transcript.Call || e.Action != transcript.Run || len(e.Command) > record.MaxQuote {
			continue
		}
		for _, s := range steps(e.Command, v.session.Dir) {
			other := s.words[0]
			if mine != "" && other != tool && wording.Tool(other) == mine {
				return other, i
			}
			if rest != "" && other != tool && v.denied(i) && s.portable() && !readOnly.Has(other) && !narrow(s) {
				return "`" + s.key + "`", i
			}
		}
	}
	return "", 0
}

// denied reports whether the person refused the call at an index.
func (v *view) denied(call int) bool {
	for i := call + 1; i < len(v.events) && i < call+8; i++ {
		if e := &v.events[i]; e.Kind == transcript.Result && e.CallID == v.events[call].CallID {
			return e.Outcome == transcript.Denied
		}
	}
	return false
}

var (
	retract = lazy(`(?i)^(?:\W*(?:actually|ok|no|wait|sorry|hm+|oh|well|and|please|on second thought)\W+)*(?:scratch that|scrap (?:that|the)|` +
		`forget (?:that|what i said|the (?:rule|thing)|about)|ignore (?:that|what i said|my|the (?:rule|` +
		`thing))|disregard|never ?mind|i was wrong|i take (?:that|it) back|strike that)\b|^(?:算了|当我没说|` +
		`忽略刚才|收回|忘掉|やっぱり(?:なし|忘れて)|さっきの(?:は|なし)|忘れて|취소|아까 (?:말한|한 말))`)
	revision = lazy(`(?i)^\W*(?:actually|correction|no,|no wait|wait|sorry|on second thought|i was wrong|scratch that|` +
		`instead|hm+|my mistake|i meant|更正|不对|说错|搞错|应该是|还是|訂正|やっぱり|間違え|정정|아니)`)
)

// replaceEarlier replaces statements that a person's later words contradict, and removes retracted
// ones.
func (g *gate) replaceEarlier(list []record.Candidate) []record.Candidate {
	gone := map[int]bool{}
	for j := range list {
		for i := range j {
			if !gone[i] && replaces(&list[j], &list[i]) {
				gone[i] = true
				list[j].Corrects = list[i].Text
				g.dropped["corrected later"]++
			}
		}
	}
	for k := range g.view.sentences {
		if i := g.retracted(&g.view.sentences[k], list, gone); i >= 0 {
			gone[i] = true
			g.dropped["retracted"]++
		}
	}
	var out []record.Candidate
	for i, c := range list {
		if !gone[i] {
			out = append(out, c)
		}
	}
	return out
}

// retracted returns the index of the statement that a sentence takes back, or -1: the first that it
// names, or else the last one nearby.
func (g *gate) retracted(s *sentence, list []record.Candidate, gone map[int]bool) int {
	if !retract.MatchString(s.raw) {
		return -1
	}
	v, last := g.view, -1
	at, doubtful := v.events[s.event].N, s.theirs || v.events[s.event].Mixed
	for i, c := range list {
		switch {
		case gone[i], c.How != record.Said, c.Evidence[0].Event > at, doubtful && !record.Doubtful(c.Evidence):
		case c.Evidence[0].Event == at && !v.before(c.Evidence[0].Quote, s):
		case sharedWords(s.raw, c.Text) > 0:
			return i
		case !retractNamed.MatchString(s.raw) && v.near(c.Evidence[0].Event, at):
			last = i
		}
	}
	return last
}

var retractNamed = lazy(`(?i)\b(?:about|said about|rule about|thing about) \w+`)

// before reports whether a quote precedes a sentence in its message.
func (v *view) before(quote string, s *sentence) bool {
	text := v.events[s.event].Text
	return strings.Index(text, quote) < strings.Index(text, s.raw)
}

// near reports whether at most one message of a person is between two events.
func (v *view) near(from, to int) bool {
	n := 0
	last := -1
	for i := range v.sentences {
		if e := v.events[v.sentences[i].event].N; e > from && e < to && e != last {
			n++
			last = e
		}
	}
	return n == 0
}

// replaces reports whether a person's statement b differs from the earlier a on the same subject.
// Words in doubt replace no plain ones.
func replaces(b, a *record.Candidate) bool {
	switch {
	case b.How != record.Said, a.How != record.Said, !samePaths(a.Paths, b.Paths), record.Doubtful(b.Evidence) && !record.Doubtful(a.Evidence),
		a.Evidence[0].Event == b.Evidence[0].Event && !revision.MatchString(b.Evidence[0].Quote):
		return false
	}
	if a.Topic != "" && a.Topic == b.Topic && isSubject(a.Topic) {
		return fold(a.Text) != fold(b.Text)
	}
	return revision.MatchString(b.Evidence[0].Quote) && sharedWords(a.Text, b.Text) >= 2 || wording.Read(b.Text).Replaces(wording.Read(a.Text))
}

func samePaths(a, b []string) bool {
	return len(a) == 0 || len(b) == 0 || strings.Join(a, " ") == strings.Join(b, " ")
}
