package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// Storer presents a repository to go-git during one operation: its objects and its refs. Added
// objects wait in memory. Flush, or the move of a ref by git's protocol, makes them durable
// together.
//
// The methods of go-git's interfaces accept sha1 ids only. All others serve sha256 repositories
// too. A Storer belongs to one goroutine.
type Storer struct {
	ctx     context.Context
	repo    *Repo
	objects Objects
	waiting map[plumbing.Hash]Object // by id; the first 20 bytes of a sha256 id
	order   []plumbing.Hash          // of waiting
	written []Object                 // since the last Confirm
}

var (
	_ storer.EncodedObjectStorer = (*Storer)(nil)
	_ storer.ReferenceStorer     = (*Storer)(nil)
)

// NewStorer returns a Storer over an object database, which the caller closes.
func NewStorer(ctx context.Context, repo *Repo, objects Objects) *Storer {
	return &Storer{ctx: ctx, repo: repo, objects: objects, waiting: map[plumbing.Hash]Object{}}
}

// Add adds objects, ignoring those that already wait.
func (s *Storer) Add(objs ...Object) {
	for _, o := range objs {
		h := plumbing.NewHash(o.ID)
		if _, there := s.waiting[h]; !there {
			s.waiting[h] = o
			s.order = append(s.order, h)
		}
	}
}

// Flush makes all added objects durable. The caller holds the lock of State.Lock.
func (s *Storer) Flush() error {
	if len(s.order) == 0 {
		return nil
	}
	objs := make([]Object, len(s.order))
	for i, h := range s.order {
		objs[i] = s.waiting[h]
	}
	if err := s.objects.Save(s.ctx, objs); err != nil {
		return err
	}
	s.written = append(s.written, objs...)
	s.order = nil
	clear(s.waiting)
	return nil
}

// Keep stores a second copy of the flushed objects, as Recent.Keep does.
func (s *Storer) Keep() error { return s.repo.Recent().Keep(s.written) }

// Confirm returns the ids of the flushed objects, which a ref now reaches. It rewrites those that
// an earlier git prune removed.
func (s *Storer) Confirm() (ids []string, err error) {
	if err := s.repo.Recent().Confirm(s.ctx, s.written); err != nil {
		return nil, err
	}
	for _, o := range s.written {
		ids = append(ids, o.ID)
	}
	s.written = nil
	return ids, nil
}

// Move makes all added objects durable, keeps them, moves a ref as Refs.Move does, and confirms
// them. unkept is an error of keeping them. The caller holds the lock of State.Lock.
func (s *Storer) Move(name, new, old, message string) (unkept, err error) {
	if err := s.Flush(); err != nil {
		return nil, fmt.Errorf("save to %s: %w", name, err)
	}
	unkept = s.Keep()
	if err := s.repo.Refs().Move(s.ctx, name, new, old, message); err != nil {
		return unkept, err
	}
	if _, err := s.Confirm(); err != nil {
		return unkept, fmt.Errorf("save to %s again: %w", name, err)
	}
	return unkept, nil
}

// NewEncodedObject returns an empty object.
func (s *Storer) NewEncodedObject() plumbing.EncodedObject { return &plumbing.MemoryObject{} }

// SetEncodedObject adds an object.
func (s *Storer) SetEncodedObject(e plumbing.EncodedObject) (plumbing.Hash, error) {
	r, err := e.Reader()
	if err != nil {
		return plumbing.ZeroHash, err
	}
	data, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil {
		return plumbing.ZeroHash, err
	}
	o := s.repo.ObjectFormat.NewObject(e.Type().String(), data)
	s.Add(o)
	return plumbing.NewHash(o.ID), nil
}

// EncodedObject returns an object that was added or is in the repository.
func (s *Storer) EncodedObject(t plumbing.ObjectType, h plumbing.Hash) (plumbing.EncodedObject, error) {
	o, there := s.waiting[h]
	if !there {
		var err error
		if o, err = s.objects.Read(s.ctx, h.String()); errors.Is(err, ErrNoObject) {
			return nil, plumbing.ErrObjectNotFound
		} else if err != nil {
			return nil, err
		}
	}
	if t != plumbing.AnyObject && t != typeOf(o.Kind) {
		return nil, plumbing.ErrObjectNotFound
	}
	return o.encoded(), nil
}

// IterEncodedObjects goes through all objects of a type that the repository has.
func (s *Storer) IterEncodedObjects(t plumbing.ObjectType) (storer.EncodedObjectIter, error) {
	out, err := s.repo.Git(s.ctx, nil, "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)")
	if err != nil {
		return nil, err
	}
	var found []plumbing.Hash
	for line := range strings.Lines(string(out)) {
		id, kind, _ := strings.Cut(strings.TrimSpace(line), " ")
		if t == plumbing.AnyObject || t == typeOf(kind) {
			found = append(found, plumbing.NewHash(id))
		}
	}
	return storer.NewEncodedObjectLookupIter(s, t, found), nil
}

// HasEncodedObject returns plumbing.ErrObjectNotFound if there is no such object.
func (s *Storer) HasEncodedObject(h plumbing.Hash) error {
	_, err := s.EncodedObject(plumbing.AnyObject, h)
	return err
}

// EncodedObjectSize returns the number of an object's bytes.
func (s *Storer) EncodedObjectSize(h plumbing.Hash) (int64, error) {
	e, err := s.EncodedObject(plumbing.AnyObject, h)
	if err != nil {
		return 0, err
	}
	return e.Size(), nil
}

// AddAlternate fails: a repository's alternates are read and never changed.
func (s *Storer) AddAlternate(string) error { return errReadOnly }

var errReadOnly = errors.New("only git changes this")

// SetReference moves a ref regardless of its value.
func (s *Storer) SetReference(ref *plumbing.Reference) error { return s.CheckAndSetReference(ref, nil) }

// CheckAndSetReference makes all added objects durable and moves a ref if it has the value of old,
// by git's protocol and with a line in the reflog. A zero hash as old means that the ref must not
// exist. Errors wrap ErrLost, ErrRefConflict or ErrRefLocked.
func (s *Storer) CheckAndSetReference(ref, old *plumbing.Reference) error {
	if ref.Type() != plumbing.HashReference || old != nil && (old.Type() != plumbing.HashReference || old.Name() != ref.Name()) {
		return fmt.Errorf("move %s: %w", ref.Name(), errReadOnly)
	}
	unlock, err := s.repo.State().Lock(s.ctx)
	if err != nil {
		return err
	}
	defer unlock()
	name, was := ref.Name().String(), ""
	if old == nil {
		if was, err = s.repo.Refs().Read(s.ctx, name); err != nil && !errors.Is(err, ErrNoRef) {
			return err
		}
	} else if !old.Hash().IsZero() {
		was = old.Hash().String()
	}
	defer s.objects.Release()
	unkept, err := s.Move(name, ref.Hash().String(), was, "reverie: set by go-git")
	return errors.Join(err, unkept)
}

// Reference returns a ref, or plumbing.ErrReferenceNotFound.
func (s *Storer) Reference(name plumbing.ReferenceName) (*plumbing.Reference, error) {
	if name == plumbing.HEAD {
		id, branch, err := s.repo.Head(s.ctx)
		if branch != "" {
			return plumbing.NewSymbolicReference(name, plumbing.NewBranchReferenceName(branch)), nil
		}
		return plumbing.NewHashReference(name, plumbing.NewHash(id)), err
	}
	id, err := s.repo.Refs().Read(s.ctx, name.String())
	if errors.Is(err, ErrNoRef) {
		return nil, plumbing.ErrReferenceNotFound
	}
	if err != nil {
		return nil, err
	}
	return plumbing.NewHashReference(name, plumbing.NewHash(id)), nil
}

// IterReferences goes through all refs.
func (s *Storer) IterReferences() (storer.ReferenceIter, error) {
	out, err := s.repo.Git(s.ctx, nil, "for-each-ref", "--format=%(objectname) %(refname)")
	if err != nil {
		return nil, err
	}
	var refs []*plumbing.Reference
	for line := range strings.Lines(string(out)) {
		id, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		refs = append(refs, plumbing.NewReferenceFromStrings(name, id))
	}
	return storer.NewReferenceSliceIter(refs), nil
}

// RemoveReference removes a ref with its reflog.
func (s *Storer) RemoveReference(name plumbing.ReferenceName) error {
	unlock, err := s.repo.State().Lock(s.ctx)
	if err != nil {
		return err
	}
	defer unlock()
	id, err := s.repo.Refs().Read(s.ctx, name.String())
	if err != nil {
		return err
	}
	return s.repo.Refs().Delete(s.ctx, name.String(), id)
}

// CountLooseRefs counts the refs stored as files.
func (s *Storer) CountLooseRefs() (n int, err error) {
	err = filepath.WalkDir(filepath.Join(s.repo.CommonDir, "refs"), func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			n++
		}
		return err
	})
	return n, err
}

// PackRefs makes git pack all refs into one file.
func (s *Storer) PackRefs() error {
	_, err := s.repo.Git(s.ctx, nil, "pack-refs", "--all")
	return err
}
