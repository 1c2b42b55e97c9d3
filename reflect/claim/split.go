package claim

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/internal/pattern"
)

// Bounds of one message.
const (
	// bytes; of a longer message only the first and last paragraph count, because the rest is mostly
	// pasted
	maxTyped     = 4000
	maxSentence  = 400 // bytes; longer ones state nothing, in Cyrillic already from 200 characters
	maxSentences = 64
)

// A Sentence is one sentence that a person typed, with its neighbours.
type Sentence struct {
	Start, End int  // bytes in the message
	Joined     bool // the previous sentence is in the same paragraph

	text          string
	tokens        []token
	item          bool  // of a list
	open          bool  // it ends in a colon
	given         given // that it announces in the lines after it
	index, count  int   // its index in the message, and their number
	heading       []uint32
	before, after *Sentence
	message       *message
}

// message holds the shared features of all its sentences.
type message struct {
	size      int // bytes
	blocks    int // paragraphs
	sentences int
	symbols   int // names of code
	own       bool
	hearsay   bool
	neat      bool   // every sentence has its capital and its full stop
	opening   uint32 // first word
}

// manner combines the signs that distinguish typed from pasted messages.
func (m *message) manner() uint32 {
	n := uint32(0)
	for i, on := range []bool{m.own, m.hearsay, m.neat, m.symbols > 1, m.size > 100, m.size > 400} {
		if on {
			n |= 1 << i
		}
	}
	return n
}

// pasted reports whether a message reads like a review finding or a page of a document: whole
// sentences about names of code, without a speaker.
func (m *message) pasted() bool {
	return !m.own && m.neat && m.symbols > 0 && m.size > 60 && (m.sentences > 1 || m.size > 200)
}

func (s *Sentence) asks() bool {
	return strings.HasSuffix(s.text, "?") || strings.HasSuffix(s.text, "？")
}

var (
	machineText = pattern.New(`(?i)^\s*(?:<[a-z][\w-]*[ >]|\[request interrupted|operation stopped by|caveat:|this session is being continued|` +
		`\[system|\[image|api error|you are |your task is|# agents\.md|stop hook)`)
	listMark = pattern.New(`^(?:[-*•·]|\d{1,2}[.)、]|[（(]\d{1,2}[)）])\s*`)
	codeLine = pattern.New(`^(?:\t| {4,}\S)|^\s*(?:[$%❯➜] |>>> |\+{3} |-{3} |@@ |at [\w.$<>]+ ?\(|File "|Caused by|\|.*\|$|` +
		`//|/\*|\*/|#!|import [\w{*"']|from \w+ import|func \w|def \w+\(|class \w+[:({]|const \w+ =|let \w+ =|` +
		`var \w+ =|return |[{}\[\]()<>;]+\s*$|[\w.-]+(?::\d+){1,2}:? |\d{4}-\d\d-\d\d[T ]\d\d:|\[?\d\d:\d\d:\d\d)|` +
		`[{;]\s*$`)
	logLine = pattern.New(`^\s*(?:(?:ERROR|WARN|WARNING|INFO|DEBUG|FATAL|PANIC)\b|(?i:error|warn(?:ing)?|info|debug|fatal|` +
		`panic|traceback|exception)\b ?[:\[(]|npm ERR!|FAIL\b|PASS\b|--- |=== |\w+Error:|\w+Exception:|` +
		`error\[)`)
	// sourceIntro matches a line that introduces words of others or of a program, and vagueIntro one
	// that may.
	sourceIntro = pattern.New(`(?i)\b(?:feedback|errors?|output|logs?|message|says?|said|comments?|review|reviewer|ticket|trace|` +
		`got|getting|gets|docs?|documentation|e?mail|text|paste[ds]?|response|prompt|snippet|diff|wrote|told me|readme|issue|` +
		`transcript)\b[^.]*[:：]\s*$|(?:报错|错误|日志|输出|如下|反馈|评论|代码|需求|文档|返回|エラー|ログ|出力|以下|오류|에러|로그|다음)[^。]*[:：]\s*$`)
	vagueIntro = pattern.New(`(?i)\b(?:following|spec|plan|here(?:'s| is| are)|saw|see|seeing|below|description|code|` +
		`context|background|result|example)\b[^.]*[:：]\s*$`)
	// printIntro matches a line that introduces a program's output, and names no other source.
	printIntro = pattern.New(`(?i)^(?:\W*\b(?:i|we|it|ci|now|still|also|again|get|gets|got|getting|see|saw|seeing|have|gives?|fails?|` +
		`failed|with|this|that|the|an?|same|following|here|here's|is|build|tests?|server|console|browser|terminal|but|and|so|when|running|there)\b)*\W*` +
		`\b(?:errors?|output|logs?|(?:stack ?)?trace)\W*[:：]\s*$`)
	// resumes matches a person's own words after a program's output: they begin with a speaker.
	resumes = pattern.New(`^\s*(?i:(?:so|and|ok|okay|but|please|pls|also|anyway|right)\b[\s,]*)*` +
		`(?i:i|i'm|we|let's)\s[^:\n]*(?:[.!\n]|$)`)
	openTag    = pattern.New(`^<([A-Za-z][\w-]*)[^<>]*>`)
	mention    = pattern.New(`^#(?:sym|file):`) // of a symbol or a file, in VS Code
	ruleLine   = pattern.New(`^(?:-{3,}|={3,}|\*{3,}|_{3,}|—{2,})$`)
	letterHead = pattern.New(`^(?:(?i:from|to|cc|subject|sent|date|von|an|betreff|de|objet|asunto|发件人|主题|件名|差出人)\s?[:：]\s+\S.*|\[Pasted text\b.*)$`)
	ownVoice   = pattern.New(`(?i)\b(?:i|we|you|our|my|your|let'?s|us|me|im|ive)\b|我|你|私|俺|우리|제가|\b(?:ich|wir|du|ihr|je|nous|on|tu|vous|yo|nosotros|eu|nós|você|я|мы|ты|вы)\b`)
)

// Split returns the sentences that a message's author typed. It omits fenced and indented code,
// quotations, logs, and text after a line that introduces a paste. It is linear in the length of
// the message.
func Split(text string) []*Sentence {
	if machineText.MatchString(text) || strings.Count(text, "\n#") > 2 {
		return nil
	}
	var out []*Sentence
	m := &message{size: len(text), own: ownVoice.MatchString(text), hearsay: Hearsay(text) != ""}
	paragraphs := typed(text, true)
	m.blocks = len(paragraphs)
	told := 0 // the end of the last announced command
	for p, par := range paragraphs {
		if len(text) > maxTyped && p > 0 && p < len(paragraphs)-1 || par.start < told {
			continue
		}
		joined := false
		for _, at := range sentences(text[par.start:par.end]) {
			start, end := par.start+at[0], par.start+at[1]
			if mark := listMark.FindStringIndex(text[start:end]); mark != nil {
				start += mark[1]
			}
			if end-start > maxSentence || end == start {
				joined = false
				continue
			}
			if len(out) == maxSentences {
				break
			}
			s := &Sentence{Start: start, End: end, Joined: joined, text: text[start:end], item: par.item, heading: par.heading, message: m}
			s.tokens = tokens(s.text)
			if len(s.tokens) == 0 {
				continue
			}
			s.open = strings.HasSuffix(s.text, ":") || strings.HasSuffix(s.text, "：")
			if s.open && par.given.command != "" && s.lasts() {
				s.open, s.given, s.End, told = false, par.given, par.given.end, par.given.end
				s.text += " `" + s.given.command + "`"
				s.tokens = tokens(s.text)
			}
			out = append(out, s)
			joined = true
		}
	}
	m.join(out)
	return out
}

// join makes sentences neighbours, and reads the features of a message from them.
func (m *message) join(all []*Sentence) {
	m.neat, m.sentences = true, len(all)
	for i, s := range all {
		s.index, s.count = i, len(all)
		if i > 0 {
			s.before, all[i-1].after = all[i-1], s
		} else {
			m.opening = s.tokens[0].hash
		}
		for _, t := range s.tokens {
			if t.shape == symbol || t.shape == path || t.shape == code {
				m.symbols++
			}
		}
		first, _ := utf8.DecodeRuneInString(s.text)
		last, _ := utf8.DecodeLastRuneInString(s.text)
		m.neat = m.neat && !unicode.IsLower(first) && strings.ContainsRune(".!?:。！？`)", last)
	}
}

// A paragraph is a run of connected typed lines, or one item of a list.
type paragraph struct {
	start, end int
	item       bool
	heading    []uint32 // the words of the line that heads its list
	given      given
}

// given is the only command in the lines after a heading.
type given struct {
	command string
	end     int // in the message
}

// commandIn returns the command in the lines at an index of a message, after a heading: a block of
// code with one line, or a line by itself that reads like a command after an order to run it.
func commandIn(heading, text string, at int) given {
	if m := onlyCommand.FindStringSubmatchIndex(text[at:]); m != nil {
		const bare = 8 // in m, the first group without a mark of code
		for i := 2; i < len(m); i += 2 {
			if m[i] >= 0 && (i < bare || orderToRun.MatchString(heading)) {
				return given{text[at+m[i] : at+m[i+1]], at + m[i+1]}
			}
		}
	}
	return given{}
}

// onlyCommand matches a fence around one line, or a line before a blank one that is indented,
// behind a prompt, in code marks, with an option, or of two or three plain words.
var onlyCommand = pattern.New("^(?:[ \t\r]*\n)*(?:(?:```|~~~)[\\w-]*[ \t\r]*\n[ \t]*(?:\\$ )?([^\n]+?)[ \t\r]*\n[ \t]*(?:```|~~~)|" +
	"(?:\t| {4,}|\\$ )([^\n]+?)|`([^`\n]+)`|([a-z./][^\\s:;,]*(?: [^:;,?!\n]*)? --?[a-z](?:[^?!\n]*[^.:,;?!\\s])?)|" +
	"([a-z][a-z0-9-]*(?: [a-z][a-z0-9:_-]*){1,2}))[ \t\r]*(?:\n[ \t\r]*(?:\n|$)|$)")

var orderToRun = pattern.New(`(?i)\b(?:run|use|execute|commands?)\b|运行|执行|命令`)

// typed splits a message into its typed paragraphs. With vague, what follows any line that may
// introduce words of others counts as pasted; else only if the line names them or their place.
func typed(text string, vague bool) []paragraph {
	var out []paragraph
	var heading []uint32
	paste := paste{vague: vague}
	open := false // the last paragraph may go on
	pos, prev := 0, ""
	for line := range strings.Lines(text) {
		at := pos
		pos += len(line)
		trimmed := strings.TrimSpace(line)
		if paste.takes(line, trimmed, text[pos:]) {
			open = false
			continue
		}
		head := strings.HasSuffix(trimmed, ":") || strings.HasSuffix(trimmed, "：")
		item := listMark.MatchString(trimmed)
		open = open && !item && !head && continues(prev, trimmed)
		switch {
		case head:
			heading = nil
			for _, t := range tokens(trimmed) {
				heading = append(heading, t.hash)
			}
			paste.announce(trimmed, item)
		case !item && !open:
			heading = nil
		}
		if !open {
			p := paragraph{start: at + strings.Index(line, trimmed), item: item}
			if item {
				p.heading = heading
			}
			if head {
				p.given = commandIn(trimmed, text, pos)
			}
			out = append(out, p)
		}
		out[len(out)-1].end = at + len(strings.TrimRight(line, "\r\n \t"))
		open, prev = true, trimmed
	}
	return out
}

// paste follows the parts of a message that its author did not type.
type paste struct {
	vague    bool   // a vague introduction suffices
	fence    string // that ends fenced code or an element, or ""
	ruled    bool   // a document between two rules
	log      bool   // to the next blank line
	all      bool   // to the end of the message
	printed  bool   // announced as a program's output
	printing bool   // and looks so
}

// takes reports whether a line is blank or not typed. rest is the text after it.
func (p *paste) takes(line, trimmed, rest string) bool {
	if p.fence != "" {
		if strings.HasPrefix(trimmed, p.fence) || p.fence[0] == '<' && strings.Contains(trimmed, p.fence) {
			p.fence = ""
		}
		return true
	}
	code := func() bool { return codeLine.MatchString(strings.TrimRight(line, "\r\n")) }
	switch {
	case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
		p.fence = trimmed[:3]
	case p.opens(trimmed, rest):
		p.printing = p.printed
	case trimmed == "":
		p.log = false
		if p.printing && resumes.MatchString(rest) {
			p.all, p.printed, p.printing = false, false, false
		}
	case ruleLine.MatchString(trimmed):
		p.ruled = !p.ruled
	case letterHead.MatchString(trimmed):
		p.all = true // a mail
	case logLine.MatchString(trimmed):
		p.log = true
	case p.all || p.ruled || p.log || trimmed[0] == '>' || trimmed[0] == '<' || trimmed[0] == '#' && !mention.MatchString(trimmed) || code():
	default:
		return false
	}
	p.printed = p.printed && !sourceIntro.MatchString(trimmed) && !vagueIntro.MatchString(trimmed)
	p.printing = p.printed && (p.printing || logLine.MatchString(trimmed) || code())
	return true
}

// opens reports whether a line begins an element that a later one ends.
func (p *paste) opens(line, rest string) bool {
	m := openTag.FindStringSubmatch(line)
	if m == nil || strings.Contains(line, "</"+m[1]) || !strings.Contains(rest, "</"+m[1]) {
		return false
	}
	p.fence = "</" + m[1]
	return true
}

// announce notes the source that a line with a colon announces. An item of a list introduces no
// paste.
func (p *paste) announce(line string, item bool) {
	p.printed = p.printed || printIntro.MatchString(line)
	p.all = !item && (sourceIntro.MatchString(line) || vagueIntro.MatchString(line) && (p.vague || placed.MatchString(line) || reported(line) > 0))
}

// continues reports whether a line goes on with the sentence of the line before.
func continues(prev, line string) bool {
	if prev == "" {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(prev)
	first, _ := utf8.DecodeRuneInString(line)
	return !strings.ContainsRune(".!?:;。！？：；", last) && (unicode.IsLower(first) || last == ',' || last == '，')
}

// sentences splits a paragraph after sentence ends outside backticks, and before an aside. Chinese
// and Japanese ends need no space after them.
func sentences(text string) [][2]int {
	var out [][2]int
	start := 0
	take := func(end int) {
		from, to := start, end
		for from < to && (text[from] <= ' ') {
			from++
		}
		for to > from && text[to-1] <= ' ' {
			to--
		}
		if to > from {
			out = append(out, [2]int{from, to})
		}
		start = end
	}
	tick, deep, quotedTo := false, 0, 0
	before := rune(0)
	for i, r := range text {
		size := utf8.RuneLen(r)
		if r == utf8.RuneError {
			size = 1
		}
		end := i + size
		after, _ := utf8.DecodeRuneInString(text[end:])
		last := end >= len(text)
		cut := false
		switch r {
		case '`':
			tick = !tick
		case '(', '（':
			deep++
		case ')', '）':
			deep = max(0, deep-1)
		case '"', '“', '«', '„':
			if n := quotation(text[i:], r); n > 0 {
				quotedTo = max(quotedTo, i+n-1)
			}
		case '。', '！', '？', '；':
			cut = deep == 0
		case '.', '!', '?', '؟', '۔', '।':
			cut = last || deep == 0 && unicode.IsSpace(after) && !unicode.IsSpace(before) && !abbreviation(text[start:end])
		case '\n':
			cut = deep == 0 && before != ',' && !lowerNext(text[end:])
		}
		before = r
		if i < quotedTo {
			cut = false // a quotation stays together
		}
		if cut && (!tick || last) && (last || !strings.ContainsRune("\"'”’)）」』`", after)) {
			take(end)
		}
	}
	take(len(text))
	return out
}

func lowerNext(s string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(s, " \t"))
	return unicode.IsLower(r)
}

// abbreviation reports whether a text that ends in a full stop ends in an abbreviation.
func abbreviation(s string) bool {
	switch strings.ToLower(s[strings.LastIndexAny(s, " \n(")+1:]) {
	case "e.g.", "i.e.", "etc.", "vs.", "approx.", "resp.", "cf.", "incl.", "z.b.", "bzw.", "p.ex.", "т.е.", "1.", "2.", "3.", "4.", "5.":
		return true
	}
	return false
}

// leaning matches a sentence that cannot be understood without the previous one.
var leaning = pattern.New(`(?i)^(?:it|its|it's|they|them|their|that|that's|thats|this|these|those|otherwise|because|the same|same|so that|then|he|she|both|neither|` +
	`das|dies(?:e[rs]?)?|sie|es|er|sonst|eso|esto|si no|ça|cela|c'est|sinon|isso|isto|senão|это|они|оно|иначе)\b|^(?:这|那|它|否则|不然|これ|それ|そうしないと|이거|그거|그건|이건|그렇지|안 그러면)`)

// Code reports whether a line belongs to a program, its output or a log.
func Code(line string) bool {
	return logLine.MatchString(line) || codeLine.MatchString(strings.TrimRight(line, "\r\n"))
}

// Sentences splits a paragraph.
func Sentences(text string) []string {
	var out []string
	for _, at := range sentences(text) {
		out = append(out, text[at[0]:at[1]])
	}
	return out
}
