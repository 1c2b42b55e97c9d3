package claim

import (
	"strings"
	"unicode"

	"github.com/reverie-memory/reverie/internal/lexicon"
	"github.com/reverie-memory/reverie/internal/pattern"
)

// A message may hold other people's words: quoted, pasted, reported, or given for translation.
// Words that are plainly theirs make no statement. If a message may hold any, a person decides
// about all of it. So only short, plain, direct messages are accepted without review, and these
// tables need not know every way to quote.

// Bounds of a message typed spontaneously.
const (
	maxDirect     = 1500 // bytes
	maxParagraphs = 4
)

// signs detect messages with other people's words, by kind.
var signs = []struct {
	what  string
	looks *pattern.Pattern
}{
	{"block", pattern.New("(?m)^\\s*(?:```|~~~|\"\"\"|'''|>|#{1,6}\\s|\\||<[a-zA-Z!/?]|@@ |diff --git|\\+\\+\\+ |--- \\S|\\* \\* \\*|[{}\\[\\]]\\s*$)|^(?:\\t| {4,})\\S|(?m)^(?:\\t| {4,})\\S")},
	{"element", pattern.New(`(?:^|[^\w<])</?[a-zA-Z][\w-]*(?:\s[^<>]*)?/?>|<!--|\[/?[A-Z]{2,}\]`)},
	{"data", pattern.New(`[{\[,]\s*["'][\w .-]+["']\s*:|["'][\w-]+["']\s*:\s*["{\[\d]|(?m)^\s*(?:- )?[\w-]+:\s*(?:[|>][-+]?)?\s*$\n\s+\S|^\s*[\w.-]+\s*=\s*["']`)},
	{"log", pattern.New(`(?m)^\s*(?:<?@?[\w.-]{1,24}>?,?\s+|(?:\p{Lu}[\w.-]*,?\s+){2,3})?(?:\[?\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?\s?(?:[ap]m)?\]?[\s,-]|\[?\d{4}[-/]\d\d[-/]\d\d|\d+\s*$\n\d\d:\d\d:\d\d|\d\d:\d\d:\d\d[,.]\d+ -->|at \S+\(|(?:p?npm|yarn) (?i:err!|error|warn|notice)\s|Traceback|commit [0-9a-f]{7,}|(?i:author|date|signed-off-by|co-authored-by|subject|from|to|cc|sent|re|fwd?|aw|wg):\s)`)},
	{"quotation", pattern.New(`"[^"\n]*(?:\s[^"\s]+){3,}[^"\n]*"|“[^”]*(?:\s[^”\s]+){3,}[^”]*”|„[^“”]*(?:\s[^“”\s]+){3,}[^“”]*[“”]|«[^»]*(?:\s[^»\s]+){3,}[^»]*»|‹[^›]*(?:\s[^›\s]+){3,}[^›]*›|(?:^|[\s(:])'[^'\n]*(?:\s[^'\s]+){3,}[^'\n]*'(?:[\s).,;:!?]|$)|(?:^|[\s(:])‘[^’\n]*(?:\s[^’\s]+){3,}|[“「『《"][^”」』》"\n]{12,}[”」』》"]`)},
	{"open quotation", pattern.New(`^[^"]*"[^"]*(?:"[^"]*"[^"]*)*$|^[^“]*“[^”]*$|^[^«]*«[^»]*$|^[^「]*「[^」]*$`)},
	{"source", pattern.New(`(?i)^\W*(?:(?:fyi|heads[ -]up|psa|btw|update|news|also|and|so|ok)\W+)*from [@#]?[\w.-]+(?-i: \p{Lu}[\w.-]*)?\s*(?:[–—:]|-\s)|\b(?:according to|as per|per (?:the|our|his|her) \w+|quot(?:e|ing|ation)s?|cit(?:e|ing|ation)|paste[ds]?|pasting|copied from|excerpt|verbatim|forwarded|fwd|subtitles?|transcripts?|screenshot|here(?:'s| is| are| comes?) (?:the|a|an|my|our|his|her|what|how|their)|(?:says|reads|reading|called|named|titled|containing|contains|with) the (?:text|words|line|sentence|prompt|string))\b`)},
	{"place", placed},
	{"letter", pattern.New(`(?im)^\W*(?:dear \w+|(?:hi|hello|hey) (?:all|team|everyone|everybody|folks|there)\b|@(?:channel|here|all|everyone|team)|team,|attention\b)|^(?:best|regards|best regards|kind regards|cheers|sincerely|yours|mfg|viele grüße|cordialement|saludos)\W*$|\s(?:—|–|--|-)\s?@?[A-Z][\w.]+\s*$`)},
	{"text", pattern.New(`(?i)\b(?:this|these|that|those|following|above|below|next|attached)\s+(?:\w+\s+)?(?:sentences?|texts?|pages?|paragraphs?|passages?|messages?|comments?|e-?mails?|mails?|tickets?|issues?|docs?|documents?|readme|snippets?|prompts?|strings?|quotes?|reviews?|posts?|articles?|sections?|instructions?|configs?|specs?|threads?|logs?|outputs?|errors?|descriptions?|notes?|guidelines?|lines?|words?|phrases?|statements?|rules?|questions?|answers?|feedback|tweets?|chats?|slides?|letters?|policy|policies|bullets?)\b|\b(?:the|a|this) (?:prompt|string|label|tooltip|placeholder|banner|fixture|heading|typo|wording|copy|translation|subtitle|caption)\b`)},
	{"text work", pattern.New(`(?i)(?:^|[.!?:;\n]\s*|\b(?:please|pls|you|to|and|then|just)\s+)(?:translate|explain|summari[sz]e|paraphrase|rephrase|proof-?read|re-?word|rewrite|spell-?check|interpret|analy[sz]e|critique|evaluate|classify|grade|shorten|simplify|reformat|parse|convert|respond to|reply to|answer|compare|check (?:this|that|the (?:text|grammar|spelling|wording))|fix (?:the|this|a|my) (?:typos?|grammar|wording|spelling|sentence)|review|tl;?dr|eli5|what do you (?:think|make)|thoughts)\b`)},
	{"review", pattern.New(`(?im)^\W*(?:nit(?:pick)?|critical|major|minor|blocker|blocking|suggestion|severity|priority|praise|p[0-4]|high|medium|low|info|warning|lgtm|sev\d|changes requested|actionable comments)\b\W|\b(?:lines?|L)\s?\d+\s*(?:[-–]|to)\s*L?\d+\b|^\W*consider \w+ing\b|\bcodereview|\bsteps to reproduce\b|\b(?:expected|actual) (?:behaviou?r|result)\b|\bacceptance criteria\b|\bas an? \w+,? i want\b|^\s*[-*] \[[ x]\]`)},
	{"taken back", pattern.New(`(?i)\b(?:not true|no longer true|joke|joking|kidding|lol|was before|used to|old rule|not sure|disagree|obsolete|outdated|nonsense|(?:remove|delete|drop) the rule|nobody follows)\b`)},
	{"in Chinese", pattern.New(`(?:他|她|他们|文档|文章|邮件|客户|同事|老板|领导|有人|手册|评论|网页|页面|README|readme|issue|群里|贡献者|用户|作者|经理|对方)[^，。！？]{0,10}(?:说|写|表示|提到|建议|要求|认为|指出|问|道|称)|写着|写道|说道|原文|引用|如下|根据|按照.{0,8}说|翻译|解释|总结|概括|校对|润色|改写|什么意思|对吗|对不对|是这样吗|帮我看`)},
	{"in Japanese", pattern.New(`(?:と|って|とは)(?:言|い(?:って|う|った)|書|述べ|聞|記載|コメント)|によると|によれば|曰く|翻訳|要約|説明して|レビュー|添削|校正|引用|次の文|以下の|この文|どういう意味|正しいですか|合っていますか|あってますか`)},
	{"in Korean", pattern.New(`(?:라고|다고|냐고|자고)\s?(?:말|했|하|써|쓰|적|합|해|물|나와|돼|되)|에 따르면|번역|요약|설명해|검토해|교정|인용|다음 (?:문장|글|내용)|이 (?:문장|글|문서)|무슨 뜻|맞나요|맞습니까|맞아요\?`)},
}

// placed matches a place where others write.
var placed = pattern.New(`(?i)\((?:from|source|via|see|per|quoted?|taken|copied)\b|\b(?:from|on|in|at|via|off) (?:(?:the|our|their|a|an|this|that|my|your|its|\w+'s) )?(?:project |team |company |upstream )?(?:readme|wiki|docs?|documentation|slack|teams|discord|issues?|tickets?|prs?|pull requests?|e-?mails?|mails?|blogs?|pages?|sites?|websites?|articles?|books?|handbooks?|guides?|chats?|threads?|confluence|notion|jira|stack ?overflow|chatgpt|copilot|gemini|reviewers?|bots?|contributing(?:\.md)?|newsletter|forum|reddit|standup|meeting)\b|\b(?:puts it|has it that)\b|\b(?:coderabbit|dependabot|sonar\w*|copilot)\b`)

// header matches a line above others that is no sentence but a name, a handle or a time, as clients
// of chats copy them. A heading of a person's own looks the same.
var header = pattern.New(`(?m)^[ \t]*(?:@[\w.-]+|(?:\p{Lu}[\pL\d.'’_-]*,?[ \t]+){0,2}\p{Lu}[\pL\d'’_-]*[ \t]*(?:\([^()\n]{1,30}\)|[|·•][^\n]{1,30}|\d[^\n.!?]{0,20})?|[\p{Han}\p{Katakana}]{2,5}|` +
	`[^\n]{0,40}\b\d{1,2}:\d\d(?::\d\d)?\b[^\n.!?;:,]{0,12}|(?:[\w.@-]+ ){0,3}\d+ \w+ ago[^\n.!?;:,]{0,12})[ \t\r]*\n`)

// plainLead matches a harmless text before a colon: the kind of statement that follows, its
// condition, or the statement that a reason follows.
var plainLead = pattern.New(`(?i)^(?:\W*(?:and|so|ok|okay|oh|but|also|please|pls|btw|fyi|yes|no|right|then|well|again|hey)\b[\s,]*)*(?:` +
	`(?:one|two|three|a few|some|another|a couple(?: of)?|last|first|second|finally|more)\b(?: more| other| last)?(?: small| quick)?(?: things?| points?| notes?| remarks?| rules?)?|` +
	`(?:(?:a|an|the|our|my|house|team|new|general|standing|project|repo|hard|golden|important|coding|one|another|basic|simple|strict|key|naming|code|style|commit|test(?:ing)?)\s+)*(?:rules?|notes?|conventions?|polic(?:y|ies)|constraints?|preferences?|decisions?|reminders?|guidelines?|requirements?|principles?|standards?|reasons?|point|thing|problem|correction|clarification|exception|update|style)(?: of thumb)?(?: (?:here|to remember|(?:for|in|on|about) (?:the |our |this |all )?[\w./-]+(?: [\w./-]+)?))?|` +
	`remember|important(?:ly)?|nb|n\.b\.|note to self|keep in mind|attention|careful|caution|decided|decision|` +
	`for (?:(?:exactly |just )?(?:that|this|the same) reason|next time|future|record|reference|later|tests?|commits?|everyone|all \w+|new \w+)|from (?:now|here|today|then) on|going forward|in (?:future|general|short|(?:this|our|the) (?:repo|repository|project|code ?base|code|monorepo|package|module|app|service|backend|frontend|ci|tests?|team))|(?:in|under|inside) ?[\w.@-]*[/.][\w./@*-]*?|(?:when|whenever|before|after|if|until|because|since|always|never|only|unless)\b[^:]*` +
	`)?\W*$|^\W*(?:注意|重要|记住|规则|约定|规范|要求|请注意|另外|原因|还有|补充|提醒|格式(?:是|为)?|ルール|注意|重要|覚えて(?:おいて)?|規約|ちなみに|補足|理由|규칙|주의|중요|기억(?:해)?|참고|이유|추가)\W*$|[^a-z]*[\x{4e00}-\x{9fff}]*(?:格式(?:是|为)|模块)\W*$`)

var (
	// directing matches the beginning of a clause that gives an order; a reason may follow its colon.
	directing   = pattern.New(`(?i)^(?:\W*(?:please|and|so|but|also|no|ok|we|i|just)\b\W+)*(?:always|never|only|don't|do not|prefer|avoid|use|keep|stay|go with|run|put|stop|uuid)\b|ください`)
	asAlways    = pattern.New(`(?i)\b(?:as always|wie immer|comme toujours|como si?empre)\b|как всегда`)
	colonBefore = pattern.New(`[:：](?:\s|$|["'“„«「]|[^\x00-\x7f])`)
	clauseStart = pattern.New(`[.!?;,。！？；，、\n]\s*|\s[–—-]\s`)
	politeAsk   = pattern.New(`(?i)^(?:\W*(?:ok|okay|so|and|also|please|pls|hey|hi|now|then|great|thanks|good|nice|cool|but|btw)\b[\s,]*)*(?:(?:can|could|would|will) (?:you|u|we|ya)\b|(?:is there (?:a|any) way|how (?:can|do|could|should) we|what can we do)\b[^?]*\b(?:make sure|ensure)(?: that)? you\b)`)
	handedOver  = pattern.New(`(?i)\b(?:this|that|these|those|it|right|correct|true|mean|means|ok|okay|legit|safe|say|says|said|does|do)\W*\?|\b(?:explain|translate|summari[sz]e|review|check|read|look at|tell me)\b`)
	blankLine   = pattern.New(`\n[ \t]*\n`)
)

// Hearsay returns the sign that a message may hold words of others, or "".
func Hearsay(text string) string {
	switch {
	case len(text) > maxDirect:
		return "length"
	case len(blankLine.Split(strings.TrimSpace(text), maxParagraphs+1)) > maxParagraphs:
		return "paragraphs"
	}
	for _, head := range header.FindAllString(strings.TrimSpace(text), -1) {
		if foreignScript.MatchString(head) || !plainLead.MatchString(head) {
			return "header"
		}
	}
	bare := inTicks.ReplaceAllString(text, "`x`")
	for _, s := range signs {
		if s.looks.MatchString(bare) {
			return s.what
		}
	}
	if reported(bare) > 0 {
		return "report"
	}
	for word := range strings.FieldsFuncSeq(strings.ToLower(bare), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if foreignReports.Has(word) {
			return "report"
		}
	}
	for line := range strings.Lines(text) {
		if Code(line) {
			return "code"
		}
	}
	for _, raw := range Sentences(bare) {
		if othersFollow(raw) {
			return "colon"
		}
		if Asks(raw) && (!politeAsk.MatchString(raw) || handedOver.MatchString(raw)) {
			return "question"
		}
	}
	return ""
}

// reported returns the end of the first words in a text that report another's, or 0. A report is of
// a person here if it begins with one of speakers, or if its verb has one for a subject ("the docs
// you've written"). The verb of such a report may begin another.
func reported(text string) int {
	for from := 0; ; {
		at := reporting.FindStringIndex(text[from:])
		if at == nil {
			return 0
		}
		report := text[from+at[0] : from+at[1]]
		first, _, _ := strings.Cut(strings.ToLower(report), " ")
		if !speakers.Has(first) && !ourVerb.MatchString(report) {
			return from + at[1]
		}
		from += at[0] + strings.LastIndexAny(report, " \t\n\f\r") + 1
	}
}

// reporting matches a reported speaker.
var (
	reporting = pattern.New(`(?i)(?:\b(?:he|she|they|who|someone|somebody|(?:the|our|my|a|an|this|that|his|her|their|your|some|one of \w+)\s+(?:[\w'./-]+\s+){1,4}?)|\b(?-i:[A-Z])[\w.-]*\s+)` +
		`(?:(?:also|just|now|once|even|then)\s+)?(?:has |have |had )?(?:wrote|writes|written|reads|reported|announced|commented|noted)\b|` +
		`\b[\w.-]+\s+(?:(?:also|just|now|once|even|then)\s+)?(?:has |have |had )?(?:said|says?|saying|asked|asks|posted|posts|told|tells|claimed|claims?|suggested|suggests?|recommended|` +
		`recommends?|mentioned|mentions?|stated|states|replied|replies|answered|insists?|insisted|proposed|proposes|demands?|demanded|instructs?|instructed|quoted|reminded|warned|warns)\b`)
	speakers = pattern.NewWords("i we you and or to not just only never always")
	ourVerb  = pattern.New(`(?i)\s(?:i|we|you)(?:['’](?:ve|d))?\s(?:(?:also|just|now|once|even|then|have|had)\s){0,2}\w+$`)
)

// foreignReports lists words that report speech, or ask for work on it, in languages with few rules
// of their own here.
var foreignReports = pattern.NewWords(`
	schrieb schreibt geschrieben sagt sagte meint meinte behauptet laut zufolge übersetze übersetzen übersetz erkläre erklär
	zusammenfassen zusammenfassung fasse korrigiere écrit écrivait dit selon traduis traduire traduisez explique expliquez
	résumez résume relis corrigez escribió escrito dijo dice según traduce traduzca explica resuma revisa corrige escreveu disse
	diz traduz traduza scritto scrive detto secondo traduci spiega riassumi correggi schreef schrijft zegt zei volgens vertaal
	samen napisał napisała powiedział według przetłumacz wyjaśnij yazdı dedi göre çevir açıkla özetle пишет написал написала
	сказал сказала говорит согласно переведи переведите объясни объясните перескажи кратко цитата`)

var inTicks = pattern.New("`[^`\n]+`")

// othersFollow reports whether another person's words may follow a colon in a sentence.
func othersFollow(sentence string) bool {
	for from := 0; ; {
		at := colonBefore.FindStringIndex(sentence[from:])
		if at == nil {
			return false
		}
		left, right := sentence[:from+at[0]], strings.TrimSpace(sentence[from+at[0]+1:])
		if starts := clauseStart.FindAllStringSubmatchIndex(left, -1); len(starts) > 0 {
			left = left[starts[len(starts)-1][1]:]
		}
		reason := rules(asAlways.ReplaceAllString(left, "")) && !rules(right)
		if !plainLead.MatchString(left) && !reason {
			return true
		}
		from += at[1]
	}
}

// rules reports whether a clause states a rule by itself.
func rules(clause string) bool {
	return directing.MatchString(clause) || lexicon.Ruling.MatchString(clause)
}

// Theirs reports whether a sentence is plainly someone else's: it is data, or follows a colon that
// introduces others' words, in its own or an earlier sentence of its paragraph.
func Theirs(sentence string) bool {
	if inData.MatchString(sentence) {
		return true
	}
	at := colonBefore.FindStringIndex(sentence)
	return at != nil && reports.MatchString(ownIssue.ReplaceAllString(sentence[:at[0]+1], ""))
}

// ownIssue matches an introduction of a person's own problem, not of a ticket.
var ownIssue = pattern.New(`(?i)\b(?:the|my|our|main|only|other|another) issues? (?:is|are|here|i|we)\b`)

var (
	inData  = pattern.New(`[{\[,]\s*["'][\w .-]+["']\s*:|["'][\w-]+["']\s*:\s*["{\[]`)
	reports = pattern.New(`(?i)\b(?:wrote|writes|said|says|asked|asks|posted|told|claims?|claimed|suggests|suggested|recommends|recommended|mentions|mentioned|` +
		`states|stated|comment(?:s|ed)?|replied|reads|translate|explain|summari[sz]e|paraphrase|rephrase|proofread|reword|rewrite|` +
		`review|typo|sentence|prompt|string|text|page|readme|ticket|issue|e-?mail|message|commit message|quote|log|output|diff|snippet|` +
		`schrieb|sagte?|meinte?|erkläre|a écrit|a dit|dit|traduis|traduire|explique|escribió|dijo|dice|traduce|explica|escreveu|disse|traduza|` +
		`ha scritto|ha detto|traduci|spiega|schreef|zei|vertaal)\b[^:]*:$|(?:übersetz|пишет|написал|сказал|переведи|объясни)\S*[^:]*:$|` +
		`(?:说|写道|写着|表示|翻译|解释|总结|如下)[^:：]*[:：]$|(?:言|書|翻訳|要約|説明)[^:：]*[:：]$|(?:말했|라고|번역|요약|설명)[^:：]*[:：]$`)
)

// Asks reports whether a sentence is a question, with or without its mark.
func Asks(s string) bool {
	if foreignQuestion.MatchString(whether.ReplaceAllString(s, "")) {
		return true
	}
	return strings.HasSuffix(strings.TrimRight(s, "\"') `"), "?") || questions.MatchString(s)
}

var (
	questions = pattern.New(`(?i)^(?:(?:ok|so|and|but|hm+|hmm|also|wait|well|no|hey)[, ]+)*(?:why|what|how|where|when (?:do|` +
		`does|did|is|are|will|should)|who|which|is|are|was|were|does|did|do (?:we|you|i|they)|can|could|` +
		`would|should (?:we|i|it|this|that|the)|shall|will|have you|has|isn'?t|aren'?t|doesn'?t|didn'?t|` +
		`don'?t (?:we|you|they|i)|won'?t|wouldn'?t|shouldn'?t|any (?:idea|reason))\b`)
)

// whether matches an indirect question in Chinese.
var whether = pattern.New(`(?:判断|验证|检测|测试|根据|无论|不管|不论|取决于|标记|表示|控制|决定)[^，。！？；]{0,10}是否`)

var foreignQuestion = pattern.New(`[？?؟]\s*$|(?:吗|呢|么)[。.!！]?$|为什么|怎么|是不是|能不能|可不可以|要不要|有没有|` +
	`是否|(?:ですか|ますか|でしょうか|かな|のか)[。.]?$|なぜ|どうして|(?:까요|나요|인가요|습니까|을까|건가)[.]?$|왜 |¿|` +
	`^(?i:pourquoi|est-ce que|qu['’]est-ce|comment (?:fonctionne|faire|est-ce)|warum|wieso|weshalb|почему|зачем|чому|навіщо)(?:\PL|$)`)
