package reflect

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A sentence is one thing a person said, in words that stand verbatim in an event.
type sentence struct {
	event  int    // index of the User event
	raw    string // verbatim
	text   string // raw on one line, list marker off
	lang   string // en, zh, ja or ko
	form   string // as a statement: fillers and marks of its lasting off
	rules  bool   // stands in a list whose heading calls it rules
	more   bool   // the next sentence is of the same paragraph
	marked bool   // the next sentence says to remember it
	wanted bool   // its message asks for a rule to be written down
	asking bool   // a question
	task   bool   // its message asks for a piece of work
	brief  bool   // its message is a long one: a brief for a task
	theirs bool   // somebody else's, as its paragraph says
}

const (
	maxTyped    = 4000 // a longer message is mostly pasted: only its first and last paragraph count
	longMessage = 1500 // bytes; a longer one is a brief
	maxSentence = 360  // bytes; longer ones are not statements
	maxTypedAll = 64   // sentences looked at in one message
)

var (
	machineText = lazy(`(?i)^\s*(?:<[a-z][\w-]*[ >]|\[request interrupted|operation stopped by|caveat:|this session is being continued|` +
		`\[system|\[image|api error|you are |your task is|# agents\.md|stop hook)`)
	listMark = lazy(`^(?:[-*•·]|\d{1,2}[.)、]|[（(]\d{1,2}[)）])\s*`)
	codeLine = lazy(`^(?:\t| {4,}\S)|^\s*(?:[$%❯➜] |>>> |\+{3} |-{3} |@@ |at [\w.$<>]+ ?\(|File "|Caused by|\|.*\|$|` +
		`//|/\*|\*/|#!|import [\w{*"']|from \w+ import|func \w|def \w+\(|class \w+[:({]|const \w+ =|let \w+ =|` +
		`var \w+ =|return |[{}\[\]()<>;]+\s*$|[\w.-]+(?::\d+){1,2}:? |\d{4}-\d\d-\d\d[T ]\d\d:|\[?\d\d:\d\d:\d\d)|` +
		`[{;]\s*$`)
	logLine = lazy(`^\s*(?:(?:ERROR|WARN|WARNING|INFO|DEBUG|FATAL|PANIC)\b|(?i:error|warn(?:ing)?|info|debug|fatal|` +
		`panic|traceback|exception)\b ?[:\[(]|npm ERR!|FAIL\b|PASS\b|--- |=== |\w+Error:|\w+Exception:|` +
		`error\[)`)
	pasteIntro = lazy(`(?i)\b(?:feedback|errors?|output|logs?|message|says?|said|comments?|review|reviewer|ticket|trace|` +
		`stack|following|spec|plan|here(?:'s| is| are)|got|getting|gets|saw|see|seeing|below|docs?|documentation|` +
		`email|text|description|paste[ds]?|response|prompt|snippet|code|diff|wrote|told me|readme|issue|` +
		`context|background|transcript|result|example)\b[^.]*[:：]\s*$|(?:报错|错误|日志|输出|如下|反馈|评论|代码|需求|文档|` +
		`返回|エラー|ログ|出力|以下|오류|에러|로그|다음)[^。]*[:：]\s*$`)
	remark = lazy(`(?i)^(?:(?:please|pls|ok|so|and)[, ]+)*(?:remember (?:that|this|it)|keep (?:that|this|it) in mind|` +
		`(?:make a )?note (?:of )?(?:that|this)|write (?:that|this) down|don't forget (?:that|this|it)|` +
		`(?:save|store|put|add) (?:that|this) (?:to|in) (?:your )?memory|that's (?:the|our|a) (?:[\w-]+ )?(?:rule|` +
		`convention|policy|standard)\b[^.]*)(?: please| for (?:later|next time|` +
		`the future)| from now on| going forward)*[.!]*$|^(?:请?(?:记住|记一下|记下来|牢记)(?:这点|这个|一下)?|` +
		`覚えて(?:おいて)?(?:ください|` +
		`ね)?|기억해(?:두세요|둬|주세요|줘)?)[。.!！]*$`)
	trailing = lazy(`(?i)[,;]? (?:so |and |please )*(?:keep (?:that|this) in mind|remember (?:that|this)|don't forget (?:that|` +
		`this|it))(?: please)?[.!]*$|[，,]\s*(?:以后|今后)(?:都|就|也)*(?:这样|如此|这么(?:做|办|写))[。！!]*$`)
	// memoryNote asks for a memory in brackets: "(update memory)".
	memoryNote = lazy(`(?i)\s*\((?:please )?(?:update|save|add|put|remember|note|store)\b[^)]{0,30}\bmemor\w*[^)]{0,12}\)`)
	// asksRule asks for a rule to be written down.
	asksRule = lazy(`(?i)\b(?:make|create|add|write|record|update|save|specif\w+|mention)\b[^.\n]{0,40}\b(?:rules?|` +
		`memory|memories|agents\.md|claude\.md|conventions?(?:\.md)?|guidelines?)\b`)
	// shortcut is a message that some agents take for a note to their memory.
	shortcut  = lazy(`^#\s*([^#\s][^\n]{10,300})\s*$`)
	taskWords = lazy(`(?i)^\W*(?:(?:ok(?:ay)?|so|now|hi|hey|please|next|then|great|good|thanks|and|also|let'?s|can you|` +
		`could you|would you|i want (?:you )?to|i need (?:you )?to|i'?d like (?:you )?to|we need to|` +
		`help me(?: to)?)[,.!]?\s+)*(?:add|` +
		`implement|create|write|build|make|fix|refactor|change|update|design|develop|generate|support|` +
		`introduce|extend|rewrite|redesign|rework|rethink|rebuild|overhaul|improve|move|replace|remove|port|convert|set up|draft)\b`)
	questions = lazy(`(?i)^(?:(?:ok|so|and|but|hm+|hmm|also|wait|well|no|hey)[, ]+)*(?:why|what|how|where|when (?:do|` +
		`does|did|is|are|will|should)|who|which|is|are|was|were|does|did|do (?:we|you|i|they)|can|could|` +
		`would|should (?:we|i|it|this|that|the)|shall|will|have you|has|isn'?t|aren'?t|doesn'?t|didn'?t|` +
		`don'?t (?:we|you|they|i)|won'?t|wouldn'?t|shouldn'?t|any (?:idea|reason))\b`)
)

// sentences splits what a person typed into sentences, without quoted text, code, logs and
// pasted blocks.
func sentences(event int, text string) []sentence {
	if machineText.MatchString(text) || strings.Count(text, "\n#") > 2 {
		return nil
	}
	if m := shortcut.FindStringSubmatch(text); m != nil && !taskWords.MatchString(m[1]) {
		s := sentence{event: event, raw: m[1], text: m[1], lang: language(m[1]), marked: true}
		s.form = statement(s)
		return []sentence{s}
	}
	var out []sentence
	long := len(text) > maxTyped
	task := false
	rule := asksRule.MatchString(text) && !headingPassing.MatchString(asksRule.FindString(text))
	paragraphs := typedParagraphs(text)
	quote := false // inside a quotation that runs over sentences
	for p, par := range paragraphs {
		if long && p > 0 && p < len(paragraphs)-1 {
			continue
		}
		others := false
		for i, raw := range splitAsides(splitSentences(par.text)) {
			if len(out) == maxTypedAll {
				return out
			}
			inside := quote
			if strings.Count(raw, `"`)%2 == 1 {
				quote = !quote
			}
			if len(raw) > maxSentence || inside || quote {
				continue
			}
			others = others || theirs(raw)
			s := sentence{event: event, raw: raw, rules: par.rules, theirs: others}
			s.text = strings.Join(strings.Fields(listMark.ReplaceAllString(strings.TrimSpace(raw), "")), " ")
			s.lang = language(s.text)
			if s.lang == "en" {
				s.text = wordOrName.ReplaceAllStringFunc(strings.ReplaceAll(s.text, "’", "'"), apostrophe)
			}
			if at := memoryNote.FindStringIndex(s.text); at != nil {
				s.text, s.marked = strings.TrimSpace(s.text[:at[0]]+s.text[at[1]:]), true
			}
			if at := trailing.FindStringIndex(s.text); at != nil && at[0] > 8 {
				s.text, s.marked = s.text[:at[0]], true
			}
			s.form = statement(s)
			s.asking = isQuestion(s.text, s.lang)
			if i > 0 && len(out) > 0 {
				out[len(out)-1].more = true
			}
			if taskWords.MatchString(s.text) && !rule {
				task = true
			}
			if remark.MatchString(s.text) && len(out) > 0 {
				out[len(out)-1].marked = true
				continue
			}
			if !strings.HasSuffix(s.text, ":") && !strings.HasSuffix(s.text, "：") {
				out = append(out, s)
			}
		}
	}
	for i := range out {
		out[i].task = task
		out[i].wanted = rule
		out[i].brief = len(text) > longMessage
	}
	return out
}

// A paragraph is a run of typed lines that belong together, or one item of a list.
type paragraph struct {
	text  string
	rules bool
}

// typedParagraphs cuts a message into paragraphs and drops what the person did not write:
// fenced and indented code, quotes, logs, and what follows a line that introduces a paste.
func typedParagraphs(text string) []paragraph {
	var out []paragraph
	var start, end = -1, -1 // of the paragraph being gathered
	var rules, pasted, ruled, log bool
	fence := ""
	flush := func() {
		if start >= 0 && end > start {
			out = append(out, paragraph{text[start:end], rules && listMark.MatchString(text[start:end])})
		}
		start, end = -1, -1
	}
	pos := 0
	prev := ""
	for line := range strings.Lines(text) {
		at := pos
		pos += len(line)
		trimmed := strings.TrimSpace(line)
		if fence != "" {
			if strings.HasPrefix(trimmed, fence) {
				fence = ""
			}
			continue
		}
		switch {
		case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
			flush()
			fence = trimmed[:3]
			continue
		case trimmed == "":
			flush()
			log = false
			prev = ""
			continue
		case ruleLine.MatchString(trimmed):
			flush()
			ruled = !ruled // between two such lines stands a document
			prev = ""
			continue
		case letterHead.MatchString(trimmed):
			flush()
			pasted = true // a mail, to its end
			prev = ""
			continue
		case logLine.MatchString(trimmed):
			flush()
			log = true // to the next blank line
			prev = ""
			continue
		case pasted || ruled || log || strings.HasPrefix(trimmed, ">") || strings.HasPrefix(trimmed, "<") || strings.HasPrefix(trimmed, "#") || codeLine.MatchString(strings.TrimRight(line, "\r\n")):
			flush()
			prev = ""
			continue
		}
		heading := strings.HasSuffix(trimmed, ":") || strings.HasSuffix(trimmed, "：")
		item := listMark.MatchString(trimmed)
		if start >= 0 && (item || !continues(prev, trimmed)) {
			flush()
		}
		if heading {
			flush()
			rules = ruleHeading(trimmed)
			if !rules && pasteIntro.MatchString(trimmed) {
				// What follows is somebody else's; the line itself still counts.
				pasted = true
			}
		} else if !item && start < 0 {
			rules = false
		}
		if start < 0 {
			start = at
		}
		end = at + len(strings.TrimRight(line, "\r\n \t"))
		prev = trimmed
	}
	flush()
	return out
}

var (
	// ruleLine is a line across the page.
	ruleLine = lazy(`^(?:-{3,}|={3,}|\*{3,}|_{3,}|—{2,})$`)
	// letterHead begins a mail, or is the mark of some clients for pasted text.
	letterHead = lazy(`^(?:(?i:from|to|cc|subject|sent|date|von|an|betreff|de|objet|asunto|发件人|主题|件名|差出人)\s?[:：]\s+\S.*|\[Pasted text\b.*)$`)
)

// byTheWay begins a statement of its own in the middle of a sentence.
var byTheWay = lazy(`(?i)\w,? (?:btw|by the way|fyi),\s+`)

// splitAsides splits sentences after a "btw," in the middle.
func splitAsides(list []string) []string {
	var out []string
	for _, s := range list {
		if at := byTheWay.FindStringIndex(s); at != nil && !strings.ContainsRune(s[:at[0]], '`') {
			out = append(out, strings.TrimSpace(s[:at[1]]))
			s = s[at[1]:]
		}
		out = append(out, s)
	}
	return out
}

// continues tells whether a line goes on with the sentence of the one before.
func continues(prev, line string) bool {
	if prev == "" {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(prev)
	first, _ := utf8.DecodeRuneInString(line)
	return !strings.ContainsRune(".!?:;。！？：；", last) && (unicode.IsLower(first) || last == ',' || last == '，')
}

// splitSentences splits a paragraph after sentence ends outside backticks. Chinese and
// Japanese ends need no space after them.
func splitSentences(text string) []string {
	var out []string
	start := 0
	tick := false
	before := rune(0)
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		after, _ := utf8.DecodeRuneInString(text[i+size:])
		last := i+size == len(text)
		if r == '`' {
			tick = !tick
		}
		cut := false
		switch r {
		case '。', '！', '？', '；':
			cut = true
		case '.', '!', '?':
			cut = last || unicode.IsSpace(after) && !unicode.IsSpace(before) && !abbreviation(text[start:i+size])
		}
		before = r
		if cut && (!tick || last) && (last || !strings.ContainsRune("\"'”’)）」』`", after)) {
			out = appendSentence(out, text[start:i+size])
			start = i + size
		}
	}
	return appendSentence(out, text[start:])
}

// apostrophes are contractions typed in haste.
var apostrophes = lazy(`(?i)^(?:(?:don|doesn|didn|isn|aren|wasn|weren|won|can|couldn|shouldn|wouldn|haven|hasn)t|` +
	`thats|lets|ive|im|youre|theyre|theres|whats)$`)

// wordOrName is a word, or a name that words are part of: @dont-ignore-errors.
var wordOrName = lazy(`[@\w/-]+`)

func apostrophe(word string) string {
	if !apostrophes.MatchString(word) {
		return word
	}
	switch n := len(word); strings.ToLower(word) {
	case "thats", "lets", "theres", "whats":
		return word[:n-1] + "'s"
	case "ive", "im", "youre", "theyre":
		cut := map[string]int{"ive": 2, "im": 1, "youre": 2, "theyre": 2}[strings.ToLower(word)]
		return word[:n-cut] + "'" + word[n-cut:]
	default:
		return word[:n-1] + "'" + word[n-1:]
	}
}

func appendSentence(out []string, s string) []string {
	if s = strings.TrimSpace(s); s != "" {
		out = append(out, s)
	}
	return out
}

// abbreviation tells whether a text that ends in a full stop ends in an abbreviation.
func abbreviation(s string) bool {
	s = strings.ToLower(s[strings.LastIndexAny(s, " \n(")+1:])
	switch s {
	case "e.g.", "i.e.", "etc.", "vs.", "approx.", "resp.", "cf.", "incl.", "1.", "2.", "3.", "4.", "5.":
		return true
	}
	return false
}

// language tells the language of a text by its script: Korean, Japanese, Chinese, else en.
func language(s string) string {
	lang := "en"
	for _, r := range s {
		switch {
		case unicode.Is(unicode.Hangul, r):
			return "ko"
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			return "ja"
		case unicode.Is(unicode.Han, r):
			lang = "zh"
		}
	}
	return lang
}

var foreignQuestion = lazy(`[？?]\s*$|(?:吗|呢|么)[。.!！]?$|为什么|怎么|是不是|能不能|可不可以|要不要|有没有|` +
	`是否|(?:ですか|ますか|でしょうか|かな|のか)[。.]?$|なぜ|どうして|(?:까요|나요|인가요|습니까|을까|건가)[.]?$|왜 `)

// isQuestion tells whether a sentence asks. A request for a habit ("can you always …")
// is none.
func isQuestion(s, lang string) bool {
	if lang != "en" {
		return foreignQuestion.MatchString(s)
	}
	if habitRequest.MatchString(s) {
		return false
	}
	return strings.HasSuffix(strings.TrimRight(s, `"') `), "?") || questions.MatchString(s)
}
