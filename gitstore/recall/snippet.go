package recall

import (
	"strings"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/gitstore/recall/terms"
)

// Snippets makes the snippets of an answer. It caches stems, so use one for all hits. The zero
// value is ready, for one goroutine.
type Snippets struct {
	terms terms.Analyzer
	room  []terms.Token
}

// Of returns the passage of a memory's body that adds most of a query to its statement. It is a
// line or some sentences, at most width characters, with … for cuts. It is "" if the body adds
// nothing.
func (s *Snippets) Of(h Hit, query string, width int) string {
	asked := map[string]float64{}
	for _, p := range h.Words {
		asked[p.Term] = p.tells
	}
	if len(asked) == 0 { // it was found by other means than its words
		for _, t := range s.terms.Query(query) {
			asked[t.Text] = 1
		}
	}
	stated := map[string]bool{}
	for _, t := range s.tokens(h.Memory.Text, terms.Statement) {
		all, n := lookedUpBy(t.Text)
		for _, term := range all[:n] {
			if asked[term] > 0 {
				stated[term] = true
			}
		}
	}
	return s.passage(h.Memory.Body, asked, stated, width)
}

// tokens returns the tokens of a text, valid until the next call.
func (s *Snippets) tokens(text string, field terms.Field) []terms.Token {
	s.room = s.terms.Append(s.room[:0], text, field)
	return s.room
}

// statedShare is the share of its information that a term in the statement still counts. It decides
// between passages that add equally much.
const statedShare = 0.01

// passage returns the piece of a text with the most information about the asked terms, unless the
// statement has them all.
func (s *Snippets) passage(text string, asked map[string]float64, stated map[string]bool, width int) string {
	best, most := "", 0.0
	found := map[string]bool{}
	for line := range strings.Lines(text) {
		for _, part := range pieces(strings.TrimSpace(line), width) {
			clear(found)
			sum, adds := 0.0, false
			for _, t := range s.tokens(strings.Trim(part, "…"), terms.Body) {
				// A … would become three points, by way of a large table.
				all, n := lookedUpBy(t.Text)
				for _, term := range all[:n] {
					tells := asked[term]
					if tells == 0 || found[term] {
						continue
					}
					found[term] = true
					if stated[term] {
						tells *= statedShare
					} else {
						adds = true
					}
					sum += tells
				}
			}
			if adds && sum > most {
				best, most = part, sum
			}
		}
	}
	return best
}

// lookedUpBy returns the query terms that find a term: itself, and the characters of a pair.
func lookedUpBy(term string) (all [3]string, n int) {
	if _, first := utf8.DecodeRuneInString(term); first < len(term) && terms.Joined(term) {
		return [3]string{term, term[:first], term[first:]}, 3
	}
	return [3]string{term}, 1
}

// pieces splits a line into pieces of at most width characters, at the ends of sentences or words.
func pieces(line string, width int) []string {
	if utf8.RuneCountInString(line) <= width {
		return []string{line}
	}
	var out []string
	for rest := line; rest != ""; {
		if n := utf8.RuneCountInString(rest); len(out) > 0 && n < width-1 {
			return append(out, "…"+lengthened(line, len(line)-len(rest), width-1-n))
		}
		cut := breakOf(rest, max(width-2, 1))
		piece := strings.TrimSpace(rest[:cut])
		if len(out) > 0 {
			piece = "…" + piece
		}
		if cut < len(rest) {
			piece += "…"
		}
		out = append(out, piece)
		rest = strings.TrimLeft(rest[cut:], " \t")
	}
	return out
}

// lengthened returns the end of a line from start, and whole words before it of up to n characters.
func lengthened(line string, start, n int) string {
	from := start
	for ; n > 0 && from > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(line[:from])
		from -= size
	}
	if i := strings.IndexByte(line[from:], ' '); i >= 0 && from+i < start {
		from += i + 1
	}
	return line[from:]
}

// breakOf returns the length of a text's start that has at most most characters, and ends with a
// sentence or a word if that is more than half of it.
func breakOf(text string, most int) int {
	n, word, sentence := 0, 0, 0
	for i, c := range text {
		if n++; n > most {
			switch {
			case sentence > i/2:
				return sentence
			case word > i/2:
				return word
			}
			return i
		}
		switch c {
		case ' ', '\t':
			word = i
			if i > 0 && strings.IndexByte(".!?;:", text[i-1]) >= 0 {
				sentence = i
			}
		case '。', '！', '？', '，', '、':
			word = i + utf8.RuneLen(c)
			sentence = word
		}
	}
	return len(text)
}
