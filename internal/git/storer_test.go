package git_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/reverie-memory/reverie/internal/git"
)

// set encodes with go-git, into our storer.
func set(t *testing.T, s *git.Storer, encode func(plumbing.EncodedObject) error) plumbing.Hash {
	t.Helper()
	e := s.NewEncodedObject()
	if err := encode(e); err != nil {
		t.Fatal(err)
	}
	h, err := s.SetEncodedObject(e)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// commitFiles commits n files with go-git, on top of a parent.
func commitFiles(t *testing.T, s *git.Storer, n int, parents ...plumbing.Hash) plumbing.Hash {
	t.Helper()
	tree := &object.Tree{}
	for i := range n {
		h := set(t, s, func(e plumbing.EncodedObject) error {
			e.SetType(plumbing.BlobObject)
			w, _ := e.Writer()
			_, err := fmt.Fprintf(w, "file %d of %d\n", i, n)
			return err
		})
		tree.Entries = append(tree.Entries, object.TreeEntry{Name: fmt.Sprintf("f%04d", i), Mode: filemode.Regular, Hash: h})
	}
	who := object.Signature{Name: "Ann Author", Email: "ann@example.com", When: time.Date(2026, 11, 20, 14, 3, 5, 0, time.FixedZone("", 5*3600+1800))}
	c := &object.Commit{Author: who, Committer: who, Message: fmt.Sprintf("%d files\n", n), TreeHash: set(t, s, tree.Encode), ParentHashes: parents}
	return set(t, s, c.Encode)
}

// go-git reads and writes a repository through our storer, both loose objects and packs, and git
// agrees with all of it.
func TestGoGitWorksThroughOurStorer(t *testing.T) {
	r, repo, _, two := fixture(t)
	objects := repo.Objects()
	defer objects.Close()
	s := git.NewStorer(t.Context(), repo, objects)
	name := plumbing.ReferenceName("refs/reverie/test")
	tip := commitFiles(t, s, 3, plumbing.NewHash(two))
	if err := s.CheckAndSetReference(plumbing.NewHashReference(name, tip), plumbing.NewHashReference(name, plumbing.ZeroHash)); err != nil {
		t.Fatal(err)
	}
	next := commitFiles(t, s, 2*git.PackFrom, tip)
	if err := s.SetReference(plumbing.NewHashReference(name, next)); err != nil {
		t.Fatal(err)
	}
	if keeps, _ := filepath.Glob(filepath.Join(repo.CommonDir, "objects", "pack", "*.keep")); keeps != nil {
		t.Errorf("left behind: %v", keeps)
	}
	r.Run("fsck", "--strict", "--no-dangling")
	if got := r.Run("log", "-g", "--format=%H %gs", name.String()); got != next.String()+" reverie: set by go-git\n"+tip.String()+" reverie: set by go-git" {
		t.Errorf("reflog:\n%s", got)
	}
	err := s.CheckAndSetReference(plumbing.NewHashReference(name, tip), plumbing.NewHashReference(name, tip))
	if !errors.Is(err, git.ErrLost) {
		t.Errorf("from a value that the ref does not have: %v, want ErrLost", err)
	}
	for range 2 {
		walk(t, s, name, []string{"200 files", "3 files", "two", "one", "begin"})
		r.Run("repack", "-adfq", "--depth=50")
		r.Run("pack-refs", "--all")
	}
	if err := s.RemoveReference(name); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Reference(name); !errors.Is(err, plumbing.ErrReferenceNotFound) {
		t.Errorf("removed: %v", err)
	}
}

// walk makes go-git read a history from a ref on, with all files of its tip.
func walk(t *testing.T, s *git.Storer, name plumbing.ReferenceName, want []string) {
	t.Helper()
	ref, err := storer.ResolveReference(s, name)
	if err != nil {
		t.Fatal(err)
	}
	tip, err := object.GetCommit(s, ref.Hash())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	err = object.NewCommitPreorderIter(tip, nil, nil).ForEach(func(c *object.Commit) error {
		got = append(got, strings.TrimSpace(c.Message))
		return nil
	})
	if err != nil || strings.Join(got, ",") != strings.Join(want, ",") {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	files, err := tip.Files()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	err = files.ForEach(func(f *object.File) error {
		text, err := f.Contents()
		if want := fmt.Sprintf("file %d of 200\n", n); text != want || f.Name != fmt.Sprintf("f%04d", n) {
			t.Errorf("%s: %q, want %q", f.Name, text, want)
		}
		n++
		return err
	})
	if err != nil || n != 200 {
		t.Errorf("%d files, %v", n, err)
	}
}

// The rest of both interfaces agrees with git.
func TestStorerListsWhatGitLists(t *testing.T) {
	r, repo, _, two := fixture(t)
	objects := repo.Objects()
	defer objects.Close()
	s := git.NewStorer(t.Context(), repo, objects)
	head, err := s.Reference(plumbing.HEAD)
	if err != nil || head.Target() != "refs/heads/main" {
		t.Errorf("HEAD: %v, %v", head, err)
	}
	refs, err := s.IterReferences()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	refs.ForEach(func(ref *plumbing.Reference) error {
		got = append(got, ref.Hash().String()+" "+ref.Name().String())
		return nil
	})
	if want := r.Run("for-each-ref", "--format=%(objectname) %(refname)"); strings.Join(got, "\n") != want {
		t.Errorf("refs %q, want %q", got, want)
	}
	if n, err := s.CountLooseRefs(); n != 1 || err != nil {
		t.Errorf("%d loose refs, %v", n, err)
	}
	if err := s.PackRefs(); err != nil {
		t.Error(err)
	}
	if n, err := s.CountLooseRefs(); n != 0 || err != nil {
		t.Errorf("%d loose refs after packing, %v", n, err)
	}
	commits, err := s.IterEncodedObjects(plumbing.CommitObject)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for {
		e, err := commits.Next()
		if err == io.EOF {
			break
		}
		if err != nil || e.Type() != plumbing.CommitObject {
			t.Fatalf("%v, %v", e, err)
		}
		n++
	}
	if n != 3 {
		t.Errorf("%d commits", n)
	}
	h := plumbing.NewHash(two)
	if size, err := s.EncodedObjectSize(h); err != nil || fmt.Sprint(size) != r.Run("cat-file", "-s", two) {
		t.Errorf("%d bytes, %v", size, err)
	}
	if _, err := s.EncodedObject(plumbing.BlobObject, h); !errors.Is(err, plumbing.ErrObjectNotFound) {
		t.Errorf("a commit as a blob: %v", err)
	}
	if err := s.HasEncodedObject(plumbing.NewHash(strings.Repeat("1", 40))); !errors.Is(err, plumbing.ErrObjectNotFound) {
		t.Errorf("missing: %v", err)
	}
	if err := s.SetReference(plumbing.NewSymbolicReference("refs/heads/x", "refs/heads/main")); err == nil {
		t.Error("a symbolic ref was made")
	}
	if _, err := os.Stat(filepath.Join(repo.CommonDir, "refs/heads/x")); err == nil {
		t.Error("a symbolic ref is there")
	}
}
