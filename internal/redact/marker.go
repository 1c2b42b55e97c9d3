package redact

import (
	"strings"
	"unicode/utf8"
)

// Names of the rules that are not formats of one provider.
const (
	ruleAssignment = "assignment"    // the value of a name that announces a secret
	ruleHeader     = "credentials"   // Authorization headers, curl -u
	ruleURL        = "url-password"  // scheme://user:password@host
	ruleSignature  = "url-signature" // a signed URL's sig= parameter
	rulePrivateKey = "private-key"   // private keys: see privatekey.go
	// the beginning of a key without its end: more of it may follow
	ruleOpenKey  = "private-key-begin"
	ruleBase64   = "base64"   // base64 of a text that holds a secret
	ruleEntropy  = "entropy"  // a random string near a word that announces a secret
	ruleLiteral  = "literal"  // a value given to New
	ruleUnstable = "unstable" // a whole text that did not settle
)

// A marker is its head, a rule's name of at most 39 bytes, and a bracket.
const (
	markerHead = "[redacted:"
	maxMarker  = len(markerHead) + 40
)

func marker(rule string) string { return markerHead + rule + "]" }

// isRule reports whether a marker can have that name. `[redacted:` with another name is ordinary
// text, because a secret could hide in it otherwise.
func isRule(name string) bool {
	switch name {
	case ruleAssignment, ruleHeader, ruleURL, ruleSignature, rulePrivateKey, ruleOpenKey, ruleBase64, ruleEntropy, ruleLiteral, ruleUnstable:
		return true
	}
	for i := range families {
		if families[i].rule == name {
			return true
		}
	}
	for i := range runFormats {
		if runFormats[i].rule == name {
			return true
		}
	}
	return false
}

// markerAt returns the length of the marker that begins at text[at], or 0.
func markerAt(text string, at int) int {
	rest := text[at:]
	if !strings.HasPrefix(rest, markerHead) {
		return 0
	}
	end := strings.IndexByte(rest[:min(len(rest), maxMarker)], ']')
	if end < 0 || !isRule(rest[len(markerHead):end]) {
		return 0
	}
	return end + 1
}

// markerOver returns the marker that covers text[at], if one begins before at and ends after it.
func markerOver(text string, at int) (start, end int, ok bool) {
	low := max(0, at-maxMarker)
	i := strings.LastIndex(text[low:min(len(text), at+len(markerHead)-1)], markerHead)
	if i < 0 || low+i >= at {
		return 0, 0, false
	}
	n := markerAt(text, low+i)
	return low + i, low + i + n, low+i+n > at
}

// clearOfMarkers widens a span so that it splits no marker and no rune. It returns false for a span
// within one marker, and for a span of only markers.
func clearOfMarkers(text string, s span) (span, bool) {
	if start, end, ok := markerOver(text, s.start); ok {
		if end >= s.end {
			return s, false
		}
		s.start = start
	}
	if _, end, ok := markerOver(text, s.end); ok {
		s.end = end
	}
	for n := 0; n < 3 && s.start > 0 && !utf8.RuneStart(text[s.start]); n++ {
		s.start--
	}
	for n := 0; n < 3 && s.end < len(text) && !utf8.RuneStart(text[s.end]); n++ {
		s.end++
	}
	for i := s.start; i < s.end; {
		n := markerAt(text, i)
		if n == 0 {
			return s, true
		}
		i += n
	}
	return s, false
}
