package anchor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// Bounds of one comparison for landing, in commits. A busier branch is recognised only if merged.
const (
	maxSquashes = 300 // on the default branch, touching the side branch's files
	maxRebased  = 50  // of the side branch
)

// ErrNoBranch means that a branch is neither here nor on a fetched remote.
var ErrNoBranch = errors.New("there is no such branch here")

// Side returns the Branch for a memory learned at c. It is "" on the default branch and on a
// detached HEAD. It is also "" on a side branch without a commit of its own, which still has the
// default branch's code.
func (c *Commit) Side(ctx context.Context) string {
	if c.ID == "" || c.Branch == "" {
		return ""
	}
	s, err := c.of.side(ctx, c.Branch, c.ID)
	if err != nil {
		c.of.note(fmt.Errorf("branch %s: %w", c.Branch, err))
		return ""
	}
	if s.Tip == "" {
		return ""
	}
	return s.String()
}

// A Session is the work in which something was learned.
type Session struct {
	Branch       string // on which it began, or ""
	Began, Ended time.Time
}

// Side returns the Branch for a memory of a session, and the code that the session worked on. A
// session that began elsewhere belongs to the branch of HEAD only if a commit of that branch was
// written meanwhile, and one whose branch is unknown if a commit was written before its end.
func (s Session) Side(ctx context.Context, c *Code) (string, *Commit) {
	on := c.On(ctx, s.Branch)
	if on.Branch == s.Branch || on.ID == "" || s.Ended.IsZero() || slices.ContainsFunc(on.written(ctx), s.saw) {
		return on.Side(ctx), on
	}
	return "", on
}

// saw reports whether a commit of that time may be of the session.
func (s Session) saw(at time.Time) bool {
	return !at.After(s.Ended) && (s.Branch == "" || !at.Before(s.Began.Truncate(time.Second)))
}

// OnMainline reports whether a session began on the default branch. With its branch unknown, HEAD
// must be there.
func (s Session) OnMainline(ctx context.Context, c *Code) bool {
	main := c.Mainline(ctx).Name
	return main != "" && cmp.Or(s.Branch, c.Here(ctx).Branch) == main
}

// written returns the author's dates of the newest commits that the default branch lacks.
func (c *Commit) written(ctx context.Context) []time.Time {
	if c.dates == nil {
		dates, err := c.of.Repo.History().Authored(ctx, c.ID, c.of.Mainline(ctx).Tips, maxSquashes)
		if err != nil {
			c.of.note(fmt.Errorf("branch %s: %w", c.Branch, err))
		}
		c.dates = &dates
	}
	return *c.dates
}

// side describes a branch with the given tip relative to the default branch. Without a commit of
// its own or a common ancestor it has only a name. On the default branch it is empty.
func (c *Code) side(ctx context.Context, name, tip string) (record.Side, error) {
	main := c.Mainline(ctx)
	if name == main.Name || len(main.Tips) == 0 || "refs/heads/"+name == c.Memories {
		return record.Side{}, nil
	}
	for _, to := range main.Tips {
		if in, err := c.Repo.History().IsAncestor(ctx, tip, to); in || err != nil {
			return record.Side{Name: name}, err
		}
	}
	base, err := c.Repo.History().MergeBase(ctx, tip, main.Tips...)
	if err != nil || base == "" {
		return record.Side{Name: name}, err
	}
	patch, err := c.Repo.History().PatchID(ctx, base, tip)
	return record.Side{Name: name, Tip: tip, Base: base, Patch: patch}, err
}

// Named returns the Branch for a memory that a person limits to a branch. The error may wrap
// ErrNoBranch.
func (c *Code) Named(ctx context.Context, name string) (string, error) {
	tips, err := c.Repo.Refs().Branches(ctx, name)
	if err != nil {
		return "", err
	}
	if len(tips) == 0 {
		return "", ErrNoBranch
	}
	s, err := c.side(ctx, name, tips[0])
	return s.String(), err
}

// Holds reports whether a side branch's lesson holds in the asker's code.
func (c *Code) Holds(ctx context.Context, branch string) bool {
	if record.ParseSide(branch).Name == c.Here(ctx).Branch {
		return true
	}
	found := c.judgeSide(ctx, branch)
	return found == isLanded || found == isHere
}

// judgeSide locates the commits of a side branch: isLanded, isHere, isAway or isUnknown.
func (c *Code) judgeSide(ctx context.Context, branch string) byte {
	here, side := c.Here(ctx), record.ParseSide(branch)
	if side.Tip == "" || here.ID == "" {
		return isAway
	}
	main := c.Mainline(ctx)
	key := verdictKey(append([]string{"side", branch}, main.Tips...)...)
	if found, ok := here.known.all[key]; ok {
		return found.letter
	}
	if here.sides++; here.sides > maxSides || here.spent >= sideTime {
		here.Unsure = true
		return isUnknown // for the next command
	}
	began := time.Now()
	ctx, stop := context.WithTimeout(ctx, sideTime-here.spent)
	defer stop()
	letter, err := c.findSide(ctx, side)
	here.spent += time.Since(began)
	if err != nil {
		letter, here.Unsure = isUnknown, true
		c.note(fmt.Errorf("branch %s: %w", side.Name, err))
	}
	if letter != isUnknown {
		here.known.put(key, verdict{letter: letter})
	}
	return letter
}

// findSide is judgeSide without a stored verdict. In a shallow clone an unsuccessful search proves
// nothing.
func (c *Code) findSide(ctx context.Context, s record.Side) (letter byte, err error) {
	here := c.Here(ctx)
	ids, err := c.Repo.History().Commits(ctx, s.Tip, s.Base)
	if err != nil {
		return isUnknown, err
	}
	landed, err := c.landed(ctx, s, ids[0], ids[1])
	if landed {
		return isLanded, nil
	}
	if tip := ids[0]; tip != "" {
		in, err2 := c.Repo.History().IsAncestor(ctx, tip, here.ID)
		if in {
			return isHere, nil
		}
		err = errors.Join(err, err2)
	}
	if err != nil || c.Repo.Shallow {
		return isUnknown, err
	}
	return isAway, nil
}

// landed reports whether the commits of a side branch are on the default branch: themselves,
// squashed into one commit, or as copies. It also checks the branch's current tip, which may have
// grown. tip and base are the side's full ids, or "" if they are not here.
func (c *Code) landed(ctx context.Context, s record.Side, tip, base string) (bool, error) {
	for _, to := range c.Mainline(ctx).Tips {
		in, err := c.landedOn(ctx, s, tip, base, to)
		if in || err != nil {
			return in, err
		}
	}
	return false, nil
}

func (c *Code) landedOn(ctx context.Context, s record.Side, tip, base, to string) (bool, error) {
	if tip != "" {
		if in, err := c.Repo.History().IsAncestor(ctx, tip, to); in || err != nil {
			return in, err
		}
	}
	if base == "" || s.Patch == "" {
		return false, nil
	}
	var paths []string
	var err error
	if tip != "" {
		if paths, err = c.Repo.History().ChangedPaths(ctx, base, tip); err != nil || len(paths) == 0 {
			return false, err
		}
		if len(paths) > maxPaths {
			paths = paths[:maxPaths] // a copy of the whole change touches these too
		}
	}
	patches, err := c.patches(ctx, base, to, maxSquashes, paths...)
	if err != nil || len(patches) == 0 {
		return false, err
	}
	has := func(patch string) bool {
		return patch != "" && slices.ContainsFunc(patches, func(p string) bool { return strings.HasPrefix(p, patch) })
	}
	if has(s.Patch) || tip == "" {
		return has(s.Patch), nil
	}
	for _, now := range c.grown(ctx, s.Name, tip) {
		// It is later than base if the default branch was merged into the side branch.
		from, err := c.Repo.History().MergeBase(ctx, now, to)
		if err != nil || from == "" {
			continue
		}
		if patch, err := c.Repo.History().PatchID(ctx, from, now); err != nil || has(patch) {
			return err == nil, err
		}
	}
	own, err := c.Repo.History().Between(ctx, base, tip, maxRebased+1)
	if err != nil || len(own) == 0 || len(own) > maxRebased {
		return false, err
	}
	copies, err := c.Repo.History().PatchIDs(ctx, own)
	return err == nil && len(copies) > 0 && !slices.ContainsFunc(copies, func(p string) bool { return !has(p) }), err
}

// patches returns the patch ids of the commits between two, as git.History.Between lists them. It
// caches the answer.
func (c *Code) patches(ctx context.Context, base, to string, n int, paths ...string) ([]string, error) {
	here := c.Here(ctx)
	key := strings.Join(append([]string{base, to}, paths...), "\x00")
	if ids, ok := here.patches[key]; ok {
		return ids, nil
	}
	commits, err := c.Repo.History().Between(ctx, base, to, n, paths...)
	if err != nil {
		return nil, err
	}
	ids, err := c.Repo.History().PatchIDs(ctx, commits)
	if err == nil {
		here.patches[key] = ids
	}
	return ids, err
}

// maxPaths bounds the files of a side branch that narrow the search for its copies.
const maxPaths = 200

// grown returns the tips of a branch, here and on remotes, that have its commit and more.
func (c *Code) grown(ctx context.Context, name, tip string) []string {
	tips, _ := c.Repo.Refs().Branches(ctx, name)
	slices.Sort(tips)
	return slices.DeleteFunc(slices.Compact(tips), func(now string) bool {
		in, err := c.Repo.History().IsAncestor(ctx, tip, now)
		return now == tip || !in || err != nil
	})
}

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
