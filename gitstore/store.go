// Package gitstore keeps a transactional tree of files under one git ref. Every state of the tree
// is a commit, so git log, diff and blame work on it; none is ever checked out.
//
// Open a Store, read with View, change with Update. Update runs a function on the newest tree and
// commits its changes as one commit, which is durable before Update returns.
//
// Many goroutines and processes may use a Store at once: each reader sees one commit, and writers
// take turns. A Tree or a Tx is valid only within the function to which it is passed. FORMAT.md
// describes the format.
package gitstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/git"
)

var (
	// ErrNoStore is returned when the ref does not exist: there is nothing to read yet.
	ErrNoStore = errors.New("there is no memory yet")
	// ErrDeleted means that the ref existed once and is gone. Nothing recreates it silently.
	ErrDeleted = errors.New("the store was here and its ref is gone")
	// ErrExists is returned by Create and Adopt when there is a store already.
	ErrExists = errors.New("the store exists already")
	// ErrNotFound is returned when a tree has no file of that name.
	ErrNotFound = errors.New("no such file")
	// ErrCorrupt is returned when an object of the store is missing or its bytes are wrong.
	ErrCorrupt = errors.New("the store is damaged")
	// ErrTooLarge is returned when a file has more bytes than a reader takes.
	ErrTooLarge = git.ErrTooLarge
	// ErrRevision is returned when an expression names no commit or tree.
	ErrRevision = errors.New("no such revision")
)

// ID is the id of a git object: 40 hex digits, or 64 in a sha256 repository.
type ID string

// Store manages the tree of files under one ref of a repository.
type Store struct {
	repo *git.Repo
	ref  string
	tips tipRecord
	now  func() time.Time
}

// Open returns a store. It does no I/O; View reports a missing store.
func Open(repo *git.Repo, ref string) *Store {
	return &Store{repo: repo, ref: ref, tips: tipRecord{repo, ref}, now: time.Now}
}

// Ref returns the name of the store's ref.
func (s *Store) Ref() string { return s.ref }

// Repo returns the repository that holds the store.
func (s *Store) Repo() *git.Repo { return s.repo }

// Tip returns the newest commit. Errors wrap ErrNoStore, or ErrDeleted which also wraps it.
func (s *Store) Tip(ctx context.Context) (ID, error) {
	id, err := s.repo.Refs().Read(ctx, s.ref)
	if errors.Is(err, git.ErrNoRef) {
		gone := s.tips.absent(ctx)
		// The note about the store was read after the ref: another process may have made the store
		// between the two.
		if id, err = s.repo.Refs().Read(ctx, s.ref); errors.Is(err, git.ErrNoRef) {
			return "", gone
		}
	}
	return ID(id), err
}

// View runs fn on the newest tree. It takes no lock and sees one commit, whatever other processes
// do. The error wraps ErrNoStore if the ref does not exist.
func (s *Store) View(ctx context.Context, fn func(*Tree) error) error {
	tip, err := s.Tip(ctx)
	if err != nil {
		return err
	}
	t, err := s.open(ctx, tip)
	if err != nil {
		return err
	}
	defer t.close()
	return fn(t)
}

// ViewAt runs fn on the tree of a revision: any name that git resolves to a commit or a tree. A
// revision that begins with @{, ~ or ^ is relative to the store's own ref, as "@{yesterday}" or
// "~3". The error wraps ErrRevision if the revision does not exist.
func (s *Store) ViewAt(ctx context.Context, rev string, fn func(*Tree) error) error {
	t, err := s.openRevision(ctx, rev)
	if err != nil {
		return err
	}
	defer t.close()
	return fn(t)
}

// Resolve returns the commit, or else the tree, that a revision names. It does not check a full id.
func (s *Store) Resolve(ctx context.Context, rev string) (ID, error) {
	if s.repo.ObjectFormat.IsID(rev) {
		return ID(rev), nil
	}
	unknown := fmt.Errorf("revision %q: %w", rev, ErrRevision)
	if rev == "" || rev[0] == '-' || strings.ContainsFunc(rev, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		return "", unknown
	}
	if strings.HasPrefix(rev, "@{") || rev[0] == '~' || rev[0] == '^' {
		rev = s.ref + rev
	}
	for _, kind := range []string{"^{commit}\n", "^{tree}\n"} {
		// git reads the whole tree for the second.
		out, err := s.repo.Git(ctx, strings.NewReader(rev+kind), "cat-file", "--batch-check=%(objectname)")
		if err != nil {
			return "", err
		}
		if id := strings.TrimSuffix(string(out), "\n"); s.repo.ObjectFormat.IsID(id) {
			return ID(id), nil
		}
	}
	return "", unknown
}

// openRevision opens the tree of a revision. A missing id in the expression is not corruption.
func (s *Store) openRevision(ctx context.Context, rev string) (*Tree, error) {
	id, err := s.Resolve(ctx, rev)
	if err != nil {
		return nil, err
	}
	t, err := s.open(ctx, id)
	if errors.Is(err, git.ErrNoObject) {
		return nil, fmt.Errorf("revision %q: %w", rev, ErrRevision)
	}
	return t, err
}

// open reads a commit or a tree, and returns its tree with its own object database.
func (s *Store) open(ctx context.Context, at ID) (*Tree, error) {
	t := &Tree{ctx: ctx, objects: s.repo.ObjectsUpTo(sizes), hash: s.repo.ObjectFormat.NewObject, newTree: func(lines []git.TreeEntry) git.Object { return s.repo.ObjectFormat.NewTree(lines) }, git: s.repo.Git, nodes: map[ID]*node{}}
	o, err := t.read(at, "")
	if err == nil && o.Kind == git.Commit {
		var c commit
		if c, err = parseCommit(o.Data); err == nil {
			t.commit, t.id = at, c.tree
		}
	} else if err == nil && o.Kind == git.Tree {
		t.id = at
	} else if err == nil {
		err = fmt.Errorf("%s is a %s: %w", at, o.Kind, ErrRevision)
	}
	if err != nil {
		t.close()
		return nil, err
	}
	t.root = t.folder(t.id)
	return t, nil
}

// heldKey marks a context that holds the lock of a repository. Its value is the repository's common
// directory.
type heldKey struct{}

// Lock takes the lock that all writers of this repository's stores share. In the returned context,
// Update, Create and Adopt of those stores do not wait for it, so several stores can change
// together. The context must not outlive unlock.
func (s *Store) Lock(ctx context.Context) (locked context.Context, unlock func(), err error) {
	if holds(ctx, s.repo) {
		return ctx, func() {}, nil
	}
	go s.repo.Config().Identity(ctx) // git answers while we wait; begin uses the answer or asks again
	unlock, err = s.repo.State().Lock(ctx)
	if err != nil {
		return nil, nil, err
	}
	return context.WithValue(ctx, heldKey{}, s.repo.CommonDir), unlock, nil
}

// holds reports whether a context holds the lock of a repository.
func holds(ctx context.Context, repo *git.Repo) bool {
	return ctx.Value(heldKey{}) == any(repo.CommonDir)
}

// WithTree returns the newest commit reachable from tip whose tree is tree, or "".
func (s *Store) WithTree(ctx context.Context, tip, tree ID) (ID, error) {
	out, err := s.repo.Git(ctx, nil, "rev-list", "--topo-order", "--format=tformat:%T", string(tip), "--")
	if err != nil {
		return "", err
	}
	var commit ID
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSuffix(line, "\n")
		if id, ok := strings.CutPrefix(line, "commit "); ok {
			commit = ID(id)
		} else if line == string(tree) {
			return commit, nil
		}
	}
	return "", nil
}

// ours is the prefix of the refs whose objects Tidy packs, along with the store's own.
const ours = "refs/reverie"

// Tidy packs the loose objects of our refs once they could trigger the user's next git gc --auto.
// It counts one folder of objects and returns if there are few. It touches no object that our refs
// do not reach, and never runs gc. packed counts the packed objects.
func (s *Store) Tidy(ctx context.Context) (packed int, err error) {
	due, err := s.repo.Upkeep().LooseDue(ctx)
	if err != nil || !due || s.repo.Upkeep().Collecting() {
		return 0, err
	}
	_, unlock, err := s.Lock(ctx)
	if err != nil {
		return 0, err
	}
	defer unlock()
	return s.repo.Upkeep().PackLoose(ctx, s.ref, ours)
}
