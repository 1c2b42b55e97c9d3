package reflect

import (
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// A person often decides by a letter: "go with B, nobody here can run A". What B is stands in
// the agent's message just before; the choice and the reason are the person's.

var (
	// byLetter takes an option by its letter or number; the reason may follow.
	byLetter = languages{
		{"en", lazy(`(?i)^(?:(?:let's |we'll |i'd |i'll |please )*(?:go(?:ing)? (?:with|for)|take|pick|choose|use|do) )?` +
			`(?:the )?(?:option|plan|variant|approach|number|#)? ?\(?([a-d]|[1-4])\)?(?:(?: it is)?[.!]?$|(?: it is)?[,.;:!–—-]+ (.*)$| (?:because|since|as) (.*)$)`)},
		{"zh", lazy(`^(?:好的?[，,]|可以[，,]|行[，,]|嗯[，,])*(?:那?就|还是|我)*(?:选择?|用|走|按|采用)(?:方案|选项)?\s*([A-Da-d1-4一二三四])` +
			`\s*(?:方案)?\s*(?:吧|了|好了)?(?:[。！]?$|[，,。！]\s*(.*)$)()`)},
	}
	// optionLine is an option as it is laid out: "B. **Postgres full text** (tsvector): …".
	optionLine = lazy(`(?:^|[\n；;。：:])[ \t>*-]*(?:Option |option |Plan |方案|选项)?\s*([A-Da-d1-4一二三四])\s*(?:[.)、）:：]|\*\*[.:：]|[—–-] )[*\s]*([^\n；;。]+)`)
	optionEnd  = lazy("\\s*\\(|（|[:：]\\s|：|,\\s|，|;\\s| [—–-] |\\.(?:\\s|$)|\\*\\*|。")
	nobodyHere = lazy(`(?i)\b(nobody|no one|noone|anyone|everyone|people|we) here\b`)
	// noReason is what else people add to a choice.
	noReason = lazy(`(?i)^(?:and|then|but|also|with|without|first|after|once|when|now|thanks|thank you|looks|ok|okay|please|` +
		`let's|i'll|go|can you|could you)\b`)
	chineseOne = strings.NewReplacer("一", "1", "二", "2", "三", "3", "四", "4")
)

// maxOption is the longest name of an option, in bytes.
const maxOption = 80

// chosenOption makes the finding of a sentence that takes an option by its letter and says
// why. Without a reason, or where the message before does not lay the option out, it is none.
func (v *view) chosenOption(i int) (finding, bool) {
	s := &v.sentences[i]
	form := byLetter.in(s.lang)
	if form == nil || s.asking {
		return finding{}, false
	}
	m := form.FindStringSubmatch(assent.ReplaceAllString(s.text, ""))
	if m == nil {
		return finding{}, false
	}
	at, name, line := v.option(s.event, m[1])
	if name == "" {
		return finding{}, false
	}
	why := m[2] + m[3]
	evidence := []record.Evidence{v.quote(s.event, s.raw)}
	if why == "" && s.more {
		if next := &v.sentences[i+1]; !next.asking && !imperative.MatchString(next.form) {
			why = next.text
			evidence = append(evidence, v.quote(next.event, next.raw))
		}
	}
	why = strings.TrimRight(nobodyHere.ReplaceAllString(why, "$1"), ".!。！ ")
	if s.lang == "en" && (len(strings.Fields(why)) < 3 || noReason.MatchString(why) || imperative.MatchString(why)) || len(why) < 12 {
		return finding{}, false
	}
	text := name + "：" + why
	if s.lang == "en" {
		if !imperative.MatchString(name) {
			name = "use " + name
		}
		text = name + ": " + why
	}
	option := v.quote(at, line)
	option.Doubt = record.Worded
	return v.sayAs(i, record.Decision, finish(text, s.lang), append(evidence, option)), true
}

// option finds the option of a letter in the agent's last message before an event: its
// event, its name, and the line it stands in. The name is empty if it is not laid out there.
func (v *view) option(event int, letter string) (at int, name, line string) {
	for at = event - 1; at >= 0; at-- {
		e := &v.events[at]
		if e.Agent != "" {
			continue
		}
		if e.Kind == transcript.User {
			return 0, "", ""
		}
		if e.Kind == transcript.Assistant && e.Text != "" {
			break
		}
	}
	if at < 0 {
		return 0, "", ""
	}
	letter = chineseOne.Replace(strings.ToUpper(letter))
	text := v.events[at].Text
	for _, m := range optionLine.FindAllStringSubmatchIndex(text, -1) {
		if chineseOne.Replace(strings.ToUpper(text[m[2]:m[3]])) != letter {
			continue
		}
		if name != "" {
			return 0, "", "" // two lists: which one is meant is not certain
		}
		line = strings.TrimSpace(text[m[4]:m[5]])
		name = line
		if end := optionEnd.FindStringIndex(name); end != nil {
			name = name[:end[0]]
		}
		name = strings.Trim(name, " *_.")
		if len(name) < 4 || len(name) > maxOption {
			return 0, "", ""
		}
	}
	return at, name, line
}
