package dream

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// Alike is the share of common words from which a reviewer sees two statements side by side.
const Alike = 0.5

// relate finds related knowledge for an operation: statements that it corrects and thus supersedes,
// opposed statements on the same topic, which a person must weigh, and similar statements. It
// returns false if the operation would retire too much.
func (p *planner) relate(op *record.Operation, r record.Reflection, c record.Candidate, says phrase) bool {
	for _, k := range p.known {
		if !k.Live(p.in.Now) || slices.Contains(op.Memory.Supersedes, k.ID) || slices.Contains(op.Contradicts, k.ID) || slices.Contains(op.Alike, k.ID) {
			continue // a contested memory occurs once per variant
		}
		switch {
		case corrects(c, k.Memory), c.How == record.Said && says.covers(k.phrase) && overlap(c.Paths, k.Paths):
			op.Memory.Supersedes = append(op.Memory.Supersedes, k.ID)
			op.Base = append(op.Base, record.Base{ID: k.ID, Path: k.Path(), Blob: p.in.Blobs[k.ID]})
		case contradict(op.Memory, k.Memory, says, k.phrase):
			op.Contradicts = append(op.Contradicts, k.ID)
		case k.print.Alike(says.print) >= Alike:
			op.Alike = append(op.Alike, k.ID)
		}
	}
	if n := len(op.Memory.Supersedes); n > 0 {
		if p.retiring+n > max(1, int(maxRetired*float64(p.live))) {
			return false
		}
		p.retiring += n
	}
	slices.Sort(op.Memory.Supersedes)
	for i := range p.pending {
		q := &p.pending[i]
		if q.withdrawn {
			continue
		}
		switch replaces := (!record.Offered(r.Session) || q.hearsay()) && !q.outranks(c); {
		case corrects(c, q.op.Memory) && (!record.Offered(r.Session) || q.hearsay()):
			q.withdrawn = true
		case c.How == record.Said && replaces && q.op.Op == record.Add && overlap(c.Paths, q.op.Memory.Paths) && (says.opposes(q.phrase) || says.covers(q.phrase)):
			q.withdrawn = true
			op.Why = replaced(q.text, q.op.Sightings)
		case q.takes(sighting(r, c), c.Text) && contradict(op.Memory, q.op.Memory, says, q.phrase):
			op.Contradicts = append(op.Contradicts, q.op.Memory.ID)
		}
	}
	for _, old := range p.past {
		if op.Why == "" && c.How == record.Said && old.sighting.How == record.Said && old.sighting.Reflection != r.ID() && says.opposes(old.phrase) {
			op.Why = replaced(old.text, []record.Sighting{old.sighting})
		}
	}
	return true
}

// outranks reports whether an operation has better evidence than a candidate, which so cannot
// replace it.
func (q pending) outranks(c record.Candidate) bool {
	return rank(q.op.How) < rank(c.How) || record.Doubtful(c.Evidence) && slices.ContainsFunc(q.op.Sightings, plainlySaid(q.op.Memory.Text))
}

// replaced returns the earlier statement that a later one replaces, in its original words.
func replaced(text string, said []record.Sighting) string {
	when := ""
	if len(said) > 0 && len(said[0].Evidence) > 0 {
		e := said[0].Evidence[0]
		text = e.Quote
		if !e.Time.IsZero() {
			when = " of " + e.Time.UTC().Format(time.DateOnly)
		}
	}
	return fmt.Sprintf("it takes the place of %q%s", text, when)
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
	return overlap(a.Paths, b.Paths) && (oneTopic && !says.same(other) || says.opposes(other))
}

// Opposed reports whether two statements cannot both hold.
func Opposed(a, b string) bool { return phraseOf(a).opposes(phraseOf(b)) }

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
