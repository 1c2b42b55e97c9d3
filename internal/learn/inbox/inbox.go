// Package inbox decides the pending operations of a clone. Accept turns them into memory, Reject
// drops them, and AcceptByPolicy accepts those that need no person. An Inbox serves one goroutine.
package inbox

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/trust"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/plural"
)

// Inbox is the inbox of a clone. All functions but Report must be set.
type Inbox struct {
	*clone.Clone

	// Withheld returns the memories of a view that agents do not get because of their authors.
	Withheld func(context.Context, *record.View) (*trust.Withheld, error)
	// Own returns the person's own memories beside a view.
	Own func(context.Context, *record.View) []record.Memory
	// Offer proposes preferences for all repositories of the person.
	Offer func(context.Context) error
	// Tolerate reports records that cannot be read, which hide no others, and returns all other
	// errors.
	Tolerate func(error) error
	// Documents reads the documents of the work tree once. The result names the place that states a
	// memory, or returns "".
	Documents func() (stated func(record.Memory) string)
	// Proposed returns the branches on which operations are proposed, by the operations' ids.
	Proposed func() (map[string]string, error)
	// Report hears notes as they come. It may be nil.
	Report func(Note)
}

// Note reports a step, or something that it skipped. cmd words it.
type Note interface{}

// Notes of this package. A package above has its own, and reports them in the same way.
type (
	// Doubt is a non-fatal error.
	Doubt struct{ Err error }
	// Committed is a note of git's on a commit, such as one on signing.
	Committed string
	// AcceptedByPolicy counts the operations that the policy accepted.
	AcceptedByPolicy int
	// LandFailed is an error of Land.
	LandFailed struct{ Err error }
	// Landed counts memories of side branches that hold everywhere now.
	Landed int
	// Abandoned counts memories of abandoned side branches, about which a person is asked.
	Abandoned int
)

// Note reports a note, if there is a hearer.
func (b *Inbox) Note(n Note) {
	if b.Report != nil {
		b.Report(n)
	}
}

// Update is clone.Update. It reports the notes of the commits.
func (b *Inbox) Update(ctx context.Context, fn func(*record.Tx, clone.Team) error) error {
	notes, err := b.Clone.Update(ctx, fn)
	for _, n := range notes {
		b.Note(Committed(n))
	}
	return err
}

// Pending reads the pending operations.
func (b *Inbox) Pending(v *record.View) ([]record.Operation, error) {
	ops, err := v.Inbox().Operations()
	return ops, b.Tolerate(err)
}

// Pick finds pending operations by prefixes of their ids, or returns all. The error for one that no
// longer waits tells its end, and wraps record.ErrNoMemory.
func (b *Inbox) Pick(ctx context.Context, v *record.View, ids []string, all bool) ([]record.Operation, error) {
	pending, err := b.Pending(v)
	if all || err != nil {
		return pending, err
	}
	var out []record.Operation
	for _, id := range ids {
		o, err := record.FindOperation(pending, id)
		if errors.Is(err, record.ErrNoMemory) {
			if o, d, lost := Decided(ctx, b, v, id); lost == nil {
				err = exit.New(exit.Failed, &decidedError{o.ID, d.Outcome}, "reverie show "+o.ID[:8])
			}
		}
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

// Waiting is an operation that needs a person.
type Waiting struct {
	record.Operation
	Why    string
	Stated bool // the repository's own documents say it
}

// Queue returns the operations with the given ids, or all, with the reasons why they wait. It sorts
// them by subject. Statements that the repository's documents make come last.
func (b *Inbox) Queue(ctx context.Context, ids []string) ([]Waiting, error) {
	var queue []Waiting
	proposed, err := b.Proposed()
	if err != nil {
		return nil, err
	}
	err = b.View(ctx, func(v *record.View, t clone.Team) error {
		ops, err := b.Pick(ctx, v, ids, len(ids) == 0)
		if err != nil {
			return err
		}
		for _, o := range ops {
			queue = append(queue, b.waiting(v, t, o, proposed[o.ID]))
		}
		return nil
	})
	slices.SortStableFunc(queue, func(a, b Waiting) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a.Memory.Subject(), b.Memory.Subject()), strings.Compare(a.Memory.Text, b.Memory.Text))
	})
	return queue, err
}

// WithoutGates removes the operations whose guards hold up calls, and counts them. A person should
// see each before it is accepted.
func WithoutGates(queue []Waiting) (rest []Waiting, gates int) {
	rest = slices.DeleteFunc(slices.Clone(queue), func(p Waiting) bool { return dream.Gates(p.Memory) })
	return rest, len(queue) - len(rest)
}

// WithoutAttacks removes the operations that look like attacks on agents, and describes each.
func WithoutAttacks(queue []Waiting) (rest []Waiting, attacks []string) {
	for _, p := range queue {
		if what := dream.Suspicious(p.Operation); what != "" {
			attacks = append(attacks, p.ID[:8]+" looks like "+what)
		} else {
			rest = append(rest, p)
		}
	}
	return rest, attacks
}

// LeftOut says how many attacks were left out.
func LeftOut(attacks []string) string {
	return plural.Count(len(attacks), "operation looks", "operations look") + " like an attack on agents"
}

// Operations returns the operations of a queue.
func Operations(queue []Waiting) []record.Operation {
	var out []record.Operation
	for _, w := range queue {
		out = append(out, w.Operation)
	}
	return out
}

// Together leaves the attacks out of several operations that a person chose, and says so. One
// operation stays: its warning was shown.
func Together(queue []Waiting) (rest []Waiting, note string) {
	if len(queue) < 2 {
		return queue, ""
	}
	rest, attacks := WithoutAttacks(queue)
	if len(attacks) > 0 {
		note = LeftOut(attacks) + "; accept each alone"
	}
	return rest, note
}

func rank(p Waiting) int {
	if p.Stated {
		return 1
	}
	return 0
}

// waiting explains why an operation waits. branch is the branch that proposes it, or "".
func (b *Inbox) waiting(v *record.View, t clone.Team, o record.Operation, branch string) Waiting {
	_, why := clone.Policy(t.Config).Accepts(o)
	if b.Clone.Own {
		why = "" // no policy decides there
	}
	for _, base := range o.Base {
		if blob, _ := v.Blob(base.ID); string(blob) != base.Blob {
			why = "what it changes has changed: " + base.ID[:8]
		}
	}
	if branch != "" {
		why = "proposed as " + branch
	}
	where := ""
	if o.Op == record.Add && !o.Memory.Imported() {
		where = b.Documents()(o.Memory)
	}
	if where != "" {
		why = strings.TrimPrefix(why+"; "+where+" says it already", "; ")
	}
	return Waiting{o, why, where != ""}
}
