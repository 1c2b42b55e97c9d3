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
			// The last part has room for the rest.
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
		end, n := len(rest), 0 // characters that fit
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
