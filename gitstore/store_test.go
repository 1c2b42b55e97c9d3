package gitstore_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

const branch = "refs/heads/reverie/memory"

// text passes a test's own words through the scanner, the only way to Redacted.
func text(s string) redact.Redacted {
	r, _ := (*redact.Scanner)(nil).Text(s)
	return r
}

func find(t testing.TB, dir string) *git.Repo {
	t.Helper()
	repo, err := git.Find(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return repo
}

// create makes a store in r with one file.
func create(t testing.TB, r *testrepo.Repo) *gitstore.Store {
	t.Helper()
	s := gitstore.Open(find(t, r.Dir), branch)
	files := map[string]redact.Redacted{"README.md": text("what this is\n")}
	if _, err := s.Create(t.Context(), files, gitstore.Commit{Subject: "init: begin"}); err != nil {
		t.Fatal(err)
	}
	return s
}

// write puts files in one commit.
func write(t testing.TB, s *gitstore.Store, files map[string]string) gitstore.Result {
	t.Helper()
	result, err := s.Update(t.Context(), gitstore.Commit{Subject: "test: write"}, func(tx *gitstore.Tx) error {
		for path, body := range files {
			if err := tx.Write(path, text(body)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// contents reads every file of the newest tree.
func contents(t testing.TB, s *gitstore.Store) map[string]string {
	t.Helper()
	got := map[string]string{}
	err := s.View(t.Context(), func(tree *gitstore.Tree) error {
		return tree.Walk("", func(path string, _ gitstore.ID) error {
			data, err := tree.Read(path)
			got[path] = string(data)
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestWhatWasWrittenIsRead(t *testing.T) {
	r := testrepo.New(t)
	s := create(t, r)
	write(t, s, map[string]string{"memories/3f/a.md": "one\n", "memories/04/b.md": "two\n"})
	want := map[string]string{"README.md": "what this is\n", "memories/3f/a.md": "one\n", "memories/04/b.md": "two\n"}
	if diff := cmp.Diff(want, contents(t, s)); diff != "" {
		t.Error(diff)
	}
	if got := r.Run("cat-file", "-p", branch+":memories/3f/a.md"); got != "one" {
		t.Errorf("git reads %q", got)
	}
	r.Run("fsck", "--strict")
}

// go-git reads a store's whole history, loose and packed.
func TestGoGitReadsTheStore(t *testing.T) {
	r := testrepo.New(t)
	s := create(t, r)
	for _, name := range []string{"memories/3f/a.md", "memories/04/b.md", "reflections/3f/c.md"} {
		write(t, s, map[string]string{name: "about " + name + "\n"})
	}
	for range 2 {
		objects := s.Repo().Objects()
		tip, err := s.Tip(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c, err := object.GetCommit(git.NewStorer(t.Context(), s.Repo(), objects), plumbing.NewHash(string(tip)))
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		files, err := c.Files()
		if err == nil {
			err = files.ForEach(func(f *object.File) (err error) {
				got[f.Name], err = f.Contents()
				return err
			})
		}
		if diff := cmp.Diff(contents(t, s), got); diff != "" || err != nil || len(got) != 4 {
			t.Error(diff, err)
		}
		n := 0
		err = object.NewCommitPreorderIter(c, nil, nil).ForEach(func(*object.Commit) error { n++; return nil })
		if want := r.Run("rev-list", "--count", branch); err != nil || fmt.Sprint(n) != want {
			t.Errorf("%d commits, git counts %s: %v", n, want, err)
		}
		objects.Close()
		r.Run("repack", "-adfq")
	}
}

func TestViewOfAbsentStoreIsErrNoStore(t *testing.T) {
	r := testrepo.New(t)
	s := gitstore.Open(find(t, r.Dir), branch)
	err := s.View(t.Context(), func(*gitstore.Tree) error { return nil })
	if !errors.Is(err, gitstore.ErrNoStore) || errors.Is(err, gitstore.ErrDeleted) {
		t.Errorf("got %v", err)
	}
}
