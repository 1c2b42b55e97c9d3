package reflect

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/record/wording"
	"github.com/reverie-memory/reverie/internal/lexicon"
	"github.com/reverie-memory/reverie/internal/shell"
	"github.com/reverie-memory/reverie/reflect/claim"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// A model says little about the worth of its statements; their quotes say more. A rule needs words
// that a person typed as such. Anything else needs these or an outcome: a failed command and what
// put it right, or a command that did its job. Words of agents, files and pasted blocks prove
// nothing.

// A cited quote of a candidate, with its author.
type cited struct {
	event *transcript.Event
	words string
	by    record.Author
	why   string // the words are in a person's message, but not the person's: claim's reason
}

// cite finds the author of words in an event.
func (r *reader) cite(e *transcript.Event, words string) cited {
	if e.Kind == transcript.Result && e.Outcome == transcript.Denied {
		if said := r.shown[e.N+1]; said != nil && said.Kind == transcript.User && strings.Contains(said.Text, words) {
			e = said // the result repeats the person's reason
		}
	}
	c := cited{event: e, words: words}
	sub := r.gate.view.session.Parent != "" || e.Agent != ""
	switch {
	case e.Kind == transcript.User && e.Origin == transcript.Typed && !sub:
		at := strings.Index(e.Text, words)
		if at >= 0 {
			c.why = claim.Own(e.Text, at, at+len(words))
		}
		if c.why == "" || c.why == claim.Asked {
			c.by = record.ByPerson
		}
	case e.Kind == transcript.User || e.Kind == transcript.Assistant || e.Action == transcript.Task:
		c.by = record.ByAgent
	case r.outcome(e, words):
		c.by = record.ByCommand
	case e.Kind == transcript.Call:
		c.by = record.ByAgent
	}
	return c
}

// outcome reports whether words show an outcome: they are a command, or its output where it failed.
// Commands that only look about show the text of files; only their own complaints count.
func (r *reader) outcome(e *transcript.Event, words string) bool {
	v := r.gate.view
	i, found := v.index(e.N)
	if !found {
		return false
	}
	for _, a := range v.acts {
		switch {
		case a.call != i && a.result != i || a.edit:
		case looks(a.step):
			if a.result == i && ending(e) == transcript.Failed && complaint(v.events[a.call].Command, e.Text, words) {
				return true
			}
		case a.call == i:
			return strings.Contains(e.Command, words)
		case failedWith(v, a, words):
			return true
		}
	}
	return e.Kind == transcript.Result && strings.Contains(e.Text, unreadable) && complains(words)
}

// printed reports whether an event is the output of a command that does more than look about.
func (r *reader) printed(e *transcript.Event) bool {
	i, found := r.gate.view.index(e.N)
	return found && slices.ContainsFunc(r.gate.view.acts, func(a act) bool { return a.result == i && !a.edit && !looks(a.step) })
}

// complaint reports whether words are in a line of an output in which a program of a command
// complains by its name: `cat: illegal option`.
func complaint(command, output, words string) bool {
	for line := range strings.Lines(output) {
		byName := func(word string) bool {
			_, said, found := strings.Cut(line, path.Base(word)+": ")
			return found && complains(said)
		}
		if strings.Contains(line, words) && slices.ContainsFunc(strings.Fields(command), byName) {
			return true
		}
	}
	return false
}

// failedWith reports whether an act failed. If its exit code is unknown or hidden, the words of its
// output tell.
func failedWith(v *view, a act, words string) bool {
	ended := ending(&v.events[a.result])
	if ended == transcript.Unknown || ended == transcript.OK && a.step.masked {
		return a.outcome == transcript.Failed || a.outcome != transcript.OK && isError(words)
	}
	return ended == transcript.Failed
}

// isError reports whether words are only an error, have a compiler's code (error TS2345:), or begin
// with an exception's name and order nothing.
func isError(words string) bool {
	return complains(words) || codedError.MatchString(words) || exception.MatchString(words) && !slices.ContainsFunc(strings.Fields(words), orders)
}

var (
	codedError = lazy(`\berror:? [A-Z]{2,}\d{2,}:`)
	exception  = lazy(`^(?:\w+\.)*[A-Z]\w*(?:Error|Exception): `)
)

// putRight reports whether something was edited, or a command passed, after an event. A command
// that only looks about puts right nothing but another look at the same file.
func putRight(v *view, e *transcript.Event) bool {
	at, _ := v.index(e.N)
	looked := func(b act) bool {
		return slices.ContainsFunc(v.acts, func(a act) bool {
			return (a.call == at || a.result == at) && !a.edit && looks(a.step) && slices.ContainsFunc(a.step.words[1:], func(file string) bool {
				return strings.ContainsAny(file, "/.") && strings.ContainsFunc(file, unicode.IsLetter) && strings.Contains(v.events[b.call].Command, shell.Unquote(file))
			})
		})
	}
	return slices.ContainsFunc(v.acts, func(a act) bool {
		return v.events[a.call].N > e.N && (a.edit || (!looks(a.step) || looked(a)) && a.outcome != transcript.Failed && ending(&v.events[a.result]) != transcript.Failed)
	})
}

// mended reports whether something was edited after an event.
func mended(v *view, e *transcript.Event) bool {
	return slices.ContainsFunc(v.acts, func(a act) bool { return a.edit && v.events[a.call].N > e.N })
}

// unproven returns the reason why quotes do not prove a candidate, or "", and a fault worded for
// the model.
func (r *reader) unproven(c record.Candidate, quotes []cited) (why, fault string) {
	person, lastly := false, ""
	for _, q := range quotes {
		switch {
		case q.by == record.ByPerson && q.why == "":
			if sameMatter(c.Text+"\n"+c.Body, q.words) {
				person = true
			} else if lastly == "" {
				lastly = "the quoted sentence of the person is about something else"
			}
		case q.why == claim.Asked:
			lastly = "the quoted sentence is a question"
		case q.why != "":
			lastly = "the quoted words are " + q.why + " in the person's message"
		}
	}
	if person || r.pointsAt(c, quotes) {
		return "", ""
	}
	if r.rules(c, quotes) {
		lastly = cmp.Or(lastly, "no quote is a person's")
		return "a rule without a person's words", "a rule needs a sentence that a person typed (user:): " + lastly
	}
	if outcome := r.outcomeOf(c, quotes); outcome == "" {
		return "", ""
	} else if lastly == "" {
		lastly = outcome
	}
	return "no proof", "words of agents, files and pasted blocks prove nothing: " + lastly
}

// pointsAt reports whether a person makes a rule of what another quote shortly before says: "always
// do this" of a command, "enforce this requirement" of the person's own question. A ban proves a
// ban alone, and "always" none.
func (r *reader) pointsAt(c record.Candidate, quotes []cited) bool {
	forbids := wording.Read(c.Text).Forbids()
	for _, q := range quotes {
		if q.by != record.ByPerson || q.why != "" || !(enforces.MatchString(q.words) || !forbids && repeats.MatchString(q.words) || forbids && bans.MatchString(q.words)) {
			continue
		}
		if slices.ContainsFunc(quotes, func(at cited) bool {
			return at.event.N < q.event.N && r.gate.view.between(at.event.N, q.event.N) < 2 && (at.by == record.ByCommand || at.by == record.ByPerson) &&
				sameMatter(c.Text+"\n"+c.Body, at.words)
		}) {
			return true
		}
	}
	return false
}

var (
	enforces = lazy(`(?i)\b(?:enforce|add|keep|follow|make|write) (?:this|that) (?:requirement|rule|convention|policy)\b`)
	repeats  = lazy(`(?i)\balways do (?:this|that|it|so)\b|\bdo (?:this|that|it|so) (?:always|from now on|going forward|(?:every|each) time|in (?:the )?future)\b`)
	bans     = lazy(`(?i)\bnever do (?:this|that|it|so)\b|\b(?:don'?t|do not) (?:ever )?do (?:this|that|it|so) (?:again|ever)\b`)
)

// outcomeOf returns the reason why quotes show no outcome that proves a candidate, or "".
func (r *reader) outcomeOf(c record.Candidate, quotes []cited) (why string) {
	why = "no quote is a command's, or its error"
	for _, q := range quotes {
		switch {
		case c.Kind == record.Failure && q.pastedError() && mended(r.gate.view, q.event):
			return ""
		case q.by != record.ByCommand:
		case c.Kind == record.Failure && !putRight(r.gate.view, q.event):
			why = "nothing put the failure right"
		default:
			return ""
		}
	}
	return why
}

// pastedError reports whether a person shows an error: the output of a command that ran elsewhere.
func (q cited) pastedError() bool {
	return q.why == claim.Pasted && fault.MatchString(q.words) && isError(q.words)
}

var fault = lazy(`(?i)\b(?:error|exception|fatal|failed|cannot|not found|no such|undefined|unknown|unresolved|does not (?:exist|contain))\b`)

// rules reports whether a candidate tells what to do, always or never. Words of a quoted error do
// not: "'{' was never closed".
func (r *reader) rules(c record.Candidate, quotes []cited) bool {
	switch c.Kind {
	case record.Constraint, record.Convention, record.Decision, record.Preference:
		return true
	}
	text := c.Text
	for _, q := range quotes {
		if c.Kind != record.Failure || q.by != record.ByCommand && !r.printed(q.event) || !isError(q.words) && !exception.MatchString(q.words) {
			continue
		}
		if rest := strings.ReplaceAll(text, q.words, "x"); len(rest) > len("x.") { // not the error alone
			text = rest
		}
	}
	return lexicon.General.MatchString(verbatim.ReplaceAllString(text, "x"))
}

// sameMatter reports whether a statement is about the words of a quote: it has a path, option or
// symbol of theirs, two of their meaningful words, or one of at most three. In scripts without
// spaces two letters count as a word. A translation may share Latin words alone.
func sameMatter(text, words string) bool {
	names := symbols(text)
	if slices.ContainsFunc(symbols(words), func(name string) bool { return slices.Contains(names, name) }) {
		return true
	}
	stated, said := meaningful(anyWord, text), meaningful(anyWord, words)
	if !slices.ContainsFunc(stated, isOtherScript) {
		said = slices.DeleteFunc(said, isOtherScript)
	}
	if unspaced.MatchString(words) {
		return pairsOf(words, text) > 1 || sharedWords(text, words) > 0
	}
	if unspaced.MatchString(text) {
		return true // a translation
	}
	// words may end differently
	return common(stems(stated), stems(said)) >= min(2, max(1, len(said)-2))
}

// symbols returns the words of a text that are paths, options or symbols by their form.
func symbols(text string) []string {
	var out []string
	for _, w := range strings.Fields(text) {
		w = strings.Trim(w, "`\"'.,;!?()")
		if len(w) > 2 && (w[0] == '-' || strings.ContainsAny(w, "_/=@")) && strings.ContainsFunc(w, unicode.IsLetter) {
			out = append(out, w)
		}
	}
	return out
}

// stems returns the beginnings of words without the s of a plural.
func stems(words []string) (out []string) {
	for _, w := range words {
		letters := []rune(strings.TrimSuffix(w, "s"))
		out = append(out, string(letters[:min(len(letters), 5)]))
	}
	return out
}

// pairsOf counts the pairs of letters of scripts without spaces that a text has too.
func pairsOf(words, text string) int {
	runes := []rune(words)
	n := 0
	for i := 0; i+1 < len(runes); i++ {
		if pair := string(runes[i : i+2]); isWordRune(runes[i]) && isWordRune(runes[i+1]) && unspaced.MatchString(pair) && strings.Contains(text, pair) {
			n++
		}
	}
	return n
}

// backward matches words that refer to something said before: in the statement itself or, which a
// reader of the statement cannot know, in its session. outside matches the latter alone.
var (
	backward = lazy(`(?i)\b(?:this|these|those|it|its|they|them|their|there|that (?:one|way|case|approach)|the (?:former|latter|same|other(?: one)?|above|previous (?:one|approach|version)))\b|` +
		`这个|那个|这些|那些|这样|那样|这里|那里|它|これ|それ|この|その|あの|ここ|そこ|이것|그것|이거|그거|여기|거기`)
	outside = lazy(`(?i)\bas (?:discussed|mentioned|described|suggested|agreed)\b|\b(?:mentioned|described) (?:above|below|before|earlier)\b|\byour (?:last|previous|suggestion|plan|proposal|approach|idea|answer)\b|\byou (?:just|said|suggested|wrote|made)\b|` +
		`\b(?:option|approach|variant|alternative|phase|step) (?:[a-d]|\d+)\b|刚才|上述|前面(?:的|说)|先ほど|上記|방금|위의`)
	// a name with such a word: Mark It Down
	titled = lazy(`\b[A-Z]\w+ (?:It|This|That|There|They|These|Those)(?: [A-Z]\w*)+`)
	// there is, it is: they refer to nothing
	expletive = lazy(`(?i)\b(?:there(?:'s| (?:is|are|was|were|must|may|can|will|should|has|exists?))|it (?:is|takes|was) (?:not )?(?:\w+ )?(?:to|that|when)|it takes|this (?:repo|repository|project|codebase|code base|monorepo|workspace))\b|这个(?:项目|仓库)|このプロジェクト|このリポジトリ|이 (?:프로젝트|저장소)`)
)

// dangling returns the word of a statement that refers to something outside of it, or "". A word
// that refers back needs an earlier antecedent: two meaningful words, or a name in code marks.
func dangling(text string) string {
	bare := expletive.ReplaceAllString(hereInRepo.ReplaceAllString(verbatim.ReplaceAllString(titled.ReplaceAllString(text, "quotedname"), "quotedname"), "in the repository$1"), "repository")
	if word := outside.FindString(bare); word != "" {
		return word
	}
	at := backward.FindStringIndex(bare)
	if at == nil {
		return ""
	}
	before := bare[:at[0]]
	switch {
	case strings.Contains(before, "quotedname"), len(contentWords(before)) > 1:
		return ""
	case unspaced.MatchString(before) && utf8.RuneCountInString(before) > 3:
		return ""
	}
	return bare[at[0]:at[1]]
}
