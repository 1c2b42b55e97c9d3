package reader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/trust"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/unseen"
)

// Withheld returns the parts of a view that are withheld for their authors. If history is
// unreadable, everything unapproved is withheld.
func (r *Reader) Withheld(ctx context.Context, v *record.View) (*trust.Withheld, error) {
	v = v.Actual()
	if r.view != v {
		c, err := r.Restrict(ctx, v)
		if err != nil { // of an old state; that of the newest was read before
			c = r.Config
		}
		held, err := r.Judge.Withheld(ctx, v, c.Trust)
		if held != nil {
			for _, doubt := range held.Doubts {
				r.Note(Note{About: Doubted, Err: doubt})
			}
		}
		if err != nil {
			return nil, err
		}
		r.view, r.withheld = v, held
	}
	return r.withheld, nil
}

// ForAgents returns the view of v that agents get.
func (r *Reader) ForAgents(ctx context.Context, v *record.View) (*record.View, error) {
	held, err := r.Withheld(ctx, v)
	if err != nil {
		return nil, err
	}
	return held.Given(v), nil
}

// ForAsker returns the view for the asker: agents see only their part.
func (r *Reader) ForAsker(ctx context.Context, v *record.View) (*record.View, error) {
	if !r.Shields() {
		return v, nil
	}
	return r.ForAgents(ctx, v)
}

// Held is a change of a memory that is withheld from agents for its authors.
type Held struct {
	trust.Pending
	Why string
}

// Held returns the withheld changes of a view, to memories in force now or before.
func (r *Reader) Held(ctx context.Context, v *record.View) ([]Held, error) {
	withheld, err := r.Withheld(ctx, v)
	if err != nil {
		return nil, err
	}
	return r.Explain(withheld.Pending(v, r.Now())), nil
}

// Explain adds the reasons to withheld changes.
func (r *Reader) Explain(pending []trust.Pending) (held []Held) {
	for _, p := range pending {
		why := r.WhyWithheld(p.By)
		if p.Given != nil {
			why = whyOlder(why, trust.Changed{By: p.By, When: p.When, Gone: p.Gone}, p.Memory)
		}
		held = append(held, Held{p, why})
	}
	return held
}

// AllHeld is Held of the newest state, or nothing without a memory.
func (r *Reader) AllHeld(ctx context.Context) (held []Held, err error) {
	err = r.View(ctx, func(v *record.View) error {
		held, err = r.Held(ctx, v)
		return err
	})
	if errors.Is(err, gitstore.ErrNoStore) {
		err = nil
	}
	return held, err
}

// Older counts the changed memories of which agents get an older version.
func Older(held []Held) (n int) {
	for _, h := range held {
		if h.Given != nil {
			n++
		}
	}
	return n
}

// WhyWithheld describes briefly for whose sake something is withheld, or returns "" without
// authors.
func (r *Reader) WhyWithheld(by []string) string {
	if len(by) == 0 {
		return ""
	}
	names := make([]string, len(by))
	for i, name := range by {
		names[i] = unseen.Visible(name)
	}
	why := "last changed by " + strings.Join(names, " and ")
	if r.Settings.Config.Trust.Signed {
		return why + ", without a signature that is trusted here"
	}
	return why + ", not trusted here"
}

// whyOlder describes briefly, for people, why agents get an older version of a memory. why is
// WhyWithheld of the change.
func whyOlder(why string, c trust.Changed, now record.Memory) string {
	return changeOf(c, now) + strings.TrimPrefix(why, "last changed") + ": agents are given " + VersionOf(c)
}

// changeOf names the change that led to the present memory.
func changeOf(c trust.Changed, now record.Memory) string {
	switch {
	case c.Gone:
		return "removed"
	case now.Status == record.Retired:
		return "retired"
	}
	return "changed"
}

// VersionOf names the version that agents get.
func VersionOf(c trust.Changed) string {
	if c.When.IsZero() {
		return "the version before"
	}
	return "the version of " + c.When.Format("2006-01-02")
}

// olderLabel returns the note for agents behind an older version. It omits the name of the change's
// author, who chose that name.
func olderLabel(c trust.Changed, now record.Memory) string {
	return " (" + changeOf(c, now) + " by an author not trusted here: this is " + VersionOf(c) + ")"
}

// WhySettings says for whose sake an older version of the team's settings applies, or returns "".
func WhySettings(r *Reader) string {
	if r.Settings.Trust.Text == nil {
		return ""
	}
	return trust.SettingsPath + " was " + strings.TrimPrefix(r.WhyWithheld(r.Settings.Trust.By), "last ") + ": the version before it is used"
}

// Next names the commands that decide about a change.
func (h Held) Next() string {
	id := h.ID[:8]
	next := "next: reverie trust approve " + id
	if h.Given != nil {
		next += ", or keep what agents are given: reverie trust keep " + id
	}
	return next
}

// DescribeHeld says in a line how many memories are withheld, and for how many people.
func DescribeHeld(held []Held) string {
	verb := "are"
	if len(held) == 1 {
		verb = "is"
	}
	line := fmt.Sprintf("%s by %s %s withheld from agents", plural.Count(len(held), "memory", "memories"), HeldFor(held), verb)
	switch older := Older(held); {
	case older > 0 && older == len(held):
		line += "; agents get the earlier version"
	case older > 0:
		line += fmt.Sprintf("; agents get the earlier version of %d", older)
	}
	return line
}

// HeldFor says for how many people memories are withheld.
func HeldFor(held []Held) string {
	var whose []string
	for _, h := range held {
		for _, name := range h.By {
			if !slices.Contains(whose, name) {
				whose = append(whose, name)
			}
		}
	}
	return plural.Count(len(whose), "person", "people") + " you do not trust yet"
}
