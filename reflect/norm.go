package reflect

import (
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/pattern"
)

// A norm is a sentence that says how things are done, or how they are, in the repository. No
// word makes it one: people say it in passing, in the middle of a task, in any form. So
// signals for and against it are added up, and the sum decides.

// A claim is a sentence taken apart for the signals.
type claim struct {
	s       *sentence
	text    string          // the statement
	head    string          // the statement before its reason
	words   map[string]bool // of head, in lower case
	subject []string        // words before the verb, in lower case; none in an order
	form    form
	why     bool // a reason stands beside it
	answer  bool // its message begins with a no
}

// A form is how a sentence claims.
type form int

const (
	noClaim form = iota
	order        // use X, never do Y, when A do B
	duty         // X must, we can't
	being        // X lives in Y
	habit        // we use X
	bare         // no X, X everywhere
)

// enough is the weight from which a sentence is a norm.
const enough = 5

// signals are what speaks for a norm, then what speaks against it. Each counts once.
var signals = []struct {
	weight int
	found  func(*claim) bool
}{
	// It is meant to last, or for all.
	{3, func(c *claim) bool {
		return c.s.rules || c.s.marked || lasting.in("en").MatchString(c.s.text) || telling.MatchString(c.s.text)
	}},
	{2, func(c *claim) bool { return c.count(universal) > 0 }},
	{1, func(c *claim) bool { return c.count(universal) > 1 }},
	{2, func(c *claim) bool { return c.form == order && (c.words["always"] || c.words["never"]) }},
	{2, func(c *claim) bool { return c.s.wanted }},
	{2, func(c *claim) bool { return letUs.MatchString(c.s.text) && c.why && !withArticle.MatchString(c.text) }},
	{2, func(c *claim) bool { return occasion.MatchString(c.text) }},
	{2, func(c *claim) bool {
		return inRepo.MatchString(c.s.text) || projectIs.MatchString(c.s.text) || likeTheRest.MatchString(c.s.text)
	}},
	{1, func(c *claim) bool { return placeHere.MatchString(c.s.text) && !inRepo.MatchString(c.s.text) }},
	{1, func(c *claim) bool { return standing.MatchString(c.text) }},
	{1, func(c *claim) bool { return c.words["prefer"] }},
	{2, func(c *claim) bool {
		return placesAlways.MatchString(c.head) && c.generic() && (c.count(product) == 0 || c.placesData())
	}},
	{2, func(c *claim) bool { return keepsAll.MatchString(c.head) }},
	{2, func(c *claim) bool { return c.form == duty && staysAs.MatchString(c.head) }},
	// It gives a reason, or says what it is not.
	{4, func(c *claim) bool { return consequence.MatchString(c.text) }},
	{2, func(c *claim) bool { return c.why }},
	{1, func(c *claim) bool { return contrasted.MatchString(c.text) }},
	{1, func(c *claim) bool { return c.answer }},
	// It names something, and something a repository has.
	{1, func(c *claim) bool { return namesThing(c.text) }},
	{1, func(c *claim) bool { return nounAny.MatchString(c.head) || c.count(grounds) > 0 }},
	{1, func(c *claim) bool { return c.generic() }},
	{1, func(c *claim) bool {
		return c.form == being && c.generic() && nounAny.MatchString(strings.Join(c.subject, " "))
	}},
	{1, func(c *claim) bool { return c.form == order && timed.MatchString(c.text) }},
	{1, func(c *claim) bool { return c.form == duty && !c.words["should"] }},
	{1, func(c *claim) bool { return c.form == being || c.form == habit }},
	{2, func(c *claim) bool { return provenance.MatchString(c.head) }},
	// It is about the moment, the work at hand, or the program being made.
	{-1, func(c *claim) bool { return c.s.task }},
	{-4, func(c *claim) bool { return c.form == order && taskWords.MatchString(c.s.text) }},
	{-3, func(c *claim) bool { return c.s.brief }},
	{-3, func(c *claim) bool { return c.oneThing() }},
	{-3, func(c *claim) bool { return aimed.MatchString(c.head) && !occasion.MatchString(c.head) }},
	{-4, func(c *claim) bool { return c.count(product) > 0 && !c.placesData() }},
	{-3, func(c *claim) bool { return c.form == being && measured.MatchString(c.head) }},
	{-4, func(c *claim) bool { return c.form == being && c.count(faulty) > 0 }},
	{-4, func(c *claim) bool { return passingTense.MatchString(c.head) }},
	{-4, func(c *claim) bool { return status.MatchString(lastingState.ReplaceAllString(c.head, " ")) }},
	{-4, func(c *claim) bool { return c.form == being && fails.MatchString(c.text) }},
	{-2, func(c *claim) bool { return c.form == habit && c.words["never"] && !c.why }},
	{-4, func(c *claim) bool {
		return changeOrder.MatchString(c.head) && !c.why && !contrasted.MatchString(c.text) && !c.words["always"] && !c.words["never"]
	}},
	{-4, func(c *claim) bool { return speculation.MatchString(symbol.ReplaceAllString(c.text, "")) }},
	{-4, func(c *claim) bool {
		return narrative.MatchString(c.text) && !projectIs.MatchString(c.text) || shows.MatchString(c.text) && !placesAlways.MatchString(c.head)
	}},
}

var (
	universal = set(`
		always never every everywhere everything all any anything each only nothing none no
		once exactly ever anywhere nobody everyone`)

	// grounds are what code stands on and runs in.
	grounds = set(`
		db database databases staging production prod server servers cdn proxy cluster bucket
		queue suite pipeline linter compiler toolchain image vm host environment sandbox ci
		deploy deploys build bundle sdk header headers namespace folder folders directory
		directories filenames convention naming package packages service services worker
		orm layer layers image images cron cache client library toolchains hosts vpn boxes
		replica gateway firewall registry mirror`)

	// product words are of what the program shows its users.
	product = set(`
		button buttons page pages screen screens dialog dialogs modal modals drawer chart
		charts sidebar menu menus icon icons card cards toast banner tab tooltip popup popups
		dropdown checkbox checkboxes input inputs form forms layout background backgrounds
		color colors colour font fonts click clicks hover scroll theme viewport footer navbar
		player players enemy enemies level score customer customers user users visitor
		visitors guest guests invoice invoices booking bookings popover animation zoom`)

	// states are verbs by which one says how something is.
	states = set(`
		is are lives live sits goes go belongs belong comes come deploys deploy runs run needs
		need requires require uses use expects expect contains contain talks points gets get
		passes works work reads writes has have holds owns depends depend builds generates
		accepts rejects allows supports support follows validates logs stores keeps stays stay ships means takes returns only starts start listens`)

	// data are the product words that also name what is stored.
	data = set("card cards score customer customers user users guest guests invoice invoices booking bookings")

	// answers are what follows a no that answers, and forbids nothing.
	answers = set("no not need one idea i we you it that this the problem worries way thanks matter")

	// works are verbs by which a team says how it works.
	works = set(`
		use don't do target support write keep put name wrap throw return avoid prefer pin run
		deploy test mock never always only ship build release tag squash rebase merge vendor
		generate store log format lint document version follow`)

	// faulty words say that something is not as it should be.
	faulty = set(`
		wrong empty missing broken too slow different weird bad old unused duplicate duplicated
		incorrect invalid outdated stale red green flaky undefined null inconsistent unclear
		ugly messy confusing ready done fine ok okay good great correct better there gone back
		hard big long large small unreachable unavailable stuck down up same similar`)

	modals = set(`must should shall can't cannot may`)

	pronouns = set(`
		i you it he she they this that there these those here what which who it's i'm you're
		they're that's there's`)

	prepositions = set("after before when whenever in on at for with from to if while during until by as")

	contrasted  = lazy(`(?i)(?:,| and| but) (?:not|never|no|don't|do not)\b|\b(?:instead of|rather than|and not|but not|over)\b`)
	likeTheRest = lazy(`(?i)\blike (?:in )?the rest of (?:the|our) (?:repo|repository|code|codebase|project|files|packages)\b|` +
		`\b(?:that|it|this) (?:goes|holds|applies) for (?:every|all|any)\b|\bin (?:all|every one of) our \w+\b|\bin this service\b`)
	// passingTense is of what happened or goes on.
	passingTense = lazy(`(?i)\b(?:has|have|'ve) (?:\w+ )?(?:\w+ed|been|got|had|made|done|gone|run|seen)\b|` +
		`\b(?:is|are|'re) (?:\w+ )?\w+ing\b|\bhad\b|\bwas\b|\bwere\b`)
	// occasion is when a habit is due.
	occasion = lazy(`(?i)^(?:when|whenever|before|after|every time|each time) (?:you |we |anyone )?(?:\w+ing|add|` +
		`edit|change|write|touch|create|update|move|rename)\b`)
	// standing orders keep something as it is.
	standing = lazy(`(?i)^(?:always )?(?:keep|stick|stay|avoid|prefer|never|do not|don't)\b`)
	// consequence is what follows from how something is: "… so don't bump it".
	consequence = lazy(`(?i)[, ] ?so (?:please |pls )?(?:don't|do not|never|always) \w+|[,;] (?:please )?(?:don't|` +
		`do not|never) (?:\w+ )?(?:touch|edit|change|refactor|bump|move|modify|delete|remove|use|upgrade|rename|` +
		`format) (?:it|them|that)\b`)
	// lastingState is no report: "must be done with", "are still on".
	lastingState = lazy(`(?i) be done | still on | still (?:uses?|needs?|requires?|supports?) `)
	timed        = lazy(`(?i)\w (?:before|after|whenever|every time) \w`)
	measured     = lazy(`(?i)\b(?:about|around|only|now) \d|\d+ ?(?:seconds|minutes|hours|secs?|mins?|ms|times)\b`)
	fails        = lazy(`(?i)\bfails\b|\bfailing\b|\bcrashes\b`)
	// aimed is work on something the session knows.
	aimed     = lazy(`(?i)\b(?:make|do|change|put|move|keep|use|have|get|add|fix|let|see|run|call|want) (?:it|this|that|them)\b`)
	versioned = lazy(`(?i)\bv\d[\w.]*\b|\b[a-z][\w-]+ \d+(?:\.\d+|\.x)+\b|\b(?:jdk|java|node|python|go|ruby|rust|` +
		`webpack|php|c|glibc) ?\d\d?\b|` +
		`\b(?:main|master|develop|trunk)\b`)
	// explains is a clause that says why, after a comma.
	explains = lazy(`(?i)[,;:–—-]\s+(?:(?:the|our|each|its|their|some|most|old|\d+)\s+)(?:[\w-]+\s+){0,4}?(?:\w+s|` +
		`can't|cannot|will|won't|would|have|are|were|\w+ed|broke)\s+\w+|` +
		`[,;:–—-]\s+(?:[\w'/-]+\s+){1,3}?(?:have|has|can't|cannot|won't|will|is|are|needs?|requires?|breaks?|blocks?|` +
		`drags?|loses?|expects?|depends?|runs?)\b|` +
		`[,;:–—-]\s+(?:it|they) \w+|[,;] that (?:would |will )?(?:take|break|put|cost|leak|drag|bring|make|mean|pull|kill|lock)s?\b|[,;] [a-z]+s (?:parse|rely|depend|read|use|expect|pin|need|retry|call|import|scrape|consume|poll|cache)\b|[,;:–—-]\s+[a-z][\w-]* (?:\w+s|\w+ed) (?:to|for|on|in|the|a|an|it|us|from|by|our|when)\b|` +
		`[,;] (?:we|it|they|that) (?:once |already )?(?:\w+ed|had|got|lost|broke|was|were)\b|` +
		`,? so (?:that )?(?:\w+ing|\w+s|the|they're|it's|a|an|if|anything|nothing|we|no)\b|` +
		`,? so (?:[\w'-]+ ){1,4}(?:won't|can't|cannot|fails?|breaks?|needs?)\b`)
	// placesAlways is where things of a kind never or always go: "card numbers never go into a log".
	placesAlways = lazy(`(?i)^(?:[\w'-]+ ){1,4}(?:never|always|only ever|only) (?:go|goes|live|lives|belong|belongs|` +
		`leave|leaves|travel|travels|stay|stays|touch|touches)\b`)
	// keepsAll gives all of something one place.
	keepsAll = lazy(`(?i)^we (?:always )?(?:keep|put|have|do) (?:all|every|any)\b.{3,60} (?:in|under|behind|through|inside) `)
	// staysAs is a promise to others that is to be kept.
	staysAs = lazy(`(?i)\b(?:stays?|remains?|keeps?) (?:\w+ ){0,2}(?:compatible|stable|unchanged|frozen|supported|idempotent|` +
		`deterministic|reproducible|append-only|read-only|global)\b`)
	// provenance is where something comes from or who makes it.
	provenance = lazy(`(?i)\b(?:is|are|gets?) (?:only |always |auto-?)?(?:loaded|generated|owned|read|built|` +
		`deployed|kept|stored|synced|managed|served|mounted|defined|written|published|vendored|copied|checked|created|` +
		`wiped|reset|run) (?:from|by|in|with|via|on|at|to|under|once|every|nightly|into|outside)\b`)
	projectIs = lazy(`(?i)^(?:\W*(?:ok|so|also|and|btw|but|note)\W+)*this (?:project|repo|repository|codebase|` +
		`monorepo|package|library|service) (?:\w+s|has|is)\b`)
)

// namesThing tells whether a text names a path, a symbol, a tool or a version.
func namesThing(text string) bool {
	return pathName.MatchString(text) || symbol.MatchString(text) || namedAny.MatchString(text) || versioned.MatchString(text)
}

// findNorms weighs the sentences that claim something.
func findNorms(v *view) []finding {
	var out []finding
	for i := range v.sentences {
		c := v.claim(i)
		if c.form == noClaim || c.weight() < enough {
			continue
		}
		kind := kindOf(c.s, c.text)
		if c.form == being && !placed.MatchString(c.head) && !placesAlways.MatchString(c.head) {
			kind = record.Fact
		}
		if c.form == duty && staysAs.MatchString(c.head) {
			kind = record.Constraint
		}
		out = append(out, v.say(i, kind))
	}
	return out
}

// claim takes sentence i apart.
func (v *view) claim(i int) *claim {
	s := &v.sentences[i]
	c := &claim{s: s, text: s.form}
	if s.lang != "en" || s.asking || len(strings.Fields(s.form)) < 4 {
		return c
	}
	c.head = withoutReason(c.text)
	if at := explains.FindStringIndex(c.head); at != nil && at[0] > 8 {
		c.head = c.head[:at[0]]
	}
	c.head = brackets.ReplaceAllString(c.head, "")
	list := plainWords(c.head)
	c.words = map[string]bool{}
	for _, w := range list {
		c.words[w] = true
	}
	c.form, c.subject = formOf(c.head, list)
	_, evidence := v.statementOf(i)
	c.why = reason.MatchString(s.text) || explains.MatchString(s.text) || len(evidence) > 1
	c.answer = answersNo.MatchString(strings.TrimSpace(v.events[s.event].Text)) && s.event > 0
	return c
}

var answersNo = lazy(`(?i)^(?:no+|nope|nah|stop|wrong|don'?t)\b`)

// placed is where things of a kind are put: a convention.
var placed = lazy(`(?i)^(?:all |new |our )?[\w-]+s (?:always )?(?:live|go|belong|sit|stay|start|are kept)\b`)

var brackets = lazy(`\s*\([^)]*\)`)

// plainWords are the words of a text in lower case, without punctuation around them.
func plainWords(text string) []string {
	list := strings.Fields(strings.ToLower(text))
	for i, w := range list {
		list[i] = strings.Trim(w, ".,:;!?()\"'")
	}
	return list
}

// formOf tells the form of a claim and its subject.
func formOf(head string, words []string) (form, []string) {
	switch {
	case len(words) == 0 || neverDid.MatchString(head):
		return noClaim, nil
	case len(words) > 3 && strings.HasSuffix(words[1], "s") && states.Has(words[2]):
		return being, words[:2] // "branch names start with …"
	case projectIs.MatchString(head):
		return being, words[1:2]
	case imperative.MatchString(head), negative.MatchString(head), prepositions.Has(words[0]) && leadClause.MatchString(head), whenOrder.MatchString(head):
		return order, nil
	case len(words) > 1 && (words[0] == "no" || words[0] == "only") && !answers.Has(words[1]), scoped.MatchString(head):
		return bare, nil
	case placesAlways.MatchString(head) && !articles.Has(words[0]) && !pronouns.Has(words[0]):
		return being, words[:slices.IndexFunc(words, func(w string) bool { return w == "never" || w == "always" || w == "only" })]
	case everywhere.MatchString(head):
		return bare, words[:2]
	}
	if clause, _, _ := strings.Cut(head, ", "); len(clause) < len(head) {
		words = words[:len(strings.Fields(clause))] // the subject and its verb stand before a comma
	}
	for i := 1; i < min(len(words), 9); i++ {
		w := words[i]
		switch {
		case pronouns.Has(words[0]), prepositions.Has(words[0]):
			return noClaim, nil
		case modals.Has(w), (w == "has" || w == "have" || w == "needs" || w == "need") && i+1 < len(words) && words[i+1] == "to":
			return duty, words[:i]
		case words[0] == "we" && works.Has(w):
			return habit, words[:1]
		case states.Has(w):
			return being, words[:i]
		}
	}
	return noClaim, nil
}

// scoped is a rule after the place it holds for: "for anything under sdk/: no breaking changes".
var scoped = lazy(`(?i)^(?:for|in|on) (?:anything|everything|all|any|every|each)\b[^:]{2,50}: (?:no|never|always|` +
	`don't|do not|only|(?:` + verbs + `))\b`)

// neverDid tells what never happened.
var neverDid = lazy(`(?i)^never \w+ed\b`)

// everywhere is said of things without a verb: "named exports everywhere".
var everywhere = lazy(`(?i)^(?:[\w-]+ ){1,3}everywhere\b|\beverywhere[.]?$`)

// whenOrder is an order after the occasion it is for, without a comma.
var whenOrder = lazy(`(?i)^(?:when|whenever|before|after|for|in) [^,]{3,60} (?:put|use|run|add|keep|write|ask|` +
	`start|make|name|describe|update)\b`)

func (c *claim) weight() int {
	sum := 0
	for _, s := range signals {
		if s.weight < 0 && sum < enough {
			break // what speaks against stands last
		}
		if s.found(c) {
			sum += s.weight
		}
	}
	return sum
}

// count counts the words of the head that are in a set.
func (c *claim) count(words *pattern.Words) int {
	n := 0
	for w := range c.words {
		if words.Has(w) {
			n++
		}
	}
	return n
}

// generic tells whether the claim is about things of a kind, not about one of them: its
// subject is "we" or a plural without an article.
func (c *claim) generic() bool {
	if len(c.subject) == 0 {
		return false
	}
	first, last := c.subject[0], c.subject[len(c.subject)-1]
	if pathName.MatchString(last) {
		return false
	}
	return first == "we" || first == "all" || first == "every" || first == "no" ||
		!articles.Has(first) && !knownTool.MatchString(last) && (strings.HasSuffix(last, "s") || nounAny.MatchString(last) || grounds.Has(last))
}

var articles = set("the a an my your his her its their this that")

// placesData tells whether the claim says, with its reason, where data may go, not how a
// screen shows it.
func (c *claim) placesData() bool {
	return c.why && c.count(product) == c.count(data) && placesAlways.MatchString(c.head)
}

// oneThing tells whether the claim is about one thing of the moment: one with an article
// that is neither named nor what every project has.
func (c *claim) oneThing() bool {
	if c.form == being || c.form == duty {
		if !articles.Has(c.subject[0]) {
			return false
		}
		subject := strings.Join(c.subject, " ")
		return !consequence.MatchString(c.text) && !staysAs.MatchString(c.head) && !namesThing(subject) && !nounAny.MatchString(subject) && !groundsIn(c.subject)
	}
	return definite(c.head) && !namesThing(c.head) && !occasion.MatchString(c.head)
}

func groundsIn(words []string) bool {
	for _, w := range words {
		if grounds.Has(w) {
			return true
		}
	}
	return false
}
