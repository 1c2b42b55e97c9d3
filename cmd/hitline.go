package cmd

import (
	"strings"
	"unicode"
	"unicode/utf8"

	analysis "github.com/reverie-memory/reverie/gitstore/recall/terms"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// hitline is what is drawn of one memory in a list.
type hitline struct {
	mark, colour string // one character, and how it looks
	id, kind     string
	statement    string
	variants     []string // other statements, where a merge could not decide
	remarks      string   // what is special about it, or empty
	snippet      string   // of its text, where that answers a query better than the statement; or empty
	words        []string // of a query: they stand out in colour
}

// Sizes of a hitline, in cells.
const (
	statedAt    = 24     // where the statement stands
	maxStated   = 400    // of a statement on a screen; show has all
	maxSnippet  = 240    // of a snippet, everywhere
	kindWidth   = 10     // the longest kind's
	shownOfID   = 8      // characters
	belowIndent = "    " // of the statement, where a screen is too narrow for columns
)

// hitline draws a memory: mark, id, kind, statement and remarks in columns, and a snippet under the statement. On a screen too narrow for columns the
// statement stands below.
func (env *Env) hitline(h hitline) {
	lead := []styled{{h.colour, h.mark}, {"", " "}, {bold, h.id[:min(shownOfID, len(h.id))]}, {"", "  " + pad(h.kind, kindWidth)}}
	statement := visible(h.statement)
	if env.Screen {
		statement = truncate(statement, maxStated)
	}
	text := env.highlighted("", statement, h.words)
	if h.remarks != "" {
		text = append(text, styled{"", "  "}, styled{dim, "(" + visible(h.remarks) + ")"})
	}
	if env.hang(statedAt) < statedAt {
		env.lay(narrowHang, lead...)
		env.under(text...)
	} else {
		env.lay(statedAt, append(append(lead, styled{"", "  "}), text...)...)
	}
	for _, v := range h.variants {
		env.under(styled{"", "or: " + visible(v)})
	}
	if h.snippet != "" {
		env.under(env.highlighted(dim, oneLine(h.snippet, maxSnippet), h.words)...)
	}
}

// under writes a line under the statement of a hitline.
func (env *Env) under(text ...styled) {
	column := env.hang(statedAt)
	env.lay(column, append([]styled{{"", strings.Repeat(" ", column)}}, text...)...)
}

// line draws a memory with a note on it.
func (w *workspace) line(mark, colour string, m record.Memory, note string) {
	w.env.hitline(hitOf(mark, colour, m, note))
}

// hitOf is what line draws.
func hitOf(mark, colour string, m record.Memory, note string) hitline {
	h := hitline{mark: mark, colour: colour, id: m.ID, kind: string(m.Kind), statement: m.Text, remarks: note}
	for _, v := range m.Variants {
		h.variants = append(h.variants, v.Text)
	}
	return h
}

// highlighted is text in a style, where the words of a query stand out if there are colours.
func (env *Env) highlighted(style, text string, words []string) []styled {
	if !env.Colour || len(words) == 0 {
		return []styled{{style, text}}
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
	var spans []styled
	for from, i := 0, 1; i <= len(text); i++ {
		if i < len(text) && marked[i] == marked[from] {
			continue
		}
		look := style
		if marked[from] {
			look = bold
		}
		spans = append(spans, styled{look, text[from:i]})
		from = i
	}
	return spans
}

// beginsWord reports whether a word may begin with r behind another character: behind no letter, with a capital behind a small one, and in
// scripts without spaces.
func beginsWord(before, r rune) bool {
	return !inWord(before) || unicode.IsLower(before) && unicode.IsUpper(r) || analysis.Unspaced(r)
}

func inWord(r rune) bool { return unicode.In(r, unicode.L, unicode.N, unicode.M) }

// maxEnding is how many letters a word may have more than its stem.
const maxEnding = 5

// wordLength is how many bytes at the beginning of text are the word, in small or capital letters, with an ending; 0 if they are not.
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
