package redact

import (
	"slices"
	"strings"
)

// strength says how much a name tells about its value.
type strength int

const (
	none strength = iota
	soft          // token, api key, auth: often names code, counts and identifiers too
	hard          // password, secret, private key
)

// setting says where a value stands, and so how likely it is to be code.
type setting int

const (
	loose        setting = iota // without quotes, after a colon or spaces: YAML, a log, or code
	attached                    // without quotes, in a shell, a query or a header
	variableLine                // without quotes, after an environment variable's name and an equals sign
	quoted                      // in quotes, or a JSON string
)

// secretValue reports whether v, the value of a name of strength st, looks like a secret rather than a placeholder,
// a word, a reference or code.
func secretValue(v string, st strength, in setting) bool {
	if len(v) < 6 || len(v) > maxValue {
		return false
	}
	sh := shapeOf(v)
	random := sh.random()
	switch {
	case sh.space > 0, sh.control > 0, sh.distinct < 4 && sh.high == 0:
		return false
	case reference(v), digest(v), isUUID(v), isULID(v):
		return false
	case strings.HasPrefix(v, "0x") && len(v) <= 18, strings.Count(v, `\x`) > 1: // numbers and bytes of a program
		return false
	case isHex(v) && sh.mixed():
		// Shorter ones are abbreviated object ids, counters, colours.
		return len(v) >= 32 || len(v) >= 16 && in != loose && (st == hard || in != quoted)
	case placeholder(v) && !(random && len(v) >= 20), path(v) && !(random && len(v) >= 20 && sh.odd > 2):
		return false
	}
	strange := sh.symbol > 0 && strings.ContainsAny(v, "!@#$%^&*?~+=|") // not in words, paths or identifiers
	switch {
	case sh.letters() == 0 && sh.high == 0 && !strange: // numbers
		return st == hard && (in == loose && len(v) >= 8 || in != loose) && sh.symbol == 0
	case sh.digit+sh.symbol == 0: // letters
		return random && len(v) >= 12 || st == hard && (in == variableLine && !slices.Contains(wellKnown, v) || in == attached && len(v) >= 20 && sh.upper == 0)
	case dotted(v):
		return random && len(v) >= 16
	case in != quoted && call(v, in) || address(v):
		return false
	case st == hard && in == loose:
		return sh.mixed() && (random || strange || sh.symbol == 0 && len(v) >= 6) || strange && random
	case st == hard:
		return sh.mixed() || strange && sh.letters() > 0 || random
	case in == loose:
		return random && sh.mixed() && len(v) >= 16
	case in == variableLine && sh.mixed() && sh.digit >= 3 && sh.symbol == 0 && len(v) >= 10:
		return true
	case len(v) < 12:
		return false
	default:
		return random || sh.mixed() && (strange || sh.digit >= 3 && sh.letters()+sh.digit < 5*sh.parts)
	}
}

func (sh shape) letters() int { return sh.lower + sh.upper }

// trivial reports whether a value is too short or too ordinary to be looked for in any text.
func trivial(v string) bool {
	if len(v) < 6 || len(v) > maxValue || strings.HasPrefix(v, markerHead) {
		return true
	}
	sh := shapeOf(v)
	switch {
	case sh.distinct < 4 && sh.high == 0, sh.letters() == 0 && sh.high == 0, isUUID(v):
		return true
	case sh.digit == 0 && sh.symbol == 0:
		return sh.n < 12 || sh.space > 0 && sh.n < 16
	case sh.digit == 0 && !strings.ContainsAny(v, "!@#$%^&*?~+=|"):
		return !sh.random() // words joined by - _ . / :
	case isHex(v) && len(v) < 16:
		return true
	}
	return placeholder(v) && !sh.random()
}

// placeholders are words of values that stand for a secret and are none.
var placeholders = [...]string{"xxx", "...", "…", "***", "your", "placeholder", "example", "changeme", "change-me", "change_me",
	"change_this", "replace", "insert", "dummy", "redacted", "todo", "hidden", "masked", "undefined", "not-set", "not_set",
	"fake", "sample", "omitted"}

func placeholder(v string) bool {
	var buf [64]byte
	low := lowered(buf[:], v)
	for _, p := range placeholders {
		for i := 0; i+len(p) <= len(low); i++ {
			if string(low[i:i+len(p)]) == p {
				return true
			}
		}
	}
	return false
}

// lowered writes the first bytes of s in lower case to buf.
func lowered(buf []byte, s string) []byte {
	n := copy(buf, s)
	for i, c := range buf[:n] {
		if c >= 'A' && c <= 'Z' {
			buf[i] = c | 0x20
		}
	}
	return buf[:n]
}

// reference reports whether a value names where a secret is found instead of being it: ${VAR}, $(cmd), {{ .x }},
// <token>, %s, @file, process.env.X, an address of a secret store.
func reference(v string) bool {
	switch v[0] {
	case '<', '{', '(', '[':
		return true
	case '$':
		if len(v) > 1 && (v[1] == '{' || v[1] == '(' || v[1] == '$' || v[1] == '[' || identifier(v[1:])) {
			return true
		}
	case '@', '&', '*', '%', '#':
		if identifier(v[1:]) && !shapeOf(v[1:]).random() || len(v) > 1 && strings.IndexByte("({<[%", v[1]) >= 0 {
			return true
		}
	}
	padless := strings.TrimRight(v, "=") // of base64
	for _, p := range []string{"${", "$(", "{{", "#{", "<%", "%(", "%s", "%v", "%q", "%w", "%d", "env.", "env[", "environ", "getenv",
		"secrets.", "vault:", "op://", "ssm:", "arn:", "::", "->", "()", "os.", "self.", "this.", "=>", "==", "&&", "||", "!="} {
		if strings.Contains(padless, p) {
			return true
		}
	}
	return false
}

// call reports whether v begins like a call, an index or a literal of code.
func call(v string, in setting) bool {
	i := strings.IndexAny(v, "([{")
	return i > 0 && identifierWith(v[:i], ".") && (in == loose || !shapeOf(v[:i]).choppy())
}

// address reports whether v looks like a mail address.
func address(v string) bool {
	user, host, ok := strings.Cut(v, "@")
	return ok && identifierWith(user, ".-+") && identifierWith(host, ".-") && (strings.Contains(host, ".") || !shapeOf(v).mixed())
}

// variable reports whether v, without quotes, is more likely a variable of a program than a password: camelCase that
// is no jumble or, where code goes on after it, a name with one of the usual parts.
func variable(v string, goesOn bool) bool {
	if !identifier(v) || shapeOf(v).choppy() {
		return false
	}
	camel := false
	for i := 1; i < len(v); i++ {
		camel = camel || kind[v[i]] == kUpper && kind[v[i-1]] == kLower
	}
	if camel && kind[v[0]] == kLower {
		return true
	}
	if !goesOn {
		return false
	}
	var buf [64]byte
	low := lowered(buf[:], v)
	for _, hint := range [...]string{"pass", "pw", "secret", "token", "key", "cred", "auth", "user", "test", "param", "arg", "val", "str", "var", "input",
		"field", "opt", "conf", "get", "new", "buf", "data", "expect", "want"} {
		for i := 0; i+len(hint) <= len(low); i++ {
			if string(low[i:i+len(hint)]) == hint {
				return true
			}
		}
	}
	return false
}

func identifier(v string) bool { return identifierWith(v, "") }

// identifierWith reports whether v is an identifier that may also hold the bytes of more.
func identifierWith(v, more string) bool {
	for i := 0; i < len(v); i++ {
		switch kind[v[i]] {
		case kLower, kUpper:
		case kDigit:
			if i == 0 {
				return false
			}
		default:
			if v[i] != '_' && !isOneOf(v[i], more) {
				return false
			}
		}
	}
	return v != ""
}

// dotted reports whether v is words joined by dots, as in a selector, a host name or a file name.
func dotted(v string) bool {
	return strings.Contains(v, ".") && identifierWith(v, ".-")
}

// path reports whether v looks like a file path or a URL.
func path(v string) bool {
	if strings.Contains(v, "://") {
		return true
	}
	n := strings.Count(v, "/") + strings.Count(v, `\`)
	if n == 0 {
		return false
	}
	if v[0] == '/' && n > 1 || v[0] == '.' || v[0] == '~' {
		return true
	}
	return !shapeOf(v).random()
}

// digest reports whether v says of itself that it is a hash.
func digest(v string) bool {
	for _, p := range []string{"sha1-", "sha256-", "sha384-", "sha512-", "sha1:", "sha256:", "sha512:", "md5:", "h1:", "blake3:"} {
		if strings.HasPrefix(v, p) {
			return true
		}
	}
	return false
}

func isHex(v string) bool {
	for i := 0; i < len(v); i++ {
		if !sets[hexSet].has(v[i]) {
			return false
		}
	}
	return v != ""
}

func isUUID(v string) bool {
	if len(v) != 36 {
		return false
	}
	for i := 0; i < len(v); i++ {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if v[i] != '-' {
				return false
			}
		} else if !sets[hexSet].has(v[i]) {
			return false
		}
	}
	return true
}

// isULID reports whether v is 26 digits of Crockford's base 32 and begins like a time of this age.
func isULID(v string) bool {
	if len(v) != 26 || v[0] != '0' || v[1] != '1' {
		return false
	}
	for i := 0; i < len(v); i++ {
		if k := kind[v[i]]; k != kDigit && k != kUpper || strings.IndexByte("ILOU", v[i]) >= 0 {
			return false
		}
	}
	return true
}
