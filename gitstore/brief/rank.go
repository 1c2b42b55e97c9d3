package brief

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/recall/pack"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/reader"
)

// candidate is a memory that an agent may be given.
type candidate struct {
	m     record.Memory
	s     reader.Caveats
	binds bool     // it is a constraint, or corrects an agent
	worth int      // within those that bind, and within the others
	why   []string // reasons for its worth
	tier  int      // for packing: it never loses to one of a higher tier
	whole bool     // it is not given shortened
}

// The tiers of a block.
const (
	tierBinds  = iota
	tierEarned // see earned
	tierOther
	tierStale
	tierNoted // by an agent, unreviewed
)

// line returns the candidate as agents read it.
func (c candidate) line() string {
	return "- " + string(c.m.Kind) + ": " + Item{c.m, c.s.Stale}.statement(Tagless)
}

// short returns the line with the first sentence of its statement alone, or "" where that is hardly
// shorter or not certainly a sentence. A contested memory has all its texts or none.
func (c candidate) short() string {
	first := pack.First(c.m.Text)
	if c.whole || first == "" || len(first)*4 > len(c.m.Text)*3 || c.m.Status == record.Contested {
		return ""
	}
	c.m.Text = first + " …"
	return c.line()
}

// value is the candidate's weight for packing: one plus its worth. Kinds that explain rather than
// demand get three quarters of it, notes half.
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

// candidates returns the memories that may be given here: in force, and not withheld from agents.
// The person's own are among them.
func (b *maker) candidates(ctx context.Context, v *record.View, in *Injection) ([]candidate, error) {
	held, err := b.Withheld(ctx, v)
	if err != nil {
		return nil, err
	}
	if pending := b.Explain(held.Pending(v, b.Now())); len(pending) > 0 {
		if n := len(pending) - reader.Older(pending); n > 0 {
			in.Cut[CutWithheld] += n
		}
		in.Held = reader.DescribeHeld(pending)
	}
	given := held.Given(v)
	standings, err := b.Caveats(ctx, given)
	if err != nil {
		return nil, err
	}
	var all []candidate
	for _, m := range given.Memories() {
		if !m.Live(b.Now()) {
			continue
		}
		s := standings(m)
		if s.Withheld {
			in.Cut[CutWithheld]++
			continue
		}
		all = append(all, candidate{m: m, s: s})
	}
	for _, m := range reader.Own(ctx, b.Reader, given) {
		if m.Live(b.Now()) {
			all = append(all, candidate{m: m})
		}
	}
	return all, nil
}

// Weights and bounds for the worth of a memory.
const (
	maxSeen     = 5    // distinct sessions
	maxUsed     = 3    // distinct sessions whose prompts matched it
	aboutHere   = 3    // about the asker's place
	fromBranch  = 2    // learned on this branch
	usedLedgers = 200  // number of session ledgers to read
	maxTouched  = 2000 // files of a branch
)

// rank sorts candidates, the most valuable first: binding ones, then by confirming sessions,
// matching prompts and the asker's place. Among equals the younger is first; stale ones are last.
// It uses no clock, so the order changes only with the knowledge.
func (b *maker) rank(ctx context.Context, v *record.View, all []candidate) error {
	seen, corrects, err := b.corroboration(v, all)
	if err != nil {
		return err
	}
	used := map[string]int{}
	for id, sessions := range b.ledger.uses() {
		used[id] = len(sessions)
	}
	here := b.placeOf(ctx, all)
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
			why(min(n, maxSeen), sessions(n))
		}
		if n := used[c.m.ID]; n > 0 {
			why(min(n, maxUsed), "named by prompts of "+sessions(n))
		}
		if about := here.about(c.m); about != "" {
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

// sessions counts sessions in words.
func sessions(n int) string {
	if n == 1 {
		return "1 session"
	}
	return fmt.Sprintf("%d sessions", n)
}

// tierOf returns the tier of a candidate in a block.
func (c candidate) tierOf() int {
	switch {
	case c.m.Noted != "":
		return tierNoted
	case c.s.Stale:
		return tierStale
	case c.binds:
		return tierBinds
	case c.earned():
		return tierEarned
	}
	return tierOther
}

// earned reports whether a memory demands something that only experience taught: a failure, a
// decision, or a rule in a person's own words. Imports do not count: they are written somewhere
// else too.
func (c candidate) earned() bool {
	switch c.m.Kind {
	case record.Failure, record.Decision:
		return !c.m.Imported()
	case record.Constraint, record.Convention, record.Preference, record.Workflow:
		return c.m.Source.How == record.Said || c.m.Source.How == record.Written && !c.m.Imported()
	}
	return false
}

// maxUnearned bounds the unearned memories without worth at a session's start. No other session
// confirms them, no prompt matched them, and they are not about this place. A matching prompt finds
// the others.
const maxUnearned = 8

// few drops the unearned memories beyond maxUnearned, the least valuable, and counts them.
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

// order sorts candidates into the order of a block. No two are equal.
func order(all []candidate) {
	late := map[bool]int{false: 1}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.tier, b.tier), cmp.Compare(late[a.binds], late[b.binds]), cmp.Compare(b.worth, a.worth),
			cmp.Compare(slices.Index(record.Kinds, a.m.Kind), slices.Index(record.Kinds, b.m.Kind)),
			b.m.Source.Time.Compare(a.m.Source.Time), strings.Compare(a.m.ID, b.m.ID))
	})
}

// corroboration counts for each memory the distinct sessions of this clone that confirm it, its
// source included, and names those that replace something. Only equal statements count: similar
// ones were merged, or not, when the memory was made.
func (b *maker) corroboration(v *record.View, all []candidate) (sessions map[string]int, corrects map[string]bool, err error) {
	sessions, corrects = map[string]int{}, map[string]bool{}
	for _, c := range all {
		if len(c.m.Supersedes) > 0 {
			corrects[c.m.ID] = true
		}
	}
	reflections, err := v.Journal().Reflections()
	if err := b.Tolerate(err); err != nil || len(reflections) == 0 {
		return sessions, corrects, err
	}
	sightings := map[string][]record.Sighting{}
	corrections := map[string]bool{} // statements
	for _, r := range reflections {
		for _, c := range r.Candidates {
			if c.How == record.Model || record.Offered(r.Session) {
				continue // a model may repeat a planted text, and an agent may offer anything
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

// uses returns for each memory the sessions in which a prompt named it.
func (l Ledger) uses() map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for _, in := range l.All(usedLedgers) {
		if in.For != Prompt {
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

// place is the asker's place in the code.
type place struct {
	dir     string   // below the top of the work tree, with slashes; "" at the top
	touched []string // files that the branch changed
	files   []string // files being worked on
}

// placeOf finds the asker's place, as far as the candidates ask for it.
func (b *maker) placeOf(ctx context.Context, all []candidate) place {
	p := place{dir: reader.Below(b.Repo.WorkTree, b.asked.Dir), files: b.asked.Files}
	here := b.Code.Here(ctx)
	if here.Branch == "" || here.ID == "" || !slices.ContainsFunc(all, func(c candidate) bool { return len(c.m.Paths) > 0 }) {
		return p
	}
	main := b.Code.Mainline(ctx)
	if main.Name == here.Branch || len(main.Tips) == 0 {
		return p
	}
	base, err := b.Local.History().MergeBase(ctx, here.ID, main.Tips...)
	if err == nil && base != "" && base != here.ID {
		p.touched, err = b.Local.History().ChangedPaths(ctx, base, here.ID)
		p.touched = p.touched[:min(maxTouched, len(p.touched))]
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		b.Note(reader.Note{About: reader.Unplaced, Err: fmt.Errorf("branch %s: %w", here.Branch, err)})
	}
	return p
}

// about returns the reason that a memory is about the place, or "".
func (p place) about(m record.Memory) string {
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
