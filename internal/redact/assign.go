package redact

import "strings"

// lookName looks at a word that may belong to the name of a secret: for the value assigned to it, else for a random
// string beside it.
func lookName(text string, at int, found []span) []span {
	n := nameAt(text, at)
	if n.strength == none {
		return found
	}
	at, sep := separator(text, n)
	if sep != sepNone {
		if s, ok := assigned(text, n, at, sep); ok {
			return append(found, s)
		}
		if sep == sepTight || sep == sepLoose {
			return found // its value is no secret, so it announces none
		}
	}
	return lookBeside(text, n, found)
}

// value is what a name is given: text[start:end].
type value struct {
	start, end int
	strength   strength // of the name, or more where the place leaves no doubt
	in         setting
	closed     bool // it stands in quotes
	scheme     bool // it follows Bearer, Basic, …
}

// assigned returns the value that a name is given at text[at:], if it looks like a secret: password = "…", PASSWORD=…,
// "password": "…", --password …, <password>…</password>, | password | … |, "the password is …", and the same
// JSON-escaped, URL-encoded, or coloured for a terminal.
func assigned(text string, n name, at int, sep sepKind) (span, bool) {
	v := valueAt(text, n, at, sep)
	if v.start >= v.end || !v.closed && isCode(text, n, v, sep) || !fits(text[v.start:v.end], v, sep) {
		return span{}, false
	}
	s := text[v.start:v.end]
	if !basic(text, v.start, v.end) && !secretValue(s, v.strength, v.in) {
		return span{}, false
	}
	rule := formatOf(s)
	switch {
	case rule != "":
	case v.scheme:
		rule = ruleHeader
	default:
		rule = ruleAssignment
	}
	return span{v.start, v.end, rule}, true
}

// valueAt returns where the value that begins at text[at] lies, and what the place tells about it.
func valueAt(text string, n name, at int, sep sepKind) value {
	v := value{strength: n.strength, in: loose}
	if n.dashed && sep == sepLoose {
		v.strength = hard // a header holds no code
	}
	if sep == sepTight || n.dashed && !n.flag {
		v.in = attached
	}
	if v.start, v.end, v.closed = quotedAt(text, at); !v.closed {
		v.start, v.end = at, len(text)
	} else if sep != sepBlank {
		v.in = quoted
	}
	if start, _ := afterScheme(text, v.start, v.end); start != v.start { // a credential, whatever it looks like
		v.start, v.strength, v.in, v.scheme = start, hard, max(v.in, attached), true
	}
	if v.closed {
		return v
	}
	v.end = bareEnd(text, v.start, envLine(n, sep))
	switch {
	case envLine(n, sep) && v.in == attached:
		v.in = variableLine
	case n.upper && sep == sepLoose && shapeOf(text[v.start:v.end]).digit >= 3:
		v.in = attached // an environment variable in YAML
	}
	return v
}

// envLine reports whether a value stands as in a .env file, where nothing but a blank ends it.
func envLine(n name, sep sepKind) bool { return n.upper && sep == sepTight }

// isCode reports whether a value without quotes is more likely an expression of a program, by what follows it.
func isCode(text string, n name, v value, sep sepKind) bool {
	if envLine(n, sep) || sep == sepSays {
		return false
	}
	next := byte('\n')
	if v.end < len(text) && markerAt(text, v.end) == 0 {
		next = text[v.end]
	}
	s := text[v.start:v.end]
	return isOneOf(next, "([{") || isOneOf(next, ",)}") && variable(s, true) || v.in == loose && variable(s, next == ';')
}

// fits reports whether a value can stand after a separator that says little: a comma or blanks.
func fits(s string, v value, sep sepKind) bool {
	sh := shapeOf(s)
	switch sep {
	case sepComma:
		// Not in a list of names: "password", "scram-sha-256".
		return v.closed && !(identifierWith(s, "-.") && (!sh.mixed() || sh.symbol > 0 && !sh.random()))
	case sepBlank:
		if v.closed && v.strength == hard {
			return true
		}
		return sh.random() && sh.mixed() && (v.closed || !strings.Contains(s, "/") && (v.strength == hard || len(s) >= 16))
	}
	return true
}

// formatOf returns the rule of the format that a value begins with, or nothing.
func formatOf(v string) string {
	for i := range formats {
		f := &formats[i]
		if strings.HasPrefix(v, f.prefix) {
			if _, _, ok := f.at(v, 0); ok {
				return f.rule
			}
		}
	}
	return ""
}
