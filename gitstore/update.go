package gitstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/reverie-memory/reverie/internal/git"
)

// Result describes the outcome of an Update.
type Result struct {
	Commit  ID     // the newest commit, made or found
	Tree    ID     // its root tree
	Changed bool   // a commit was made
	Note    string // a remark for a person, in one sentence; usually empty
}

// races bounds how often Update retries after a writer that does not take our lock was faster.
const races = 50

// Update runs fn on the newest tree and commits its changes as one commit, durable before Update
// returns. If another writer moves the ref first, fn runs again on the newer tree, so it must have
// no effect outside tx. If fn changes nothing, there is no commit. If fn returns an error, Update
// returns it and commits nothing. All stores of a repository share one lock, so fn must not change
// another store.
func (s *Store) Update(ctx context.Context, c Commit, fn func(*Tx) error) (Result, error) {
	w, err := s.begin(ctx)
	if err != nil {
		return Result{}, err
	}
	defer w.end()
	for try := 1; ; try++ {
		tip, err := s.Tip(ctx)
		if err != nil {
			return Result{}, err
		}
		result, err := w.apply(tip, c, fn)
		if !errors.Is(err, git.ErrLost) || try == races {
			return result, err
		}
	}
}

// writer is one write operation. It holds the lock and the author's identity, which git looks up in
// the background.
type writer struct {
	s      *Store
	ctx    context.Context
	who    func() (git.Identity, error) // waits for the answer
	unlock func()
}

// begin takes the lock, unless the context holds it, and waits some seconds for a running git gc.
func (s *Store) begin(ctx context.Context) (*writer, error) {
	w := &writer{s: s, ctx: ctx}
	if !holds(ctx, s.repo) {
		s.repo.Upkeep().AwaitCollection(ctx)
	}
	w.who = sync.OnceValues(func() (git.Identity, error) { return s.repo.Config().Identity(ctx) })
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		w.who()
	}()
	locked, unlock, err := s.Lock(ctx)
	if err != nil {
		<-asked
		return nil, err
	}
	w.ctx = locked
	w.unlock = func() {
		<-asked
		unlock()
	}
	if err := s.repo.Recent().Recheck(locked); err != nil {
		w.end()
		return nil, err
	}
	return w, nil
}

func (w *writer) end() { w.unlock() }

// apply runs fn on the tree of tip and commits the outcome.
func (w *writer) apply(tip ID, c Commit, fn func(*Tx) error) (Result, error) {
	t, err := w.s.open(w.ctx, tip)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", w.s.ref, err)
	}
	defer t.close()
	if t.commit == "" {
		return Result{}, fmt.Errorf("%s: %w: it is at a tree, not at a commit", w.s.ref, ErrCorrupt)
	}
	tx := t.change(c)
	if err := fn(tx); err != nil {
		return Result{}, err
	}
	if err := tx.fits(); err != nil {
		return Result{}, fmt.Errorf("%s: %w", w.s.ref, err)
	}
	root, objs := tx.build()
	if root == t.id {
		return Result{Commit: tip, Tree: root}, nil
	}
	id, note, err := w.commit(t.objects, objs, root, []ID{tip}, tip, tx.message)
	if err != nil {
		return Result{}, err
	}
	return Result{Commit: id, Tree: root, Changed: true, Note: note}, nil
}

// commit saves objects and a commit on top of its parents, and moves the ref to it from old.
func (w *writer) commit(objects git.Objects, objs []git.Object, root ID, parents []ID, old ID, c Commit) (id ID, note string, err error) {
	defer objects.Release()
	repo, when, message := w.s.repo, w.s.now(), c.text()
	who, err := w.who()
	if err != nil {
		return "", "", err
	}
	if who.Fallback {
		note = fmt.Sprintf("git knows no user.name and user.email here: committed as %s <%s>", who.Name, who.Email)
	}
	from := make([]string, len(parents))
	for i, p := range parents {
		from[i] = string(p)
	}
	store := git.NewStorer(w.ctx, repo, objects)
	store.Add(objs...)
	last := repo.ObjectFormat.NewCommit(who, when, string(root), from, message)
	if who.Sign {
		if err := store.Flush(); err != nil {
			return "", "", fmt.Errorf("save to %s: %w", w.s.ref, err)
		}
		if signed, err := w.sign(objects, who, when, root, from, message); err == nil {
			last = signed
		} else {
			note = "commit.gpgsign is on, but the commit is not signed: " + err.Error()
		}
	}
	store.Add(last)
	subject, _, _ := strings.Cut(message, "\n")
	unkept, err := store.Move(w.s.ref, last.ID, string(old), "reverie: "+subject)
	if err != nil {
		return "", "", err
	}
	if unkept != nil && note == "" { // they are safe from all but a git prune
		note = "the objects of this commit were not kept a second time: " + unkept.Error()
	}
	id = ID(last.ID)
	if err := w.s.tips.set(id); err != nil && note == "" { // the commit succeeded all the same
		note = "the record of the last commit was not written: " + err.Error()
	}
	if repo.WorkTree != "" && strings.HasPrefix(w.s.ref, "refs/heads/") {
		if _, branch, _ := repo.Head(w.ctx); w.s.ref == "refs/heads/"+branch {
			note = "this work tree is on " + branch + ", where your next commit would undo this change; first: git switch BRANCH"
		}
	}
	return id, note, nil
}

// sign makes a signed commit.
func (w *writer) sign(objects git.Objects, who git.Identity, when time.Time, root ID, parents []string, message string) (git.Object, error) {
	id, err := w.s.repo.SignedCommit(w.ctx, who, when, string(root), parents, message)
	if err != nil {
		return git.Object{}, err
	}
	return objects.Read(w.ctx, id)
}
