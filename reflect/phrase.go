package reflect

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/internal/pattern"
)

// maxStatement is the longest statement, in bytes.
const maxStatement = 240

var (
	opener = languages{
		{"en", lazy(`(?i)^(?:(?:(?:ah|oh|hm+|well|right|yes|yeah) ok(?:ay)?|ok(?:ay)?|so|also|and|but|please|pls|plz|` +
			`btw|by the way|actually|well|hm+|hey|hi|no+|` +
			`nope|nah|yes|yeah|yep|sure|right|great|good|cool|nice|thanks|thank you|sorry|wait|oh|ah|again|` +
			`one (?:more|other) thing|another thing|one last thing|side note|fyi|for your information|heads up|` +
			`just so you know|for (?:future )?reference|for the record|don't forget|do not forget|rule of thumb|` +
			`important|reminder|careful|approved|thanks|nit(?: but)?|note|nb|ps|p\.s|correction|look|listen|however|` +
			`in general|generally|general(?: project)? rule|` +
			`(?:new|house|hard|standing|team|project)? ?rule|(?:project |team )?(?:convention|policy)|(?:a |` +
			`one |two |three |some |few |couple of )*(?:quick )?(?:things?|notes?|points?)|remember|from now on|` +
			`from here on(?: out)?|for the future|next time|going forward|moving forward|in (?:the )?future|as a (?:general )?rule|` +
			`as a policy|as a reminder|for all future (?:work|sessions|tasks|changes)|and one more thing|last thing|` +
			`first|finally)\s*[,:;.!–—-]+\s*|(?:please|pls|plz|so|also|and|but|ok(?:ay)?|btw|actually|just|` +
			`kindly|again|remember(?: that)?|from now on|going forward|moving forward|in (?:the )?future|in general|` +
			`generally|next time|heads[- ]up|(?:also )?mention that|fyi|well|then|oh|hey|yes|yeah)\s+)`)},
		{"zh", lazy(`^(?:(?:好的?|嗯|对了|另外|还有|然后|不过|但是|那么?|请注意|注意|请?记住|请记得|切记|牢记|` +
			`顺便说一下|顺便|补充一下|提醒一下|重要|不对|不行|不可以|不是|不|` +
			`错了|等等|哦|所以|以后|今后|从现在(?:开始|起)|从今以后|往后|更正)\s*[，,：:。、！!]+\s*|(?:请你?|麻烦你?|` +
			`你(?:以后)?(?:要|应该|需要)|我希望你|` +
			`我想让你|希望你|以后请?|今后请?|从现在(?:开始|起)请?|往后|另外请?|还有|记得|请?记住|切记)\s*|` +
			`(?:我们)?(?:这里|这边|这儿)(?:的)?\s*)`)},
		{"ja", lazy(`^(?:(?:はい|うん|あと|ついでに|それから|ちなみに|なお|では|じゃあ|えっと|いや|いいえ|違います|` +
			`すみません|そして|それと|また|今後は?|これからは?|以後|覚えておいて(?:ください)?|` +
			`注意|重要|補足|訂正)[、，,：:。！!]+\s*|(?:(?:あと|また|それと|なお)?(?:今後は|これからは|今後|以後は)|あと|` +
			`お願いします[。、]?)\s*)`)},
		{"ko", lazy(`^(?:(?:네|아|아 맞다|그리고|참고로|그런데|근데|아니요?|또|앞으로는?|기억해(?:줘|주세요)?|주의|중요|` +
			`정정)[,，:：.!]+\s*|(?:앞으로는?|그리고|참고로|또한)\s+)`)},
	}
	request = lazy(`(?i)^(?:(?:can|could|would|will) you (?:please )?|i(?:'d| would) (?:really )?(?:like|want|` +
		`prefer) (?:for )?you to |` +
		`i (?:really )?(?:want|need) you to |i expect you to |you (?:should|must|need to|have to|ought to|` +
		`are to|can) (?:please )?(always |never |not )?|you(?:'d| had) better |you(?:'re| are) (?:supposed|` +
		`expected|meant) to |make it a (?:rule|habit|point) to |try to always |be sure to always |make sure (?:that )?you always |` +
		`make sure to always |make sure to never |always make sure (?:that )?(?:you |to )|let'?s (always |` +
		`never |not )?|do always |please )`)
	closer = lazy(`(?i)(?:[,;\s]*(?:\(?\b(?:please|pls|thanks|thank you|thx|ok(?:ay)?|alright|all right|right|btw|` +
		`by the way|from now on|going forward|moving forward|in (?:the )?future|for future reference|in general|` +
		`got it|understood|remember|again|if you can|as always|cheers|ty)\b\)?))+\s*[.!?]*$`)
	closing = languages{
		{"zh", lazy(`(?:[，,\s]*(?:谢谢|好吗|好吧|明白吗|知道吗|可以吗|记住了?|拜托))+[。！!？?]*$`)},
		{"ja", lazy(`(?:[、，\s]*(?:お願いします|よろしく(?:お願いします)?|お願い))+[。！!]*$`)},
		{"ko", lazy(`(?:[,\s]*(?:부탁해요?|부탁드립니다|고마워요?|감사합니다))+[.!]*$`)},
	}
	repoPlace = lazy(`(?i)^in (?:this|the|our) (?:repo|repository|project|codebase|code base|monorepo)[,:]?\s+|,?\s+(?:in|` +
		`for|across|throughout|within) (?:this|the|our) (?:whole |entire )?(?:repo|repository|project|` +
		`codebase|code base)([.!?]?)$|,?\s+(?:around |over )?here([.!?]?)$`)
	repoMid = lazy(`(?i),?\s+(?:(?:in|for|across) (?:this|the|our) (?:whole |entire )?(?:repo|repository|project|` +
		`codebase|code base)|here)((?:\s*[,;:]|\s+(?:and|or|but|not|because|since|as|instead)\b))`)
	// goesInRepo is a place that says something: what never goes in the repository.
	goesInRepo = lazy(`(?i)\b(?:go|goes|lives?|belongs?|stays?|put|keep|kept|stored?|commit|committed|checked|lands?|ends? up|is|are|be) ` +
		`(?:in|into|outside) (?:this|the|our) (?:repo|repository|project|codebase|code base|monorepo)\b`)
	habitYou = lazy(`(?i)\b(when(?:ever)?|every time|each time|any ?time|before|after|while) (?:you|we) (\w+)\b`)
	toldYou  = lazy(`(?i)\b(unless|until) (?:i|we) (?:explicitly |specifically |clearly )?(?:tell|ask|request|say|` +
		`instruct)(?: you)?(?: otherwise| so| to)?\b|\b(unless) (?:i|we)(?:'ve| have) (?:explicitly |specifically )?(?:asked|` +
		`told|approved|said)(?: you)?(?: otherwise| so| to| it)?\b`)
	askMe = lazy(`(?i)\b(without|before) (asking|checking with|consulting|telling) (?:me|us)(?: first)?\b`)
	ask   = lazy(`(?i)\b(ask|tell|show|consult|check with) (?:me|us) (before|first)\b`)
)

// statement rewrites what a person said as a careful colleague would note it: fillers,
// politeness and the marks of its lasting off, one line, a capital and a full stop. It is
// empty if nothing is left.
func statement(s sentence) string {
	text := strings.Join(strings.Fields(listMark.ReplaceAllString(s.text, "")), " ")
	if s.lang != "en" {
		return finish(foreignStatement(text, s.lang), s.lang)
	}
	text = strings.ReplaceAll(text, "’", "'")
	for range 8 {
		t := opener.in("en").ReplaceAllString(text, "")
		t = announcement.ReplaceAllString(t, "")
		t = noHead.ReplaceAllString(t, "$1")
		t = theyAre.ReplaceAllString(t, "$1 $2 ")
		t = wantNone.ReplaceAllString(t, "No $1")
		t = wantAll.ReplaceAllString(t, "$1 must ")
		t = stripRequest(t)
		t = rememberForm.ReplaceAllString(t, "")
		if !goesInRepo.MatchString(t) {
			t = repoPlace.ReplaceAllString(t, "$1$2")
			t = repoMid.ReplaceAllString(t, "$1")
		}
		t = strings.TrimLeft(t, " ,;:.!-–—")
		if t == text {
			break
		}
		text = t
	}
	for _, f := range turns {
		text = f.form.ReplaceAllString(text, f.as)
	}
	text = closer.ReplaceAllString(text, "")
	if !goesInRepo.MatchString(text) {
		text = repoPlace.ReplaceAllString(text, "$1$2")
	}
	text = closer.ReplaceAllString(lastly.ReplaceAllString(text, ""), "")
	if !strings.Contains(text, ": ") {
		text = strings.Replace(text, " - ", ": ", 1)
	}
	text = toldYou.ReplaceAllString(text, "${1}${2} told to")
	text = strings.ReplaceAll(text, "until told to", "until told to")
	text = askMe.ReplaceAllString(text, "$1 $2 first")
	text = strings.ReplaceAll(text, "before asking first", "before asking")
	text = ask.ReplaceAllString(text, "$1 $2")
	text = habitYou.ReplaceAllStringFunc(text, gerundClause)
	return finish(onlyContrast(settled(text)), "en")
}

// announcement is what announces a statement: "one more thing to keep in mind: …".
var announcement = lazy("(?i)^[^:`/]{0,60}\\b(?:things?|notes?|reminder|in mind|future|btw|twice|points?|careful|also|again|for \\d+|nit)\\b[^:`/]{0,24}:\\s+")

// turns are ways of saying a rule as one's own wish, and the rule itself.
var turns = []struct {
	form *pattern.Pattern
	as   string
}{
	{lazy(`(?i)^we\b[^:]{3,60}: (never|always|don't|do not)\b`), "$1"},
	{lazy(`(?i)^never, ever,? `), "Never "},
	{lazy(`(?i)^(?:make|create|add|write|record|update) (?:(?:a|an|the|that|this|new|another|global|project|cursor) )*rules? (?:that |to )?` +
		`(?:(?:specif(?:y|ies)|say|says|state|states) )?(?:that |to )?((?:when|whenever|before|after) .*\balways\b.*|` +
		`(?:always|never|don't|do not) .*)$`), "$1"},
	{lazy(`(?i)^(?:y|e|et|und) (acá|aquí|aqui|ici|hier) `), "$1 "},
	{lazy(`(?i)^(?:while|when|since|as) you(?:'re| are) (?:in there|there|at it|in here|on it),? `), ""},
	{lazy(`(?i)[,;] (?:and )?i(?:'ve| have|'d| had)? (?:already |just )?(?:had to|spent|lost|wasted|fixed|cleaned up|explained|said)\b[^,;]*$`), ""},
	{lazy(`(?i)\bwithout (?:me|us|my|our) (?:agreeing|agreement|approving|approval|consent|permission|saying (?:so|yes|ok)|ok(?:ay)?|signing off)(?: first)?\b`), "without asking first"},
	{lazy(`(?i)^i(?:'d| would) (?:rather|prefer(?: it)? if) you (?:didn't|don't|did not|not) `), "Don't "},
	{lazy(`(?i)^i(?: do not|'d rather not| don't) want (?:to (?:see|have) )?(?:any more|any|more) `), "No more "},
	{lazy(`(?i)^you (?:shouldn't|mustn't|can't|cannot|must not|should not|may not) `), "Don't "},
	{lazy(`(?i)^i only (?:ever )?want (?:to see )?`), "Only "},
	{lazy(`(?i)^i always want (?:the )?`), "Always have the "},
	{lazy(`(?i)^do (?:it|this|that) with ([\w.-]+)(, | because | since |: )`), "Use $1$2"},
	{lazy(`(?i)\b(no|never|don't|do not)(.* )my (commits|prs|pull requests)\b`), "$1${2}$3"},
	{lazy(`(?i)\b(unless|until) i (?:ask|asked)(?: you)? for (?:it|them|one)\b`), "$1 asked for"},
	{lazy(`(?i),? (?:and )?(?:that's|this is|it's) (?:a|an|the|our) ([A-Z]{2,6}) (?:thing|rule|requirement)\b`), " ($1)"},
	{lazy(`(?i)[,;]? [-–—] (?:that|this) (?:goes|holds|applies) for (every|all|any)\b`), ", for $1"},
	{lazy(`(?i),? so (?:please )?(?:bump|update|change|remove|drop|add|fix|raise|set)\b.*$`), ""}, // the work of the day that follows
	{lazy(`(?i), not (?:only|just) (?:this|that) one\b`), ""},
	{lazy(`(?i)^((?:the |our )?(?:[\w-]+ ){0,3}[\w-]+) here (are|is|have|must|should|need|go|live)\b`), "$1 $2"},
}

// settled leaves off the end of a statement what points at its session, where what stands
// before says enough by itself: "Dates are in UTC, rewrite it like that".
func settled(text string) string {
	for pointless(text) {
		at := tail.FindAllStringSubmatchIndex(text, -1)
		if len(at) == 0 {
			return text
		}
		last := at[len(at)-1]
		if binds.MatchString(text[last[1]:]) || makes.MatchString(text[last[1]:]) || len(strings.Fields(text[:last[0]])) < 4 {
			return text
		}
		text = text[:last[0]]
	}
	return text
}

var (
	tail  = lazy(`,? (?:so|and so) |[,;:] | [-–—] |,? and `)
	makes = lazy(`(?i)^(?:please )?(?:add|implement|create|fix|write|build)\b`) // what stands before is then the order
	binds = lazy(`(?i)^(?:unless|except|if|when|but|only|or|not|nor|until|before|after|without|instead|while|` +
		`because|since|otherwise)\b`)
)

// noHead is a "no" that answers, not one that forbids.
var noHead = lazy(`(?i)^(?:no|nope|nah)\s+((?:always|never|please|use|run|don't|do not|we|it|you)\b)`)

var (
	theyAre  = lazy(`(?i)^([\w][\w -]{2,40}): (?:they|these|it) (are|is|must|should|have|has) `)
	wantNone = lazy(`(?i)^i (?:never|don't ever|do not ever) (?:want to see|want) (?:any |an |a )?(.+)$`)
	wantAll  = lazy(`(?i)^i(?:'d| would)? (?:want|need|expect|like) ((?:all|every|each|any) [\w -]{3,40}?) to `)
)

// lastly is an emphasis at the end of a prohibition.
var lastly = lazy(`(?i),? (?:always|ever|ever again|period|full stop|no matter what)[.!]*$`)

var rememberForm = lazy(`(?i)^(?:(?:do |please )?(?:remember|note|keep in mind|bear in mind|be aware|` +
	`beware)(?: here)?(?: that|` +
	` to)?[:,]?\s+|(?:do |please )?remember not to (?:be )?|it(?:'s| is) (?:very |really )?(?:important|` +
	`crucial|critical|worth noting|worth remembering) (?:that you|that we|that|to) |(?:the|our) (?:convention|` +
	`rule|policy)(?: here| in (?:this|our|the) \w+)? is(?: that| to|:)\s+)`)

// stripRequest turns "I want you to never …" and "you should …" into the instruction itself.
func stripRequest(text string) string {
	if strings.HasPrefix(strings.ToLower(text), "remember not to ") {
		return "Do not " + text[len("remember not to "):]
	}
	m := request.FindStringSubmatchIndex(text)
	if m == nil {
		return text
	}
	adverb := ""
	for g := 1; g*2+1 < len(m); g++ {
		if m[g*2] >= 0 {
			adverb = text[m[g*2]:m[g*2+1]]
		}
	}
	matched := strings.ToLower(text[:m[1]])
	if adverb == "" {
		switch {
		case strings.Contains(matched, "never"):
			adverb = "never "
		case strings.Contains(matched, "always"):
			adverb = "always "
		}
	}
	if strings.EqualFold(adverb, "not ") {
		adverb = "Do not "
	}
	return adverb + text[m[1]:]
}

// gerundClause turns "when you add" into "when adding".
func gerundClause(clause string) string {
	m := habitYou.FindStringSubmatch(clause)
	verb := strings.ToLower(m[2])
	g := gerund(verb)
	if g == "" {
		return clause
	}
	when := strings.ToLower(m[1])
	switch when {
	case "whenever", "every time", "each time", "any time", "anytime":
		when = "whenever"
	}
	if m[1][0] >= 'A' && m[1][0] <= 'Z' {
		when = strings.ToUpper(when[:1]) + when[1:]
	}
	return when + " " + g
}

// gerund returns the -ing form of a verb in common use, empty for auxiliaries and past forms.
func gerund(verb string) string {
	switch verb {
	case "are", "have", "had", "ve", "do", "did", "can", "could", "will", "would", "should", "must", "need", "want", "were",
		"was", "re", "ll", "d", "don", "may", "might", "get", "see", "also", "first", "just", "ever", "always", "find", "think":
		return ""
	case "run", "commit", "set", "put", "cut", "begin", "tag", "stop", "drop", "plan", "ship", "pin", "skip", "wrap", "submit", "refer", "split", "log", "debug", "swap", "map":
		return verb + verb[len(verb)-1:] + "ing"
	case "tie", "die", "lie":
		return verb[:len(verb)-2] + "ying"
	}
	switch {
	case strings.HasSuffix(verb, "ed") && len(verb) > 4 && verb != "need" && verb != "embed" && verb != "feed":
		return ""
	case strings.HasSuffix(verb, "ing"):
		return ""
	case strings.HasSuffix(verb, "e") && !strings.HasSuffix(verb, "ee") && len(verb) > 2:
		return verb[:len(verb)-1] + "ing"
	}
	return verb + "ing"
}

// foreignStatement takes openers and closers off a sentence in Chinese, Japanese or Korean.
func foreignStatement(text, lang string) string {
	for range 6 {
		t := opener.in(lang).ReplaceAllString(text, "")
		t = closing.in(lang).ReplaceAllString(t, "")
		t = alsoThere.ReplaceAllString(t, "")
		t = strings.TrimLeft(t, " ，,、：:；;。！!")
		if t == text {
			break
		}
		text = t
	}
	return text
}

// alsoThere is the work of the day that a rule is also for: "the other endpoints likewise".
var alsoThere = lazy(`[，,](?:别的|其他|其它|另外)[^，,。]{0,14}(?:照|按|这样|一样)[^，,。]*[。！]?$`)

// finish gives a statement its capital and its full stop.
func finish(text, lang string) string {
	text = strings.TrimSpace(text)
	argument := strings.HasSuffix(text, " .") // "never git add ."
	text = strings.TrimRight(text, " .!?,;:。！？，；：…-–—")
	if text == "" {
		return ""
	}
	if strings.Count(text, "`")%2 == 1 {
		text = strings.ReplaceAll(text, "`", "")
	}
	if strings.Count(text, "(") > strings.Count(text, ")") {
		text += ")"
	}
	if lang == "en" && !strings.HasPrefix(text, "`") {
		word, _, _ := strings.Cut(text, " ")
		if plainWord(word) {
			r, size := utf8.DecodeRuneInString(text)
			text = string(unicode.ToUpper(r)) + text[size:]
		}
	}
	text = quietCapitals(text)
	if lang == "zh" || lang == "ja" {
		return text + "。"
	}
	if argument {
		return text + " ."
	}
	return text + "."
}

// plainWord tells whether a word may be given a capital: a path, a command or a symbol may
// not.
func plainWord(w string) bool {
	for i, r := range strings.TrimRight(w, ",.:;'") {
		if !unicode.IsLetter(r) && r != '\'' && r != '-' || i > 0 && unicode.IsUpper(r) {
			return false
		}
	}
	return !knownTool.MatchString(w)
}

var (
	knownTool = lazy(`^(?:` + tools + `)$`)
	shouted   = lazy(`\b(?:ALWAYS|NEVER|EVER|MUST|NOT|DO|DON'T|USE|ONLY|PLEASE|ALL|ANY|EVERY|BEFORE|AFTER)\b`)
)

// quietCapitals brings shouted words to normal case.
func quietCapitals(text string) string {
	return shouted.ReplaceAllStringFunc(text, func(w string) string {
		lower := strings.ToLower(w)
		if strings.HasPrefix(text, w) {
			return w[:1] + lower[1:]
		}
		return lower
	})
}
