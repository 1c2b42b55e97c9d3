package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// sepKind says what stands between a name and its value.
type sepKind int

const (
	sepNone  sepKind = iota
	sepTight         // = without spaces, an option and its value, an element's >
	sepLoose         // : or = with spaces, =>
	sepSays          // is, was, to: a sentence
	sepComma         // "name", "value"
	sepBlank         // nothing, or a parenthesis: the password hunter2
	sepHint          // a call, or a word that seldom leads to a value
)

// joint describes the text between a name and its value.
type joint struct {
	text string
	sep  sepKind
	// Conditions: all of needs, none of bars.
	needs, bars around
	whole       bool // the value begins right behind it
}

// around says what stands around the place of a joint.
type around int

const (
	aBlank    around = 1 << iota // blanks before it
	aQuote                       // the name is quoted
	aFlag                        // the name is an option
	anElement                    // <name>…</name>
	tight                        // no blank before or behind it
	aVerb                        // the name is the word pass, which may be a verb
)

// joints are tried in order.
var joints = [...]joint{
	{text: "===", sep: sepLoose},
	{text: "!==", sep: sepLoose},
	{text: ":=", sep: sepLoose},
	{text: "=>", sep: sepLoose},
	{text: "==", sep: sepLoose},
	{text: "!=", sep: sepLoose},
	{text: "+=", sep: sepLoose},
	{text: "?=", sep: sepLoose},
	{text: "%3D", sep: sepTight, whole: true},
	{text: "%3d", sep: sepTight, whole: true},
	{text: "%3A", sep: sepTight, whole: true},
	{text: "%3a", sep: sepTight, whole: true},
	{text: "=", sep: sepTight, needs: tight},
	{text: "=", sep: sepLoose},
	{text: ":", sep: sepLoose},
	{text: "：", sep: sepLoose},
	{text: "＝", sep: sepLoose},
	{text: "->", sep: sepLoose, needs: aBlank, bars: aFlag},
	{text: "→", sep: sepLoose, bars: aFlag},
	{text: ">", sep: sepTight, needs: anElement, whole: true},
	{text: "&gt;", sep: sepTight, needs: anElement, whole: true},
	{text: ").fill(", sep: sepHint, needs: aQuote},
	{text: ").send_keys(", sep: sepHint, needs: aQuote},
	{text: ").toBe(", sep: sepHint},
	{text: "As String =", sep: sepLoose, needs: aBlank},
	{text: "{ get; set; } =", sep: sepLoose, needs: aBlank},
	{text: "|", sep: sepLoose, needs: aBlank},
	{text: "(", sep: sepBlank, needs: aBlank, bars: aQuote, whole: true},
	{text: ",", sep: sepComma, needs: aQuote},
	{text: ",", sep: sepComma, needs: aFlag},
}

// jointAt returns the joint of the table at text[j:], or nil. Blanks may lie between i, the end of
// the name, and j.
func jointAt(text string, i, j int, state around) *joint {
	rest := text[j:]
	for k := range joints {
		if t := &joints[k]; rest[0] == t.text[0] && strings.HasPrefix(rest, t.text) && state&t.bars == 0 {
			now := state
			if after := j + len(t.text); j == i && (after == len(text) || !isOneOf(text[after], " \t")) {
				now |= tight
			}
			if now&t.needs == t.needs {
				return t
			}
		}
	}
	return nil
}

// separator returns where the value of a name begins, its opening quote included.
func separator(text string, n name) (at int, sep sepKind) {
	i := colourEnd(text, n.end)
	i, wasQuoted := closers(text, i)
	if i < len(text) && text[i] == ']' {
		i++
	}
	i = colourEnd(text, i)
	if wasQuoted || i < len(text) && isOneOf(text[i], "\r\n") {
		if j := valueWord(text, i); j > 0 {
			i = j
		}
	}
	if at := nextElement(text, i); at > 0 {
		return at, sepHint
	}
	remark := aside(text, i)
	noted := remark > i
	i = bold(text, remark)
	j := blanks(text, i)
	if j >= len(text) {
		return 0, sepNone
	}
	var state around
	for _, c := range [...]struct {
		holds bool
		is    around
	}{
		{j > i, aBlank}, {wasQuoted, aQuote}, {n.flag, aFlag}, {strings.EqualFold(text[n.start:n.end], "pass") && !n.flag, aVerb},
		{element(text, n, j, wasQuoted), anElement},
	} {
		if c.holds {
			state |= c.is
		}
	}
	t := jointAt(text, i, j, state)
	if t == nil {
		return unjoined(text, n, j, state)
	}
	at, sep = j+len(t.text), t.sep
	if t.whole {
		return at, sep
	}
	if sep == sepLoose && !wasQuoted && text[n.start:n.end] == "PASS" {
		return 0, sepNone // PASS: TestSomething
	}
	if noted {
		sep = sepSays
	}
	return valueStart(text, at), sep
}

// unjoined returns where a value begins that no sign joins to its name: behind a verb, blanks, or a
// purpose.
func unjoined(text string, n name, j int, state around) (int, sepKind) {
	if end := verbEnd(text, j, state&aBlank != 0); end > 0 && state&aFlag == 0 {
		if state&aVerb != 0 {
			return valueStart(text, end), sepHint
		}
		return valueStart(text, end), sepSays
	}
	if state&aVerb != 0 {
		return 0, sepNone
	}
	if end := after(text, j, hints...); end > j && state&aFlag == 0 {
		return valueStart(text, end), sepHint
	}
	if state == 0 && text[j] == '(' && setter(strings.ToLower(text[n.start:n.end])) {
		return wrapped(text, j), sepHint
	}
	if state&aBlank == 0 {
		return 0, sepNone
	}
	if i := wordSet.run(text, j, maxName); state&aFlag == 0 && i > j && shapeOf(text[j:i]).upper == 0 && i+1 < len(text) && text[i] == '=' && text[i+1] != '=' && kind[text[i+1]] != kSpace {
		return 0, sepNone // the next name
	}
	switch c := text[j]; {
	case state&aFlag != 0 && state&aQuote == 0 && c != '-', state&aQuote == 0 && bareAssignment(text, n):
		return j, sepTight
	case state&aQuote == 0 && (kind[c] <= kDigit || isOneOf(c, "`\"'") || opensQuote(text, j)):
		return valueStart(text, j), sepBlank
	}
	return 0, sepNone
}

// setter reports whether a function of that name, in lower case, is given a secret.
func setter(name string) bool {
	switch strings.Trim(name, "_") {
	case "password", "passwd", "passphrase":
		return true
	}
	if strings.HasSuffix(name, "secret") {
		return false // by its name
	}
	return strings.HasPrefix(name, "set") || strings.HasPrefix(name, "with") || strings.HasSuffix(name, "auth") || strings.HasSuffix(name, "credential")
}

// valueStart skips what may stand before a value: bold's stars, blanks, a colour, a declared type.
func valueStart(text string, at int) int {
	at = blanks(text, bold(text, at))
	if end := colourEnd(text, at); end > at {
		at = blanks(text, end)
	}
	if q := typeEnd(text, at); q > 0 {
		return q
	}
	return wrapped(text, yaml(text, at))
}

// bold skips what makes a name or a value bold in Markdown and HTML.
func bold(text string, at int) int {
	for end := at + 3; at < len(text) && at < end && text[at] == '*'; {
		at++
	}
	return after(text, at, "<b>", "<strong>", "<code>", "<kbd>")
}

// after returns the end of the first of some texts that begins at text[at], or at.
func after(text string, at int, some ...string) int {
	for _, t := range some {
		if strings.HasPrefix(text[at:], t) {
			return at + len(t)
		}
	}
	return at
}

// yaml skips a tag, an anchor, or the sign of a block on the next line.
func yaml(text string, at int) int {
	if at >= len(text) || !isOneOf(text[at], "!&|>") {
		return at
	}
	switch i := dashSet.run(text, at+1, maxName); {
	case strings.HasPrefix(text[at:], "!!str ") || text[at] == '&' && i > at+1 && i < len(text) && text[i] == ' ':
		return blanks(text, dashSet.run(text, at+2, maxName))
	case isOneOf(text[at], "|>"):
		if end := i + len("\r\n"); end < len(text) && strings.TrimLeft(text[i:end], " \r\n") == "" {
			return blanks(text, i+strings.IndexByte(text[i:], '\n')+1)
		}
	}
	return at
}

// wrappers are calls and casts around a literal value.
var wrappers = []string{"(", "[]byte(", "[", "String::from(", "SecretStr(", "Some(", "Buffer.from(", "PASSWORD(", "crypt("}

// wrapped skips code before a literal value: wrappers, the users before it in a call or a pair, or
// a lookup with an alternative, as in `process.env.X || "…"`.
func wrapped(text string, at int) int {
	if at >= len(text) || isOneOf(text[at], `"'`) {
		return at
	}
	for i, n := at, 0; n < 4; n++ {
		if i = after(text, i, wrappers...); i == at {
			break
		}
		start, end, ok := quotedAt(text, i)
		if !ok {
			break
		}
		next, _ := closers(text, end)
		if user := text[start:end]; user != "" && !identifierWith(user, ".-+@") || strong(user) || !strings.HasPrefix(text[next:], ", ") {
			return i
		}
		i = next + len(", ")
	}
	i := lookupSet.run(text, at, 64)
	if j := after(text, i, " || ", " ?? ", " or ", " ?: "); at < i && i < j && j < len(text) && isOneOf(text[j], `"'`) {
		return j
	}
	return at
}

// bareWords are commands and keywords behind which only blanks stand between a name and its value.
var bareWords = [...]struct {
	text  string
	upper bool // the name has no lower case letter, and follows at once
}{
	{"ENV ", true}, {"ARG ", true}, {"setx ", true}, {"set -x ", true}, {"set -gx ", true}, {"set -Ux ", true}, {"setenv ", true}, {"SetEnv ", true},
	{"login ", false}, {"machine ", false}, {"nmcli ", false}, {"configure set ", false}, {"config set ", false},
}

// bareAssignment reports whether only blanks stand between a name and its value here: in a .netrc
// entry, in a Dockerfile's ENV, in fish's set and Windows' setx.
func bareAssignment(text string, n name) bool {
	before := text[max(0, n.start-80):n.start]
	if n.start == 0 || kind[text[n.start-1]] != kSpace && !escapeEnd(text, n.start) {
		return false
	}
	for _, w := range bareWords {
		if w.upper && n.upper && strings.HasSuffix(before, w.text) || !w.upper && strings.Contains(before, w.text) {
			return true
		}
	}
	return false
}

// typeEnd skips a declared type and its equals sign: in `token: string = "…"`, from string to the
// quote.
func typeEnd(text string, at int) int {
	i := typeSet.run(text, at, 40)
	for strings.HasPrefix(text[i:], " | ") && i < at+80 {
		i = typeSet.run(text, i+len(" | "), 40)
	}
	if i == at {
		return 0
	}
	j := blanks(text, i)
	if j == i || j >= len(text) || text[j] != '=' || strings.HasPrefix(text[j:], "==") {
		return 0
	}
	return blanks(text, j+1)
}

// valueWord skips to the value in `"DB_PASSWORD", "value": "…"`, in `key="password" value="…"`, in
// `"--password", default="…"`, and where the line after `name: DB_PASSWORD` says `value: …`. A type
// may come first.
func valueWord(text string, at int) int {
	if strings.HasPrefix(text[at:], ": {") {
		at += 2
	}
	i := at
	for typed := false; ; typed = true {
		for i < len(text) && i < at+80 && (kind[text[i]] == kSpace || isOneOf(text[i], ",{")) {
			i++
		}
		i, _ = closers(text, i)
		if typed || len(text)-i < 8 || !strings.EqualFold(text[i:i+4], "type") {
			break
		}
		end := strings.IndexByte(text[i:min(len(text), i+40)], '\n')
		if end < 0 {
			return 0
		}
		i += end
	}
	for _, w := range [...]string{"value", "default", "content"} {
		if end := i + len(w); end < len(text) && strings.EqualFold(text[i:end], w) && (w == "value" || strings.HasPrefix(text[blanks(text, end):], "=")) {
			i, _ = closers(text, end)
			return i
		}
	}
	return 0
}

// element reports whether text[j:] shuts the tag of an element with text that is named by its tag
// or by an attribute.
func element(text string, n name, j int, quoted bool) bool {
	if !isOneOf(text[j], ">&") {
		return false
	}
	before, rest := text[:n.start], text[j:min(len(text), j+256)]
	if quoted {
		before = text[:max(0, dotSet.back(text, n.start, maxName)-1)]
	}
	return (strings.HasSuffix(before, "<") || strings.HasSuffix(before, "&lt;") || quoted && strings.HasSuffix(before, " name=")) &&
		(strings.Contains(rest, "</") || strings.Contains(rest, "&lt;/"))
}

// nextElement returns the start of the next element's text in <td>Password</td><td>…, or 0.
func nextElement(text string, at int) int {
	if !strings.HasPrefix(text[at:], "</") {
		return 0
	}
	_, rest, _ := strings.Cut(text[at:min(len(text), at+80)], ">")
	rest = strings.TrimLeft(rest, " \t\r\n")
	if _, after, ok := strings.Cut(rest, ">"); ok && rest[0] == '<' && rest[1] != '/' {
		return min(len(text), at+80) - len(after)
	}
	return 0
}

// aside skips a number, or a remark in brackets, before a colon: Key 1:, Password (prod):
func aside(text string, at int) int {
	i := blanks(text, at)
	end := digitSet.run(text, i, 2)
	if i < len(text) && text[i] == '(' {
		if j := strings.IndexAny(text[i:min(len(text), i+48)], ")\n"); j > 0 {
			end = i + j + 1
		}
	}
	if i > at && end > i && end < len(text) && text[end] == ':' {
		return end
	}
	return at
}

func blanks(text string, at int) int {
	for end := at + 24; at < len(text) && at < end && (text[at] == ' ' || text[at] == '\t'); {
		at++
	}
	return at
}

// closers skips one quote, escaped as often as may be.
func closers(text string, at int) (int, bool) {
	i := at
	for i < len(text) && i < at+8 && text[i] == '\\' {
		i++
	}
	if i < len(text) && isOneOf(text[i], "\"'`") {
		return i + 1, true
	}
	for _, q := range []string{"&quot;", "&#34;", "&#39;", "%22", `\u0022`} {
		if strings.HasPrefix(text[at:], q) {
			return at + len(q), true
		}
	}
	return at, false
}

// quotes lists typographic quotes: one that opens and those that may shut it.
var quotes = [...]struct {
	open string
	shut [2]string
}{
	{"“", [2]string{"”", "“"}}, {"„", [2]string{"“", "”"}}, {"‘", [2]string{"’", "‘"}}, {"‚", [2]string{"‘", "’"}},
	{"«", [2]string{"»", "»"}}, {"»", [2]string{"«", "»"}}, {"‹", [2]string{"›", "›"}}, {"›", [2]string{"‹", "›"}},
	{"「", [2]string{"」", "」"}}, {"『", [2]string{"』", "』"}},
}

// maxTypographic is the longest value in typographic quotes, in bytes.
const maxTypographic = 256

// typographic returns what stands between the typographic quotes that begin at text[at], on one
// line and without blanks around it. If none shuts, start is behind the one that opens.
func typographic(text string, at int) (start, end int, ok bool) {
	for _, q := range quotes {
		if !strings.HasPrefix(text[at:], q.open) {
			continue
		}
		start = at + len(q.open)
		if blanks(text, start) > start && (q.open == "»" || q.open == "›") {
			break // it leads from one thing to the next
		}
		v, _, _ := strings.Cut(text[start:min(len(text), start+maxTypographic)], "\n")
		for _, shut := range q.shut {
			if before, _, found := strings.Cut(v, shut); found {
				v, ok = before, true
			}
		}
		start += len(v) - len(strings.TrimLeftFunc(v, unicode.IsSpace))
		return start, start + len(strings.TrimSpace(v)), ok
	}
	return 0, 0, false
}

// opensQuote reports whether a typographic quote begins at text[at].
func opensQuote(text string, at int) bool {
	start, _, _ := typographic(text, at)
	return start > 0
}

// quotedAt returns what stands between the quotes that begin at text[at], on one line.
func quotedAt(text string, at int) (start, end int, ok bool) {
	if at < len(text) && kind[text[at]] == kHigh {
		return typographic(text, at)
	}
	if at+1 < len(text) && isOneOf(text[at], "bBrRfFuUL@$") && isOneOf(text[at+1], `"'`) {
		at++ // b"…", @"…"
	}
	open, ok := closers(text, at)
	if !ok {
		return 0, 0, false
	}
	q := text[open-1]
	if !isOneOf(q, "\"'`") { // an entity
		i := strings.Index(text[open:min(len(text), open+maxValue)], text[at:open])
		return open, open + i, i >= 0
	}
	depth := open - 1 - at
	for i := open; i < len(text) && i < open+maxValue; i++ {
		if text[i] == '\n' {
			return 0, 0, false
		}
		if text[i] != q {
			continue
		}
		if rest := text[i+1:]; q == '\'' && (strings.HasPrefix(rest, `\''`) || strings.HasPrefix(rest, `\\''`)) {
			// a quote within a shell's quotes
			i += strings.IndexByte(rest, q) + 2
			continue
		}
		slashes := 0
		for text[i-1-slashes] == '\\' && i-1-slashes > open-1 {
			slashes++
		}
		if slashes <= depth || depth == 0 && slashes%2 == 0 {
			return open, i - min(slashes, depth), true
		}
	}
	return 0, 0, false
}

// ends marks the bytes that end a value without quotes.
var ends = func() (t [256]byte) {
	for c := range t {
		if k := kind[c]; k == kSpace || k == kControl || isOneOf(byte(c), "\"'`\\;") {
			t[c] = 2
		} else if isOneOf(byte(c), "<>|,)]}") {
			t[c] = 1 // unless more may belong to it
		} else if isOneOf(byte(c), "&[") || k == kHigh {
			t[c] = 3 // perhaps
		}
	}
	return t
}()

// bareEnd returns the end of the value without quotes that begins at s.text[at]. In a .env file
// more may belong to it.
func (s *scan) bareEnd(at int, envLine bool) int {
	if r := &s.run; at > r.start && at < r.end && r.line == envLine {
		return r.end
	}
	end := bareEnd(s.text, at, envLine)
	s.run = run{start: at, end: end, line: envLine}
	return end
}

func bareEnd(text string, at int, envLine bool) int {
	i := at
	for i < len(text) && i < at+maxValue {
		switch e := ends[text[i]]; {
		case e == 0:
		case e == 2, e == 1 && !envLine && !(i == at && text[i] == '<'), e == 3 && endsHere(text, i, envLine):
			for i > at && isOneOf(text[i-1], ".,:") {
				i--
			}
			return i
		}
		i++
	}
	for i > at && isOneOf(text[i-1], ".,:") {
		i--
	}
	return i
}

// endsHere reports whether a value ends before the ampersand, the bracket or the rune at text[i].
func endsHere(text string, i int, envLine bool) bool {
	switch c := text[i]; c {
	case '&':
		return parameter(text, i)
	case '[':
		return markerAt(text, i) > 0
	}
	r, size := utf8.DecodeRuneInString(text[i:])
	if strings.ContainsRune(within, r) {
		next := i + size
		return !envLine && (next == len(text) || kind[text[next]] == kSpace || kind[text[next]] == kControl || isOneOf(text[next], ".,:;!?)]}"))
	}
	return punctuation(text, i)
}

// within lists punctuation that a password may have.
const within = "«»‹›،؛\u00a0\u202f"

// punctuation reports whether the rune at text[i] is a quote or a blank outside ASCII, or
// punctuation of Chinese, Japanese, Korean or Arabic.
func punctuation(text string, i int) bool {
	r, _ := utf8.DecodeRuneInString(text[i:])
	return strings.ContainsRune(within, r) || r >= '‘' && r <= '‟' || r >= 0x3000 && r <= 0x303f ||
		r >= '！' && r <= '／' || r >= '：' && r <= '＠' || r >= '｛' && r <= '･'
}

// parameter reports whether the ampersand at text[at] begins another parameter of a query, another
// command or an entity.
func parameter(text string, at int) bool {
	if rest := text[at+1:]; rest == "" || rest[0] == '&' || strings.HasPrefix(rest, "amp;") || kind[rest[0]] == kSpace {
		return true
	}
	i := dotSet.run(text, at+1, maxName)
	return i < len(text) && (text[i] == '=' || text[i] == ';')
}

// afterScheme skips the scheme of an Authorization header's value.
func afterScheme(text string, start, end int) (int, int) {
	for _, scheme := range [...]string{"bearer ", "basic ", "token ", "apikey ", "bot ", "ssws ", "sso-key "} {
		if end-start > len(scheme) && strings.EqualFold(text[start:start+len(scheme)], scheme) {
			return blanks(text, start+len(scheme)), end
		}
	}
	return start, end
}
