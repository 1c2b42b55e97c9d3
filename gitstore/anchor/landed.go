package anchor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// undecidedFor is the time without landing or moving after which a side branch's lessons are put to
// a person.
const undecidedFor = 90 * 24 * time.Hour

// Land finds the fate of the side branches of memories. landed are memories whose commits are on
// the default branch; they hold everywhere. asked are operations for memories whose branch is gone
// or abandoned, to be decided by a person. It omits those whose id is in decided.
func (c *Code) Land(ctx context.Context, v *record.View, sides []record.Memory, decided map[string]bool, now time.Time) (landed []record.Memory, asked []record.Operation, err error) {
	tips := map[string][]string{}
	for _, m := range sides {
		switch found := c.judgeSide(ctx, m.Branch); {
		case found == isLanded:
			landed = append(landed, m)
			continue
		case found == isUnknown || decided[m.ID]:
			continue
		}
		why, err := c.givenUp(ctx, m, now, tips)
		if err != nil {
			return nil, nil, err
		}
		if why != "" {
			blob, _ := v.Blob(m.ID)
			asked = append(asked, c.ask(ctx, m, string(blob), why, now))
		}
	}
	return landed, asked, nil
}

// givenUp returns the reason that a side branch will hardly land any more, or "". A branch whose
// commits were never here is unknown: it may be another person's and unpublished. known caches the
// tips of the branches.
func (c *Code) givenUp(ctx context.Context, m record.Memory, now time.Time, known map[string][]string) (why string, err error) {
	side := record.ParseSide(m.Branch)
	tips, ok := known[side.Name]
	if !ok {
		if tips, err = c.Repo.Refs().Branches(ctx, side.Name); err != nil {
			return "", err
		}
		known[side.Name] = tips
	}
	if len(tips) == 0 {
		if side.Tip == "" {
			return "", nil
		}
		commits, err := c.Repo.History().Commits(ctx, side.Tip)
		if err != nil || commits[0] == "" {
			return "", err
		}
		return "it was learned on the branch " + side.Name + ", which is gone and did not land", nil
	}
	since := now.Add(-undecidedFor)
	if m.Source.Time.After(since) {
		return "", nil
	}
	for _, tip := range tips {
		if at, err := c.Repo.History().Committed(ctx, tip); err != nil || at.After(since) {
			return "", err
		}
	}
	return fmt.Sprintf("the branch %s did not land and did not move in %d days", side.Name, int(undecidedFor.Hours()/24)), nil
}

// ask proposes the future of a memory whose branch was abandoned. It holds everywhere if the
// default branch has its code or it has no anchors; otherwise it retires.
func (c *Code) ask(ctx context.Context, m record.Memory, blob, why string, now time.Time) record.Operation {
	o := record.Operation{Op: record.Edit, How: m.Source.How, Memory: m, Why: why, Proposed: now.UTC().Truncate(time.Second),
		Base: []record.Base{{ID: m.ID, Path: m.Path(), Blob: blob}}}
	o.Memory.Branch = ""
	gone := slices.ContainsFunc(c.Mainline(ctx).Tips, func(tip string) bool {
		at := c.at(tip, "")
		defer at.done()
		return len(at.Gone(ctx, m)) > 0
	})
	if gone {
		o.Op = record.Retire
		o.Memory = m.Retire(strings.ToUpper(why[:1]) + why[1:] + ".")
	}
	return record.NewOperation(o)
}
