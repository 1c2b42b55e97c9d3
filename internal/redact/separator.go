package redact

import "strings"

// sepKind says what stands between a name and its value.
type sepKind int

const (
	sepNone  sepKind = iota
	sepTight         // = without spaces, an option and its value, an element's >
	sepLoose         // : or = with spaces, =>
	sepSays          // is, was, to: a sentence
	sepComma         // "name", "value"
	sepBlank         // nothing, or a parenthesis: the password hunter2
)

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
	for i < len(text) && text[i] == '*' { // bold
		i++
	}
	j := blanks(text, i)
	if j >= len(text) {
		return 0, sepNone
	}
	rest := text[j:]
	switch {
	case strings.HasPrefix(rest, "==="), strings.HasPrefix(rest, "!=="):
		at, sep = j+3, sepLoose
	case strings.HasPrefix(rest, ":="), strings.HasPrefix(rest, "=>"), strings.HasPrefix(rest, "=="), strings.HasPrefix(rest, "!="), strings.HasPrefix(rest, "+="):
		at, sep = j+2, sepLoose
	case strings.HasPrefix(rest, "%3D"), strings.HasPrefix(rest, "%3d"), strings.HasPrefix(rest, "%3A"), strings.HasPrefix(rest, "%3a"):
		return j + 3, sepTight
	case rest[0] == '=':
		at, sep = j+1, sepLoose
		if j == i && (len(rest) == 1 || !isOneOf(rest[1], " \t")) {
			sep = sepTight
		}
	case rest[0] == ':':
		at, sep = j+1, sepLoose
	case strings.HasPrefix(rest, "："):
		at, sep = j+len("："), sepLoose
	case rest[0] == '>' && n.start > 0 && text[n.start-1] == '<' && strings.Contains(rest[:min(len(rest), 256)], "</"):
		return j + 1, sepTight
	case rest[0] == '|' && j > i:
		at, sep = j+1, sepLoose
	case rest[0] == '(' && j > i && !wasQuoted:
		return j + 1, sepBlank
	case rest[0] == ',' && (wasQuoted || n.flag):
		at, sep = j+1, sepComma
	case strings.EqualFold(text[n.start:n.end], "pass") && !n.flag:
		return 0, sepNone // the verb
	case strings.HasPrefix(rest, "is ") && j > i, strings.HasPrefix(rest, "is: "):
		at, sep = j+3, sepSays
	case strings.HasPrefix(rest, "was "), strings.HasPrefix(rest, "to ") && j > i && !n.flag:
		at, sep = j+3, sepSays
	case strings.HasPrefix(rest, "是"), strings.HasPrefix(rest, "为"), strings.HasPrefix(rest, "は"), strings.HasPrefix(rest, "는"):
		at, sep = j+3, sepSays
	case j > i && n.flag && !wasQuoted && rest[0] != '-':
		return j, sepTight
	case j > i && !wasQuoted && bareAssignment(text, n):
		return j, sepTight
	case j > i && strings.HasPrefix(rest, "for ") && saidFor(rest) > 0:
		at, sep = j+saidFor(rest), sepSays
	case j > i && !wasQuoted && n.strength != none && (kind[rest[0]] <= kDigit || isOneOf(rest[0], "`\"'")):
		at, sep = j, sepBlank
	default:
		return 0, sepNone
	}
	if sep == sepLoose && !wasQuoted && text[n.start:n.end] == "PASS" {
		return 0, sepNone // PASS: TestSomething
	}
	for at < len(text) && text[at] == '*' {
		at++
	}
	at = colourEnd(text, blanks(text, at))
	if q := typeEnd(text, at); q > 0 {
		at = q
	}
	return at, sep
}

// bareAssignment reports whether only blanks stand between a name and its value here: in a .netrc entry, in a
// Dockerfile's ENV, in fish's set and Windows' setx.
func bareAssignment(text string, n name) bool {
	before := text[max(0, n.start-80):n.start]
	if n.upper && (strings.HasSuffix(before, "ENV ") || strings.HasSuffix(before, "setx ") || strings.HasSuffix(before, "set -x ") || strings.HasSuffix(before, "set -gx ")) {
		return true
	}
	return strings.Contains(before, "login ")
}

// saidFor returns how far the value lies in `for the staging server is hunter2` and `for staging: hunter2`, or 0.
func saidFor(rest string) int {
	for i := 4; i < len(rest) && i < 48; i++ {
		switch {
		case strings.HasPrefix(rest[i:], ": "):
			return i + 2
		case strings.HasPrefix(rest[i:], " is "):
			return i + 4
		case isOneOf(rest[i], "\n,;(){}="):
			return 0
		}
	}
	return 0
}

// typeEnd skips a declared type and its equals sign: in `token: string = "…"`, from string to the quote.
func typeEnd(text string, at int) int {
	i := anySet.run(text, at, 24)
	if i == at {
		return 0
	}
	j := blanks(text, i)
	if j == i || j >= len(text) || text[j] != '=' || strings.HasPrefix(text[j:], "==") {
		return 0
	}
	return blanks(text, j+1)
}

// valueWord skips to the value in `"DB_PASSWORD", "value": "…"`, in `key="password" value="…"`, and where the line after
// `name: DB_PASSWORD` says `value: …`.
func valueWord(text string, at int) int {
	i := at
	for i < len(text) && i < at+40 && (kind[text[i]] == kSpace || text[i] == ',') {
		i++
	}
	i, _ = closers(text, i)
	if len(text)-i < 6 || !strings.EqualFold(text[i:i+5], "value") {
		return 0
	}
	i, _ = closers(text, i+5)
	return i
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

// quotedAt returns what stands between the quotes that begin at text[at], on one line.
func quotedAt(text string, at int) (start, end int, ok bool) {
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

// bareEnd returns the end of the value without quotes that begins at text[at]. In a .env file more may belong to it.
func bareEnd(text string, at int, envLine bool) int {
	i := at
	for i < len(text) && i < at+maxValue {
		c := text[i]
		if k := kind[c]; k == kSpace || k == kControl || isOneOf(c, "\"'`\\;") {
			break
		}
		if !envLine && isOneOf(c, "<>|,)]}") && !(i == at && c == '<') || c == '&' && parameter(text, i) || c == '[' && markerAt(text, i) > 0 {
			break
		}
		i++
	}
	for i > at && isOneOf(text[i-1], ".,:") {
		i--
	}
	return i
}

// parameter reports whether the ampersand at text[at] begins another parameter of a query, another command
// or an entity.
func parameter(text string, at int) bool {
	if rest := text[at+1:]; rest == "" || rest[0] == '&' || strings.HasPrefix(rest, "amp;") || kind[rest[0]] == kSpace {
		return true
	}
	i := dotSet.run(text, at+1, maxName)
	return i < len(text) && (text[i] == '=' || text[i] == ';')
}

// afterScheme skips the scheme of an Authorization header's value.
func afterScheme(text string, start, end int) (int, int) {
	for _, scheme := range []string{"bearer ", "basic ", "token ", "apikey ", "bot "} {
		if end-start > len(scheme) && strings.EqualFold(text[start:start+len(scheme)], scheme) {
			return blanks(text, start+len(scheme)), end
		}
	}
	return start, end
}
