package gitstore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/reverie-memory/reverie/internal/git"
)

var (
	// ErrShallow means that the histories to merge end before a common commit, or that a history to
	// rewrite is cut off.
	ErrShallow = errors.New("the history is cut off here (a shallow clone)")
)

// Way names the outcome of a merge.
type Way string

const (
	Nothing     Way = "nothing"      // theirs was in ours already
	FastForward Way = "fast-forward" // ours was in theirs
	Adopted     Way = "adopted"      // our tip gave way to theirs, whose tree is the merged tree
	Joined      Way = "joined"       // a merge commit
)

// Incoming describes another history of the store to merge.
type Incoming struct {
	Tip     ID
	Message Commit                   // for a merge commit
	Accept  func(theirs *Tree) error // may refuse the whole; nil accepts
	Resolve Resolve                  // decides a file that both sides changed
}

// Merged describes the outcome of a Merge.
type Merged struct {
	Result
	Way     Way
	Old     ID       // the tip before
	Backup  string   // the backup ref of Old if it was given up, or ""
	Dropped []string // files with a text that is now only in history
}

// Merge joins another history to ours by one move of the ref. It first checks their changes. One
// entry or file that a store must not have refuses everything, with an EntryErrors. The error wraps
// ErrShallow if the histories are cut off.
//
// It uses no merge base. A file that only one side's own commits touched comes from that side. For
// other files Resolve gets every version with its parents, so its answer need not depend on the
// order in which histories meet.
//
// If the result equals their tree, the ref adopts their tip and a backup keeps ours. The exception
// is that our commits undid a change which their history still has.
func (s *Store) Merge(ctx context.Context, in Incoming) (Merged, error) {
	w, err := s.begin(ctx)
	if err != nil {
		return Merged{}, err
	}
	defer w.end()
	for try := 1; ; try++ {
		tip, err := s.Tip(ctx)
		if err != nil {
			return Merged{}, err
		}
		m, err := w.merge(tip, in)
		if !errors.Is(err, git.ErrLost) || try == races {
			return m, err
		}
	}
}

// merge brings in.Tip into the history of tip.
func (w *writer) merge(tip ID, in Incoming) (Merged, error) {
	s, ctx := w.s, w.ctx
	m := Merged{Way: Nothing, Old: tip}
	fail := func(err error) (Merged, error) {
		return Merged{}, fmt.Errorf("merge %.12s into %s: %w", in.Tip, s.ref, err)
	}
	ours, theirs, err := s.openBoth(ctx, tip, in.Tip)
	if err != nil {
		return fail(err)
	}
	defer ours.close()
	m.Commit, m.Tree = tip, ours.id
	if tip == in.Tip {
		return m, nil
	}
	own, err := newApart(ctx, s.repo, tip, in.Tip)
	if err != nil {
		return fail(err)
	}
	if len(own.theirs) == 0 {
		return m, nil
	}
	changes, err := theirs.Admit(ours.id)
	if err != nil {
		return fail(err)
	}
	if err := theirs.admitHistory(own.theirs); err != nil {
		return fail(err)
	}
	if in.Accept != nil {
		if err := in.Accept(theirs); err != nil {
			return fail(err)
		}
	}
	if len(own.ours) == 0 {
		return w.take(m, theirs, FastForward)
	}
	if err := own.whole(s.repo); err != nil {
		return fail(err)
	}
	tx := ours.change(in.Message)
	undone, err := tx.join(own, changes, in.Resolve, &m)
	if err == nil {
		err = tx.fits()
	}
	if err != nil {
		return fail(err)
	}
	root, objs := tx.build()
	if root == theirs.id && !undone {
		return w.take(m, theirs, Adopted)
	}
	id, note, err := w.commit(ours.objects, objs, root, []ID{tip, in.Tip}, tip, tx.message)
	if err != nil {
		return fail(err)
	}
	m.Result, m.Way = Result{Commit: id, Tree: root, Changed: true, Note: note}, Joined
	return m, nil
}

// openBoth opens two commits over one object database.
func (s *Store) openBoth(ctx context.Context, a, b ID) (first, second *Tree, err error) {
	if first, err = s.open(ctx, a); err != nil {
		return nil, nil, err
	}
	o, err := first.read(b, "")
	var c commit
	if err == nil && o.Kind != git.Commit {
		err = fmt.Errorf("%s is a %s: %w", b, o.Kind, ErrRevision)
	}
	if err == nil {
		c, err = parseCommit(o.Data)
	}
	if err != nil {
		first.close()
		return nil, nil, err
	}
	second = first.beside(c.tree)
	second.commit = b
	return first, second, nil
}

// beside returns another root tree over the same object database.
func (t *Tree) beside(id ID) *Tree {
	b := &Tree{ctx: t.ctx, objects: t.objects, hash: t.hash, git: t.git, id: id, nodes: map[ID]*node{}}
	b.root = b.folder(id)
	return b
}

// maxTold bounds the entries in an error of Admit.
const maxTold = 100

// Admit returns the changes of this tree against an older one, in git's order, if a store may hold
// them all. Otherwise the error is an EntryErrors or wraps ErrLimit. "" is the empty tree.
func (t *Tree) Admit(old ID) ([]Change, error) {
	if _, err := newScale(t.ctx, t.objects).weigh(t.id, "", 0); err != nil {
		return nil, err
	}
	var changes []Change
	var added []ID
	var paths []string
	err := t.Diff(old, func(ch Change) error {
		changes = append(changes, ch)
		if ch.New != "" {
			added, paths = append(added, ch.New), append(paths, ch.Path)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var bad EntryErrors
	total := 0
	size := func(i, n int) error {
		if total += n; total > MaxText {
			return &LimitError{paths[i], tooFull()}
		}
		if n > MaxFile {
			bad = append(bad, &EntryError{paths[i], fmt.Sprintf("%d bytes are more than the %d a file may have", n, MaxFile)})
		}
		if len(bad) > maxTold {
			return bad
		}
		return nil
	}
	err = t.ReadAll(added, func(i int, data []byte) error { return size(i, len(data)) })
	switch {
	case err == nil:
		return changes, bad.or()
	case t.ctx.Err() != nil || len(bad) > maxTold || errors.Is(err, ErrLimit):
		return nil, err
	}
	bad, total = nil, 0 // something cannot be read: one by one, to name it
	for i, id := range added {
		data, err := t.blob(id, paths[i])
		switch {
		case errors.Is(err, ErrTooLarge):
			bad = append(bad, &EntryError{paths[i], "more bytes than a file may have"})
		case err != nil:
			return nil, err
		}
		if err := size(i, len(data)); err != nil {
			return nil, err
		}
	}
	return changes, bad.or()
}

// admitHistory returns a LimitError unless the trees of all commits are within the limits: readers
// of history meet them too.
func (t *Tree) admitHistory(commits []commitNode) error {
	s := newScale(t.ctx, t.objects)
	for _, c := range commits {
		if _, err := s.weigh(c.tree, "", 0); err != nil {
			return at("commit "+string(c.id), err)
		}
	}
	return nil
}

// AdmitHistory returns a LimitError unless the trees of some commits are within the limits. revs
// select the commits as for git rev-list; ^ in front excludes.
func AdmitHistory(ctx context.Context, repo *git.Repo, revs ...string) error {
	all, err := commitsOf(ctx, repo, revs...)
	if err != nil {
		return err
	}
	for i := range all {
		all[i].id = all[i].id[1:] // without the mark
	}
	t := &Tree{ctx: ctx, objects: repo.ObjectsUpTo(sizes)}
	defer t.close()
	return t.admitHistory(all)
}

// take moves the ref to their tip and keeps ours in a backup if needed.
func (w *writer) take(m Merged, theirs *Tree, way Way) (Merged, error) {
	if way == Adopted {
		var err error
		if m.Backup, err = w.s.Backup(w.ctx, m.Old); err != nil {
			return Merged{}, err
		}
		if err := w.s.tips.giveUp(); err != nil {
			return Merged{}, err
		}
	}
	if err := w.s.repo.Refs().Move(w.ctx, w.s.ref, string(theirs.commit), string(m.Old), "reverie: merge "+string(theirs.commit)+": "+string(way)); err != nil {
		return Merged{}, err
	}
	m.Result, m.Way = Result{Commit: theirs.commit, Tree: theirs.id, Changed: true}, way
	if err := w.s.tips.set(theirs.commit); err != nil {
		m.Note = "the record of the last commit was not written: " + err.Error()
	}
	return m, nil
}

// maxAgreed bounds the files that we examine again after both sides changed them to the same
// content. Only a merge of a branch with its own squash meets more.
const maxAgreed = 256

// join makes tx the merged tree; changes lead from ours to theirs. undone reports whether our
// commits changed, and not only made, a file that no commit of theirs touched. If both sides now
// have the same text, ours undid something.
func (tx *Tx) join(own apart, changes []Change, resolve Resolve, m *Merged) (undone bool, err error) {
	ours, err := tx.touched(own.ours, own.trees)
	if err != nil {
		return false, err
	}
	theirs, err := tx.touched(own.theirs, own.trees)
	if err != nil {
		return false, err
	}
	var both, agreed []string
	differ := map[string]bool{}
	for _, ch := range changes {
		differ[ch.Path] = true
		_, byOurs := ours[ch.Path]
		_, byTheirs := theirs[ch.Path]
		switch {
		case byTheirs && !byOurs:
			err = tx.set(ch.Path, ch.New)
		case byOurs && !byTheirs:
		default:
			both = append(both, ch.Path)
		}
		if err != nil {
			return false, err
		}
	}
	for path, touch := range ours {
		other, byTheirs := theirs[path]
		undone = undone || touch.own && !other.own && !touch.once()
		if byTheirs && !differ[path] && !(touch.once() && other.once()) {
			agreed = append(agreed, path)
		}
	}
	// Content that both sides agree on is the result, unless each side removed something that the
	// other still kept.
	if slices.Sort(agreed); len(agreed) <= maxAgreed {
		both = append(both, agreed...)
	}
	return undone, tx.resolve(both, own, resolve, m)
}
