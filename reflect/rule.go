package reflect

import (
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// Rules are conventions and constraints a person laid down: what is always or never to be
// done, in words that head an instruction or are marked as lasting.

const adverbs = `(?:(?:again|ever|just|also|directly|manually|blindly|automatically|simply|explicitly|first|` +
	`again ever|even|silently|hand-)\s+)?`

var (
	alwaysNever = lazy(`(?i)^(?:don't|do not) .*,\s*always\s+\w+|(?:^|[,;:.!—–-]\s+(?:(?:and|but|so|then|please|or)\s+)?|` +
		`\b(?:please|you should|you must)\s+)(?:always|never|(?:don't|do not) ever)\s+` + adverbs + `(?:` + verbs + `)\b`)
	weAlways = lazy(`(?i)^(?:we|our team|the team|everyone|everybody|contributors|developers|agents?)\s+(?:must |should |` +
		`can |may |will )?(?:always|never)\s+` + adverbs + `\w+`)
	thingMust = lazy(`(?i)^(?:(?:all|every|each|any|no|new|our|public|exported|generated|the|` +
		`only)\s+)*(?:[\w./-]+\s+){0,2}?(?:` + nouns + `)\b(?:\s+[\w./` + "`" + `,-]+){0,6}?\s+(?:must|should|shall|has to|have to|needs? to|may only|may not|can only|cannot|can't|are to)\b`)
	quantified = lazy(`(?i)^(?:all|every|each|any|no|only)\b`)
	able       = lazy(`(?i)\bbe able to\b|^(?:(?:all|every|each|any|the|no|our|new)\s+)*(?:[\w-]+\s+)?(?:users?|customers?|` +
		`clicks?|buttons?|screens?|pages?|rows?|players?|fields?|inputs?|forms?|modals?|menus?|icons?|` +
		`cards?|responses?|passwords?)\s`)
	negative  = lazy(`(?i)^(?:do not|don't|never|avoid|no more|stop)\b`)
	dont      = lazy(`(?i)^(?:do not|don't)\s+` + adverbs + `(?:` + verbs + `)\b`)
	stopDoing = lazy(`(?i)^stop\s+(?:\w+ly\s+)?(\w+ing)\s+(\w+(?: [\w-]+){0,2})`)
	noThings  = lazy(`(?i)^no\s+(?:more\s+)?[\w-]+(?:\s+[\w-]+){0,4}?\s+(?:in|on|at|for|to|outside|inside|without)\s+`)
	modal     = lazy(`(?i)\b(?:must|should|shall|may only|cannot|can't|not allowed|forbidden|prohibited|` +
		`off[- ]limits|banned|required|mandatory)\b`)
	imperative = lazy(`(?i)^(?:always |never |only |just |first |do not |don't )?` + adverbs + `(?:` + verbs + `)\b`)
	contrast   = lazy("(?i)\\b(?:use|run|prefer|choose|with|using|via)\\s+(?:only\\s+)?`?(?:(?:" + tools + ")\\b|[^`]*`)[^.;]*?[,(\\s](?:not|never|instead of|rather than|over|no)\\s+(?:to\\s+|plain\\s+|" +
		"bare\\s+|with\\s+|use\\s+|using\\s+|run\\s+|running\\s+)?`?(?:" + tools + ")\\b")
	dontTool = lazy("(?i)^(?:do not|don't|never|avoid)\\s+(?:use|using|run|running)\\s+`?(?:" + tools + ")\\b")
	weHabit  = lazy(`(?i)^(?:we|our team|the team)\s+(?:(?:all|generally|usually|only|try to|just)\s+)?(?:don't |` +
		`do not )?(?:use|` +
		`run|deploy|squash|squash-merge|rebase|tag|merge|write|name|keep|put|follow|release|ship|test|` +
		`lint|format|pin|vendor|branch|commit|review|sign|document|prefer|avoid|mock|version|build|manage|` +
		`hand-edit|edit|store|allow|accept|require)\b`)
	placeHere = lazy(`(?i)\b(?:here|in (?:this|our) (?:repo|repository|project|codebase|code base|team|monorepo))\b`)
	team      = lazy(`(?i)\b(?:tests?|commits?|commit messages?|branch(?:es)?|pull requests?|prs?|merge requests?|releases?|` +
		`migrations?|changelogs?|reviews?|deploy\w*|ci|trunk|main|master|semver|conventional commits|docs|` +
		`dependencies|secrets)\b`)
	habitWhen = lazy(`(?i)^(?:before|after|when|whenever)\s+(?:\w+ing|\w+)\b[^,]{3,60}? (?:run|re-?run|regenerate|execute)\b|` +
		`^(?:(?:before|after|when|whenever|every time|each time|if you)\s+(?:you\s+)?(?:\w+ing|\w+)\b[^,]*,\s*(?:always |` +
		`first |also |then |please )*(?:run|regenerate|update|bump|re-?run|rebuild|execute|add|check|render|` +
		`write|create|look|ask)\b)|^(?:(?:always )?(?:run|regenerate|re-?run|rebuild|execute|bump)\s+.+\b(?:before|` +
		`after|when|whenever)\s+(?:\w+ing\b|every\b|each\b|any\b|you\b|a\b))`)
	speculation = lazy(`(?i)\b(?:might|maybe|perhaps|could be|would be|would have|what if|if we (?:ever|decide|want)|` +
		`someday|eventually|consider(?:ing)?|i(?:'m| am) (?:not sure|wondering|thinking|curious)|not sure|` +
		`i(?:'d| would) (?:say|guess)|seems?|assuming|presumably|i think|i don't think|supposed to|supposedly|` +
		`i guess|we should probably|probably)\b`)
	narrative = lazy(`(?i)^no (?:need|problem|worries|idea|way|one|matter)\b|^(?:todo|fixme|i|i'm|i've|i'll|i'd|you|` +
		`you're|you've|he|she|it|it's|they|this|that|there|` +
		`these|those|someone|somebody|my)\b|^(?:(?:the|a|my|our)\s+)?(?:\S+\s+){1,3}?(?:says|said|told|` +
		`complains|complained|suggests|suggested|recommends|recommended|wants|reports|warns|mentions|claims|` +
		`states)\b|^(?:the|a|my|our|some)\s+(?:\S+\s+){1,2}?(?:say|suggest|recommend|claim|warn|state|` +
		`mention|complain)\b|^(?:the|a|our)\b[^:]*\b(?:should|must|will|would|to) (?:say|read|show|display|` +
		`print)\b|\b(?:tests?|build|ci|checks?|lint|suite) (?:must|should|has to|have to|needs? to) (?:\w+ )?(?:pass|` +
		`be green|work|succeed|compile)`)
)

// showing is what a program does for its users.
var showing = set("showing hiding displaying rendering opening closing redirecting loading playing sending scrolling asking returning")

var (
	conditional = lazy(`(?i)^(?:if|when|unless|because|since|why|convert|migrate|switch|replace|change|move)\b`)
	shows       = lazy(`(?i)\b(?:always|never)\s+(?:show|hide|display|render|redirect|open|close|let|send|load|play|return|` +
		`have|be|get|go|show up|insert|start|stop|accept|resolve|fall back|default)\b`)
	checking = lazy(`(?i)^(?:validate|check|ensure|make|add|verify|assert|confirm)\b`)
	// changeOrder asks for a change of the code in the passive: "tests must be added".
	changeOrder = lazy(`(?i)\b(?:must|should|shall|needs? to|has to|have to)\s+(?:all |also |now |not |` +
		`then )?be\s+(?:\w+ly )?(?:add|` +
		`updat|renam|mov|refactor|fix|chang|replac|remov|delet|rewritten|rewrite|migrat|convert|split|` +
		`merg|extract|regist|squash|export|creat|implement|adjust|adapt|improv|rework|nice|bett|clean|` +
		`fast|short|clear|simpl|larg|bigg|small|blue|red|green|visible|hidden|shown|display|cent|align|` +
		`bold|done|test|review|work|valid|ready|there|possible|able|run|restart|called|passed|deployed|` +
		`committed|pushed)\w*\b|\b(?:must|should|shall) now\b|\bnow (?:must|should|need)\b`)
	withArticle = lazy(`(?i)^(?:stop \w+ing|use) (?:the|a|an)\b`)
	allOfThe    = lazy(`(?i)^(?:all|every|each|any) (?:of )?(?:the|these|those|my)\b`)
	newHelper   = lazy(`(?i)\bthe (?:new|existing|updated|other|same|right|correct|provided) \w+`)
	hereAlone   = lazy(`(?i)\bhere[.!]?$`)
)

// leadClause is an instruction after a clause that says when it holds.
var leadClause = lazy(`(?i)^[^,]{3,70}, (?:always |never |please |do not |don't )?(?:` + verbs + `)\b`)

// findRules looks at each sentence for a rule.
func findRules(v *view) []finding {
	var out []finding
	for i := range v.sentences {
		s := &v.sentences[i]
		kind, found := ruleKind(s)
		if found {
			f := v.say(i, kind)
			if m := stopDoing.FindStringSubmatch(f.Text); m != nil {
				f.Text = "Avoid" + f.Text[len("stop"):]
			}
			out = append(out, f)
		}
	}
	return out
}

// ruleKind tells whether a sentence lays down a rule, and of what kind.
func ruleKind(s *sentence) (record.Kind, bool) {
	if s.lang != "en" {
		return foreignRule(s)
	}
	if kind, found := latinRule(s); found {
		return kind, true
	}
	text := s.form
	explicit := s.rules || s.marked || lasting.in("en").MatchString(s.text) || habitRequest.MatchString(s.text)
	if text == "" || speculation.MatchString(symbol.ReplaceAllString(text, "")) && !explicit {
		return "", false
	}
	if !isRule(s, text, explicit) {
		return "", false
	}
	return kindOf(s, text), true
}

// isRule holds the forms a rule may take in English.
func isRule(s *sentence, text string, explicit bool) bool {
	why := reason.MatchString(text)
	switch {
	case narrative.MatchString(text):
		return false
	case stopDoing.MatchString(text) && showing.Has(strings.ToLower(stopDoing.FindStringSubmatch(text)[1])):
		return false
	case contrast.MatchString(text), dontTool.MatchString(text):
		return !conditional.MatchString(text)
	case alwaysNever.MatchString(text):
		return !shows.MatchString(text) || lasting.in("en").MatchString(s.text) || pathName.MatchString(text) || symbol.MatchString(text) || team.MatchString(text)
	case weAlways.MatchString(text):
		return concreteWords(text)
	case strongMark.MatchString(s.text) && len(strings.Fields(text)) >= 4:
		return true
	case s.brief && !explicit:
		return false // a brief is full of demands on what is to be made
	case explicit && (imperative.MatchString(text) || negative.MatchString(text) || modal.MatchString(text) || noThings.MatchString(text)):
		return true
	case explicit && (habitWhen.MatchString(text) || leadClause.MatchString(text)):
		return concreteWords(text)
	case explicit && quantified.MatchString(text) && nounAny.MatchString(text):
		return true
	case s.rules:
		return len(strings.Fields(text)) >= 2
	case !explicit && changeOrder.MatchString(text):
		return false
	case thingMust.MatchString(text) && !able.MatchString(text) && !checking.MatchString(text):
		return (quantified.MatchString(text) && !allOfThe.MatchString(text) && !(s.task && definite(text)) || !s.task && !definite(text)) && !newHelper.MatchString(text) && !hereAlone.MatchString(s.text)
	case everyNeeds.MatchString(text), placeAll.MatchString(text), noBanned.MatchString(text), wePrefer.MatchString(text) && concreteWords(text):
		return !status.MatchString(text) && (!s.task || placeAll.MatchString(text))
	case dont.MatchString(text):
		generic := !definite(text) || pathName.MatchString(text)
		return generic && why && concreteWords(text) || !definite(text) && scope.MatchString(text) && !s.task
	case stopTalk.MatchString(text):
		return true
	case stopDoing.MatchString(text):
		m := stopDoing.FindStringSubmatch(text)
		return !definite(text) && !withArticle.MatchString(text) &&
			(pluralObject(m[2]) || strings.EqualFold(m[1], "using") || strings.Contains(text, " everything") || strings.Contains(text, " everywhere"))
	case noThings.MatchString(text):
		return nounAny.MatchString(text) && !definite(text)
	case weHabit.MatchString(text):
		return (placeHere.MatchString(s.text) || team.MatchString(text) && !s.task) && concreteWords(text) && !status.MatchString(text)
	}
	return false
}

var (
	strongMark = lazy(`(?i)^(?:\W*(?:ok|so|also|and|btw|but|please)\W+)*(?:rule of thumb|(?:a |one |new |house |hard |` +
		`general |standing |team |project |our |the )*(?:rule|convention|policy))\s*[:—–]|\b(?:our|the) (?:convention|` +
		`policy|rule)(?: here| in (?:this|our) \w+)? is(?: that| to|:| never| always| no)\b`)
	stopTalk = lazy(`(?i)^stop (?:summari[sz]|explain|apologi[sz]|narrat|repeat|prais|ask|` +
		`announc)\w*ing\b.*\b(?:every|each|always|all the time|at the end|whenever)\b`)
	everyNeeds = lazy(`(?i)^(?:every|each|all|any) (?:new |public |exported )?(?:pr|pull request|commit|package|migration|` +
		`endpoint|test|function|component|module|file|release|handler|service|feature|change|bug ?fix)s? (?:needs? an?|` +
		`needs? its|needs? their|requires?|gets? an?|gets? its|goes through|go through|goes in|go in|lives? in|` +
		`starts? with)\b`)
	placeAll = lazy(`(?i)^(?:always )?(?:keep|put|place|store) (?:all|every|each|any|` +
		`new) (?:[\w./-]*[a-z]{3}[\w./-]* ){1,4}?(?:in|under|next to|inside|beside|out of) `)
	noBanned = lazy(`(?i)^no (?:more )?(?:co-authored-by|emojis?|semicolons|default exports|console\.logs?|print statements|` +
		`trailing whitespace|magic numbers|todo comments|relative imports|wildcard imports|orms?|globals|` +
		`global state|singletons|inline styles|barrel files|force[- ]push\w*)(?: (?:trailers|lines))?(?:,.*|` +
		`:.*)?[.]$`)
	wePrefer = lazy(`(?i)^(?:we|our team) (?:generally |usually |strongly |always )?prefer .+ (?:over|to|instead of|rather than) `)
	inRepo   = lazy(`(?i)\bin (?:this|our) (?:repo|repository|project|codebase|code base|monorepo)\b`)
)

func pluralObject(words string) bool {
	for _, w := range strings.Fields(words) {
		if strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && w != "this" && w != "its" {
			return true
		}
	}
	return false
}

// kindOf tells the kind of a rule from its form.
func kindOf(s *sentence, text string) record.Kind {
	switch {
	case replies.MatchString(text) && !pathName.MatchString(text) && !ofProject.MatchString(text):
		return record.Preference
	case habitWhen.MatchString(text):
		return record.Workflow
	case contrast.MatchString(text) && !negative.MatchString(text):
		return record.Convention
	case negative.MatchString(text), noThings.MatchString(text), noBanned.MatchString(text), forbids.MatchString(text):
		return record.Constraint
	}
	return record.Convention
}

// ofProject is what makes a rule about words one of the project's.
var ofProject = lazy(`(?i)\b(?:commits?|commit messages?|apis?|endpoints?|http|servers?|handlers?|prs?|pull requests?|` +
	`comments?|docs|docstrings?|tests?|errors?|logs?|ui|copy|strings|users?|release notes|changelog)\b`)

var forbids = lazy(`(?i)\b(?:must|never|forbidden|prohibited|banned|off[- ]limits|not allowed|cannot|can't|` +
	`may only|can only|read[- ]only|frozen)\b`)
