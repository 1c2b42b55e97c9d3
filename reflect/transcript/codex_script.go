package transcript

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/internal/pattern"
)

// In Codex's code mode the model has one tool, "exec". It passes a JavaScript program that calls
// the others: `const r = await tools.exec_command({cmd: "make"}); text(r.output)`. A rollout holds
// the program and its output; some versions also record its calls.
//
// We extract calls with literal arguments from the program, but only those that must have run: none
// in a function, a loop or a branch. The program always stays a call of its own.

// program is the model's JavaScript program and its output so far.
type program struct {
	id       string // of its call
	code     string
	at       time.Time
	calls    []scriptCall
	whole    bool    // calls holds all calls of the program
	prints   [][]int // for each text() that must have run, the calls whose results it prints
	certain  bool    // prints are all there are
	printed  []string
	finished bool
}

type scriptCall struct {
	event Event
	names []string // variables that hold the result
	told  bool     // the rollout told it by itself
}

var (
	scriptHeader = pattern.New(`^Script (completed|failed|terminated|running with cell ID (\S+))[^\n]*(?:\n(?:Wall time[^\n]*|\s*))*(?:\n?Output:[ \t]*(?:\n|$))?`)
	scriptName   = pattern.NewWords("exec functions.exec functions__exec")
)

// scriptOutput receives a program's output, and emits its calls once it has ended.
func (p *codex) scriptOutput(s *program, it *codexItem, at time.Time) {
	if s.finished {
		return
	}
	printed := it.Output.parts
	if len(printed) == 0 {
		printed = []string{it.Output.text}
	}
	m := scriptHeader.FindStringSubmatch(printed[0])
	if m != nil {
		printed = slices.Clone(printed)
		if printed[0] = printed[0][len(m[0]):]; strings.TrimSpace(printed[0]) == "" {
			printed = printed[1:]
		}
	}
	for _, text := range printed[:min(len(printed), maxPrinted-len(s.printed))] {
		s.printed = append(s.printed, p.cutter().cut(text, MaxText))
	}
	if m != nil && m[2] != "" {
		p.cells[m[2]] = s
		return
	}
	s.finished = true
	defer func() { s.printed, s.calls = nil, nil }() // a session may run thousands
	maps.DeleteFunc(p.cells, func(_ string, open *program) bool { return open == s })
	p.scripts = slices.DeleteFunc(p.scripts, func(open *program) bool { return open == s })
	ended := Unknown
	switch {
	case m != nil && m[1] == "completed":
		ended = OK
	case m != nil && m[1] == "failed":
		ended = Failed
	case m != nil:
		ended = Aborted
	}
	if ended != OK { // its progress is uncertain
		s.calls = slices.DeleteFunc(s.calls, func(c scriptCall) bool { return !c.told })
		s.whole = false
	}
	results, divided := s.results()
	told := 0
	for i, c := range s.calls {
		if c.told {
			told++
			continue
		}
		call, result := c.event, results[i]
		call.Time, call.CallID = s.at, s.id+"."+string(rune('a'+i))
		p.emit(call)
		result.Kind, result.Time, result.CallID, result.Action = Result, at, call.CallID, call.Action
		if call.Action == Edit && result.Outcome == Unknown {
			result.Outcome = OK // a failed patch ends the program
		}
		if call.Action != Run {
			result.Exit = nil
		}
		p.emit(result)
	}
	if s.whole && len(s.calls) > 0 && (divided || told == len(s.calls)) {
		return
	}
	p.emit(s.event())
	p.emit(Event{Kind: Result, CallID: s.id, Time: at, Action: Other, Outcome: ended, Text: strings.Join(s.printed, "\n")})
}

// event is the call of the program itself.
func (s *program) event() Event {
	return Event{Kind: Call, Tool: "exec", Action: Other, CallID: s.id, Time: s.at, Text: s.code}
}

// toldCall notes that the rollout itself records a call of an open program.
func (p *codex) toldCall(e Event) {
	for _, s := range p.scripts {
		for i := range s.calls {
			c := &s.calls[i]
			if !c.told && c.event.Action == e.Action && c.event.Command == e.Command {
				c.told = true
				return
			}
		}
	}
}

// results divides a program's output among its calls.
func (s *program) results() (results []Event, divided bool) {
	results = make([]Event, len(s.calls))
	switch {
	case !s.whole:
		return results, false
	case len(s.calls) == 1:
		results[0] = scriptResult(strings.Join(s.printed, "\n"))
		return results, true
	case len(s.printed) == 0:
		return results, true
	case s.certain && len(s.prints) == len(s.printed) && distinct(s.prints):
		for i, calls := range s.prints {
			results[calls[0]] = scriptResult(s.printed[i])
		}
		return results, true
	}
	var list []json.RawMessage
	if len(s.printed) == 1 && json.Unmarshal([]byte(s.printed[0]), &list) == nil && len(list) == len(results) {
		for i, raw := range list {
			results[i] = scriptResult(string(raw))
		}
		return results, true
	}
	return results, false
}

// distinct reports whether each text() names exactly one call, and no call twice.
func distinct(prints [][]int) bool {
	seen := map[int]bool{}
	for _, calls := range prints {
		if len(calls) != 1 || seen[calls[0]] {
			return false
		}
		seen[calls[0]] = true
	}
	return true
}

// scriptResult reads a printed result: the object that a tool returned, or text of it.
func scriptResult(printed string) Event {
	var object struct {
		Output *string
		Exit   *int `json:"exit_code"`
	}
	if json.Unmarshal([]byte(printed), &object) == nil && object.Output != nil {
		return Event{Text: *object.Output, Exit: object.Exit, Outcome: outcomeOf(object.Exit)}
	}
	out := parseOutput(printed)
	return Event{Text: out.text, Exit: out.exit, Outcome: outcomeOf(out.exit)}
}

// Bounds for reading programs.
const (
	maxScriptCalls = 26      // calls of one program; a longer one is not divided
	maxPrinted     = 256     // texts that one printed
	maxScripts     = 64      // that have not ended
	maxLook        = 2 << 10 // tokens looked at behind a call
)

// readScript finds the calls that a program must have made.
func readScript(code string) *program {
	s := &program{code: code, whole: true, certain: true}
	r := &scriptReader{program: s, tokens: scriptTokens(code), consts: map[string]string{}}
	r.read()
	if len(s.calls) > maxScriptCalls {
		s.calls, s.prints, s.whole = nil, nil, false
	}
	return s
}

type scriptReader struct {
	*program
	tokens []token
	consts map[string]string // variables that always hold the same text
	frames []frame
	steps  int  // tokens looked at for values
	filled int  // bytes that variables stood for
	ended  bool // a return, throw or exit may have run
}

// frame is an open bracket of the program.
type frame struct {
	open   byte
	doubt  bool // its content may not run, or run more than once
	branch bool // so may the rest of the statement
	fn     bool // the body of a function
	text   int  // index in prints if it holds the arguments of text(), else -1
}

func (r *scriptReader) read() {
	r.frames = []frame{{text: -1}}
	declared := map[string]int{}
	for i := 0; i < len(r.tokens); i++ {
		if r.at(i, "const") && r.at(i+2, "=") {
			declared[r.tokens[i+1].text]++
		}
	}
	for i := 0; i < len(r.tokens) && len(r.calls) <= maxScriptCalls; i++ {
		t := r.tokens[i]
		f := &r.frames[len(r.frames)-1]
		switch {
		case t.kind == tokenText:
		case t.kind == tokenOpen:
			r.frames = append(r.frames, r.opened(i, *f))
		case t.kind == tokenClose:
			if len(r.frames) > 1 {
				r.frames = r.frames[:len(r.frames)-1]
			}
			if t.text == "}" {
				r.frames[len(r.frames)-1].branch = r.at(i+1, "else")
			}
		case t.text == ";", t.text == "," && f.open != '{' && f.open != 0:
			f.branch = false
		case t.text == "const" || t.text == "let" || t.text == "var":
			f.branch = false
			if value, next, ok := r.value(i+3, 0); ok && r.at(i+2, "=") && declared[r.tokens[i+1].text] == 1 && t.text == "const" && (next == len(r.tokens) || r.at(next, ";") || r.tokens[next].line > r.tokens[next-1].line) {
				if text, isText := value.(string); isText {
					r.consts[r.tokens[i+1].text] = text
				}
			}
		case branches.Has(t.text):
			f.branch = true
		case t.text == "return" || t.text == "throw" || t.text == "exit" && r.at(i+1, "("):
			r.ended = r.ended || !slices.ContainsFunc(r.frames, func(f frame) bool { return f.fn })
		case t.text == "tools" && !r.at(i-1, "."):
			r.call(i, f.doubt || f.branch || r.ended)
		case t.text == "ALL_TOOLS", t.text == "globalThis", t.text == "eval":
			r.whole = false
		case t.kind == tokenName && f.text != notPrinting:
			r.printsResultOf(t.text)
		}
	}
}

const notPrinting = -1

var (
	branches = pattern.NewWords("if else for while do switch case catch finally function class ? && || ?? =>")
	values   = pattern.NewWords("( [ , = : return")
)

// opened returns the frame of the bracket at i, within f.
func (r *scriptReader) opened(i int, f frame) frame {
	t := r.tokens[i]
	inner := frame{open: t.text[0], doubt: f.doubt || f.branch, text: f.text}
	before := token{}
	if i > 0 {
		before = r.tokens[i-1]
	}
	switch {
	case t.text == "{" && before.text == "=>", t.text == "{" && before.text == ")":
		inner.doubt, inner.fn = true, before.text == "=>" || f.branch && r.functionBefore(i)
	case t.text == "{" && before.text != "try" && before.text != "" && before.text != ";" && before.text != "}" && !values.Has(before.text):
		inner.doubt = true
	case t.text == "(" && before.text == "text" && before.kind == tokenName && !r.at(i-2, "."):
		if inner.doubt || r.ended {
			r.certain = false
			break
		}
		inner.text = len(r.prints)
		r.prints = append(r.prints, nil)
	}
	return inner
}

// functionBefore reports whether the brace at i follows the parameters of a function.
func (r *scriptReader) functionBefore(i int) bool {
	for j := i - 1; j >= 0 && j > i-maxLook; j-- {
		switch r.tokens[j].text {
		case "function":
			return true
		case ";", "{", "}":
			return false
		}
	}
	return false
}

// call reads the call of a tool that begins at i: tools.NAME(…).
func (r *scriptReader) call(i int, doubt bool) {
	if doubt || !r.at(i+1, ".") || !r.at(i+3, "(") {
		r.whole = false
		return
	}
	arg, next, ok := r.value(i+4, 0)
	if r.at(i+4, ")") {
		arg, next, ok = map[string]any{}, i+4, true
	}
	if !ok || !r.at(next, ")") {
		r.whole = false
		return
	}
	if text, isText := arg.(string); isText {
		arg = map[string]any{"input": text}
	}
	input, err := json.Marshal(arg)
	if err != nil {
		r.whole = false
		return
	}
	e := call(string(Codex), r.tokens[i+2].text, input)
	if e.Action == Run && e.Command == "" || e.Tool == "write_stdin" {
		r.whole = false
		return
	}
	r.calls = append(r.calls, scriptCall{event: e, names: r.holders(i)})
	n := len(r.calls) - 1
	for j := len(r.frames) - 1; j >= 0; j-- {
		if at := r.frames[j].text; at != notPrinting {
			r.prints[at] = append(r.prints[at], n)
			break
		}
	}
}

// holders returns the variable that holds the result of the call at i.
func (r *scriptReader) holders(i int) []string {
	if r.at(i-1, "await") {
		i--
	}
	if r.at(i-1, "=") && i >= 2 && r.tokens[i-2].kind == tokenName {
		return []string{r.tokens[i-2].text}
	}
	// const [a, b] = await Promise.all([tools.x(…), tools.y(…)])
	nth, depth := 0, 0
	for j := i - 1; j >= 0 && j > i-maxLook; j-- {
		switch t := r.tokens[j]; {
		case t.kind == tokenClose:
			depth++
		case t.kind == tokenOpen && depth > 0:
			depth--
		case t.text == "," && depth == 0:
			nth++
		case t.kind == tokenOpen:
			if t.text != "[" || !r.at(j-1, "(") || !r.at(j-2, "all") || !r.at(j-5, "await") || !r.at(j-6, "=") || !r.at(j-7, "]") {
				return nil
			}
			k := j - 8
			for k > i-maxLook && !r.at(k, "[") {
				k--
			}
			if k += 1 + 2*nth; k < j-7 && r.tokens[k].kind == tokenName {
				return []string{r.tokens[k].text}
			}
			return nil
		}
	}
	return nil
}

// printsResultOf notes that the innermost text() names a variable.
func (r *scriptReader) printsResultOf(name string) {
	at := r.frames[len(r.frames)-1].text
	for n := len(r.calls) - 1; n >= 0; n-- {
		if slices.Contains(r.calls[n].names, name) {
			if !slices.Contains(r.prints[at], n) {
				r.prints[at] = append(r.prints[at], n)
			}
			return
		}
	}
}

func (r *scriptReader) at(i int, text string) bool {
	return i >= 0 && i < len(r.tokens) && r.tokens[i].kind != tokenText && r.tokens[i].text == text
}

// value reads a literal at i, depth brackets deep, and returns the index after it. It drops
// properties of an object whose values are not literals.
func (r *scriptReader) value(i, depth int) (v any, next int, ok bool) {
	if i >= len(r.tokens) || depth > 8 || !r.step() {
		return nil, i, false
	}
	t := r.tokens[i]
	switch {
	case t.kind == tokenText && !t.dynamic:
		v, next = t.text, i+1
	case r.at(i, "String") && r.at(i+1, ".") && r.at(i+2, "raw") && i+3 < len(r.tokens) && r.tokens[i+3].kind == tokenText && !r.tokens[i+3].dynamic:
		v, next = r.tokens[i+3].raw, i+4
	case t.kind == tokenNumber:
		v, next = json.Number(t.text), i+1
		if !json.Valid([]byte(t.text)) {
			v = t.text
		}
	case t.text == "true" || t.text == "false":
		v, next = t.text == "true", i+1
	case t.text == "null" || t.text == "undefined":
		next = i + 1
	case t.text == "{":
		return r.object(i, depth)
	case t.text == "[":
		var list []any
		for i++; i < len(r.tokens) && !r.at(i, "]"); {
			item, after, ok := r.value(i, depth+1)
			if !ok {
				return nil, i, false
			}
			list, i = append(list, item), after
			if r.at(i, ",") {
				i++
			}
		}
		return list, i + 1, i < len(r.tokens)
	case t.kind == tokenName:
		text, known := r.consts[t.text]
		if r.filled += len(text); !known || r.filled > 4*len(r.code) {
			return nil, i, false
		}
		v, next = text, i+1
	default:
		return nil, i, false
	}
	if text, isText := v.(string); isText && r.at(next, "+") {
		rest, after, ok := r.value(next+1, depth+1)
		more, isText := rest.(string)
		return text + more, after, ok && isText
	}
	return v, next, true
}

// step counts the work on values, and reports whether more is allowed.
func (r *scriptReader) step() bool {
	r.steps++
	return r.steps <= 16*len(r.tokens)
}

func (r *scriptReader) object(i, depth int) (v any, next int, ok bool) {
	fields := map[string]any{}
	for i++; i < len(r.tokens) && !r.at(i, "}"); {
		name := r.tokens[i]
		valueAt := i
		if r.at(i+1, ":") {
			valueAt = i + 2
		}
		value, after, ok := r.value(valueAt, depth+1)
		switch {
		case ok && (r.at(after, ",") || r.at(after, "}")) && (name.kind == tokenName || name.kind == tokenText):
			fields[name.text] = value
		default: // not a literal
			delete(fields, name.text)
			open := 0
			for after = i; after < len(r.tokens) && r.step(); after++ {
				t := r.tokens[after]
				if open == 0 && (r.at(after, ",") || r.at(after, "}")) {
					break
				}
				switch t.kind {
				case tokenOpen:
					open++
				case tokenClose:
					open--
				}
			}
		}
		if after == i {
			return nil, i, false
		}
		if i = after; r.at(i, ",") {
			i++
		}
	}
	return fields, i + 1, i < len(r.tokens)
}

// token is a word, a literal or a mark of a program.
type token struct {
	kind    tokenKind
	text    string // of a literal its value
	raw     string // of a template, as written
	dynamic bool   // a template with placeholders
	line    int
}

type tokenKind int

const (
	tokenMark tokenKind = iota
	tokenName
	tokenNumber
	tokenText
	tokenOpen
	tokenClose
)

var longMarks = []string{"===", "!==", "...", "=>", "==", "!=", "<=", ">=", "&&", "||", "??", "?.", "+=", "-="}

// scriptTokens splits a program in one pass. Unknown text becomes marks.
func scriptTokens(code string) (all []token) {
	line := 0
	for i := 0; i < len(code); {
		c := code[i]
		start := i
		t := token{line: line}
		switch {
		case c == '\n':
			line++
			i++
			continue
		case c == ' ' || c == '\t' || c == '\r':
			i++
			continue
		case strings.HasPrefix(code[i:], "//"):
			if end := strings.IndexByte(code[i:], '\n'); end >= 0 {
				i += end
			} else {
				i = len(code)
			}
			continue
		case strings.HasPrefix(code[i:], "/*"):
			end := strings.Index(code[i+2:], "*/")
			if end < 0 {
				return all
			}
			line += strings.Count(code[i:i+2+end], "\n")
			i += end + 4
			continue
		case c == '"' || c == '\'' || c == '`':
			t, i = scriptText(code, i)
			t.line = line
			line += strings.Count(code[start:i], "\n")
		case c == '/' && beginsPattern(all):
			i = patternEnd(code, i)
			t.kind, t.dynamic = tokenText, true
		case isNameStart(code[i:]):
			for i < len(code) && (isNameStart(code[i:]) || '0' <= code[i] && code[i] <= '9') {
				_, size := utf8.DecodeRuneInString(code[i:])
				i += size
			}
			t.kind, t.text = tokenName, code[start:i]
			if branches.Has(t.text) {
				t.kind = tokenMark
			}
		case '0' <= c && c <= '9':
			for i < len(code) && (isNameStart(code[i:]) || '0' <= code[i] && code[i] <= '9' || code[i] == '.') {
				i++
			}
			t.kind, t.text = tokenNumber, code[start:i]
		default:
			_, size := utf8.DecodeRuneInString(code[i:])
			i += size
			for _, mark := range longMarks {
				if strings.HasPrefix(code[start:], mark) {
					i = start + len(mark)
					break
				}
			}
			t.text = code[start:i]
			switch c {
			case '(', '[', '{':
				t.kind = tokenOpen
			case ')', ']', '}':
				t.kind = tokenClose
			}
		}
		all = append(all, t)
	}
	return all
}

func isNameStart(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r == '_' || r == '$' || unicode.IsLetter(r)
}

// beginsPattern reports whether a slash after these tokens begins a regular expression.
func beginsPattern(before []token) bool {
	if len(before) == 0 {
		return true
	}
	t := before[len(before)-1]
	return t.kind == tokenOpen || t.kind == tokenMark || t.text == "return"
}

func patternEnd(code string, i int) int {
	class := false
	for i++; i < len(code) && code[i] != '\n'; i++ {
		switch code[i] {
		case '\\':
			i++
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if !class {
				return i + 1
			}
		}
	}
	return min(i, len(code))
}

// scriptText reads the string or template that begins at i.
func scriptText(code string, i int) (t token, next int) {
	quote := code[i]
	var value strings.Builder
	start := i + 1
	for i++; i < len(code); {
		c := code[i]
		switch {
		case c == quote:
			return token{kind: tokenText, text: value.String(), raw: code[start:i], dynamic: t.dynamic}, i + 1
		case c == '\n' && quote != '`':
			return token{kind: tokenText, dynamic: true}, i
		case c == '$' && quote == '`' && strings.HasPrefix(code[i:], "${"):
			t.dynamic = true
			i = templateEnd(code, i+2)
		case c == '\\' && i+1 < len(code):
			n := unescape(&value, code[i+1:])
			i += 1 + n
		default:
			value.WriteByte(c)
			i++
		}
	}
	return token{kind: tokenText, dynamic: true}, len(code)
}

// templateEnd returns the index after the brace that closes a template's placeholder.
func templateEnd(code string, i int) int {
	for depth := 1; i < len(code); i++ {
		switch code[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		case '"', '\'':
			for q := code[i]; i+1 < len(code) && code[i+1] != q; i++ {
				if code[i+1] == '\\' {
					i++
				}
			}
			i++
		}
	}
	return len(code)
}

// unescape writes the meaning of an escape without its backslash, and returns its length.
func unescape(out *strings.Builder, s string) int {
	switch s[0] {
	case 'n':
		out.WriteByte('\n')
	case 't':
		out.WriteByte('\t')
	case 'r':
		out.WriteByte('\r')
	case '0':
		out.WriteByte(0)
	case '\n':
	case 'x', 'u':
		var text string
		size := map[byte]int{'x': 3, 'u': 5}[s[0]]
		if len(s) >= size {
			hex := strings.Repeat("0", 5-size) + s[1:size]
			if json.Unmarshal([]byte(`"\u`+hex+`"`), &text) == nil {
				out.WriteString(text)
				return size
			}
		}
		out.WriteByte(s[0])
	default:
		_, size := utf8.DecodeRuneInString(s)
		out.WriteString(s[:size])
		return size
	}
	return 1
}
