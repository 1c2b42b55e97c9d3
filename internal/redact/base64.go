package redact

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

// minRun is the shortest run of letters and digits that is examined, and minBase64 the shortest
// that is decoded.
const (
	minRun    = 22
	minBase64 = 28
)

// findRuns examines long runs of the base64 alphabets: formats without a fixed prefix, private keys
// without their first line, and base64 of a text in which s finds a secret. It samples every
// minRun-th byte.
func findRuns(text string, s *Scanner) []span {
	var found []span
	last := 0 // end of the run before
	for i := minRun - 1; i < len(text); i += minRun {
		if !sets[runSet].has(text[i]) {
			continue
		}
		start := runSet.back(text, i, i-last)
		end := runSet.run(text, i, len(text))
		last = end
		if end-start >= minRun {
			f, ok := lookRun(text, start, end, s)
			if ok {
				found = append(found, f)
			}
			last = max(last, f.end)
		}
		i = max(i, last-1)
	}
	return found
}

// lookRun examines one run, and the lines of base64 after it. Without a finding, the span's end
// tells how far it has looked.
func lookRun(text string, start, end int, s *Scanner) (span, bool) {
	if start > 0 && escapeEnd(text, start+1) { // \n
		start++
	}
	for i := start + 1; i < end && i < start+8; i++ {
		if text[i-1] == 'm' && escapeEnd(text, i) { // a colour
			start = i
		}
	}
	if end-start < minRun {
		return span{}, false
	}
	for _, f := range runFormats {
		if from, to, ok := f.match(text, start, end); ok {
			return span{from, to, f.rule}, true
		}
	}
	v := text[start:end]
	if end-start < minBase64 || imageData(v) {
		return span{}, false
	}
	coding := base64.RawStdEncoding
	if strings.ContainsAny(v, "-_") {
		coding = base64.RawURLEncoding
	}
	var head [24]byte
	if n, err := coding.Decode(head[:], []byte(v[:minBase64])); n < 20 && err != nil || !printable(head[:min(n, 20)]) {
		return span{}, false
	}
	end = base64Lines(text, start, end)
	plain, err := coding.DecodeString(joined(text[start:end]))
	if err != nil || !utf8.Valid(plain) || !printable(plain) {
		return span{end: end}, false
	}
	inner := string(plain)
	found := findTriggered(inner)
	if s != nil && s.literals != nil {
		found = s.literals.find(inner, ruleLiteral, found)
	}
	if len(settle(inner, found)) == 0 && len(findKeys(inner, 0, false)) == 0 {
		return span{end: end}, false
	}
	for end < len(text) && text[end] == '=' {
		end++
	}
	return span{start, end, ruleBase64}, true
}

// base64Lines returns the end of the base64 that begins with the run text[start:end], if that is
// the first of several lines of equal length.
func base64Lines(text string, start, end int) int {
	width := end - start
	if width < 56 || width > 128 {
		return end
	}
	for {
		next := end
		for _, eol := range []string{"\n", "\r\n", `\n`, `\r\n`} {
			if strings.HasPrefix(text[end:], eol) {
				next = end + len(eol)
			}
		}
		run := runSet.run(text, next, width+1)
		if next == end || run == next || run-next > width {
			return end
		}
		if end = run; run-next < width {
			return end
		}
	}
}
