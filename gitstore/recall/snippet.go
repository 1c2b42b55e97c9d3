package recall

import (
	"strings"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/gitstore/recall/terms"
)

// Snippet is the part of a text that a query is about most: a line or some sentences, of width characters at most, where … stands
// for what was cut. It is "" when the text has no word of the query.
func Snippet(text, query string, width int) string {
	var a terms.Analyzer
	asked := map[string]bool{}
	for _, t := range a.Query(query) {
		asked[t.Text] = true
	}
	best, most := "", 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, part := range pieces(line, width) {
			found := map[string]bool{}
			for _, t := range a.Append(nil, part, terms.Body) {
				if asked[t.Text] {
					found[t.Text] = true
				}
			}
			if len(found) > most {
				best, most = part, len(found)
			}
		}
	}
	return best
}

// pieces parts a line into pieces of width characters at most, where sentences or words end.
func pieces(line string, width int) []string {
	if utf8.RuneCountInString(line) <= width {
		return []string{line}
	}
	var out []string
	for rest := line; rest != ""; {
		if n := utf8.RuneCountInString(rest); len(out) > 0 && n < width-1 { // the last has room for what is before it
			start := len(line) - len(rest)
			for ; n < width-1 && start > 0; n++ {
				_, size := utf8.DecodeLastRuneInString(line[:start])
				start -= size
			}
			if i := strings.IndexByte(line[start:], ' '); i >= 0 && start+i < len(line)-len(rest) {
				start += i + 1
			}
			return append(out, "…"+line[start:])
		}
		from := ""
		if len(out) > 0 {
			from = "…"
		}
		end, n := len(rest), 0 // of the characters that fit
		word, sentence := 0, 0
		for i, c := range rest {
			if n++; n > max(width-2, 1) {
				end = i
				break
			}
			after := i + utf8.RuneLen(c)
			if c == utf8.RuneError {
				after = i + 1
			}
			switch c {
			case ' ', '\t':
				word = i
				if i > 0 && strings.IndexByte(".!?;:", rest[i-1]) >= 0 {
					sentence = i
				}
			case '。', '！', '？', '，', '、':
				word, sentence = after, after
			}
		}
		cut := end
		if end < len(rest) {
			switch {
			case sentence > end/2:
				cut = sentence
			case word > end/2:
				cut = word
			}
		}
		to := ""
		if cut < len(rest) {
			to = "…"
		}
		out = append(out, from+strings.TrimSpace(rest[:cut])+to)
		rest = strings.TrimLeft(rest[cut:], " \t")
	}
	return out
}
