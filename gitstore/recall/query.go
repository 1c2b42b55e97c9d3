package recall

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/gitstore/recall/terms"
	"github.com/reverie-memory/reverie/internal/pattern"
)

// Query is a parsed search. A sentence in any language without the syntax below is a query too, and
// becomes Text unchanged.
//
//	two words            memories about them, the best first
//	"two words"          these words side by side; also “”, „“, «», 「」 and 『』
//	-word  -"two words"  excludes memories with these words
//	kind:failure         memories of this kind; likewise path:web/ tag:build by:claude since:2w; at:v1.2
//	-tag:build           memories without it
//
// Filters of one key are alternatives; filters of different keys must all match. Quote a value with
// blanks. A filter with an unknown key is a word: std::vector. In common.go:296 only the file
// counts. Paths are relative to the top of the work tree, or to the asker's folder if they begin
// with ./ or ../.
//
// An exclusion begins with a letter and is at the end of the query, or at the beginning of a short
// one. A quoted exclusion may be anywhere. In the middle, -word is a program option to search for.
// Everywhere so are options of one or two letters, as -v, -O2 and -rf, and -mod=vendor, --amend and
// known ones such as -race and -Wall. Quote any other option, as in "-frobnicate".
//
// Pasted text is searched literally. Several lines have no filters and no exclusions. A line with a
// word that ends with a colon, as in "ld: cannot find -lfoo", has only quoted exclusions. There,
// and in a sentence with four or more other words, a filter with an invalid value is a word
// (kind:Deployment). It may become one if nothing has its value (tag:latest): see Plain and
// Perhaps.
//
// A phrase is required if it is the query or has at most four words next to it. In a longer
// sentence its words count like all others.
type Query struct {
	Text    string   // the words and phrases to find, without line numbers after files
	Phrases []string // parts of it in quotation marks, as they were written
	Not     []string // words and phrases that nothing found may have
	Literal bool     // only exact words count, because likeness would mislead

	Filter         // required of every result
	Without Filter // forbidden: a result matches none of the values
	At      string // the git revision at which memories are read; "" is now

	Plain   []string // words in the form of a filter, as written
	Perhaps []string // filters, as written, that become words if nothing has their value: see Unmet
}

// ErrOnlyNot is wrapped if a query only excludes.
var ErrOnlyNot = errors.New("the query only says what is left out")

// word is a part of a query, with its raw text and meaning.
type word struct {
	raw  string
	is   sort
	key  string // of a filter
	text string // of a phrase, a filter's value or an exclusion
	not  bool   // of a filter
}

type sort uint8

const (
	isPlain   sort = iota
	isPhrase       // "…"
	isFilter       // key:value
	isNot          // -word, if its place allows an exclusion: see settle
	isNotThis      // -"…"
)

// Common reports whether a query consists of words that nearly every text has: the, and, how. No
// index has such words of a text with others.
func (q Query) Common() bool {
	words := strings.FieldsFunc(strings.ToLower(q.Text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !terms.IsStop(w) })
}

// sentence is the number of words next to a filter that makes a query a sentence, which may hold
// pasted text.
const sentence = 4

// Parse parses a query. Filters listed in plain, as written, are words. Errors name the filter and
// its valid values, or wrap ErrOnlyNot.
func Parse(text string, plain ...string) (Query, error) { return Where{}.Parse(text, plain...) }

// Parse parses a query, with paths relative to w.
func (at Where) Parse(text string, plain ...string) (Query, error) {
	var q Query
	text = at.relative(text)
	words := split(text, !strings.ContainsAny(strings.TrimSpace(text), "\n\r"))
	long, line := wordsIn(words) >= sentence, isLine(words)
	settle(words, long, line)
	for i := range words {
		w := &words[i]
		if w.is != isFilter {
			continue
		}
		if slices.Contains(plain, w.raw) {
			w.is = isPlain
			continue
		}
		switch err := q.filter(*w, at); {
		case err != nil && !long && !line:
			return Query{}, err
		case err != nil:
			w.is = isPlain
			q.Plain = append(q.Plain, w.raw)
		case (long || line) && !w.not && w.key != "kind" && w.key != "since":
			q.Perhaps = append(q.Perhaps, w.raw)
		}
	}
	var parts []string
	changed := false
	around := 0 // words outside the phrases
	for _, w := range words {
		changed = changed || w.is != isPlain
		switch w.is {
		case isPlain:
			parts = append(parts, withoutPositions(w.raw))
			around += max(1, unspacedIn(w.raw)/2)
		case isPhrase:
			q.Phrases = append(q.Phrases, w.text)
			parts = append(parts, w.text)
		case isNot, isNotThis:
			q.Not = append(q.Not, w.text)
		}
	}
	q.Text = withoutPositions(text)
	if changed {
		q.Text = strings.Join(parts, " ")
	}
	if around > maxAround {
		q.Phrases = nil
	}
	q.Literal = len(q.Phrases) > 0 || literal(q.Text)
	if len(q.Not) > 0 && strings.TrimSpace(q.Text) == "" && q.Filter.empty() {
		return Query{}, fmt.Errorf("%w: -%s leaves out, and \"-%[2]s\" in quotes is looked for", ErrOnlyNot, q.Not[0])
	}
	return q, nil
}

// maxAround bounds the words next to required phrases: in a longer sentence quotation marks only
// quote.
const maxAround = 4

// wordsIn counts the words to find, including those in phrases.
func wordsIn(words []word) (n int) {
	for _, w := range words {
		if w.is != isPlain && w.is != isPhrase {
			continue
		}
		for _, f := range strings.Fields(w.raw) {
			if says(f) {
				n += max(1, unspacedIn(f)/2)
			}
		}
	}
	return n
}

// isLine reports whether a query is a program's output: a word ends with a colon.
func isLine(words []word) bool {
	return slices.ContainsFunc(words, func(w word) bool { return w.is == isPlain && strings.HasSuffix(w.raw, ":") && says(w.raw) })
}

// says reports whether a text has a letter or a digit.
func says(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// unspacedIn counts the characters in scripts without spaces between words.
func unspacedIn(text string) (n int) {
	for _, r := range text {
		if terms.Unspaced(r) {
			n++
		}
	}
	return n
}

// split splits a query at white space and around phrases; operators enables filters and exclusions.
func split(text string, operators bool) (out []word) {
	plain := func(s string) {
		for _, f := range strings.Fields(s) {
			out = append(out, word{raw: f})
		}
	}
	from := 0 // start of the text not written yet
	begins := true
	last := ' '
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if begins && operators {
			if w, ok := operator(text[i:]); ok {
				plain(text[from:i])
				out = append(out, w)
				i += len(w.raw)
				from, last = i, ' '
				continue
			}
		}
		inner, raw, ok := quoted(text[i:])
		switch opens := r != '"' || !unicode.IsLetter(last) && !unicode.IsDigit(last); {
		case !opens:
		case ok:
			plain(text[from:i])
			out = append(out, word{raw: raw, is: isPhrase, text: inner})
			i += len(raw)
			from, last, begins = i, ' ', true
			continue
		case raw != "":
			i += len(raw)
			last, begins = ' ', false
			continue
		}
		begins, last = unicode.IsSpace(r), r
		i += n
	}
	plain(text[from:])
	return out
}

// settle decides which words with a minus are exclusions. Only filters and exclusions may follow
// them, or precede them in a short query. A program's line has none.
func settle(words []word, long, line bool) {
	free := func(w word) bool { return w.is == isPlain || w.is == isPhrase }
	first := slices.IndexFunc(words, free)
	last := len(words) - 1
	for last >= 0 && !free(words[last]) {
		last--
	}
	for i := range words {
		if words[i].is == isNot && (line || i < last && (long || first < i)) {
			words[i].is = isPlain
		}
	}
}

// marks are the quotation marks that begin and end a phrase.
var marks = [...][2]string{{`"`, `"`}, {"“", "”"}, {"„", "“"}, {"„", "”"}, {"«", "»"}, {"「", "」"}, {"『", "』"}}

// maxPhrase is the longest phrase, in bytes.
const maxPhrase = 400

// quoted returns the phrase at the start of a text. Without an end on the same line and within
// bounds it is no phrase. A phrase without words has only raw.
func quoted(text string) (inner, raw string, ok bool) {
	for _, pair := range marks {
		rest, begins := strings.CutPrefix(text, pair[0])
		if !begins {
			continue
		}
		inner, _, closed := strings.Cut(rest[:min(len(rest), maxPhrase)], pair[1])
		if !closed || strings.Contains(inner, "\n") {
			continue
		}
		raw = text[:len(pair[0])+len(inner)+len(pair[1])]
		if says(inner) {
			return strings.TrimSpace(inner), raw, true
		}
	}
	return "", raw, false
}

// operator returns the filter or exclusion at the start of a text.
func operator(text string) (word, bool) {
	rest, not := strings.CutPrefix(text, "-")
	if inner, raw, ok := quoted(rest); ok && not {
		return word{raw: "-" + raw, is: isNotThis, text: inner}, true
	}
	end := strings.IndexFunc(rest, unicode.IsSpace)
	if end < 0 {
		end = len(rest)
	}
	if key, value, ok := strings.Cut(rest[:end], ":"); ok && value != "" && isKey(key) {
		before := len(text) - len(rest) + len(key) + 1
		if inner, raw, ok := quoted(text[before:]); ok {
			return word{raw: text[:before+len(raw)], is: isFilter, key: key, text: inner, not: not}, true
		}
		return word{raw: text[:len(text)-len(rest)+end], is: isFilter, key: key, text: value, not: not}, true
	}
	if said := strings.TrimRight(rest[:end], ".,;!?。，；！？"); not && excludes(said) {
		return word{raw: text[:1+end], is: isNot, text: said}, true
	}
	return word{}, false
}

// excludes reports whether the word after a minus is an exclusion rather than a program option.
func excludes(word string) bool {
	letters, digits := 0, 0
	for i, r := range word {
		switch {
		case unicode.IsLetter(r) || unicode.IsMark(r):
			letters++
		case i > 0 && unicode.IsDigit(r):
			digits++
		case i > 0 && strings.ContainsRune("_.-", r):
		default:
			return false
		}
	}
	ascii := strings.IndexFunc(word, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
	if ascii && letters <= 2 {
		return false
	}
	return letters > 0 && !options.Has(word) && !strings.HasPrefix(word, "Xm") // as -Xmx512m
}

// options are well-known program options of one minus and a word: of go, C compilers, java, find,
// openssl, terraform, tar and curl.
var options = pattern.NewWords(`race run count mod modfile tags timeout bench benchmem benchtime coverprofile cpuprofile memprofile short
	failfast ldflags gcflags trimpath buildvcs Wall Werror Wextra Wpedantic Wshadow Wconversion pedantic fPIC fPIE fpic std march mtune pthread
	isystem lpthread version help verbose DskipTests cp classpath jar iname maxdepth mindepth exec execdir print0 regextype nodes newkey subj auto-approve var-file
	xzf czf xvf fsSL sSL`)

// literal reports whether a text demands its exact words. It is quoted, or consists of names:
// identifiers, paths, options, error codes, addresses.
func literal(query string) bool {
	query = strings.TrimSpace(query)
	if n := len(query); n > 2 && (query[0] == '\'' || query[0] == '`') && query[n-1] == query[0] {
		return true
	}
	names := 0
	for _, word := range strings.FieldsFunc(query, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("`'“”‘’,;[]{}<>|，。！？、；：（）「」", r)
	}) {
		word = strings.Trim(strings.TrimSuffix(word, "()"), ".:!?*…=&()")
		switch {
		case word == "" || sayNothing(word):
		case isLiteral(word):
			names++
		default:
			return false
		}
	}
	return names > 0
}

// isLiteral extends isName to other words that a search takes literally.
func isLiteral(word string) bool {
	if isName(word) && !common.Has(strings.ToLower(strings.TrimLeft(word, "-"))) {
		return true
	}
	ascii := strings.IndexFunc(word, func(r rune) bool { return r >= 0x80 }) < 0
	inner := strings.Trim(word, "._-:/\\$#@")
	switch {
	case !ascii || inner == "":
		return false
	case strings.ContainsAny(inner, `_\`), strings.Contains(inner, "://"), strings.HasPrefix(word, "-"), strings.HasPrefix(word, "$"):
		return true
	case strings.Contains(inner, "."): // os.Exit, www.example.com; not e.g
		return len(inner) > 4
	case strings.HasPrefix(word, "/"), strings.HasSuffix(word, "/"), strings.HasPrefix(word, "."):
		return len(inner) > 1
	}
	return len(inner) >= 3 && strings.Trim(inner, "0123456789.:xabcdefABCDEF") == "" && strings.ContainsAny(inner, "0123456789")
}

// sayNothing reports whether a word is meaningless next to a name: how do I fix E0308.
func sayNothing(word string) bool {
	for _, part := range telling(word) {
		if part.weight != commonWeight {
			return false
		}
	}
	return !isName(word) || common.Has(strings.ToLower(strings.TrimLeft(word, "-")))
}
