// Package wording compares the meaning of statements. Read analyses a statement. Reading.Opposes
// reports whether two cannot both hold, Reading.Replaces whether they also concern one subject, and
// Reading.Covers whether one rule includes another. Light and Root tell which of their words must
// agree. Restates checks a claim, such as a model's, that two statements say the same.
//
// A statement has values and a frame. Values are the commands, paths, symbols, literals, numbers
// and tools that it names. The frame holds the stems of its other meaningful words. "Start function
// names with 'a_'" has the frame {function name start} and the value a_. Every function is pure,
// safe for concurrent use, and linear in the statement.
package wording

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/internal/lexicon"
	"github.com/reverie-memory/reverie/internal/pattern"
)

// A Reading is an analysed statement. The zero value is empty and differs from everything.
type Reading struct {
	clauses []clause
	words   []string // values and stems of all clauses in order
	negated bool
	later   bool // it announces a change
	hedged  bool // it has an exception or a limit
	foreign bool // it is in a language of which Read only knows frequent negations
	refuses bool // it is foreign and has a negation
	affirms bool // it is foreign and has no negation, in a script whose negations are listed
}

// A clause is a part of a statement with its own values.
type clause struct {
	frame   []string // stems, sorted, each once
	scope   []string // the part of frame about place or time
	wants   []value
	places  []string // names in frame
	refuses []string // stems and values that it wants replaced
	subject string   // the name to which it gives a value, or ""
	negated bool
	adds    bool // its request is compatible with others
}

// A value is a filler that another clause may replace with a different one.
type value struct {
	text string
	sort string // values of one sort are alternatives
}

// Sorts of values, in addition to those of choice.
const (
	literal = "literal"
	number  = "number"
	name    = "name" // a command, path, symbol or flag
)

// Tool returns the job of a tool that has rivals, of which a project chooses one, or "" for other
// words.
func Tool(word string) string {
	switch strings.ToLower(word) {
	case "npm", "pnpm", "yarn", "bun":
		return "package manager"
	case "pip", "pip3", "poetry", "uv", "pipenv", "conda", "pdm":
		return "python package manager"
	case "jest", "vitest", "mocha":
		return "test runner"
	case "pytest", "unittest", "nose2":
		return "python test runner"
	case "make", "just", "task", "mise":
		return "task runner"
	case "docker", "podman", "nerdctl":
		return "container tool"
	case "prettier", "biome", "dprint":
		return "formatter"
	case "black", "ruff", "yapf", "autopep8":
		return "python formatter"
	case "gradle", "maven", "mvn", "ant", "bazel":
		return "build tool"
	case "terraform", "tofu", "pulumi":
		return "infrastructure tool"
	case "tabs", "spaces", "tab", "space":
		return "indentation"
	}
	return ""
}

// choice returns the question that a word answers, if a project chooses one answer: the job of a
// tool, or a style. It returns "" for other words.
func choice(word string) string {
	switch word = strings.ToLower(word); word {
	case "single", "double":
		return "quotes"
	case "camelcase", "snakecase", "pascalcase", "kebabcase", "snake_case", "camel_case", "kebab-case", "pascal-case",
		"camel-case", "snake-case", "uppercase", "lowercase":
		return "casing"
	case "squash", "rebase", "merge":
		return "merge strategy"
	case "ascending", "descending":
		return "direction"
	case "imperative", "past":
		return "tense"
	case "english", "german", "french", "spanish", "chinese", "japanese", "korean", "portuguese", "russian", "italian":
		return "language"
	case "postgres", "postgresql", "mysql", "sqlite", "mariadb":
		return "database"
	}
	return Tool(word)
}

// single reports whether a project has one answer to the question of a word. Code and text have
// their own styles.
func single(word string) bool {
	switch choice(word) {
	case "", "quotes", "casing", "direction", "tense", "indentation":
		return false
	}
	return true
}

const banned = `(?i)^\W*(?:please\s+)?(?:never|don'?t|do not|avoid|stop)\s+(?:use|using)\b`

var (
	// lead matches an introduction without information about the subject.
	lead = pattern.New(`(?i)^[^:]{0,200}:\s+|^.{0,120}?\b(?:is|are) (?:that|to)\b|\bwhen it comes to\b|\b(?:i want|i need|i'd like|i would like|we want|we need) (?:you )?to\b`)
	// tail matches a purpose or another consequence at the end.
	tail = pattern.New(`(?i)\b(?:to (?:indicate|show|mark|signal|denote|make|avoid|keep|help|ensure|distinguish|match|reflect)|followed by|because|since|so that|for (?:clarity|consistency|readability)|as (?:we|it|they))\b.*$`)
	// beginning matches an auxiliary before another verb.
	beginning = pattern.New(`(?i)\b(?:start|begin|keep) (\w+ing)\b`)
	// contrast separates the wanted from the refused.
	contrast = pattern.New(`(?i)(?:[,;:–—-]\s*|\s(?:and|but)\s+)(?:not|never|no|don'?t use|do not use|avoid)\s+|\s(?:instead of|rather than|over|in place of)\s+`)
	// refusedEnd matches the end of the refused part.
	refusedEnd = pattern.New(`[.,;:!?()]\s|[.,;:!?()]$|\s(?:in|for|because|since|when|unless|as|so)\s`)
	negation   = pattern.New(`(?i)\b(?:not|never|don'?t|no|avoid|without|mustn'?t|shouldn'?t|cannot|can'?t|stop)\b`)
	exception  = pattern.New(`(?i)\b(?:except|unless|but|other than|apart from|only)\b`)
	// revision announces a replacement for an earlier rule.
	revision = pattern.New(`(?i)\b(?:from now on|going forward|no longer|instead|anymore|any more|switch(?:ed|ing)? to|mov(?:ed|ing) to|changed?|update[ds]?|actually|now|henceforth|correction)\b`)
	// noLonger does not match the limit "no longer than".
	noLonger = pattern.New(`(?i)\bno longer\s+([^t\s]|t(?:[^h\s]|h[^a\s]|ha[^n\s]))`)
	// onward matches an announcement of a lasting change. Group 1 is what parts needs behind it.
	onward = pattern.New(`(?i)\b(?:from (?:now|here|today|this point) on(?:wards?)?|going forward|in (?:the )?future|henceforth)\b(?:(,\s+(?:always|instead|rather)\b)|,)?`)
	token  = pattern.New("`[^`]+`|'[^'\\s][^'\n]{0,40}'|\"[^\"]{1,40}\"|“[^”]{1,40}”|[\\pL\\pN_./@*$~+#-]+(?:'[\\pL]+)?")
	parts  = pattern.New(`[.!?;]\s+|\s+and\s+|,\s+and\s+|[,;]\s+(?:but\s+)?(?:always|instead|rather)\s+`)
	// subject matches the name whose value a clause gives: "max_retries is 5".
	subject = pattern.New("^\\W{0,3}(?:the (?:value of )?)?(`[^`\\s]+`|[\\pL_][\\w.-]*[_./][\\w./-]*)(?:\\s+(?:is|are|must be|should be|stays at)\\s|\\s*=\\s)")
	// ban refuses the text after it.
	ban = pattern.New(banned)
	// instead matches a sentence with a ban and, after a comma, what to use.
	instead = pattern.New(banned + `\s+([^,;]+)[,;]\s+(?:but\s+)?(?:(?:always|rather|instead)\s+)?use\s+((?:[^,;.!?]|[.!?]\S)+)[.!?]?\s*$`)
)

// light words make no difference to a statement. A doubtful word is left out: modals other than
// those of a plain duty, tenses, prepositions, quantities, limits and people carry meaning.
var light = pattern.NewWords(`a an the is are be do does must shall please ever now here it it's its this that our your
	der die das den dem des ein eine einen einem einer bitte le la les un une el los las`)

// lasting words are light, unless a negation stands before them.
var lasting = pattern.NewWords(`always immer toujours siempre`)

// speaking words are light at the beginning of a statement. Directly after "before", "if" and the
// like, these and the spokenTo words are light.
var (
	speaking = pattern.NewWords(`we we'll we're wir nous`)
	spokenTo = pattern.NewWords(`you you're you'll ihr vous`)
)

// blank words make no difference between the subjects of two statements, nor do light ones.
var blank = pattern.NewWords(`of to on at by with from into as and or but not no never only any all every each
	use uses using used should may can cannot will would don't these those i i'd i'll i'm my me us you you're you'll they them their there have has one want need like
	make sure ensure instead rather than over so if then likewise firstly secondly first second lastly finally next again just also additionally going forward onwards onward
	another other thing things convention conventions standard standards rule rules guideline guidelines instruction instructions practice
	follow following followed update updates previous usual code codebase coding style guide regarding respect terms comes remember note new prefer
	preferred choose pick write writes writing written let's lets avoid stop mustn't shouldn't can't isn't aren't how what which who
	name names naming named carry carries descriptive specific particular certain implement implementing emphasize few more most well ok okay yes hi hey task tasks project repo repository`)

// additive verbs make requests that are compatible with others.
var additive = pattern.NewWords(`run running call calling import include including add adding read check see look mention edit touch skip ignore
	install require document open commit push link apply annotate decorate cover`)

// settling verbs precede a place, which is then a value.
var settling = pattern.NewWords(`put place store keep live lives go goes move save belong belongs write`)

// scoping words introduce the place or time of a statement.
var scoping = pattern.NewWords(`in under inside within for when whenever on during before after while at throughout across if where`)

// opening words introduce a place or a time in other languages, or a means.
var opening = pattern.NewWords(`with bei vor nach während wenn für mit dans avant après pendant quand si pour avec en antes después durante cuando para con`)

// Opens reports whether a word in lower case may begin a part about place, time or means.
func Opens(w string) bool { return scoping.Has(w) || opening.Has(w) }

// synonym returns the word that represents its synonyms, or the word itself.
func synonym(w string) string {
	switch w {
	case "begin", "prefix":
		return "start"
	case "suffix", "finish":
		return "end"
	case "arg":
		return "argument"
	case "fn", "func":
		return "function"
	case "param":
		return "parameter"
	case "dir", "directory":
		return "folder"
	case "each":
		return "every"
	}
	return w
}

// Read analyses a statement. It makes at most 9 clauses of it, and words of its first 64 tokens.
func Read(text string) Reading {
	var r Reading
	text = strings.ReplaceAll(strings.ReplaceAll(text, "’", "'"), "‘", "'")
	r.later, r.hedged, r.foreign = revision.MatchString(text), exception.MatchString(text), foreign(text)
	r.refuses = r.foreign && lexicon.Refusing.MatchString(text)
	r.affirms = r.foreign && !r.refuses && listed.MatchString(text)
	text = noLonger.ReplaceAllString(text, "not $1")
	text = instead.ReplaceAllString(text, "use $2, never $1") // a contrast
	without := " "
	if at := onward.FindStringIndex(text); at != nil && hasValue(text[:at[0]]) {
		without += "$1"
	}
	text = parted(beginning.ReplaceAllString(onward.ReplaceAllString(text, without), "$1"))
	start := 0
	var before clause
	take := func(part string) {
		c := readClause(part, before)
		if len(c.frame)+len(c.wants)+len(c.refuses) > 0 {
			r.clauses = append(r.clauses, c)
			before = c
		}
	}
	for _, at := range parts.FindAllStringSubmatchIndex(text, 8) {
		joined := strings.Contains(text[at[0]:at[1]], "and")
		if joined && (!hasValue(text[start:at[0]]) || !hasValue(text[at[1]:])) {
			continue
		}
		take(text[start:at[0]])
		start = at[1]
	}
	take(text[start:])
	r.negated = negation.MatchString(contrast.ReplaceAllString(text, " "))
	for _, t := range token.FindAllString(text, 64) {
		if w := wordOf(t); w != "" {
			r.words = append(r.words, w)
		}
	}
	return r
}

// foreign reports whether a statement has words of another language than English, outside of
// quotation and code marks: one in other letters, or two that may be names in English.
func foreign(text string) bool {
	n := 0
	for _, t := range token.FindAllString(text, 64) {
		t = strings.TrimRight(t, ".-")
		first, _ := utf8.DecodeRuneInString(t)
		switch {
		case !unicode.IsLetter(first):
		case strings.ContainsFunc(t, func(r rune) bool { return unicode.IsLetter(r) && !unicode.In(r, unicode.Latin, unicode.Common) }):
			return true
		case abroad.Has(strings.ToLower(t)), strings.ContainsFunc(t, func(r rune) bool { return r > unicode.MaxASCII && unicode.IsLetter(r) }):
			n++
		}
	}
	return n > 1
}

// listed matches the scripts whose negations lexicon lists nearly completely.
var listed = pattern.New(`[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Cyrillic}]`)

// abroad lists frequent words of other languages in letters of English that are not English words.
var abroad = pattern.NewWords(`nie niemals nicht kein keine keinen statt anstatt und oder wir bitte vor nach verwenden verwende benutzen benutze nutzen nutze
	jamais toujours utiliser utilise utilisez avec dans nunca siempre sempre utiliza utilizar usar antes
	nooit altijd gebruik nigdy zawsze asla yerine kullan`)

// parted inserts the comma of "use pnpm, not npm" that contrast needs: between two rivals, "not"
// separates the wanted from the refused.
func parted(text string) string {
	words := strings.Split(text, " ")
	for i := 1; i+1 < len(words); i++ {
		if w := strings.ToLower(words[i]); w != "not" && w != "never" {
			continue
		}
		wanted, refused := choice(words[i-1]), choice(strings.Trim(words[i+1], ".,;:!?"))
		if wanted != "" && wanted == refused {
			words[i-1] += ","
		}
	}
	return strings.Join(words, " ")
}

// wordOf returns the comparable form of a token: a value unchanged, the stem of another word, or ""
// for a blank one.
func wordOf(t string) string {
	if v, ok := valueOf(t); ok {
		return v.text
	}
	w := strings.Trim(strings.ToLower(t), "'.-_/*")
	if w == "" || blank.Has(w) || light.Has(w) || lasting.Has(w) || speaking.Has(w) {
		return ""
	}
	return stem(w)
}

// hasValue reports whether a text has a literal, a name or a rival.
func hasValue(text string) bool {
	for _, t := range token.FindAllString(text, 32) {
		if _, ok := valueOf(t); ok {
			return true
		}
	}
	return false
}

// valueOf returns the value of a token. ok is false for a plain word.
func valueOf(t string) (value, bool) {
	bare := strings.Trim(t, "`'\"“”")
	plain := strings.ToLower(strings.TrimRight(bare, "."))
	if job := choice(plain); job != "" {
		return value{plain, job}, true
	}
	switch {
	case len(bare) < len(t) && t[0] != '`' && strings.Count(bare, " ") < 3:
		return value{bare, literal}, true
	case len(bare) < len(t) && t[0] == '`':
		return value{bare, name}, true
	}
	bare = strings.TrimRight(bare, ".,-")
	if bare == "" {
		return value{}, false
	}
	inner, digits := false, strings.Trim(bare, "0123456789.,_%") == "" && strings.ContainsAny(bare, "0123456789")
	for i, r := range bare {
		inner = inner || i > 0 && unicode.IsUpper(r) && !unicode.IsUpper(rune(bare[0])) || strings.ContainsRune("/_.@*$~#", r) || unicode.IsDigit(r)
	}
	switch {
	case digits:
		return value{bare, number}, true
	case inner || strings.HasPrefix(bare, "--"):
		return value{bare, name}, true
	}
	return value{}, false
}

// readClause analyses a clause, which may complete itself from the one before.
func readClause(text string, before clause) clause {
	var c clause
	wanted, refused := contrasted(text)
	for _, t := range token.FindAllString(refused, 32) {
		if w := wordOf(t); w != "" {
			c.refuses = append(c.refuses, w)
		}
	}
	wanted = withoutLead(wanted)
	c.negated = negation.MatchString(wanted)
	if at := tail.FindStringIndex(wanted); at != nil && hasValue(wanted[:at[0]]) {
		wanted = wanted[:at[0]]
	}
	if at := subject.FindStringSubmatchIndex(wanted); at != nil {
		c.subject = strings.ToLower(strings.Trim(wanted[at[2]:at[3]], "`"))
		if hasValue(wanted[at[3]:]) {
			c.frame, wanted = append(c.frame, c.subject), wanted[at[3]:]
		}
	}
	leans := c.fill(wanted)
	if leans || len(c.wants) > 0 && len(before.wants) > 0 && len(c.frame) > 0 && !slices.ContainsFunc(c.frame, placing) {
		for _, w := range before.frame { // "…, and method names with 'b_'"
			if leans && !slices.Contains(c.frame, w) || placing(w) {
				c.frame = append(c.frame, w)
			}
		}
	}
	if ban.MatchString(wanted) {
		c.refuseAll()
	}
	slices.Sort(c.frame)
	c.frame = slices.Compact(c.frame)
	c.refuses = slices.DeleteFunc(c.refuses, func(w string) bool {
		return slices.Contains(c.frame, w) || slices.ContainsFunc(c.wants, func(v value) bool { return v.text == w })
	})
	return c
}

// contrasted separates the wanted part of a clause from the refused one, which may be empty.
func contrasted(text string) (wanted, refused string) {
	at := contrast.FindStringIndex(text)
	if at == nil || at[0] == 0 {
		return text, ""
	}
	wanted, refused = text[:at[0]], text[at[1]:]
	if end := refusedEnd.FindStringIndex(refused); end != nil {
		return wanted + " " + refused[end[0]:], refused[:end[0]]
	}
	return wanted, refused
}

// withoutLead removes the introductions of a clause, unless too little remains.
func withoutLead(text string) string {
	for {
		at := lead.FindStringIndex(text)
		if at == nil {
			return text
		}
		intro, rest := text[at[0]:at[1]], text[at[1]:]
		if strings.Contains(intro, ":") && hasValue(intro) || !hasValue(rest) && (hasValue(text[:at[1]]) || len(strings.Fields(rest)) <= 2) {
			return text
		}
		text = text[:at[0]] + rest
	}
}

// fill reads the values and the frame of a clause, and reports whether it leans on the clause
// before by a pronoun.
func (c *clause) fill(text string) (leans bool) {
	scoped, settles := false, false
	for _, t := range token.FindAllString(text, 64) {
		low := strings.ToLower(t)
		switch {
		case scoping.Has(low):
			scoped = !(settles && low != "when" && low != "for")
			continue
		case additive.Has(low) && len(c.wants) == 0:
			c.adds = true
		case settling.Has(low):
			settles = true
		case low == "them" || low == "their" || low == "it" || low == "its":
			leans = true
		case low == "with" || low == "by" || low == "use" || low == "using" || low == "to" || low == "as":
			scoped = false
		}
		v, ok := valueOf(t)
		if ok && !(scoped && v.sort == name) {
			c.wants = append(c.wants, v)
			continue
		}
		w := wordOf(t)
		if w == "" {
			continue
		}
		if ok {
			c.places = append(c.places, w)
		}
		if !slices.Contains(c.frame, w) {
			c.frame = append(c.frame, w)
		}
		if scoped {
			c.scope = append(c.scope, w)
		}
	}
	return leans
}

// refuseAll turns the wishes of a clause into refusals. Its place or time stays.
func (c *clause) refuseAll() {
	for _, v := range c.wants {
		c.refuses = append(c.refuses, v.text)
	}
	for _, w := range c.frame {
		if !slices.Contains(c.scope, w) {
			c.refuses = append(c.refuses, w)
		}
	}
	c.wants, c.frame = nil, c.scope
}

// placing reports whether a stem names the end of something where a value goes.
func placing(w string) bool { return w == "start" || w == "end" }

// Forbids reports whether a statement has a negation outside of a contrast.
func (r Reading) Forbids() bool { return r.negated }

// Specific reports whether a statement puts a value into a frame, so that another can be compared
// with it.
func (r Reading) Specific() bool {
	return slices.ContainsFunc(r.clauses, func(c clause) bool { return len(c.wants) > 0 && len(c.frame) > 0 && !c.adds && !c.negated })
}

// Opposes reports whether two statements cannot both hold. One refuses the other's value, they
// differ only by a negation, or they put different values of one sort into the same frame.
func (r Reading) Opposes(s Reading) bool {
	return r.opposes(s, func(a, b clause) bool { return true })
}

// Replaces reports whether two statements are opposed about one subject, so that the later one
// takes the place of the earlier. "Use GET for the search, never POST" replaces no rule about the
// login.
func (r Reading) Replaces(s Reading) bool { return r.opposes(s, clause.sameSubject) }

func (r Reading) opposes(s Reading, about func(a, b clause) bool) bool {
	if r.foreign || s.foreign {
		return r.swaps(s)
	}
	for _, a := range r.clauses {
		for _, b := range s.clauses {
			if (a.refusesOf(b) || b.refusesOf(a)) && about(a, b) || a.rivals(b, r.later || s.later) {
				return true
			}
		}
	}
	return r.negated != s.negated && len(r.words) > 1 && equalSets(r.words, s.words)
}

// swaps reports whether two statements differ only in rivals: in the order of two beside a negation
// ("pnpm verwenden, nie npm"), or in one without a negation, if those of the language are listed.
func (r Reading) swaps(s Reading) bool {
	a, b := r.rivals(), s.rivals()
	switch {
	case len(a) != len(b) || len(a) == 0 || choice(a[0]) != choice(b[0]):
		return false
	case len(a) == 2:
		return a[0] == b[1] && a[1] == b[0] && r.refuses && s.refuses && equalSets(r.words, s.words)
	}
	rest := func(words []string) []string { return slices.DeleteFunc(slices.Clone(words), single) }
	return len(a) == 1 && a[0] != b[0] && r.affirms && s.affirms && equalSets(rest(r.words), rest(s.words))
}

// rivals returns the answers that a statement names of those of which a project has one.
func (r Reading) rivals() []string {
	return slices.DeleteFunc(slices.Clone(r.words), func(w string) bool { return !single(w) })
}

// SameRivals reports whether two statements in different languages, or in one that Read does not
// know, name the same rivals. They may say the same.
func (r Reading) SameRivals(s Reading) bool {
	rivals := r.rivals()
	return (r.foreign || s.foreign) && len(rivals) > 0 && equalSets(rivals, s.rivals())
}

// refusesOf reports whether another clause wants, or is about, everything that c refuses, and does
// not refuse it too. Clauses about different things are compatible, unless c refuses an answer of
// which a project has only one.
func (c clause) refusesOf(d clause) bool {
	if len(c.refuses) == 0 || d.negated || c.apart(d) {
		return false
	}
	a, b := c.subjects(d)
	if len(a) > 0 && len(b) > 0 && !overlap(a, b) && !slices.ContainsFunc(c.refuses, single) {
		return false
	}
	for _, w := range c.refuses {
		wanted := slices.Contains(d.frame, w) || slices.ContainsFunc(d.wants, func(v value) bool { return v.text == w })
		if !wanted || slices.Contains(d.refuses, w) {
			return false
		}
	}
	return true
}

// sameSubject reports whether one of two clauses is about all that the other is about.
func (c clause) sameSubject(d clause) bool {
	a, b := c.subjects(d)
	return within(a, b) || within(b, a)
}

// subjects returns the frames of two clauses without the refused words.
func (c clause) subjects(d clause) (a, b []string) {
	refused := func(w string) bool { return slices.Contains(c.refuses, w) || slices.Contains(d.refuses, w) }
	return slices.DeleteFunc(slices.Clone(c.frame), refused), slices.DeleteFunc(slices.Clone(d.frame), refused)
}

// apart reports whether two clauses apply to different places or times. A clause without one
// applies everywhere.
func (c clause) apart(d clause) bool {
	if len(c.scope) > 0 && len(d.scope) > 0 && !overlap(c.scope, d.scope) {
		return true
	}
	return false
}

// rivals reports whether two clauses put different values of one sort into the same frame. For
// named rivals one frame may have more words than the other. Values of different names are
// compatible. Another value of the same name is one if the statement announces a change. An
// additive request is a rival only if the statement announces a change.
func (c clause) rivals(d clause, later bool) bool {
	if c.negated || d.negated || (c.adds || d.adds) && !later || c.subject != "" && d.subject != "" && c.subject != d.subject {
		return false
	}
	if later && c.subject != "" && c.subject == d.subject {
		return !slices.Equal(c.frame, d.frame) || !slices.Equal(c.wants, d.wants)
	}
	for _, v := range c.wants {
		for _, w := range d.wants {
			if v.sort != w.sort || v.text == w.text || slices.Contains(c.wants, w) || slices.Contains(d.wants, v) {
				continue
			}
			if v.sort == literal || v.sort == number || v.sort == name {
				if len(c.frame) > 0 && slices.Equal(c.frame, d.frame) && (v.sort != name || !c.adds && !d.adds || later) {
					return true
				}
				continue
			}
			if !c.apart(d) && (within(c.frame, d.frame) || within(d.frame, c.frame)) {
				return true
			}
		}
	}
	return false
}

// values lists the values of a statement in text form: "sort text" if wanted, "not text" if
// refused.
func (r Reading) values() (out []string) {
	for _, c := range r.clauses {
		for _, v := range c.wants {
			out = append(out, v.sort+" "+v.text)
		}
		for _, w := range c.refuses {
			out = append(out, "not "+w)
		}
	}
	return out
}

// Names lists the commands, paths and symbols that a statement names and neither forbids nor
// refuses.
func (r Reading) Names() (out []string) {
	for _, c := range r.clauses {
		if c.negated && len(c.wants) == 0 {
			continue
		}
		for _, v := range c.wants {
			if v.sort == name {
				out = append(out, v.text)
			}
		}
		out = append(out, c.places...)
	}
	return out
}

// Covers reports whether a general rule includes another that is limited to one place or case.
func (r Reading) Covers(s Reading) bool {
	if r.foreign || s.foreign || len(r.clauses) != 1 || len(s.clauses) != 1 || r.negated != s.negated || r.hedged || s.hedged {
		return false
	}
	a, b := r.clauses[0], s.clauses[0]
	return len(a.scope) == 0 && len(b.scope) > 0 && len(a.frame)+len(a.wants)+len(a.refuses) > 1 && equalSets(r.values(), s.values()) &&
		equalSets(append(slices.Clone(a.frame), b.scope...), b.frame)
}

// stem returns the stem of a word, and one stem for all its synonyms. Some synonyms are listed in
// full form, others by stem.
func stem(w string) string {
	if s := synonym(w); s != w {
		return s
	}
	return synonym(Stem(w))
}

// Before describes the words before a word.
type Before struct {
	Nothing bool
	Opening bool // a word such as "before" and "if", directly
	Negated bool // by a word of the same clause
}

// Light reports whether a word in lower case makes no difference to a statement.
func (b Before) Light(w string) bool {
	return light.Has(w) || (b.Nothing || b.Opening) && speaking.Has(w) || b.Opening && spokenTo.Has(w) || !b.Negated && lasting.Has(w)
}

// not is the root of negations. No other word has it: the stem of "note" is "not".
const not = "!not"

// Root returns a word in lower case and its stem, one for all synonyms, and whether the word is the
// base form, without an ending.
func Root(w string) (word, root string, base bool) {
	switch w {
	case "not", "never", "don't", "dont", "doesn't", "isn't", "aren't", "mustn't":
		return not, not, true
	}
	if word = synonym(w); word != w || len(w) <= 3 {
		return word, word, true
	}
	root = stem(w)
	return w, root, strings.HasPrefix(w, root) && len(w) <= len(root)+1 && (!strings.HasSuffix(w, "s") || strings.HasSuffix(w, "ss"))
}

// Stem strips the ending of an English word in lower case, roughly: stems are only compared with
// each other.
func Stem(w string) string {
	w = strings.TrimSuffix(strings.ReplaceAll(w, "’", "'"), "'s")
	for _, end := range []struct{ cut, put string }{{"ies", "y"}, {"ied", "y"}, {"ing", ""}, {"ed", ""}, {"es", ""}, {"s", ""}, {"e", ""}} {
		if head, ok := strings.CutSuffix(w, end.cut); ok && len(head) >= 3 {
			w = head + end.put
			break
		}
	}
	if n := len(w); n >= 3 && w[n-1] == w[n-2] {
		w = w[:n-1]
	}
	return w
}

func within(a, b []string) bool {
	return !slices.ContainsFunc(a, func(w string) bool { return !slices.Contains(b, w) })
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(w string) bool { return slices.Contains(b, w) })
}

func equalSets(a, b []string) bool { return within(a, b) && within(b, a) }

// share returns |A∩B| / |A∪B|.
func share(a, b []string) float64 {
	set := map[string]int{}
	for _, w := range a {
		set[w] |= 1
	}
	for _, w := range b {
		set[w] |= 2
	}
	both := 0
	for _, in := range set {
		if in == 3 {
			both++
		}
	}
	return float64(both) / float64(max(1, len(set)))
}
