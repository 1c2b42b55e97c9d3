package record

import (
	"maps"
	"slices"
	"strings"
)

// A file that may change on two sides is merged as a set of facts: each text, being in force, the
// kind, each tag. A fact has one number, its length. It is 0 if the fact never existed, odd while
// it exists, and even after removal. Every commit that adds or removes the fact increases it by
// one.
//
// Joined histories take the greater length. As that is a maximum, the order of merges does not
// matter, and copies by squash or rebase count once. (Yu and Rostad, "A low-cost set CRDT based on
// causal lengths", PaPoC 2020; we count lengths along git's history instead of storing them.)

// facts maps each field of a file to its values, sorted and unique.
type facts map[string][]string

func (f facts) add(field string, values ...string) {
	for _, v := range values {
		if v != "" && !slices.Contains(f[field], v) {
			f[field] = append(f[field], v)
		}
	}
	slices.Sort(f[field])
}

func (f facts) equal(g facts) bool {
	same := func(f, g facts) bool {
		for field, values := range f {
			if !slices.Equal(values, g[field]) {
				return false
			}
		}
		return true
	}
	return same(f, g) && same(g, f)
}

// Fields with rules of their own. Every other field has one value; of several, the greatest in
// bytes.
const (
	textField   = "text"   // the only field with several values side by side
	thereField  = "there"  // the file exists; without it and any text the file is gone
	sourceField = "source" // the earliest, which is the least in bytes
	forceField  = "force"  // there while the memory is not retired
	reasonField = "reason" // the reasons of retirement, paragraphs at the end of the body
)

// setFields have any number of values, each a fact by itself.
var setFields = []string{"paths", "tags", "supersedes", "anchors", "candidates", forceField, reasonField}

// requiredFields always have a value; others may have none.
var requiredFields = []string{"kind", sourceField, textField}

// life is the history of one fact.
type life struct {
	length int
	origin string   // of a text: the one it replaced, or "" if there was none or several
	over   []string // of a text: all that it replaced, sorted
}

// meet joins the lives of one fact in two histories.
func (l life) meet(other life) life {
	switch {
	case l.length > other.length:
		return l
	case l.length < other.length:
		return other
	}
	return life{l.length, max(l.origin, other.origin), union(l.over, other.over)}
}

// union returns the values of two sorted lists, sorted.
func union(a, b []string) []string {
	if len(b) == 0 || slices.Equal(a, b) {
		return a
	}
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// lives holds all facts of a file in one history.
type lives struct {
	of     map[string]map[string]life // field → value → life
	joined *joins
}

func newLives(j *joins) lives { return lives{map[string]map[string]life{}, j} }

// alive returns the values of a field that are there, sorted.
func (l lives) alive(field string) []string {
	return l.where(field, func(n int) bool { return n%2 == 1 })
}

// standing returns the values of a single-valued field. If each side removed the value that the
// other kept, those with the greatest length remain, without those that another of them replaced.
func (l lives) standing(field string) []string {
	if there := l.alive(field); len(there) > 0 {
		return there
	}
	longest := 0
	for _, life := range l.of[field] {
		longest = max(longest, life.length)
	}
	last := l.where(field, func(n int) bool { return n == longest })
	replaced := map[string]bool{}
	for _, value := range last {
		for _, old := range l.of[field][value].over {
			replaced[old] = true
		}
	}
	newest := slices.DeleteFunc(slices.Clone(last), func(value string) bool { return replaced[value] })
	if len(newest) == 0 {
		return last
	}
	return newest
}

func (l lives) where(field string, length func(int) bool) []string {
	var found []string
	for value, life := range l.of[field] {
		if length(life.length) {
			found = append(found, value)
		}
	}
	slices.Sort(found)
	return found
}

// visible returns the facts in the file, without those that yield to others. It is empty if the
// file is gone.
func (l lives) visible() facts {
	if len(l.alive(thereField)) == 0 && len(l.alive(textField)) == 0 {
		return facts{}
	}
	f := l.shown()
	f[thereField] = []string{"yes"} // also if one side removed the file and the other wrote a text
	return f
}

// shown returns the visible facts, or those of a removed file if it came back.
func (l lives) shown() facts {
	f := facts{}
	for field := range l.of {
		switch {
		case field == textField:
			f.add(field, textsOf(l.composites())...)
		case field == thereField:
			f.add(field, l.alive(field)...)
		case slices.Contains(setFields, field):
			f.add(field, l.alive(field)...)
		case field == sourceField:
			f.add(field, l.standing(field)[0])
		default:
			values := l.standing(field)
			if !slices.Contains(requiredFields, field) {
				values = l.alive(field)
			}
			if len(values) > 0 {
				f.add(field, values[len(values)-1])
			}
		}
	}
	return f
}

// composite is a text of the file with its source texts.
type composite struct {
	text string
	from []string
}

func textsOf(all []composite) []string {
	var out []string
	for _, c := range all {
		out = append(out, c.text)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// composites returns the present texts. Two that replaced the same text and changed different lines
// of it become one with both changes, as in git.
func (l lives) composites() []composite {
	var all []composite
	origins := map[string]string{}
	standing := l.standing(textField)
	few := len(standing) <= maxJoined
	for _, text := range standing {
		origin := l.of[textField][text].origin
		placed := false
		for i := range all {
			c := &all[i]
			if !few || placed || origin == "" || origins[c.from[0]] != origin {
				continue
			}
			if both, ok := l.joined.lines(origin, c.text, text); ok {
				c.text, c.from, placed = both, append(c.from, text), true
			}
		}
		if !placed {
			all = append(all, composite{text, []string{text}})
		}
		origins[text] = origin
	}
	return all
}

// observe applies one commit's version of the file. An empty want removes the file's texts; other
// facts wait for a text to return.
func (l lives) observe(want facts) {
	if want.equal(l.visible()) {
		return
	}
	now, fields := l.shown(), []string{thereField, textField}
	if len(want) > 0 {
		fields = slices.AppendSeq(slices.Collect(maps.Keys(want)), maps.Keys(now))
		slices.Sort(fields)
	}
	for _, field := range slices.Compact(fields) {
		switch {
		case slices.Equal(now[field], want[field]):
		case field == textField:
			l.observeTexts(want[field])
		default:
			l.keep(field, want[field], life{})
		}
	}
}

// keep leaves only the given values of a field, and adds missing ones with the origin of from.
func (l lives) keep(field string, want []string, from life) {
	for _, value := range l.alive(field) {
		if !slices.Contains(want, value) {
			l.turn(field, value, life{})
		}
	}
	for _, value := range want {
		if l.of[field][value].length%2 == 0 {
			l.turn(field, value, from)
		}
	}
}

// observeTexts is keep for texts: a composite survives through its parts.
func (l lives) observeTexts(want []string) {
	var gone, stay []string
	var from life
	for _, c := range l.composites() {
		switch {
		case !slices.Contains(want, c.text):
			gone, from.over = append(gone, c.text), append(from.over, c.from...)
		case len(c.from) > 1:
			stay = append(stay, c.from...)
			want = slices.DeleteFunc(slices.Clone(want), func(text string) bool { return text == c.text })
		}
	}
	if len(gone) == 1 {
		from.origin = gone[0]
	}
	slices.Sort(from.over)
	left := append(stay, want...)
	there := l.of[textField]
	if !slices.ContainsFunc(left, func(text string) bool { return there[text].length%2 == 0 }) {
		for _, text := range left { // one of several was taken
			was := there[text]
			was.over = union(was.over, from.over)
			there[text] = was
		}
	}
	l.keep(textField, left, from)
}

// turn adds a fact with the origin of from, or removes it. A removed fact keeps its origin.
func (l lives) turn(field, value string, from life) {
	if l.of[field] == nil {
		l.of[field] = map[string]life{}
	}
	was := l.of[field][value]
	if was.length%2 == 1 {
		from = was
	}
	from.length = was.length + 1
	l.of[field][value] = from
}

// meet joins the lives of two histories.
func meet(a, b lives) lives {
	out := a.clone()
	for field, values := range b.of {
		if out.of[field] == nil {
			out.of[field] = map[string]life{}
		}
		for value, life := range values {
			out.of[field][value] = out.of[field][value].meet(life)
		}
	}
	return out
}

func (l lives) clone() lives {
	out := newLives(l.joined)
	for field, values := range l.of {
		out.of[field] = maps.Clone(values)
	}
	return out
}

// firstLine splits a text into the statement and the body.
func firstLine(text string) (statement, body string) {
	statement, body, _ = strings.Cut(text, "\n\n")
	return statement, body
}

// textFacts returns the facts about a memory's texts and whether they are in force.
func (m Memory) textFacts() facts {
	f := facts{}
	for _, v := range m.Texts() {
		var reasons []string
		v.Body, reasons = splitReasons(v.Body)
		f.add(reasonField, reasons...)
		f.add(textField, v.join())
	}
	if m.Status != Retired {
		f.add(forceField, "yes")
	}
	return f
}

func (v Variant) join() string {
	if v.Body == "" {
		return v.Text
	}
	return v.Text + "\n\n" + v.Body
}

// setTexts sets the variants and the fields that depend on their number.
func (m *Memory) setTexts(all []string, f facts) {
	m.Variants = nil
	for i, text := range all {
		statement, body := firstLine(text)
		if i == 0 {
			m.Text, m.Body = statement, body
		} else {
			m.Variants = append(m.Variants, Variant{statement, body})
		}
	}
	m.Status = Active
	if len(m.Variants) > 0 {
		m.Status = Contested
	}
	if len(f[forceField]) == 0 {
		m.Status = Retired
	}
	m.Body = joinReasons(m.Body, f[reasonField])
}
