package redact

import "strings"

// beside is the maximum distance, in bytes, between a random string and the word that announces it
// on the same line.
const beside = 90

// lookBeside looks for random strings before and after a name that announces a secret.
func (s *scan) lookBeside(n name) {
	text := s.text
	from, to := max(0, n.start-beside), min(len(text), n.end+beside)
	if i := strings.LastIndexByte(text[from:n.start], '\n'); i >= 0 {
		from += i + 1
	}
	if i := strings.IndexByte(text[n.end:to], '\n'); i >= 0 {
		to = n.end + i
	}
	from, s.beside = max(from, s.beside), max(to, s.beside)
	for i := from; i < to; {
		if !sets[tokenSet].has(text[i]) {
			i++
			continue
		}
		start := i
		if i == from {
			start = tokenSet.back(text, i, 200)
		}
		end := tokenSet.run(text, i, 200)
		if end-start >= 20 && (end <= n.start || start >= n.end) {
			if from, to := trimToken(text, start, end); keyLike(text, from, to) {
				s.note(span{from, to, ruleEntropy})
			}
		}
		i = end
	}
}

// trimToken removes text that does not belong to a token: a name before an equals sign, the end of
// an escape.
func trimToken(text string, start, end int) (int, int) {
	for i := start + 1; i < end && i < start+16; i++ {
		if escapeEnd(text, i) {
			start = i
		}
	}
	for end > start && isOneOf(text[end-1], ".-/") {
		end--
	}
	if i := strings.IndexByte(strings.TrimRight(text[start:end], "="), '='); i >= 0 {
		start += i + 1
	}
	return start, end
}

// keyLike reports whether the token text[start:end] can only be a key: digits and letters of both
// cases in constant change. Hashes, ids, paths, dotted names and data are not keys.
func keyLike(text string, start, end int) bool {
	v := text[start:end]
	if len(v) < 20 || len(v) > 180 || digest(v) || isUUID(v) || longPlaceholder(v) {
		return false
	}
	sh := shapeOf(v)
	if reference(v, sh, loose) || sh.digit < 2 || sh.lower < 3 || sh.upper < 3 || !sh.random() || 10*(sh.letters()+sh.digit) > 26*sh.parts {
		return false
	}
	if n := strings.Count(v, "/"); n > 2 && sh.odd < 4 || strings.Count(v, "_")+strings.Count(v, "-")+strings.Count(v, ".") > len(v)/5 {
		return false
	}
	if start > 0 && (text[start-1] == ':' || text[start-1] == '-') {
		// h1:… of go.sum, SHA256:… of ssh, sha512-… of a lock file
		label := alnumSet.back(text, start-1, 10)
		for _, h := range []string{"h1", "sha1", "sha256", "sha384", "sha512", "md5", "blake3"} {
			if strings.EqualFold(text[label:start-1], h) {
				return false
			}
		}
	}
	if named(text, start) {
		return false
	}
	// Public keys, and parts of longer data.
	return !strings.HasPrefix(v, "AAAA") && !imageData(v) && !(end < len(text) && (text[end] == '(' || sets[tokenSet].has(text[end])))
}

// named reports whether the token at text[start] is the value of an innocent name: "requestId":"…".
func named(text string, start int) bool {
	i := start
	for i > 0 && start-i < 8 && isOneOf(text[i-1], "\"'`\\") {
		i--
	}
	for i > 0 && start-i < 16 && text[i-1] == ' ' {
		i--
	}
	if i == 0 || text[i-1] != ':' && text[i-1] != '=' {
		return false
	}
	i--
	for i > 0 && start-i < 32 && isOneOf(text[i-1], " \"'`\\") {
		i--
	}
	from := dotSet.back(text, i, maxName)
	return from < i && strengthOf(text[from:i]) == none
}
