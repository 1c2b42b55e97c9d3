package redact

import (
	"strings"
	"unicode"
)

// lookName examines a word that may belong to the name of a secret: it looks for the assigned
// value, or else for a random string nearby.
func lookName(s *scan, at int) {
	if at < s.named {
		return
	}
	n := nameAt(s.text, at)
	if s.named = n.end; n.end >= at+maxName-2 {
		s.named -= 20 // an overlong run may end in a name
	}
	if n.strength == none || s.chance(n) {
		return
	}
	at, sep := separator(s.text, n)
	if sep != sepNone {
		if f, ok := s.assigned(n, at, sep); ok {
			s.take(f)
			return
		}
	}
	if n.strength == weak {
		return
	}
	lookAhead(s, n)
	if s.columns(n) || s.nextLine(n) {
		return
	}
	printed(s, n)
	if sep == sepTight || sep == sepLoose || n.end-n.start < len("pass") {
		return // its value is no secret, so it announces none; or pw inside base64
	}
	s.lookBeside(n)
}

// minDrawn is the length of a surrounding base64 run, in bytes, from which a name in it is chance.
const minDrawn = 24

// chance reports whether a name is base64 that happens to spell it. Between slashes it may be a
// part of a path.
func (s *scan) chance(n name) bool {
	text := s.text
	low, high := drawnRun(text, n.start, n.end)
	if high-low < n.end-n.start+minDrawn || !shapeOf(text[low:high]).random() {
		return false
	}
	plus := low < n.start && text[n.start-1] != '/' || n.end < high && text[n.end] != '/' && text[n.end] != '\\'
	return plus || shapeOf(text[n.start:n.end]).digit > 0
}

// drawnRun returns the run of base64 that holds text[start:end], with slashes and pluses that JSON
// escapes.
func drawnRun(text string, start, end int) (low, high int) {
	const pieces, piece = 8, 64
	escaped := func(i int) bool { return i < len(text) && (text[i] == '/' || strings.HasPrefix(text[i:], "u00")) }
	low, high = base64Plain.back(text, start, piece), base64Plain.run(text, end, piece)
	for n := 0; n < pieces && low > 0 && text[low-1] == '\\' && escaped(low); n++ {
		low = base64Plain.back(text, low-1, piece)
	}
	for n := 0; n < pieces && high < len(text) && text[high] == '\\' && escaped(high+1); n++ {
		high = base64Plain.run(text, high+1, piece)
	}
	return low, high
}

// lookAround looks for the value of a noun elsewhere: in a column, on the next line, on the same
// line.
func (s *scan) lookAround(n name) {
	lookAhead(s, n)
	if !s.columns(n) && !s.nextLine(n) {
		s.lookBeside(n)
	}
}

// value locates the value of a name: text[start:end].
type value struct {
	start, end int
	strength   strength // of the name, or more if the place leaves no doubt
	in         setting
	closed     bool // it stands in quotes
	scheme     bool // it follows Bearer, Basic, …
}

// assigned returns the value that a name is given at s.text[at:], if it looks like a secret:
// password = "…", PASSWORD=…, "password": "…", --password …, <password>…</password>, | password | …
// |, "the password is …", and the same JSON-escaped, URL-encoded, or coloured for a terminal.
func (s *scan) assigned(n name, at int, sep sepKind) (span, bool) {
	v := s.valueAt(n, at, sep)
	text := s.text[v.start:max(v.start, v.end)]
	if v.closed {
		text = unescapedTwice(text)
	}
	if text == "" || !v.closed && isCode(s.text, n, v, sep) || !fits(s.text, n, v, sep) {
		return span{}, false
	}
	if !v.closed && len(text) > 64 {
		// In a long run with many names, judge by its beginning after some looks. With very many it is
		// contrived, and removed as a whole.
		if s.run.judged++; s.run.judged > 64 {
			return span{v.start, v.end, ruleAssignment}, true
		} else if s.run.judged > 8 {
			text = text[:24]
		}
	}
	if !(n.pin && isPIN(text) && (v.in != loose || sep == sepSays || s.text[n.start:n.end] == "PIN" && s.text[n.end] != '"')) && !basic(s.text, v.start, v.end) && !secretValue(text, v.strength, v.in) {
		return span{}, false
	}
	rule := formatOf(text)
	switch {
	case rule != "":
	case v.scheme:
		rule = ruleHeader
	default:
		rule = ruleAssignment
	}
	return span{v.start, v.end, rule}, true
}

func isPIN(v string) bool { return len(v) >= 4 && len(v) <= 8 && digitSet.run(v, 0, len(v)) == len(v) }

// valueAt locates the value that begins at s.text[at], with the evidence of its place.
func (s *scan) valueAt(n name, at int, sep sepKind) value {
	text := s.text
	v := value{strength: n.strength, in: loose}
	if n.dashed && sep == sepLoose && n.strength > weak {
		v.strength = hard // a header holds no code
	}
	if sep == sepTight || sep == sepHint || n.dashed && !n.flag {
		v.in = attached
	}
	if v.start, v.end, v.closed = quotedAt(text, at); !v.closed {
		v.start, v.end = max(at, v.start), len(text)
	} else if sep != sepBlank {
		v.in = quoted
		if envLine(n, sep) {
			v.in = exported
		}
	}
	// a credential, whatever it looks like
	if start, _ := afterScheme(text, v.start, v.end); start != v.start {
		v.start, v.strength, v.in, v.scheme = start, hard, max(v.in, attached), true
	}
	if v.closed {
		if before := strings.TrimRight(text[:v.start-1], `\`); sep != sepComma && strings.HasSuffix(before, ", ") && strong(text[v.start:v.end]) {
			v.strength = hard // behind a user
		}
		return v
	}
	if sep == sepTight && text[v.start-1] == '>' { // an element's
		within := strings.IndexByte(text[v.start:min(len(text), v.start+64)], '>')
		if within > 0 && v.start+within+1 < len(text) && text[v.start] == '<' && text[v.start+1] != '/' {
			v.start += within + 1
		}
		if end := strings.Index(text[v.start:min(len(text), v.start+maxJudged)], "</"); end > 0 {
			v.end, v.in, v.closed = v.start+end, quoted, true
			return v
		}
	}
	v.end = s.bareEnd(v.start, envLine(n, sep))
	if n.unspaced(text) {
		v.end = v.start + beforeSentence(text[v.start:v.end])
	}
	switch {
	case envLine(n, sep) && v.in == attached:
		v.in = variableLine
	case n.upper && sep == sepLoose && v.end-v.start <= 256:
		if sh := shapeOf(text[v.start:v.end]); sh.digit >= 3 && sh.letters() > 0 {
			v.in = attached // an environment variable in YAML
		}
	}
	if word := text[v.start:v.end]; v.in == loose && v.strength == hard && (sep == sepSays && camelCase(word) && kind[word[0]] == kUpper && strings.ContainsAny(word, strangeSigns) || numberedWords(word) && !namesThing(text, n)) {
		v.in = attached // no code
	}
	if end := passwordEnd(text, n, v, sep); end > 0 {
		v.end, v.in, v.closed = end, max(v.in, quoted), true
	}
	return v
}

// numberedWords reports whether v is four words of small letters or more joined by dashes, with a
// number at the end, and none of the words that variables often have: lemon-tiger-fox-42.
func numberedWords(v string) bool {
	return strings.Count(v, "-") > 2 && identifierWith(v, "-") && kind[v[len(v)-1]] == kDigit && shapeOf(v).upper == 0 && !hasAny(v, made(&lexicons.codeHint))
}

// namesThing reports whether the value of a name may be what a secret is called, as in
// --secret=db-password2.
func namesThing(text string, n name) bool {
	last := strings.ToLower(text[max(n.start, n.end-len("secret")):n.end])
	return last == "secret" || strings.HasSuffix(last, "key")
}

// maxPerson bounds a password that may have any sign, in bytes.
const maxPerson = 64

// passwordEnd returns the end of a password without quotes that goes on behind a sign that ends
// other values, as in Lemon,fox42, or 0. Such a sign is code's unless the value before it is a
// secret, or all of it looks drawn, or like a person's and like no call, type or list.
func passwordEnd(text string, n name, v value, sep sepKind) int {
	const breaks, shuts = ",;:|<>()[]{}'\"", ")]}>"
	if v.strength != hard || v.scheme || sep >= sepComma || n.unspaced(text) || !strings.ContainsAny(text[v.start:min(len(text), max(v.start, v.end)+1)], breaks) {
		return 0
	}
	end := v.start
	for ; end < len(text) && end < v.start+maxPerson; end++ {
		c, rest := text[end], text[end+1:]
		if k := kind[c]; k == kSpace || k == kControl || k == kHigh && punctuation(text, end) || isOneOf(c, "`\\") ||
			c == '[' && markerAt(text, end) > 0 || c == '<' && end > v.start && tag(rest) || isOneOf(c, ",;|&") && startsNamed(rest) ||
			isOneOf(c, "'\"") && (end == v.start || rest == "" || !sets[alnumSet].has(text[end-1]) || !sets[alnumSet].has(rest[0])) {
			break
		}
	}
	whole := strings.TrimRight(text[v.start:end], ".,;:")
	for i := len(whole) - 1; i > 0 && isOneOf(whole[i], shuts) && strings.IndexByte(whole, "([{<"[strings.IndexByte(shuts, whole[i])]) < 0; i = len(whole) - 1 {
		whole = strings.TrimRight(whole[:i], ".,;:")
	}
	cut := end > v.start+len(whole)
	end = v.start + len(whole)
	if whole == "" || len(whole) == maxPerson || end < v.end || !strings.ContainsAny(whole, breaks) {
		return 0
	}
	begun := end > v.end && !isCode(text, n, v, sep) && secretValue(text[v.start:v.end], hard, v.in)
	if begun && separate(text[v.end:end]) || n.flag && strings.IndexByte(whole[:min(2, len(whole))], '>') >= 0 {
		return 0
	}
	sh, last := shapeOf(whole), whole[len(whole)-1]
	cased := sh.upper > 0 && sh.lower > 0 && sh.digit > 0
	inCode := !envLine(n, sep) && sep != sepSays
	called := call(whole, attached) && (cut || inCode && isOneOf(last, shuts))
	switch opened := isOneOf(last, "([{<"); {
	case called, inCode && reference(whole, sh, loose), strings.Contains(whole, ":/"), whole[0] == '&' && strings.Contains(whole, ";"), opened && !(sh.random() && cased && (end == len(text) || isOneOf(text[end], "\r\n"))):
		return 0
	case begun, sh.random() && (cased || sh.mixed() && strings.ContainsAny(whole, strangeSigns) && !(inCode && isOneOf(last, shuts))):
		return end
	case !cased, cut, len(whole) < 8, inCode && (isOneOf(last, shuts) || call(whole, loose) && !strings.ContainsAny(whole, shuts+"<") || hasAny(whole, made(&lexicons.codeHint))):
		return 0
	}
	for i := 1; i < len(whole)-1; i++ {
		if isOneOf(whole[i], ")]}>,|") && !sets[alnumSet].has(whole[i+1]) || isOneOf(whole[i], ",|") && kind[whole[0]] == kind[whole[i+1]] {
			return 0
		}
	}
	return end
}

// separate reports whether text behind a value, which begins with a sign, is something else than
// its rest: a plain word, a number, a path, a name, or another group.
func separate(text string) bool {
	if len(text) < 2 || sets[alnumSet].has(text[0]) {
		return false
	}
	part := text[1:]
	if i := strings.IndexAny(part, ",;|&"); i > 0 {
		part = part[:i]
	}
	sh := shapeOf(part)
	return isOneOf(part[0], "({[<./") && !strings.ContainsAny(part, strangeSigns) || strings.Contains(part, "=") || !sh.mixed() && !strings.ContainsAny(part, strangeSigns)
}

// tag reports whether rest, behind a <, goes on as a tag does.
func tag(rest string) bool {
	i := alnumSet.run(rest, 0, 24)
	return strings.HasPrefix(rest, "/") || i > 0 && i < len(rest) && isOneOf(rest[i], "> /") && shapeOf(rest[:i]).lower == i
}

// startsNamed reports whether text begins with a name of two bytes or more and its value.
func startsNamed(text string) bool {
	i := dotSet.run(text, 0, maxName)
	return i > 1 && i < len(text) && isOneOf(text[i], "=:")
}

// beforeSentence returns the end of the value in v, behind which a sentence of Chinese, Japanese or
// Korean may go on without a blank. A value with digits and signs may begin with such letters.
func beforeSentence(v string) int {
	begun := !strings.ContainsAny(v, strangeSigns) || !strings.ContainsAny(v, "0123456789")
	for i, r := range v {
		switch {
		case r < 0x80 || !unspaced(r) && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			begun = true
		case begun:
			return i
		}
	}
	return len(v)
}

// envLine reports whether a value is in the form of a .env file, where only a blank ends it.
func envLine(n name, sep sepKind) bool { return n.upper && sep == sepTight }

// isCode reports whether an unquoted value is more likely a program's expression, by the text after
// it.
func isCode(text string, n name, v value, sep sepKind) bool {
	if envLine(n, sep) || sep == sepSays {
		return false
	}
	next := byte('\n')
	if v.end < len(text) && markerAt(text, v.end) == 0 {
		next = text[v.end]
	}
	s := text[v.start:v.end]
	return isOneOf(next, "([{") || v.in == loose && next == '<' || isOneOf(next, ",)}|") && variable(s, true) || v.in == loose && variable(s, next == ';')
}

// fits reports whether a value can follow a weak separator: a comma or blanks.
func fits(text string, n name, v value, sep sepKind) bool {
	s := text[v.start:v.end]
	if strings.Contains(s, "-") && identifierWith(s, "-") && shapeOf(s).upper == 0 && n.flag && namesThing(text, n) && strengthOf(s) != none {
		return false
	}
	switch sep {
	case sepComma:
		// Not in a list of names: "password", "scram-sha-256".
		sh := shapeOf(s[:min(len(s), maxJudged)])
		return v.closed && !(identifierWith(s, "-.") && !sh.random() && (!sh.mixed() || sh.symbol > 0 || !n.upper && !n.flag && n.end-n.start == len("password")))
	case sepBlank:
		if startsNamed(s) && !v.closed { // method=password ip=10.0.0.2
			return false
		}
		if v.closed && v.strength == hard {
			return true
		}
		sh := shapeOf(s[:min(len(s), maxJudged)])
		if v.strength == hard && (sh.mixed() && used(text, n) && !path(s) || strong(s)) {
			return true
		}
		return sh.random() && sh.mixed() && (v.closed || !strings.Contains(s, "/") && (v.strength == hard || len(s) >= 16))
	case sepHint: // Release42! is a name as well
		sh := shapeOf(s[:min(len(s), maxJudged)])
		return strong(s) && (sh.random() || sh.upper > 1 && sh.space == 0)
	}
	return true
}

// strong reports whether v can hardly be anything but a password: it is random, or a person's with
// a number.
func strong(v string) bool {
	sh := shapeOf(v[:min(len(v), maxJudged)])
	if strings.Contains(v, "/") && (sh.upper < 3 || sh.lower < 3 || strings.ContainsAny(v, ".-_")) {
		return false // a path
	}
	return sh.mixed() && !codeName(strings.TrimRight(v, "?!")) && (sh.random() || sh.digit > 1 && strings.ContainsAny(v, strangeSigns) && madeByPerson(v, sh))
}

// lookAhead looks for the value before a noun: use hunter2 as the password.
func lookAhead(s *scan, n name) {
	text := s.text
	if n.strength < soft || n.start == 0 || text[n.start-1] != ' ' && kind[text[n.start-1]] != kHigh {
		return
	}
	low := max(0, n.start-96)
	for t := range tongues {
		for _, as := range tongues[t].ahead {
			line, ok := strings.CutSuffix(strings.TrimSuffix(text[low:n.start], " "), as)
			if !ok || line == "" || as[0] < 0x80 && as[0] != ',' && line[len(line)-1] != ' ' {
				continue
			}
			line = strings.TrimSuffix(line, " ")
			for _, q := range quotes {
				line = strings.TrimSuffix(line, q.shut[0])
			}
			to := len(strings.TrimRight(line, "\"'`),"))
			from := to
			for from > 0 && kind[line[from-1]] <= kDigit {
				from--
			}
			v, rest := strings.TrimLeft(line[from:to], "\"'`("), text[n.end:]
			from = low + to - len(v)
			weakly := n.strength == hard && !namesThing(text, n) && shapeOf(v).mixed() && used(text, name{start: from}) && (rest == "" || isOneOf(rest[0], "\r\n.,;!"))
			if (strong(v) || weakly) && secretValue(v, n.strength, loose) {
				s.note(span{from, low + to, ruleAssignment})
			}
			return
		}
	}
}

// used reports whether a sentence says to use the secret: "use the password hunter2 for staging".
func used(text string, n name) bool {
	before := text[max(0, n.start-32):n.start]
	before = before[strings.LastIndexByte(before, '\n')+1:]
	for _, w := range [...]string{"use ", "Use ", "with ", "With ", "using ", "Using ", "enter ", "Enter ", "type ", "Type ", "user ", "login ", "set "} {
		if strings.Contains(before, w) {
			return true
		}
	}
	return false
}

// nextLine looks for the value of a name that ends its line on the line below.
func (s *scan) nextLine(n name) bool {
	text := s.text
	i, colon := n.end, false
	for i < len(text) && i < n.end+8 && isOneOf(text[i], " \t\r:=*`\"'#") {
		colon = colon || isOneOf(text[i], ":=")
		i++
	}
	for _, c := range [...]string{"：", "＝"} {
		if strings.HasPrefix(text[i:], c) {
			i, colon = i+len(c), true
			i = blanks(text, i)
		}
	}
	if i >= len(text) || text[i] != '\n' || n.strength != hard || !colon && n.end-n.start == len("pass") {
		return false
	}
	if line := text[max(0, n.start-32):n.start]; !colon && strings.Trim(line[strings.LastIndexByte(line, '\n')+1:], " \t*#->`") != "" && !strings.Contains(line, "\n##") {
		return false // the end of a sentence
	}
	for range 2 { // one may be empty or underline the name
		i = blanks(text, i+1)
		i, _ = closers(text, bold(text, i))
		end := bareEnd(text, i, true)
		v := text[i:end]
		rest := end
		for rest < len(text) && isOneOf(text[rest], " \t\r*`\"'.,") {
			rest++
		}
		whole := rest == len(text) || text[rest] == '\n'
		if whole && strings.Trim(v, "-=`~") == "" && rest < len(text) {
			i = rest
			continue
		}
		in := loose
		if !colon {
			in = attached
		}
		sh := shapeOf(v[:min(len(v), 256)])
		if !whole || v == "" || v[len(v)-1] == ':' || !sh.mixed() || codeName(v) || !colon && sh.symbol == 0 && !sh.random() || !secretValue(v, hard, in) {
			return false
		}
		s.take(span{i, end, ruleAssignment})
		return true
	}
	return false
}
