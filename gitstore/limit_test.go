package gitstore_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// tower returns a tree with the given levels of ten equal folders each, and ten files in each of
// the lowest.
func tower(t *testing.T, r *testrepo.Repo, levels int) string {
	t.Helper()
	make := func(text string) string {
		cmd := exec.Command("git", "mktree")
		cmd.Dir, cmd.Stdin = r.Dir, strings.NewReader(text)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	id, line := "", "100644 blob %s\tf%d\n"
	r.Write("boom", "boom\n")
	for id = r.Run("hash-object", "-w", "boom"); levels >= 0; levels-- {
		var text strings.Builder
		for i := range 10 {
			fmt.Fprintf(&text, line, id, i)
		}
		id, line = make(text.String()), "040000 tree %s\td%d\n"
	}
	return id
}

// Every reader of a tree and of a history stops at the limits, with an error that names the limit
// and the place. Trees within the limits are read, however often their folders repeat.
func TestReadersEndAtTheLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	r := testrepo.New(t)
	s := create(t, r)
	before := r.Run("rev-parse", branch)
	commit := func(tree, parent string) gitstore.ID {
		return gitstore.ID(r.Run("commit-tree", "-m", "x", "-p", parent, tree))
	}
	bomb := commit(tower(t, r, 9), before)
	taken := commit(r.Run("rev-parse", branch+"^{tree}"), string(bomb)) // and taken back
	fits := commit(tower(t, r, 4), before)
	empty := gitstore.ID("")
	view := func(at gitstore.ID, fn func(*gitstore.Tree) error) func(context.Context) error {
		return func(ctx context.Context) error { return s.ViewAt(ctx, string(at), fn) }
	}
	for _, c := range []struct {
		name  string
		read  func(at gitstore.ID) func(context.Context) error
		tip   bool // only of the tip
		fresh bool // moves the ref
	}{
		{"walk", func(at gitstore.ID) func(context.Context) error {
			return view(at, func(t *gitstore.Tree) error { return t.Walk("", func(string, gitstore.ID) error { return nil }) })
		}, true, false},
		{"walk of a folder", func(at gitstore.ID) func(context.Context) error {
			return view(at, func(t *gitstore.Tree) error { return t.Walk("d0", func(string, gitstore.ID) error { return nil }) })
		}, true, false},
		{"diff", func(at gitstore.ID) func(context.Context) error {
			return view(at, func(t *gitstore.Tree) error { return t.Diff(empty, func(gitstore.Change) error { return nil }) })
		}, true, false},
		{"diff from it", func(at gitstore.ID) func(context.Context) error {
			return func(ctx context.Context) error {
				return s.View(ctx, func(t *gitstore.Tree) error {
					return t.Diff(gitstore.ID(r.Run("rev-parse", string(at)+"^{tree}")), func(gitstore.Change) error { return nil })
				})
			}
		}, true, false},
		{"admit", func(at gitstore.ID) func(context.Context) error {
			return view(at, func(t *gitstore.Tree) error { _, err := t.Admit(empty); return err })
		}, true, false},
		{"admit a history", func(at gitstore.ID) func(context.Context) error {
			return func(ctx context.Context) error { return gitstore.AdmitHistory(ctx, s.Repo(), string(at), "^"+before) }
		}, false, false},
		{"survey", func(at gitstore.ID) func(context.Context) error {
			return func(ctx context.Context) error {
				return gitstore.Survey(ctx, s.Repo(), []gitstore.ID{at}, func(string, gitstore.ID) {}, func(gitstore.ID, string, string) {})
			}
		}, false, false},
		{"rewrite", func(at gitstore.ID) func(context.Context) error {
			return func(ctx context.Context) error {
				rw, err := gitstore.Rewrite(ctx, s.Repo(), []gitstore.ID{at}, nil, gitstore.Omit{Path: func(string) bool { return false }})
				if err == nil {
					rw.Close()
				}
				return err
			}
		}, false, false},
		{"merge", func(at gitstore.ID) func(context.Context) error {
			return func(ctx context.Context) error {
				_, err := s.Merge(ctx, gitstore.Incoming{Tip: at, Message: gitstore.Commit{Subject: "merge"}})
				return err
			}
		}, false, true},
		{"adopt", func(at gitstore.ID) func(context.Context) error {
			return func(ctx context.Context) error {
				r.Run("update-ref", "refs/heads/theirs", string(at))
				other := gitstore.Open(s.Repo(), "refs/heads/other")
				defer other.Discard(ctx)
				_, err := other.Adopt(ctx, "refs/heads/theirs")
				return err
			}
		}, false, false},
	} {
		for _, at := range []gitstore.ID{bomb, taken, fits} {
			err := c.read(at)(t.Context())
			over := at == bomb || at == taken && !c.tip
			var limit *gitstore.LimitError
			switch {
			case over && (!errors.As(err, &limit) || !errors.Is(err, gitstore.ErrLimit) || limit.Path == "" || limit.Limit == ""):
				t.Errorf("%s of %s: %v", c.name, map[bool]string{true: "a bomb", false: "one that was taken back"}[at == bomb], err)
			case !over && err != nil:
				t.Errorf("%s of what fits: %v", c.name, err)
			}
			if now := r.Run("rev-parse", branch); over && now != before {
				t.Errorf("%s moved the ref", c.name)
			} else if c.fresh {
				r.Run("update-ref", branch, before)
			}
		}
	}
	r.Run("update-ref", branch, string(bomb))
	var problems []string
	if err := s.Check(t.Context(), false, func(p gitstore.Problem) { problems = append(problems, p.String()) }); err != nil || !strings.Contains(strings.Join(problems, "\n"), "262144") {
		t.Errorf("check: %v, %v", problems, err)
	}
}

// Our own writes stay within the limits too.
func TestWritesStayWithinTheLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	r := testrepo.New(t)
	s := create(t, r)
	r.Run("update-ref", branch, r.Run("commit-tree", "-m", "x", "-p", branch, tower(t, r, 4)))

	files := func(n int) error {
		_, err := s.Update(t.Context(), gitstore.Commit{Subject: "many"}, func(tx *gitstore.Tx) error {
			for i := range n {
				if err := tx.Write(fmt.Sprintf("m/%03x/%x.md", i%1000, i), text("m\n")); err != nil {
					return err
				}
			}
			return nil
		})
		return err
	}
	if err := files(2000); err != nil {
		t.Errorf("two thousand more: %v", err)
	}
	if err := files(100_000); !errors.Is(err, gitstore.ErrLimit) {
		t.Errorf("a hundred thousand more: %v", err)
	}
}
