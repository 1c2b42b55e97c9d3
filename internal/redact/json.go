package redact

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// JSON scans a JSON document. It decodes and scans every string, including keys, and treats a
// string under a telling name as its value. Markers replace bytes within strings; all other bytes
// stay, and the result is valid JSON of the same structure. A secret found in one string is removed
// from all. Invalid JSON gives an error with the byte offset.
func (s *Scanner) JSON(doc []byte) (Redacted, Report, error) { return s.json(doc, 0) }

// json is JSON for a document that follows others: see findKeys.
func (s *Scanner) json(doc []byte, carry int) (Redacted, Report, error) {
	if !json.Valid(doc) {
		var raw json.RawMessage
		err := json.Unmarshal(doc, &raw)
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return Redacted{}, Report{}, fmt.Errorf("scan JSON document: byte %d: %w", syntax.Offset, err)
		}
		return Redacted{}, Report{}, fmt.Errorf("scan JSON document: %w", err)
	}
	text := string(doc)
	var report Report
	for range maxPasses {
		found := s.findJSON(text)
		if keys := keysInStrings(text, carry); len(keys) > 0 {
			found = settle(text, append(found, keys...))
		}
		if len(found) == 0 {
			return Redacted{text}, report, nil
		}
		text = replace(text, found, &report)
	}
	report.count(ruleUnstable)
	return Redacted{`"` + marker(ruleUnstable) + `"`}, report, nil
}

// findJSON returns the secrets in the strings of a valid document, as spans of the document.
func (s *Scanner) findJSON(doc string) []span {
	type inside struct {
		jsonString
		found []span // of text
	}
	var hits []inside
	var values []string
	eachString(doc, func(str jsonString) {
		found := s.find(str.text)
		if !str.isKey && str.strength != none {
			if f, ok := whole(str); ok {
				found = settle(str.text, append(found, f))
			}
		}
		if len(found) == 0 {
			return
		}
		hits = append(hits, inside{str, found})
		for _, f := range found {
			if v := str.text[f.start:f.end]; spreads(v) {
				values = append(values, v)
			}
		}
	})
	if len(hits) == 0 {
		return nil
	}
	var out []span
	put := func(str jsonString, found []span) {
		for _, f := range found {
			out = append(out, span{str.start + rawOffset(doc[str.start:str.end], f.start), str.start + rawOffset(doc[str.start:str.end], f.end), f.rule})
		}
	}
	set := newLiteralSet(values)
	if set == nil {
		for _, h := range hits {
			put(h.jsonString, h.found)
		}
		return out
	}
	set.careful = true
	eachString(doc, func(str jsonString) {
		var found []span
		if len(hits) > 0 && hits[0].start == str.start {
			found = hits[0].found
			hits = hits[1:]
		}
		if found = settle(str.text, set.find(str.text, ruleAssignment, slices.Clone(found))); len(found) > 0 {
			put(str, found)
		}
	})
	return out
}

// keysInStrings returns the parts of private keys in a valid document. A key may go over many
// strings, and does where each line of a file has one; what lies between them stays.
func keysInStrings(doc string, carry int) []span {
	keys := findKeys(doc, carry, false)
	if len(keys) == 0 {
		return nil
	}
	var out []span
	last := -1 // start of the string that the span before lies in
	eachString(doc, func(str jsonString) {
		for len(keys) > 0 && keys[0].start < str.end {
			k := keys[0]
			keys = keys[1:]
			k.start, k.end = max(k.start, str.start), min(k.end, str.end)
			switch {
			case k.start >= k.end, str.isKey && k.end-k.start < minKeyRun:
			case k.joined && last == str.start:
				out[len(out)-1].end = k.end
			default:
				out = append(out, k.span)
				last = str.start
			}
		}
	})
	return out
}

// whole returns the string that is the value of a name, if it looks like a secret.
func whole(str jsonString) (span, bool) {
	start, end := afterScheme(str.text, 0, len(str.text))
	v := str.text[start:end]
	if !basic(str.text, start, end) && !secretValue(v, str.strength, quoted) {
		return span{}, false
	}
	if rule := formatOf(v); rule != "" {
		return span{start, end, rule}, true
	}
	return span{start, end, ruleAssignment}, true
}

// jsonString is a string of a document.
type jsonString struct {
	start, end int    // of what stands between its quotes, in the document
	text       string // decoded
	isKey      bool
	strength   strength // of the name it is the value of
}

// eachString calls fn for each string of a valid document, in order.
func eachString(doc string, fn func(jsonString)) {
	var names []string // per open array or object: the name whose value it is, for an array's strings
	name, before := "", ""
	for i := 0; i < len(doc); i++ {
		switch doc[i] {
		case '[':
			names = append(names, name)
		case '{':
			names = append(names, "")
			name, before = "", ""
		case ']', '}':
			name, before = "", ""
			names = names[:len(names)-1]
		case ',':
			name = ""
			if len(names) > 0 {
				name = names[len(names)-1]
			}
		case '"':
			end := i + 1
			for doc[end] != '"' {
				if doc[end] == '\\' {
					end++
				}
				end++
			}
			str := jsonString{start: i + 1, end: end, text: decoded(doc[i+1 : end])}
			next := end + 1
			for next < len(doc) && kind[doc[next]] == kSpace {
				next++
			}
			if str.isKey = next < len(doc) && doc[next] == ':'; str.isKey {
				fn(str)
				name = str.text
			} else {
				str.strength = strengthOf(announced(name, before))
				fn(str)
				before = str.text
			}
			i = end
		}
	}
}

// announced returns the name of a value: its key, or what stood just before it in
// {"name":"DB_PASSWORD","value":"…"} and in ["--password","…"].
func announced(key, before string) string {
	if len(before) <= maxName && (key == "value" || key == "Value" || strings.HasPrefix(before, "--")) && !strings.ContainsAny(before, " =") {
		return before
	}
	if len(key) > 2*maxName {
		return ""
	}
	return key
}
