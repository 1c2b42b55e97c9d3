package term

import (
	"strings"
	"unicode"
	"unicode/utf8"

	analysis "github.com/reverie-memory/reverie/gitstore/recall/terms"
)

// Hit holds the parts of one memory drawn in a list.
type Hit struct {
	Mark, Colour string // one character, and how it looks
	ID, Kind     string
	Statement    string
	Variants     []string // other statements that a merge kept
	Remarks      string   // special remarks, or empty
	// a passage of its text that answers a query better than the statement; or empty
	Snippet string
	Words   []string // words of a query, highlighted in colour
}

// Sizes of a hit, in cells.
const (
	StatedAt    = 24     // column of the statement
	maxStated   = 400    // of a statement on a screen; show prints all
	maxSnippet  = 240    // of a snippet, everywhere
	kindWidth   = 10     // the longest kind's
	shownOfID   = 8      // characters
	belowIndent = "    " // of the statement on a screen too narrow for columns
)

// Hit draws a memory: mark, id, kind, statement and remarks in columns, and a snippet under the
// statement. On a screen too narrow for columns the statement moves below.
func (t *Terminal) Hit(h Hit) {
	lead := []Styled{{h.Colour, h.Mark}, {"", " "}, {Bold, h.ID[:min(shownOfID, len(h.ID))]}, {"", "  " + Pad(h.Kind, kindWidth)}}
	statement := Visible(h.Statement)
	if t.Screen {
		statement = Truncate(statement, maxStated)
	}
	text := t.highlighted("", statement, h.Words)
	if h.Remarks != "" {
		text = append(text, Styled{"", "  "}, Styled{Dim, "(" + Visible(h.Remarks) + ")"})
	}
	if t.Hang(StatedAt) < StatedAt {
		t.Lay(NarrowHang, lead...)
		t.Under(text...)
	} else {
		t.Lay(StatedAt, append(append(lead, Styled{"", "  "}), text...)...)
	}
	for _, v := range h.Variants {
		t.Under(Styled{"", "or: " + Visible(v)})
	}
	if h.Snippet != "" {
		t.Under(t.highlighted(Dim, OneLine(h.Snippet, maxSnippet), h.Words)...)
	}
}

// Under writes a line under the statement of a hit.
func (t *Terminal) Under(text ...Styled) {
	column := t.Hang(StatedAt)
	t.Lay(column, append([]Styled{{"", strings.Repeat(" ", column)}}, text...)...)
}

// highlighted returns text in a style, with the words of a query highlighted if there are colours.
func (t *Terminal) highlighted(style, text string, words []string) []Styled {
	if !t.Colour || len(words) == 0 {
		return []Styled{{style, text}}
	}
	marked := make([]bool, len(text)+1)
	before := utf8.RuneError
	for i, r := range text {
		if beginsWord(before, r) {
			for _, word := range words {
				for k := range wordLength(text[i:], word) {
					marked[i+k] = true
				}
			}
		}
		before = r
	}
	var spans []Styled
	for from, i := 0, 1; i <= len(text); i++ {
		if i < len(text) && marked[i] == marked[from] {
			continue
		}
		look := style
		if marked[from] {
			look = Bold
		}
		spans = append(spans, Styled{look, text[from:i]})
		from = i
	}
	return spans
}

// beginsWord reports whether a word may begin with r after another character: after a non-letter,
// with a capital after a small letter, and in scripts without spaces.
func beginsWord(before, r rune) bool {
	return !inWord(before) || unicode.IsLower(before) && unicode.IsUpper(r) || analysis.Unspaced(r)
}

func inWord(r rune) bool { return unicode.In(r, unicode.L, unicode.N, unicode.M) }

// maxEnding bounds the letters that a word may have beyond its stem.
const maxEnding = 5

// wordLength returns the bytes at the beginning of text that match the word, in any case and with
// an ending, or 0.
func wordLength(text, word string) int {
	n := 0
	var last rune
	for _, want := range word {
		r, size := utf8.DecodeRuneInString(text[n:])
		if size == 0 || unicode.ToLower(r) != unicode.ToLower(want) {
			return 0
		}
		n, last = n+size, r
	}
	ending := 0
	for _, r := range text[n:] {
		if !unicode.Is(unicode.M, r) && (analysis.Unspaced(last) || !inWord(r) || analysis.Unspaced(r) || unicode.IsLower(last) && unicode.IsUpper(r)) {
			break
		}
		n += utf8.RuneLen(r)
		last = r
		if ending++; ending > maxEnding || !unicode.IsLetter(r) && !unicode.Is(unicode.M, r) || ending > 1 && utf8.RuneCountInString(word) < 4 {
			return 0
		}
	}
	return n
}
