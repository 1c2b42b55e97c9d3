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
	// retract matches words that take back what stands before them, at the beginning of a sentence or
	// of a clause. Group 2 holds words that do so plainly, and group 1 a hesitation before them. Other
	// words only put it in doubt.
	retract = lazy(`(?i)(?:^\W*|[,;:.!?…(，；：。！？、]\s*|\s[–—-]+\s*)` +
		`(?:(?:ok|sorry|well|and|please)\W+|(actually|no|nope|nah|wait|hm+|oh|ah|on second thought)\W+)*(?:((?:` +
		`scratch that|scrap (?:that|the)|cancel that\W*$|(?:forget|ignore) (?:that|what i said|the (?:rule|thing))|forget about|ignore my|` +
		`disregard|never ?mind|nvm|i was wrong|i take (?:that|it|this) back|strike that|` +
		`(?:vergiss|streich) (?:das|es)\W*$|olv[ií]dalo|oublie (?:ça|cela)|laisse tomber|esquece isso)(?:\PL|$)|` +
		`забудь (?:это|об этом)|算了|当我没说|忽略刚才|收回|忘掉|やっぱり(?:なし|忘れて)|さっきの(?:は|なし)|忘れて|취소|아까 (?:말한|한 말))|` +
		`(?:wait|espera|attends|подожди|погоди|стой)(?:\s*[,.!?:;…–—-]|\s*$)|` +
		`wait (?:no|actually|not|that|i|it|this|what|why|sorry|wrong|an? (?:sec|min|moment))|no[, ]+wait\s*(?:[,.!…–—-]|$)|(?:forget|ignore|scrap) it\b|don['’]?t\W*$|` +
		`(?:actually|on second thoughts?),? (?:no|not|nope|nah|don['’]?t)\b|err+m?(?:\s*,| (?:[^\so!=:]|o[^n]))|oops|whoops|` +
		`my (?:bad|mistake)\b|correction\s*[:,–—-]|(?:hold|hang) on\b|i meant\b|cancel that\s*[,;–—-]|moment mal|or rather\b|(?:just )?(?:kidding|joking)\b|` +
		`wrong (?:repo|project|chat|window|tab|session)|ach nein|quatsch|mejor no\b|en fait,? non|melhor não|хотя нет|` +
		`等等[，,！!]|等一下|不对|说错|搞错|更正|待って|いや、|間違え|訂正|잠깐|아니[,다]|정정)`)
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
		s := &g.view.sentences[k]
		switch i, plainly := g.retracted(s, list, gone); {
		case i < 0:
		case plainly:
			gone[i] = true
			g.dropped["retracted"]++
		default:
			said := g.view.quote(s.event, g.view.events[s.event].Text[s.From:s.To])
			list[i].Evidence = mergeEvidence(doubted(list[i].Evidence), doubted([]record.Evidence{said}))
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
// plainly names, or else the last one nearby. Unless it does so plainly, the statement is in doubt.
func (g *gate) retracted(s *sentence, list []record.Candidate, gone map[int]bool) (last int, plainly bool) {
	v := g.view
	text := v.events[s.event].Text
	marks := retract.FindAllStringSubmatchIndex(text[s.From:s.To], -1)
	if len(marks) == 0 {
		return -1, false
	}
	begin := s.From + marks[0][0]
	for i, m := range marks {
		plainly = plainly || m[4] >= 0 && (begin == s.From || m[2] >= 0 || i > 0)
	}
	// Words behind others of their message reach an earlier message only if they are plain.
	words, back := text[begin:s.To], plainly || strings.TrimSpace(text[:begin]) == ""
	at, doubtful, last := v.events[s.event].N, s.theirs || v.events[s.event].Mixed, -1
	for i, c := range list {
		if gone[i] || c.How != record.Said || doubtful && !record.Doubtful(c.Evidence) {
			continue
		}
		for _, e := range c.Evidence {
			switch {
			case e.Event > at, e.Event == at && strings.Index(text, e.Quote) >= begin, e.Event < at && !back:
			case plainly && sharedWords(words, c.Text) > 0:
				return i, true
			case !retractNamed.MatchString(words) && v.between(e.Event, at) == 0:
				last = i
			}
		}
	}
	return last, plainly
}

var retractNamed = lazy(`(?i)\b(?:about|said about|rule about|thing about) \w+`)

// between counts the messages of a person between two events.
func (v *view) between(from, to int) int {
	n := 0
	last := -1
	for i := range v.sentences {
		if e := v.events[v.sentences[i].event].N; e > from && e < to && e != last {
			n++
			last = e
		}
	}
	return n
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
