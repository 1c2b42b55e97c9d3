package cmd

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/recall/pack"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/internal/term"
)

// candidate is a memory that an agent may be given.
type candidate struct {
	m     record.Memory
	s     reader.Caveats
	binds bool     // it is a constraint, or corrects what an agent did or knew
	worth int      // within those that bind, and within the others
	why   []string // that it is worth that
	tier  int      // for packing: it never loses to one of a higher tier
	whole bool     // it is not given shortened
}

// The tiers of a block.
const (
	tierBinds  = iota
	tierEarned // a session or a person paid for it
	tierOther
	tierStale
)

// line is the candidate as agents read it.
func (c candidate) line() string {
	return "- " + string(c.m.Kind) + ": " + statement(item{c.m, c.s.Stale}, tagless)
}

// short is the line with the first sentence of its statement alone, or "" where that is hardly shorter or not for
// certain a sentence. What is contested has all its texts or none.
func (c candidate) short() string {
	first := pack.First(c.m.Text)
	if c.whole || first == "" || len(first)*4 > len(c.m.Text)*3 || c.m.Status == record.Contested {
		return ""
	}
	c.m.Text = first + " …"
	return c.line()
}

// value is what the candidate counts when not all have room: one and its worth, three quarters of it where such a
// statement explains more than it asks for, half of it for a note.
func (c candidate) value() float64 {
	value := float64(1 + c.worth)
	switch c.m.Kind {
	case record.Pattern, record.Fact, record.Preference:
		value *= 0.75
	case record.Note:
		value *= 0.5
	}
	return value
}

// covers reports whether a candidate holds wherever another does, and both have one text.
func (c candidate) covers(other candidate) bool {
	return c.m.Status != record.Contested && other.m.Status != record.Contested && (c.m.Branch == "" || c.m.Branch == other.m.Branch) &&
		(len(c.m.Paths) == 0 || slices.Equal(c.m.Paths, other.m.Paths))
}

// candidates are the memories that may be given here: in force, and not withheld from agents.
func (w *workspace) candidates(ctx context.Context, v *record.View, in *injection) ([]candidate, error) {
	held, err := w.Withheld(ctx, v)
	if err != nil {
		return nil, err
	}
	for _, p := range held.Pending(v, w.env.Now()) {
		if p.Given == nil {
			in.Cut[cutWithheld]++
		}
	}
	given := held.Given(v)
	standings, err := w.Caveats(ctx, given)
	if err != nil {
		return nil, err
	}
	var all []candidate
	for _, m := range given.Memories() {
		if !m.Live(w.env.Now()) {
			continue
		}
		s := standings(m)
		if s.Withheld {
			in.Cut[cutWithheld]++
			continue
		}
		all = append(all, candidate{m: m, s: s})
	}
	return all, nil
}

// Bounds of what counts for the worth of a memory.
const (
	maxSeen     = 5    // distinct sessions
	maxUsed     = 3    // distinct sessions whose prompts named it
	aboutHere   = 3    // it is about the folder, or files that the branch changed
	fromBranch  = 2    // it was learned on this branch
	usedLedgers = 200  // sessions whose ledgers are looked at
	maxTouched  = 2000 // files of a branch
)

// rank sorts candidates, the most valuable first: what binds, then by how many sessions bore it out, how many prompts
// named it and whether it is about where the asker stands; the younger first among equals, and what is stale behind all
// others. Only what is kept counts, no clock: the order changes when the knowledge does.
func (w *workspace) rank(ctx context.Context, v *record.View, all []candidate, r contextRequest) error {
	seen, corrects, err := w.corroboration(v, all)
	if err != nil {
		return err
	}
	used := map[string]int{}
	for id, sessions := range w.uses() {
		used[id] = len(sessions)
	}
	place := w.standsAt(ctx, all, r)
	for i := range all {
		c := &all[i]
		why := func(worth int, text string) { c.worth += worth; c.why = append(c.why, text) }
		switch {
		case c.m.Kind == record.Constraint:
			c.binds = true
			why(0, string(c.m.Kind))
		case corrects[c.m.ID]:
			c.binds = true
			why(0, "corrects an agent")
		default:
			why(0, string(c.m.Kind))
		}
		if n := seen[c.m.ID]; n > 1 {
			why(min(n, maxSeen), term.Count(n, "session", "sessions"))
		}
		if n := used[c.m.ID]; n > 0 {
			why(min(n, maxUsed), "named by prompts of "+term.Count(n, "session", "sessions"))
		}
		if about := place.about(c.m); about != "" {
			why(aboutHere, about)
		}
		if c.m.Branch != "" {
			why(fromBranch, "learned on this branch")
		}
		if c.s.Stale {
			why(0, "stale")
		}
		if c.m.Status == record.Contested {
			why(0, "contested")
		}
		c.tier = c.tierOf()
	}
	order(all)
	return nil
}

// tierOf is the tier of a candidate in a block.
func (c candidate) tierOf() int {
	switch {
	case c.s.Stale:
		return tierStale
	case c.binds:
		return tierBinds
	case c.earned():
		return tierEarned
	}
	return tierOther
}

// earned reports whether a memory tells an agent to do something that only experience taught: a failure, a decision, or a rule in a
// person's own words. What was imported stood somewhere before.
func (c candidate) earned() bool {
	switch c.m.Kind {
	case record.Failure, record.Decision:
		return !imported(c.m)
	case record.Constraint, record.Convention, record.Preference, record.Workflow:
		return c.m.Source.How == record.Said || c.m.Source.How == record.Written && !imported(c.m)
	}
	return false
}

// maxUnearned is how many memories a session begins with that nothing speaks for: they were not earned, no other session bore them out, no
// prompt named them, and they are not about this place. The others are found when a prompt names them.
const maxUnearned = 8

// few leaves out the unearned memories beyond maxUnearned, the least valuable, and says how many those are.
func few(all []candidate) (some []candidate, left int) {
	unearned := 0
	some = slices.DeleteFunc(all, func(c candidate) bool {
		if c.tier != tierOther || c.worth > 0 {
			return false
		}
		unearned++
		return unearned > maxUnearned
	})
	return some, max(0, unearned-maxUnearned)
}

// order sorts candidates as they stand in a block. No two are equal.
func order(all []candidate) {
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.tier, b.tier), leading(a.binds, b.binds), cmp.Compare(b.worth, a.worth),
			cmp.Compare(slices.Index(record.Kinds, a.m.Kind), slices.Index(record.Kinds, b.m.Kind)),
			b.m.Source.Time.Compare(a.m.Source.Time), strings.Compare(a.m.ID, b.m.ID))
	})
}

// leading orders what is before what is not.
func leading(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// corroboration counts for each memory the distinct sessions of this clone that bore it out, the one it was learned
// from included, and says which take the place of something. Only equal statements count; whether two that are alike
// are one was decided when the memory was made.
func (w *workspace) corroboration(v *record.View, all []candidate) (sessions map[string]int, corrects map[string]bool, err error) {
	sessions, corrects = map[string]int{}, map[string]bool{}
	for _, c := range all {
		if len(c.m.Supersedes) > 0 {
			corrects[c.m.ID] = true
		}
	}
	reflections, err := v.Reflections()
	if err := w.Tolerate(err); err != nil || len(reflections) == 0 {
		return sessions, corrects, err
	}
	sightings := map[string][]record.Sighting{}
	corrections := map[string]bool{} // statements
	for _, r := range reflections {
		for _, c := range r.Candidates {
			if c.How == record.Model || record.Offered(r.Session) {
				continue // what a model reads out of a text that somebody planted bears nothing out, nor what an agent offers
			}
			key := record.Normal(c.Text)
			sightings[key] = append(sightings[key], record.Sighting{Reflection: r.ID(), Client: r.Client, Session: r.Session, Parent: r.Parent, How: c.How, Evidence: c.Evidence})
			if c.Corrects != "" || c.Detector == "correction" {
				corrections[key] = true
			}
		}
	}
	for _, c := range all {
		key := record.Normal(c.m.Text)
		found := sightings[key]
		if corrections[key] {
			corrects[c.m.ID] = true
		}
		if len(found) == 0 {
			continue
		}
		if by := c.m.Source; by.Session() != "" {
			found = append(slices.Clip(found), record.Sighting{Client: by.Agent(), Session: by.Session()})
		}
		sessions[c.m.ID] = record.Sessions(found)
	}
	return sessions, corrects, nil
}

// uses are the sessions of the ledger in which a prompt named a memory.
func (w *workspace) uses() map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for _, in := range w.allInjections(usedLedgers) {
		if in.For != forPrompt {
			continue
		}
		for _, g := range in.Items {
			if out[g.ID] == nil {
				out[g.ID] = map[string]bool{}
			}
			out[g.ID][in.Session] = true
		}
	}
	return out
}

// stand is where the asker stands, in the code.
type stand struct {
	dir     string   // below the top of the work tree, with slashes; "" at the top
	touched []string // files that the branch changed
	files   []string // that the asker works on
}

// standsAt finds out about the asker's place as far as the candidates ask for it.
func (w *workspace) standsAt(ctx context.Context, all []candidate, r contextRequest) stand {
	p := stand{dir: reader.Below(w.Repo.WorkTree, r.Dir), files: r.Files}
	here := w.Code.Here(ctx)
	if here.Branch == "" || here.ID == "" || !slices.ContainsFunc(all, func(c candidate) bool { return len(c.m.Paths) > 0 }) {
		return p
	}
	main := w.Code.Mainline(ctx)
	if main.Name == here.Branch || len(main.Tips) == 0 {
		return p
	}
	base, err := w.Local.MergeBase(ctx, here.ID, main.Tips...)
	if err == nil && base != "" && base != here.ID {
		p.touched, err = w.Local.ChangedPaths(ctx, base, here.ID)
		p.touched = p.touched[:min(maxTouched, len(p.touched))]
	}
	if err != nil && !errors.Is(err, context.Canceled) && w.env.Verbose {
		w.env.Warn("branch %s: %v", here.Branch, err)
	}
	return p
}

// about says why a memory is about the place, or "".
func (p stand) about(m record.Memory) string {
	for _, glob := range m.Paths {
		if recall.Root(glob) != "" && slices.ContainsFunc(p.files, func(file string) bool { return recall.Covers(glob, file) }) {
			return "about a file that is worked on"
		}
	}
	for _, glob := range m.Paths {
		root := recall.Root(glob)
		if p.dir != "" && root != "" && (recall.Under(p.dir, root) || recall.Under(root, p.dir)) {
			return "about this folder"
		}
	}
	for _, glob := range m.Paths {
		if recall.Root(glob) != "" && slices.ContainsFunc(p.touched, func(file string) bool { return recall.Covers(glob, file) }) {
			return "about files that this branch changed"
		}
	}
	return ""
}
