package compress

import (
	"strings"
	"unicode/utf8"
)

// Prose is shortened from minProse bytes on, and only if less than leftProse of it stays, in
// percent.
const (
	minProse  = 500
	leftProse = 60
	proseEnds = 3   // sentences at both ends
	maxWeighs = 12  // others that stay
	longLine  = 160 // bytes from which a line is split into sentences
)

// said shortens an agent's words. It leaves text with code unchanged, because the words around the
// code belong to it.
func said(text string, tight bool) string {
	if len(text) < minProse || strings.Contains(text, "```") {
		return text
	}
	ends, others := proseEnds, maxWeighs
	if tight {
		ends, others = 1, maxWeighs/4
	}
	return shorten(text, leftProse, func(lines []piece) []piece {
		var parts []piece
		for _, p := range lines {
			if p.made || len(p.text) < longLine {
				parts = append(parts, p)
			} else {
				parts = append(parts, sentences(p.text)...)
			}
		}
		s := &selection{lines: parts, keep: make([]bool, len(parts)), folded: make([]bool, len(parts))}
		for i, p := range parts {
			s.folded[i] = strings.TrimSpace(p.text) == "" // empty lines go with their neighbours
		}
		s.first(part{ends, minProse})
		s.last(part{ends, minProse})
		s.spread(others, weighs)
		return cutLines(choose(parts, s.keep), fewLong, false)
	})
}

// weighs reports whether a sentence is kept in any position.
func weighs(s string) bool {
	t := strings.TrimLeft(s, " \t")
	if t == "" {
		return false
	}
	if t[0] == '#' || strings.HasPrefix(t, "**") || strings.IndexByte(t, '`') >= 0 {
		return true
	}
	return weighty.find(t) >= 0 || failures.find(t) >= 0 || hasPath(t)
}

// hasPath reports whether a word looks like a file's path.
func hasPath(s string) bool {
	for w := range strings.FieldsSeq(s) {
		if at := strings.IndexByte(w, '/'); at > 0 && at+1 < len(w) && !strings.Contains(w, "//") && letter(w[at-1]) && letter(w[at+1]) {
			return true
		}
	}
	return false
}

// sentences splits a line after its full stops, question and exclamation marks, without loss.
func sentences(l string) []piece {
	var out []piece
	from := 0
	for i, r := range l {
		end := 0
		switch r {
		case '.', '!', '?':
			if strings.HasPrefix(l[i+1:], " ") {
				end = i + 2
			}
		case '。', '！', '？':
			end = i + utf8.RuneLen(r)
		}
		if end > from && end < len(l) {
			out = append(out, piece{text: l[from:end], cont: true, goes: gone{bytes: end - from}})
			from = end
		}
	}
	p := piece{text: l[from:], goes: gone{bytes: len(l) - from}}
	if from == 0 {
		p = line(l)
	}
	return append(out, p)
}
