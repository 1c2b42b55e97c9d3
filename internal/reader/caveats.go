package reader

import (
	"context"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/anchor"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// Caveats holds the reservations about one memory at the present code. The zero value means none.
type Caveats struct {
	Withheld bool     // not given to agents; people see it, with the reasons
	Stale    bool     // its anchored code is gone
	Foreign  bool     // withheld for the author of its last change
	Older    string   // agents get this older version, followed by these words
	Why      []string // the reasons, each a few words
}

// withhold keeps a memory from agents for a reason.
func (c *Caveats) withhold(why string) { c.Withheld, c.Why = true, append(c.Why, why) }

// check adds its findings about a memory to its caveats.
type check func(record.Memory, *Caveats)

// Caveats returns the function that finds the caveats of each memory of a view. It suits any number
// of memories: expensive facts are found once, and cached between commands if possible. An unknown
// fact is no caveat.
func (r *Reader) Caveats(ctx context.Context, v *record.View) (func(record.Memory) Caveats, error) {
	authors, err := r.checkAuthors(ctx, v)
	if err != nil {
		return nil, err
	}
	branch := checkBranch(ctx, r.Code)
	checks := []check{checkTexts, authors, branch, r.checkCode(ctx)}
	return func(m record.Memory) Caveats {
		var c Caveats
		switch {
		case m.Own: // it rests on no code, and on no author but the person
			return c
		case m.Noted != "":
			branch(m, &c)
			c.Why = append(c.Why, "noted by "+m.Noted+", unreviewed")
			return c
		}
		for _, check := range checks {
			check(m, &c)
		}
		return c
	}, nil
}

// checkTexts labels a memory of which a merge kept several texts. Agents get all of them.
func checkTexts(m record.Memory, c *Caveats) {
	if m.Status == record.Contested {
		c.Why = append(c.Why, "contested")
	}
}

// checkAuthors withholds memories last changed by an author not trusted here, until a person
// approves them. It labels the older versions in a view for agents.
func (r *Reader) checkAuthors(ctx context.Context, v *record.View) (check, error) {
	held, err := r.Withheld(ctx, v)
	agents := v.Actual() != v
	return func(m record.Memory, c *Caveats) {
		if changed, ok := held.Changed(m.Path(), m.Private); ok && agents {
			now, _ := v.Actual().Find(m.ID)
			c.Older = olderLabel(changed, now)
			if why := whyOlder(r.WhyWithheld(changed.By), changed, now); r.Shields() {
				c.Why = append(c.Why, strings.Trim(c.Older, " ()")) // the author of the change chose the name
			} else {
				c.Why = append(c.Why, why)
			}
		} else if by := held.Whose(m); len(by) > 0 && !agents {
			c.Foreign = true
			c.withhold("withheld: " + r.WhyWithheld(by))
			if ok {
				c.Why = append(c.Why, "agents are given "+VersionOf(changed))
			}
		}
	}, err
}

// checkBranch withholds memories that hold only on another branch. It skips memories already
// withheld.
func checkBranch(ctx context.Context, code *anchor.Code) check {
	return func(m record.Memory, c *Caveats) {
		if m.Branch != "" && !c.Withheld && !code.Holds(ctx, m.Branch) {
			c.withhold("only on " + record.ParseSide(m.Branch).Name)
		}
	}
}

// checkCode labels a memory whose anchored code is gone, or withholds it if the settings say so. It
// skips memories already withheld.
func (r *Reader) checkCode(ctx context.Context) check {
	return func(m record.Memory, c *Caveats) {
		if len(m.Anchors) == 0 || c.Withheld {
			return
		}
		c.outdate(r.Code.Here(ctx).Gone(ctx, m), r.Settings.Config.Stale)
	}
}

// CheckTree is checkCode for changes of the work tree that are not committed. It reads files, so
// call it for memories that are about to be shown.
func CheckTree(ctx context.Context, r *Reader, m record.Memory, c *Caveats) {
	if !c.Stale && !c.Withheld {
		c.outdate(anchor.TreeGone(ctx, r.Code, m), r.Settings.Config.Stale)
	}
}

// outdate labels a memory with anchors that are gone, or withholds it, as the settings say.
func (c *Caveats) outdate(gone []string, setting string) {
	if len(gone) == 0 {
		return
	}
	c.Stale, c.Withheld = true, setting == "withhold"
	for _, what := range gone {
		c.Why = append(c.Why, "stale: "+what)
	}
}
