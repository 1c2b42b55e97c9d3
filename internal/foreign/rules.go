package foreign

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/internal/docs"
	"github.com/reverie-memory/reverie/internal/lexicon"
	"github.com/reverie-memory/reverie/internal/pattern"
)

// Text written for agents to read: each bullet is a statement, and so is a paragraph that gives a
// rule.

// style describes the form of a file.
type style uint8

const (
	instructions style = iota // bullets, and paragraphs that give a rule
	plain                     // the same, but each line is a paragraph
	memory                    // bullets and paragraphs
	bullets                   // bullets alone
)

// Bounds of a statement and of its surroundings, in characters.
const (
	maxRule    = 400 // a longer paragraph is split into sentences
	maxContext = 120 // of the text before a bullet
	shortRule  = 4   // words of a bullet that needs its heading
)

var (
	onlyLink  = pattern.New(`^(?:\[[^\]]*\]\([^)]*\)|https?://\S+|@\S+)[.,;]?$`)
	onlyItem  = pattern.New(`^(?:\*[^*]+\*|_[^_]+_)$`)
	indexLine = pattern.New(`^\[[^\]]*\]\([^)#]*\.md\)`)
	remarks   = pattern.New(`\s*(?:\*\((?:task-specific|low confidence)\)\*|\[truncated\]|\[Task \d+\])`)
	dated     = pattern.New(`\s*\[(\d{4}-\d{2}-\d{2})\]$`)
	isMoment  = pattern.New(`^(\d{4}-\d{2}-\d{2}(?:T\S+)?)`)
	orderCue  = pattern.New(`(?i)^[\s*_"(]*(?:do not|don't|avoid|use|prefer|keep|write|run|follow|ensure|make sure|put|name|add|import|export|test|commit|document|` +
		`check|validate|handle|return|throw|log|wrap|place|store|remove|delete|treat|wait|ask|answer|respond|format|lint|start|apply|match|reserve|set|copy|define|create|update|verify|review|reuse|register|pass|only|` +
		`no|be)\b|(?i)\b(?:do not|don't|required|instead of|ne pas|verwende|nutze|no uses|não use)\b|(?i)(?:^|\PL)(?:не \pL+[ауя]й(?:те)?|используй(?:те)?)(?:\PL|$)|请|ください`)
	banCue      = pattern.New(`(?i)^[\s*_"(]*(?:do not|don't)\b`)
	sentenceEnd = pattern.New(`([.!?])\s+|([。！？])`)
)

// kindOfSection maps the name of a section to the kind of its bullets.
type kindOfSection struct {
	words *pattern.Pattern
	kind  string
}

// The first match counts. binding overrides the words of a bullet; loose applies only in a tool's
// own files.
var (
	binding = []kindOfSection{
		{pattern.New(`(?i)\b(?:constraints?|hard rules?|forbidden)\b|约束|禁止`), "constraint"},
		{pattern.New(`(?i)\b(?:decisions?|adrs?)\b|决定`), "decision"},
		{pattern.New(`(?i)\b(?:gotchas?|pitfalls?|failures?|failure modes?|troubleshooting|known issues|caveats|traps?|lessons)\b`), "failure"},
		{pattern.New(`(?i)\b(?:preferences?|preference signals)\b`), "preference"},
	}
	loose = []kindOfSection{
		{pattern.New(`(?i)\bpatterns?\b`), "pattern"},
		{pattern.New(`(?i)\bnotes?\b`), "note"},
		{pattern.New(`(?i)\b(?:facts?|overview|architecture|structure|layout|stack|knowledge)\b`), "fact"},
		{pattern.New(`(?i)\bworkflows?\b`), "workflow"},
	}
)

func kindIn(sections []kindOfSection, heading string) string {
	for _, s := range sections {
		if s.words.MatchString(heading) {
			return s.kind
		}
	}
	return ""
}

// rules returns the statements of a text; at names the file in sources.
func rules(text, at string, s style) []Item {
	scale := 1
	if s == plain { // an empty line between all of them
		text, scale = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\n\n"), 2
	}
	var out []Item
	holds := map[int]int{} // line of a bullet → 1 + index of its item
	for _, u := range docs.Markdown(clean(text)).Units {
		all := statements(u, s)
		if into := holds[u.In]; into > 0 && u.Form == docs.Bullet && u.Under == "" {
			holds[u.Line] = into
			for _, t := range all { // it explains its enclosing bullet
				if len(out[into-1].Text) < docs.MaxText {
					out[into-1].Text += "\n- " + t
				}
			}
			continue
		}
		for _, t := range all {
			i := Item{Text: t, Kind: kindOf(u, s), At: docs.Place{File: at, Line: (u.Line + scale - 1) / scale}.String(), Tags: tagsOf(u)}
			if m := dated.FindStringSubmatchIndex(t); m != nil {
				i.Created, i.Text = moment(t[m[2]:m[3]]), t[:m[0]]
			} else if n := len(u.Headings); n > 0 {
				if m := isMoment.FindStringSubmatch(u.Headings[n-1]); m != nil {
					i.Created = moment(m[1])
				}
			}
			out = append(out, i)
			holds[u.Line] = len(out)
		}
	}
	return out
}

// statements returns the statements of a unit, mostly one or none.
func statements(u docs.Unit, s style) []string {
	text := strings.ReplaceAll(strings.TrimSpace(remarks.ReplaceAllString(u.Text, "")), "**", "")
	switch {
	case u.Form == docs.Code, u.Form == docs.Table, s == bullets && u.Form != docs.Bullet:
		return nil
	case strings.HasSuffix(text, ":"), strings.HasSuffix(text, "："), onlyLink.MatchString(text), onlyItem.MatchString(u.Text), indexLine.MatchString(text):
		return nil
	case !strings.ContainsFunc(text, isWord):
		return nil
	case u.Form == docs.Bullet:
		return []string{inContext(u, text)}
	case s == memory:
		return []string{text}
	case !givesRule(text):
		return nil
	case utf8.RuneCountInString(text) <= maxRule:
		return []string{text}
	}
	var out []string
	for sentence := range strings.SplitSeq(sentenceEnd.ReplaceAllString(text, "$1$2\n"), "\n") {
		if givesRule(sentence) {
			out = append(out, sentence)
		}
	}
	return out
}

// givesRule reports whether a text gives a rule.
func givesRule(text string) bool {
	return orderCue.MatchString(text) || lexicon.Ruling.MatchString(text)
}

func isWord(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r >= 0x80
}

// inContext puts before a bullet the context that it needs: the bullet or line that introduces it,
// or the heading if it has few words.
func inContext(u docs.Unit, text string) string {
	under := strings.ReplaceAll(u.Under, "**", "")
	if under == "" && u.Level > 1 && len(strings.Fields(text)) < shortRule && utf8.RuneCountInString(text) < maxContext/2 {
		if under = u.Headings[len(u.Headings)-1]; isMoment.MatchString(under) {
			under = ""
		}
	}
	if under == "" || utf8.RuneCountInString(under) > maxContext {
		return text
	}
	return under + ": " + text
}

// kindOf returns the kind of a unit's statement: a binding section's or the words' own, else the
// section's.
func kindOf(u docs.Unit, s style) string {
	heading := ""
	if n := len(u.Headings); n > 0 {
		heading = u.Headings[n-1]
	}
	section := kindIn(binding, heading)
	if section == "" && (s == memory || s == bullets) {
		section = kindIn(loose, heading)
	}
	switch {
	case section != "":
		return section
	case banCue.MatchString(u.Text), lexicon.Binding.MatchString(u.Text):
		return "constraint"
	case givesRule(u.Text), whenCue.MatchString(u.Under):
		return "convention"
	case commandSpan.MatchString(u.Text) && commandCue.MatchString(heading+" "+u.Text):
		return "workflow"
	}
	return cmp.Or(kindIn(loose[:2], heading), "fact")
}

var commandSpan = pattern.New("`[a-z./][^` ]* [^`]+`")

var whenCue = pattern.New(`(?i)^(?:before|after|when|whenever|if|on (?:each|every)|for (?:each|every))\b`)

var commandCue = pattern.New(`(?i)\b(?:commands?|build|setup|install|tests?|testing|run|running|deploy|release|lint|develop(?:ment|ing)?)\b`)

// tagsOf returns the last heading as a tag, except the heading of the whole text.
func tagsOf(u docs.Unit) []string {
	if u.Level < 2 || isMoment.MatchString(u.Headings[len(u.Headings)-1]) {
		return nil
	}
	tag := strings.Join(strings.FieldsFunc(strings.ToLower(u.Headings[len(u.Headings)-1]), func(r rune) bool { return !isWord(r) }), "-")
	if tag == "" || utf8.RuneCountInString(tag) > 40 {
		return nil
	}
	return []string{tag}
}

// fact returns the statement of a file that holds one, as Claude Code keeps them: the fact, the
// reason, and its use. It returns nothing for a file without a text.
func fact(text, at string) []Item {
	parsed := docs.Markdown(clean(text))
	i := Item{At: at + ":1", Created: moment(parsed.Front["modified"]), Kind: "fact"}
	switch parsed.Front["type"] {
	case "user":
		i.Kind, i.User = "preference", true
	case "feedback":
		i.Kind = "convention"
	}
	var rest []string
	for _, u := range parsed.Units {
		switch {
		case u.Form == docs.Code:
		case i.Text == "":
			if i.Kind == "fact" {
				i.Kind = kindOf(u, instructions)
			}
			i.Text, i.At = strings.ReplaceAll(u.Text, "**", ""), docs.Place{File: at, Line: u.Line}.String()
		default:
			rest = append(rest, u.Text)
		}
	}
	i.Text = cmp.Or(i.Text, parsed.Front["description"])
	if i.Text = strings.Join(append([]string{i.Text}, rest...), "\n\n"); strings.TrimSpace(i.Text) == "" {
		return nil
	}
	return []Item{i}
}
