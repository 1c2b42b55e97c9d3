package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/git"
)

// What was learned on a side branch of the code holds there alone until its commits land on the default
// branch: by a merge, a squash or a rebase.

// Bounds of what one question about landing compares, in commits. A branch that more work than this
// went past is found by a merge only.
const (
	maxSquashes = 300 // of the default branch, that touch the side branch's files
	maxRebased  = 50  // of the side branch
)

// mainline is the default branch of the code, which is the zero value where there is none.
func (w *workspace) mainline(ctx context.Context) git.Default {
	c := w.here(ctx)
	if c.main == nil {
		d, err := w.repo.Default(ctx, w.config.Main)
		if err != nil && w.env.Verbose {
			w.env.warn("find the default branch: %v", err)
		}
		c.main = &d
	}
	return *c.main
}

// sideOf is the Branch of a memory that is learned at c: "" on the default branch, on a detached HEAD, and
// where the side branch has no commit of its own yet, for then it is about the default branch's code.
func (w *workspace) sideOf(ctx context.Context, c *code) string {
	if c.commit == "" || c.branch == "" {
		return ""
	}
	s, err := w.side(ctx, c.branch, c.commit)
	if err != nil {
		if w.env.Verbose {
			w.env.warn("branch %s: %v", c.branch, err)
		}
		return ""
	}
	if s.Tip == "" {
		return ""
	}
	return s.String()
}

// side describes a branch whose tip is at a commit, beside the default branch. It has no more than a name where
// it has no commit of its own, or nothing in common with the default branch; nothing at all on that itself.
func (w *workspace) side(ctx context.Context, name, tip string) (record.Side, error) {
	main := w.mainline(ctx)
	if name == main.Name || len(main.Tips) == 0 || "refs/heads/"+name == w.config.Ref {
		return record.Side{}, nil
	}
	for _, to := range main.Tips {
		if in, err := w.local.IsAncestor(ctx, tip, to); in || err != nil {
			return record.Side{Name: name}, err
		}
	}
	base, err := w.local.MergeBase(ctx, tip, main.Tips...)
	if err != nil || base == "" {
		return record.Side{Name: name}, err
	}
	patch, err := w.local.PatchID(ctx, base, tip)
	return record.Side{Name: name, Tip: tip, Base: base, Patch: patch}, err
}

// askedSide is the Branch of a memory that a person says to hold on a branch alone.
func (w *workspace) askedSide(ctx context.Context, name string) (string, error) {
	tips, err := w.local.Branches(ctx, name)
	if err != nil {
		return "", err
	}
	if len(tips) == 0 {
		return "", usage("'git branch -a' lists the branches", "there is no branch %q here", name)
	}
	s, err := w.side(ctx, name, tips[0])
	return s.String(), err
}

// objectSide is the objection of a memory that holds on another branch alone. What is withheld already is not
// looked into.
func (w *workspace) objectSide(ctx context.Context) objection {
	return func(m record.Memory, s *standing) {
		if m.Branch != "" && !s.Withheld && !w.holds(ctx, m.Branch) {
			s.withhold("only on " + record.ParseSide(m.Branch).Name)
		}
	}
}

// holds reports whether what holds on a side branch holds in the code where the asker stands.
func (w *workspace) holds(ctx context.Context, branch string) bool {
	if record.ParseSide(branch).Name == w.here(ctx).branch {
		return true
	}
	found := w.judgeSide(ctx, branch)
	return found == isLanded || found == isHere
}

// judgeSide says where the commits of a side branch are: isLanded, isHere, isAway or isUnknown.
func (w *workspace) judgeSide(ctx context.Context, branch string) byte {
	here, side := w.here(ctx), record.ParseSide(branch)
	if side.Tip == "" || here.commit == "" {
		return isAway
	}
	main := w.mainline(ctx)
	key := verdictKey(append([]string{"side", branch}, main.Tips...)...)
	if found, ok := here.known.all[key]; ok {
		return found.letter
	}
	if here.sides++; here.sides > maxSides || here.spent >= sideTime {
		here.unsure = true
		return isUnknown // for the next command
	}
	began := time.Now()
	ctx, stop := context.WithTimeout(ctx, sideTime-here.spent)
	defer stop()
	letter, err := w.findSide(ctx, side)
	here.spent += time.Since(began)
	if err != nil {
		letter, here.unsure = isUnknown, true
		if w.env.Verbose {
			w.env.warn("branch %s: %v", side.Name, err)
		}
	}
	if letter != isUnknown {
		here.known.put(key, verdict{letter: letter})
	}
	return letter
}

// findSide is judgeSide where it has to be looked for. In a shallow clone nothing can be said of what is not found.
func (w *workspace) findSide(ctx context.Context, s record.Side) (letter byte, err error) {
	here := w.here(ctx)
	ids, err := w.local.Commits(ctx, s.Tip, s.Base)
	if err != nil {
		return isUnknown, err
	}
	landed, err := w.landed(ctx, s, ids[0], ids[1])
	if landed {
		return isLanded, nil
	}
	if tip := ids[0]; tip != "" {
		in, err2 := w.local.IsAncestor(ctx, tip, here.commit)
		if in {
			return isHere, nil
		}
		err = errors.Join(err, err2)
	}
	if err != nil || w.local.Shallow {
		return isUnknown, err
	}
	return isAway, nil
}

// landed reports whether the commits of a side branch are on the default branch: themselves, as one commit with all
// their changes, or as copies. The branch may have grown since, so what it is now is looked for too. tip and base are
// the whole ids of the side's, "" where they are not here.
func (w *workspace) landed(ctx context.Context, s record.Side, tip, base string) (bool, error) {
	for _, to := range w.mainline(ctx).Tips {
		in, err := w.landedOn(ctx, s, tip, base, to)
		if in || err != nil {
			return in, err
		}
	}
	return false, nil
}

func (w *workspace) landedOn(ctx context.Context, s record.Side, tip, base, to string) (bool, error) {
	if tip != "" {
		if in, err := w.local.IsAncestor(ctx, tip, to); in || err != nil {
			return in, err
		}
	}
	if base == "" || s.Patch == "" {
		return false, nil
	}
	var paths []string
	var err error
	if tip != "" {
		if paths, err = w.local.ChangedPaths(ctx, base, tip); err != nil || len(paths) == 0 {
			return false, err
		}
		if len(paths) > maxPaths {
			paths = paths[:maxPaths] // a copy of the whole change touches these too
		}
	}
	patches, err := w.patches(ctx, base, to, maxSquashes, paths...)
	if err != nil || len(patches) == 0 {
		return false, err
	}
	has := func(patch string) bool {
		return patch != "" && slices.ContainsFunc(patches, func(p string) bool { return strings.HasPrefix(p, patch) })
	}
	if has(s.Patch) || tip == "" {
		return has(s.Patch), nil
	}
	for _, now := range w.grown(ctx, s.Name, tip) {
		from, err := w.local.MergeBase(ctx, now, to) // younger than base where the default branch was merged into it
		if err != nil || from == "" {
			continue
		}
		if patch, err := w.local.PatchID(ctx, from, now); err != nil || has(patch) {
			return err == nil, err
		}
	}
	own, err := w.local.Between(ctx, base, tip, maxRebased+1)
	if err != nil || len(own) == 0 || len(own) > maxRebased {
		return false, err
	}
	copies, err := w.local.PatchIDs(ctx, own)
	return err == nil && len(copies) > 0 && !slices.ContainsFunc(copies, func(p string) bool { return !has(p) }), err
}

// patches are the patch ids of the commits between two, as git.Repo.Between lists them. It is asked once a command.
func (w *workspace) patches(ctx context.Context, base, to string, n int, paths ...string) ([]string, error) {
	here := w.here(ctx)
	key := strings.Join(append([]string{base, to}, paths...), "\x00")
	if ids, ok := here.patches[key]; ok {
		return ids, nil
	}
	commits, err := w.local.Between(ctx, base, to, n, paths...)
	if err != nil {
		return nil, err
	}
	ids, err := w.local.PatchIDs(ctx, commits)
	if err == nil {
		here.patches[key] = ids
	}
	return ids, err
}

// maxPaths is how many files of a side branch narrow the search for its copies.
const maxPaths = 200

// grown are the tips of a branch, here and on remotes, that have a commit of it and more.
func (w *workspace) grown(ctx context.Context, name, tip string) []string {
	tips, _ := w.local.Branches(ctx, name)
	slices.Sort(tips)
	return slices.DeleteFunc(slices.Compact(tips), func(now string) bool {
		in, err := w.local.IsAncestor(ctx, tip, now)
		return now == tip || !in || err != nil
	})
}

// sideText says on which branch alone a memory holds, for people.
func sideText(m record.Memory) string {
	s := record.ParseSide(m.Branch)
	if s.Tip == "" {
		return s.Name
	}
	return fmt.Sprintf("%s, until %s lands", s.Name, s.Tip[:min(10, len(s.Tip))])
}
