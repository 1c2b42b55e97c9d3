package redact

import (
	"encoding/base64"
	"strings"
)

// lookBearer looks for what follows the word Bearer.
func lookBearer(text string, at int, found []span) []span {
	i := at + len("bearer")
	if !boundary(text, at) || i >= len(text) || text[i] != ' ' && text[i] != ':' {
		return found
	}
	start := blanks(text, i+1)
	end := anySet.run(text, start, maxValue)
	// of WWW-Authenticate
	name, _, parameter := strings.Cut(strings.TrimRight(text[start:end], "="), "=")
	parameter = parameter || strings.Contains(name, "_") && end < len(text) && isOneOf(text[end], `"\`)
	if v := text[start:end]; len(v) >= 16 && !(parameter && identifier(name) && !shapeOf(name).random()) && secretValue(v, hard, attached) {
		return append(found, span{start, end, ruleHeader})
	}
	return found
}

// basic reports whether text[start:end] follows the word Basic and is user:password in base64.
func basic(text string, start, end int) bool {
	if start < 6 || !strings.EqualFold(text[start-6:start-1], "basic") || end-start > maxValue {
		return false
	}
	plain, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text[start:end], "="))
	if err != nil {
		return false
	}
	_, password, ok := strings.Cut(string(plain), ":")
	return ok && len(password) > 0 && printable(plain)
}

// lookUser looks for a random password in -u user:password of any command.
func lookUser(text string, at int, found []span) []span {
	i := at + 3
	if text[at] == '-' {
		i = at + len("--user")
	}
	if i >= len(text) || !isOneOf(text[i], " ='\"") {
		return found
	}
	if text[i] == '=' {
		i++
	}
	i = blanks(text, i)
	start, end, ok := quotedAt(text, i)
	if !ok {
		start, end = i, bareEnd(text[:min(len(text), i+200)], i, true)
	}
	user, v, two := strings.Cut(text[start:end], ":")
	if !two || user == "" || !identifierWith(user, ".-+@") || user[0] == '+' {
		return found
	}
	start += len(user) + 1
	if shapeOf(v).random() && secretValue(v, hard, attached) {
		return append(found, span{start, end, ruleHeader})
	}
	return found
}

// lookIdentified looks for SQL's IDENTIFIED BY 'password', perhaps WITH a plugin.
func lookIdentified(text string, at int, found []span) []span {
	i := blanks(text, at+len("identified"))
	if end := i + len("with"); end <= len(text) && strings.EqualFold(text[i:end], "with") {
		i, _ = closers(text, blanks(text, end))
		i, _ = closers(text, dashSet.run(text, i, 64))
		i = blanks(text, i)
	}
	by := i + len("by ")
	if by > len(text) || !strings.EqualFold(text[i:by], "by ") {
		return found
	}
	start, end, ok := quotedAt(text, blanks(text, by))
	if ok && (text[start-1] == '\'' || shapeOf(text[start:end]).mixed()) && credential(text[start:end]) {
		found = append(found, span{start, end, ruleAssignment})
	}
	return found
}

// lookCookie looks for random values in a Cookie or Set-Cookie header.
func lookCookie(text string, at int, found []span) []span {
	i := at + len("cookie")
	if i < len(text) && (text[i] == 's' || text[i] == 'S') {
		i++
	}
	i, _ = closers(text, i)
	i = blanks(text, i)
	if i >= len(text) || text[i] != ':' && text[i] != '=' {
		return found
	}
	i, _ = closers(text, blanks(text, i+1))
	return cookies(text, i, found)
}

// cookies looks for random values of the cookies at text[i:].
func cookies(text string, i int, found []span) []span {
	for range 32 {
		eq := dotSet.run(text, i, 64)
		if eq == i || eq >= len(text) || text[eq] != '=' {
			break
		}
		end := anySet.run(text, eq+1, maxJudged)
		if v := text[eq+1 : end]; len(v) >= 16 && (shapeOf(v).random() || len(v) >= 24 && isHex(v)) && !isUUID(v) && !reference(v, shapeOf(v), attached) {
			end = anySet.run(text, end, maxValue)
			found = append(found, span{eq + 1, end, ruleHeader})
		}
		if end >= len(text) || text[end] != ';' {
			break
		}
		i = blanks(text, end+1)
	}
	return found
}
