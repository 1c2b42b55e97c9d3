package docs

import (
	"slices"
	"strings"
	"unicode"

	"github.com/reverie-memory/reverie/gitstore/recall/terms"
	"github.com/reverie-memory/reverie/internal/pattern"
)

// A document states what a statement says if one sentence, or one bullet or paragraph, has its
// commands, paths and numbers, nearly all of its other words, and the same negations.
const (
	sameShare  = 0.8 // of a statement's words
	fewWords   = 4   // short statements need all of them
	maxUnit    = 60  // terms of a bullet or paragraph that may count as a whole
	looseWords = 6   // terms that a sentence may have beyond four times those of the statement
	maxBeside  = 6   // words beside the command in a statement that only says how to do a job
)

// sentence is a sentence, bullet or paragraph of a document.
type sentence struct {
	Place
	size  int             // terms
	turns map[string]bool // words that change its meaning
	not   map[string]bool // stems of the negated words
}

var (
	negations = pattern.NewWords("not no never don't dont doesn't cannot can't won't isn't aren't mustn't shouldn't avoid without nicht nie kein jamais")
	turning   = pattern.NewWords("before after except unless instead until only if when while first last otherwise else because")
	fluff     = pattern.NewWords("always must should shall please ensure sure also all every")
	sentences = pattern.New(`[.!?;][)"'” ]*\s+|[。！？；]\s*`)
)

var cjkNegations = []string{"不", "别", "勿", "禁", "没", "無", "ない", "ません", "금지", "않", "마세요"}

// unit adds a bullet, a paragraph or a row, with its introducing line and heading.
func (t *Tree) unit(at Place, u Unit) {
	all := sentences.Split(u.Text, -1)
	for _, one := range all {
		t.sentence(at, u, one, 1<<16)
	}
	if len(all) > 1 {
		t.sentence(at, u, u.Text, maxUnit)
	}
}

// sentence adds a sentence of a unit, if it has at most most terms.
func (t *Tree) sentence(at Place, u Unit, text string, most int) {
	words := t.terms(text)
	if len(words) == 0 || len(words) > most {
		return
	}
	s := sentence{Place: at, size: len(words)}
	s.turns, s.not = t.turnsOf(u.Under + " " + text)
	around := u.Under
	if n := len(u.Headings); n > 0 && len(u.Headings[n-1]) <= maxLead {
		around += " " + u.Headings[n-1]
	}
	for w := range t.terms(around) {
		words[w] = true
	}
	for w := range words {
		t.with[w] = append(t.with[w], len(t.sentences))
	}
	t.sentences = append(t.sentences, s)
}

// terms returns the different terms of a text, including those within others, without the results
// of turnsOf and without intensifiers.
func (t *Tree) terms(text string) map[string]bool {
	out := map[string]bool{}
	for _, token := range t.analyzer.Append(nil, text, terms.Statement) {
		if !negations.Has(token.Written) && !fluff.Has(token.Written) {
			out[token.Text] = true
		}
	}
	return out
}

// turnsOf returns the words that change a text's meaning, and the stems of the words after its
// negations.
func (t *Tree) turnsOf(text string) (turns, not map[string]bool) {
	turns, not = map[string]bool{}, map[string]bool{}
	negated := false
	for word := range strings.FieldsFuncSeq(strings.ToLower(strings.ReplaceAll(text, "’", "'")), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("'-_./", r)
	}) {
		word = strings.Trim(word, ".-'")
		switch {
		case negations.Has(word):
			negated = true
			not[""] = true
		case turning.Has(word):
			turns[word] = true
		case negated && !terms.IsStop(strings.ReplaceAll(word, "'", "")):
			not[t.analyzer.Stem(word)] = true
			negated = false
		}
	}
	for _, n := range cjkNegations {
		if strings.Contains(text, n) {
			not[""] = true
		}
	}
	return turns, not
}

// Statement is the input of Says.
type Statement struct {
	Text  string
	Paths []string // globs of its files
	Job   bool     // it names the command for a job: a document that has the command says so
}

// Says returns the places that state the same as a statement, one per file, in reading order.
func (t *Tree) Says(s Statement) []Place {
	if t == nil || t.with == nil {
		return nil
	}
	asked := t.asked(s)
	var out []Place
	add := func(p Place) {
		if !slices.ContainsFunc(out, func(q Place) bool { return q.File == p.File }) {
			out = append(out, p)
		}
	}
	if s.Job {
		for _, p := range t.runs(s.Text, asked) {
			add(p)
		}
	}
	for _, p := range t.states(s.Text) {
		add(p)
	}
	return out
}

// command is a command of a statement.
type command struct{ key, dir string }

// asked returns the commands of a statement with their folders. It reads the documents of those
// folders first.
func (t *Tree) asked(s Statement) []command {
	in := ""
	for _, glob := range s.Paths {
		if dir := folderOf(glob); len(s.Paths) == 1 && dir != "" {
			in = dir
		}
	}
	var out []command
	for _, code := range spans(s.Text) {
		dir := in
		for _, c := range commandsOf(code) {
			if to, ok := cd(c); ok {
				dir = join("", to)
				continue
			}
			out = append(out, command{commandKey(c), dir})
		}
	}
	for _, c := range out {
		if c.dir != "" {
			t.folder(c.dir)
		}
	}
	if in != "" {
		t.folder(in)
	}
	return out
}

// folderOf returns the folder of a glob's files, or "" for none or all.
func folderOf(glob string) string {
	dir, rest, found := strings.Cut(glob, "/*")
	if !found || strings.ContainsAny(dir, "*?[{") || rest != "" && rest != "*" {
		return ""
	}
	return strings.Trim(dir, "/")
}

// runs returns the places of files that have all commands of a statement without much other text.
func (t *Tree) runs(text string, asked []command) []Place {
	beside := span.ReplaceAllString(text, " ")
	if turns, not := t.turnsOf(beside); len(asked) == 0 || len(turns) > 0 || len(not) > 0 || len(t.terms(beside)) > maxBeside {
		return nil
	}
	var out []Place
	for i, c := range asked {
		var here []Place
		for _, s := range t.commands[c.key] {
			if s.dir == c.dir {
				here = append(here, s.Place)
			}
		}
		if i == 0 {
			out = here
		}
		out = slices.DeleteFunc(out, func(p Place) bool {
			return !slices.ContainsFunc(here, func(q Place) bool { return q.File == p.File })
		})
	}
	return out
}

// states returns the places of sentences that have the content of a statement.
func (t *Tree) states(text string) []Place {
	words := t.terms(text)
	must := t.terms(strings.Join(spans(text), " "))
	need := len(words)
	if need > fewWords {
		need = int(sameShare*float64(need) + 0.999)
	}
	if len(words) < 2 {
		return nil
	}
	count := map[int]int{}
	for w := range words {
		for _, i := range t.with[w] {
			count[i]++
		}
		if strings.ContainsAny(w, "0123456789/") {
			must[w] = true
		}
	}
	turns, not := t.turnsOf(text)
	var found []int
	for i, n := range count {
		s := t.sentences[i]
		if n >= need && s.size <= 4*len(words)+looseWords && within(turns, s.turns) && within(not, s.not) && (len(not) > 0) == (len(s.not) > 0) {
			found = append(found, i)
		}
	}
	slices.Sort(found)
	var out []Place
	for _, i := range found {
		if all(must, func(w string) bool { _, has := slices.BinarySearch(t.with[w], i); return has }) {
			out = append(out, t.sentences[i].Place)
		}
	}
	return out
}

func within(a, b map[string]bool) bool { return all(a, func(w string) bool { return b[w] }) }

func all(set map[string]bool, is func(string) bool) bool {
	for w := range set {
		if !is(w) {
			return false
		}
	}
	return true
}
