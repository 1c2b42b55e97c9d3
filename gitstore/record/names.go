package record

import (
	"slices"
	"strings"
	"unicode"

	"github.com/reverie-memory/reverie/internal/pattern"
)

// Name is a possible symbol of the code in a statement.
type Name struct {
	Text   string   // the identifier alone: SaveOrder
	Of     []string // qualifiers: store, of store.SaveOrder
	Whole  string   // both, as written: store.SaveOrder
	Called bool     // written with brackets: SaveOrder()
	Loose  bool     // possibly prose or a program: only a definition confirms it
}

// minName is the minimum length of a searchable name, in bytes.
const minName = 3

// minPlain is the minimum length, in bytes, of a name that only its code marks distinguish from a
// word.
const minPlain = 4

// named matches an identifier with its qualifiers and brackets.
var named = pattern.New(`^((?:[A-Za-z_$][\w$]*(?:\.|::|->))*)([A-Za-z_$][\w$]*)(\(.*)?$`)

// camel matches a word with a capital inside, as in names of two words: saveOrder, SaveOrder,
// DBConn; not IDs.
var camel = pattern.New(`[a-z0-9][A-Z]|[A-Z]{2,}[a-z]{2,}`)

// Names returns the symbols in code spans of the statement and the body. In the statement it also
// finds words that no prose has: someName, some_name, name(), store.Name.
func (m Memory) Names() []Name {
	var out []Name
	add := func(word string, marked bool) {
		n, ok := ParseName(word, marked)
		if ok && !slices.ContainsFunc(out, func(o Name) bool { return o.Text == n.Text }) {
			out = append(out, n)
		}
	}
	for _, span := range m.Quoted() {
		add(span, true)
	}
	for _, word := range m.words() {
		add(word, false)
	}
	return out
}

// Files returns the words of the statement that may be paths, each with the line number after it,
// as compilers print it. They have a slash or an ending, or are like Makefile.
func (m Memory) Files() []string {
	var out []string
	for _, word := range m.words() {
		if strings.Contains(word, "(") || !strings.ContainsAny(word, "./") && !(strings.HasSuffix(word, "file") && unicode.IsUpper(rune(word[0]))) {
			continue
		}
		if !slices.Contains(out, word) {
			out = append(out, word)
		}
	}
	return out
}

// words returns the words of the statement outside of code marks, without punctuation, URLs and
// mail addresses.
func (m Memory) words() []string {
	var out []string
	for i, part := range strings.Split(m.Text, "`") {
		if i%2 == 1 {
			continue
		}
		for _, word := range strings.Fields(part) {
			if strings.Contains(word, "://") || strings.Contains(word, "@") {
				continue
			}
			word = strings.TrimLeft(word, "([{<\"'*“‘«„")
			for {
				before := word
				word = strings.TrimRight(word, ".,;:!?\"'*”’»“]}>")
				if strings.HasSuffix(word, ")") && strings.Count(word, "(") < strings.Count(word, ")") {
					word = word[:len(word)-1]
				}
				word = strings.TrimSuffix(strings.TrimSuffix(word, "'s"), "’s")
				if word == before {
					break
				}
			}
			if word != "" {
				out = append(out, word)
			}
		}
	}
	return out
}

// ParseName parses a word as a name. marked reports that it was in code marks.
func ParseName(word string, marked bool) (Name, bool) {
	parts := named.FindStringSubmatch(word)
	if parts == nil {
		return Name{}, false
	}
	of := strings.FieldsFunc(parts[1], func(r rune) bool { return strings.ContainsRune(".:->", r) })
	n := Name{Text: parts[2], Of: of, Whole: parts[1] + parts[2], Called: parts[3] == "()" || marked && strings.HasSuffix(parts[3], ")")}
	joined := strings.Contains(strings.Trim(n.Text, "_"), "_")
	mixed := camel.MatchString(n.Text)
	capital := strings.ToLower(n.Text) != n.Text
	switch {
	case len(n.Text) < minName, !strings.ContainsFunc(n.Text, unicode.IsLetter):
		return Name{}, false
	case n.Called, joined, marked && mixed:
	case marked:
		n.Loose = true
		return n, len(n.Text) >= minPlain
	case mixed, len(of) > 0 && capital && parts[3] == "":
		n.Loose = true
	default:
		return Name{}, false
	}
	return n, true
}

// FindName returns a line of a text with the name: its definition, or another with the same
// qualifier and brackets. ok is false if the text lacks the name. A loose name must be defined or
// qualified there.
func FindName(text []byte, n Name) (line string, defined, ok bool) {
	line, defined = findLine(text, n.Text)
	if defined {
		return line, true, true
	}
	if len(n.Of) > 0 {
		if whole, _ := findLine(text, n.Whole); whole != "" {
			return whole, false, true
		}
	}
	if n.Called {
		line, _ = findLine(text, n.Text+"(")
	}
	return line, false, line != "" && !n.Loose
}
