package redact

import (
	"slices"
	"strings"
)

// lookURL looks for the password in scheme://user:password@host, and for a long random user without
// one.
func lookURL(text string, at int, found []span) []span {
	scheme := dotSet.back(text, at, 24)
	start := at + len("://")
	if scheme == at {
		return found
	}
	sign := userEnd(text, start)
	if sign < 0 {
		return found
	}
	user, password, two := strings.Cut(text[start:sign], ":")
	if !two {
		if sh := shapeOf(user); len(user) >= 20 && sh.random() && !isUUID(user) && !reference(user, sh, quoted) && !dotted(user) {
			found = append(found, span{start, sign, ruleURL})
		}
		return found
	}
	host := text[sign+1 : dotSet.run(text, sign+1, 256)]
	if !credential(password) || password == user || user == "" && strings.Contains(password, ":") || strings.ContainsAny(user, "[]{}()|<>") || pattern(password) {
		return found
	}
	sh := shapeOf(password)
	if sh.digit+sh.symbol == 0 && len(password) < 12 {
		// Words: most likely a real password if the database is real.
		http := strings.HasSuffix(text[scheme:at], "http") || strings.HasSuffix(text[scheme:at], "https")
		if http || strings.HasPrefix(host, "localhost") || strings.HasPrefix(host, "127.") || strings.HasPrefix(host, "example") || host == "host" || host == "" {
			return found
		}
	}
	return append(found, span{start + len(user) + 1, sign, ruleURL})
}

// userEnd returns the place of the @ before the host of the URL whose authority begins at
// text[start], or -1. As people write it, a password may have signs that end an authority.
func userEnd(text string, start int) int {
	end := start
	for end < len(text) && end < start+512 && kind[text[end]] != kSpace && kind[text[end]] != kControl && !isOneOf(text[end], "\"`\\") {
		end += max(1, markerAt(text, end))
	}
	isHost := func(at int) bool {
		h := dotSet.run(text, at, 256)
		return h > at && (h == len(text) || !isOneOf(text[h], "!$%&*+=@^|~{(["))
	}
	odd, open := strings.IndexAny(text[start:end], "/?#'<>,"), dotSet.back(text, start-len("://"), 24)
	if odd < 0 {
		odd = end - start
	}
	first := strings.IndexByte(text[start:start+odd], '@')
	user, _, two := strings.Cut(text[start:start+odd], ":")
	port := digitSet.run(text, start+len(user)+1, maxName) - start
	if plain := strings.LastIndexByte(text[start:start+odd], '@'); !two || dotSet.run(user, 0, maxName) < len(user) || port == odd && odd > len(user)+1 || first >= 0 && isHost(start+first+1) {
		if plain >= 0 {
			plain += start
		}
		return plain
	}
	i := end
	for range 4 {
		if i = start + strings.LastIndexByte(text[start:i], '@'); i < start {
			break
		}
		password := text[start+len(user)+1 : i]
		if len(password) > 128 {
			continue
		}
		sh := shapeOf(password)
		if i < start+odd || isHost(i+1) && (!strings.Contains(password, "/") || sh.random() && sh.mixed()) && !strings.Contains(password, "</") && !strings.Contains(password, "://") &&
			!(open > 0 && strings.IndexByte("'<(", text[open-1]) >= 0 && strings.ContainsAny(password, text[open-1:open]+">)")) {
			return i
		}
	}
	return -1
}

// pattern reports whether a part of a URL is a template or a regular expression.
func pattern(v string) bool {
	if sh := shapeOf(v); sh.random() && sh.mixed() {
		return false
	}
	if strings.Contains(v, "[^") || strings.Contains(v, "|") && identifierWith(v, "|") && shapeOf(v).digit == 0 {
		return true
	}
	_, inner, _ := strings.Cut(v, "{")
	name, _, ok := strings.Cut(inner, "}")
	return ok && identifierWith(name, ".") && shapeOf(name).digit == 0
}

// lookEncodedURL looks for a password in a URL that is itself URL-encoded.
func lookEncodedURL(text string, at int, found []span) []span {
	start := at + len("%3a%2f%2f")
	end := start
	for end < len(text) && end < start+512 && (sets[dashSet].has(text[end]) || isOneOf(text[end], ".%~+")) {
		if text[end] == '%' && end+3 <= len(text) && strings.EqualFold(text[end:end+3], "%2f") {
			break
		}
		end++
	}
	user, rest, ok := strings.Cut(text[start:end], "%3A")
	if !ok {
		user, rest, ok = strings.Cut(text[start:end], "%3a")
	}
	sign := strings.LastIndex(rest, "%40")
	if !ok || sign < 0 || !credential(rest[:sign]) {
		return found
	}
	start += len(user) + len("%3A")
	return append(found, span{start, start + sign, ruleURL})
}

// credential reports whether v, in a password's place, is a password rather than a placeholder.
func credential(v string) bool {
	sh := shapeOf(v)
	return len(v) >= 4 && len(v) <= maxValue && !reference(v, sh, quoted) && !slices.Contains(wellKnown, v) && sh.distinct > 2 &&
		!(placeholder(v) && !sh.random()) && !strings.HasPrefix(v, markerHead) && !(kind[v[0]] == kUpper && identifier(v) && sh.lower == 0 && sh.digit == 0)
}

// lookSignature looks for the signature of a shared access signature (Azure) or of a presigned URL
// (AWS).
func lookSignature(text string, at int, found []span) []span {
	// = or %3D
	start := at + strings.IndexAny(text[at:min(len(text), at+len("x-amz-signature="))], "=dD") + 1
	if at == 0 || !isOneOf(text[at-1], "?&;") && !escapeEnd(text, at) {
		return found
	}
	end := start
	for end < len(text) && end < start+200 && (sets[dashSet].has(text[end]) || isOneOf(text[end], "+/=%")) {
		end++
	}
	if n := end - start; n < 40 || !isHex(text[start:end]) && !shapeOf(text[start:end]).random() {
		return found
	}
	return append(found, span{start, end, ruleSignature})
}

// lookDSN looks for the password in the data source name of Go's MySQL driver:
// user:password@tcp(host:3306)/db.
func lookDSN(text string, at int, found []span) []span {
	start := at
	for start > 0 && at-start < 200 && kind[text[start-1]] != kSpace && kind[text[start-1]] != kControl && !isOneOf(text[start-1], "\"'`") {
		start--
	}
	user, password, ok := strings.Cut(text[start:at], ":")
	if i := strings.LastIndexByte(user, '='); i >= 0 { // DSN=user:…
		user = user[i+1:]
	}
	if !ok || user == "" || strings.HasPrefix(password, "//") || !credential(password) {
		return found
	}
	return append(found, span{at - len(password), at, ruleURL})
}

// lookOracle looks for the password in jdbc:oracle:thin:user/password@host.
func lookOracle(text string, at int, found []span) []span {
	start := at + len("jdbc:oracle:")
	start = alnumSet.run(text, start, 8) + 1
	end := start
	for end < len(text) && end < start+120 && kind[text[end]] != kSpace && !isOneOf(text[end], "@\"'`") {
		end++
	}
	if end >= len(text) || text[end] != '@' {
		return found
	}
	user, password, ok := strings.Cut(text[start:end], "/")
	if !ok || user == "" || !credential(password) {
		return found
	}
	return append(found, span{end - len(password), end, ruleURL})
}

// lookPgpass looks for the password in a line of .pgpass: host:port:database:user:password.
func lookPgpass(text string, at int, found []span) []span {
	low := dotSet.back(text, at, 100)
	if low == at && at > 0 && text[at-1] == '*' {
		low--
	}
	for i := low + 1; i < at && i < low+4; i++ {
		if escapeEnd(text, i) { // \n
			low = i
		}
	}
	end := bareEnd(text[:min(len(text), at+200)], low, true)
	parts := strings.SplitN(text[low:end], ":", 6)
	if low > 0 && kind[text[low-1]] != kSpace && !isOneOf(text[low-1], "\"'`|") && !escapeEnd(text, low) || len(parts) != 5 || !boundary(text, low) {
		return found
	}
	port := parts[1]
	if port != "*" && digitSet.run(port, 0, 6) != len(port) || parts[2] == "" || parts[3] == "" || len(parts[4]) < 4 || !credential(parts[4]) {
		return found
	}
	return append(found, span{end - len(parts[4]), end, ruleURL})
}

// lookAccounts looks for the private keys in accounts: ["0x…"], as in settings for Ethereum.
func lookAccounts(text string, at int, found []span) []span {
	limit := min(len(text), at+600)
	for i := at + len("accounts"); i < limit; i++ {
		switch c := text[i]; {
		case c == '0' && i+66 <= len(text) && text[i+1] == 'x' && hexSet.run(text, i+2, 65) == i+66 && isOneOf(text[i-1], "\"'`"):
			found = append(found, span{i, i + 66, ruleAssignment})
			i += 66
		case !isOneOf(c, " \t\r\n:=[,\"'`\\"):
			return found
		}
	}
	return found
}
