package dream

import (
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/record/wording"
)

// Alike is the share of common words from which a reviewer sees two statements side by side.
const Alike = 0.5

// Resembles reports whether a reviewer sees two statements side by side: they share most words, and
// do not forbid different paths, commands or tools. "Never edit go.sum" is no version of "Never
// edit web/vendor".
func Resembles(a, b string) bool { return phraseOf(a).resembles(phraseOf(b)) }

func (p phrase) resembles(q phrase) bool {
	if p.print.Alike(q.print) < Alike {
		return false
	}
	if !p.reading().Forbids() || !q.reading().Forbids() {
		return true
	}
	these, those := p.things(), q.things()
	return len(these) == 0 || len(those) == 0 || slices.ContainsFunc(these, func(t string) bool { return slices.Contains(those, t) })
}

// things lists the paths, commands, symbols and tools that a statement names.
func (p phrase) things() []string {
	var out []string
	rest := p.text
	for _, name := range p.reading().Names() {
		rest = strings.ReplaceAll(rest, name, " ")
		out = append(out, strings.TrimRight(name, "/*"))
	}
	for _, w := range strings.Fields(rest) {
		if w = strings.Trim(strings.ToLower(w), "`'\".,:;!?()"); wording.Tool(w) != "" {
			out = append(out, w)
		}
	}
	return out
}

// corrects reports whether a person, in the candidate and beyond doubt, retracted the memory: it
// contains the replaced words and is about the same topic.
func corrects(c record.Candidate, m record.Memory) bool {
	if c.How != record.Said || c.Corrects == "" || record.Doubtful(c.Evidence) {
		return false
	}
	old := record.Normal(c.Corrects)
	text := record.Normal(m.Text)
	if old == "" {
		return false
	}
	if text == old {
		return true
	}
	return c.Topic != "" && c.Topic == m.Topic && strings.Contains(text, old)
}

// opposed is the share of common words from which two rulings on one topic count as being about the
// same thing. "use x for dates" and "use y for dates" do; "write table-driven tests" and "tests
// live next to the code" do not.
const opposed = 1.0 / 3

// Contradict reports whether two memories may contradict each other: their statements are opposed,
// or they are rulings on one topic that share only some words. A person decides.
func Contradict(a, b record.Memory) bool { return contradict(a, b, phraseOf(a.Text), phraseOf(b.Text)) }

func contradict(a, b record.Memory, says, other phrase) bool {
	oneTopic := a.Topic != "" && a.Topic == b.Topic && ruling(a.Kind) && ruling(b.Kind) && says.print.Alike(other.print) >= opposed
	return overlap(a.Paths, b.Paths) && (oneTopic && !says.same(other) && !says.reading().SameRivals(other.reading()) || says.opposes(other))
}

// Same reports whether two statements say the same.
func Same(a, b string) bool { return phraseOf(a).same(phraseOf(b)) }

// OpposedTo returns a function that reports whether another statement cannot hold beside this one.
func OpposedTo(text string) func(other string) bool {
	says := phraseOf(text)
	return func(other string) bool { return says.opposes(phraseOf(other)) }
}

// Conflicts returns the pairs of statements that cannot both hold, as indexes. It compares every
// pair.
func Conflicts(texts []string) (pairs [][2]int) {
	var all []phrase
	for i, text := range texts {
		all = append(all, phraseOf(text))
		for j := range i {
			if all[j].opposes(all[i]) {
				pairs = append(pairs, [2]int{j, i})
			}
		}
	}
	return pairs
}

// Overruled returns the sorted ids of the memories that an operation retires: those that it
// supersedes, and for an addition those in force on the same shelf that it contradicts.
func Overruled(v *record.View, o record.Operation, now time.Time) []string {
	ids := slices.Clone(o.Memory.Supersedes)
	for _, id := range o.Contradicts {
		k, err := v.Find(id)
		if err == nil && o.Op == record.Add && k.Status == record.Active && k.Live(now) && k.Private == o.Private {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Overturns reports whether a statement differs in substance from the one that it replaces: by
// negations or numbers, or in most words.
func Overturns(before, after string) bool {
	a, b := record.Print(before), record.Print(after)
	return !a.Same(b) && (a.Turned(b) || a.Alike(b) < Alike)
}

// ruling reports whether memories of a kind say what to do, so that two can conflict.
func ruling(k record.Kind) bool {
	switch k {
	case record.Convention, record.Constraint, record.Decision, record.Preference:
		return true
	}
	return false
}

// overlap reports whether two scopes may concern the same file. An empty scope means everything.
func overlap(a, b []string) bool {
	if len(a) == 0 || len(b) == 0 {
		return true
	}
	for _, x := range a {
		for _, y := range b {
			x, y := strings.TrimRight(x, "*/"), strings.TrimRight(y, "*/")
			if strings.HasPrefix(x, y) || strings.HasPrefix(y, x) {
				return true
			}
		}
	}
	return false
}
