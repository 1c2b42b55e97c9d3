package record

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/testrepo"
	"pgregory.net/rapid"
)

// clones are books over branches of one repository, so that no fetch is needed.
type clones struct {
	repo  *testrepo.Repo
	books []*Book
	refs  []string

	compared int  // merges that git makes without a conflict
	adopted  bool // a history gave way to another with the same tree
}

func newClones(t testing.TB, n int) *clones {
	t.Helper()
	r := testrepo.New(t)
	repo, err := git.Find(context.Background(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	c := &clones{repo: r}
	for i := range n {
		ref := fmt.Sprintf("refs/heads/clone%d", i)
		c.refs = append(c.refs, ref)
		c.books = append(c.books, Open(Stores{
			Memory:  gitstore.Open(repo, ref),
			Journal: gitstore.Open(repo, fmt.Sprintf("refs/reverie/journal%d", i)),
			Inbox:   gitstore.Open(repo, fmt.Sprintf("refs/reverie/inbox%d", i)),
		}, filepath.Join(t.TempDir(), fmt.Sprint(i)), nil))
	}
	return c
}

// begin puts every clone back to a new store.
func (c *clones) begin(t *rapid.T) {
	for i, b := range c.books {
		os.Remove(filepath.Join(c.repo.Dir, ".git", "reverie", "tips"))
		c.repo.Try("update-ref", "-d", c.refs[i])
		if err := b.Create(context.Background(), map[string]string{"README.md": "# Memory\n\nOne.\n\nTwo.\n", "reverie.toml": "format = 1\n"}); err != nil {
			t.Fatal(err)
		}
	}
}

func (c *clones) tip(t *rapid.T, i int) gitstore.ID {
	tip, err := c.books[i].memory.Tip(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return tip
}

// tree returns the tree of a clone's tip.
func (c *clones) tree(i int) string { return c.repo.Run("rev-parse", c.refs[i]+"^{tree}") }

// change adds, edits, retires or hand-edits something in a clone.
func (c *clones) change(t *rapid.T, i int) {
	ctx := context.Background()
	n := rapid.IntRange(0, 3).Draw(t, "memory")
	base := New(Memory{Kind: Fact, Text: fmt.Sprintf("Statement %d.", n), Body: "One.\n\nTwo.\n\nThree.", Source: Source{By: "human", How: Written}})
	err := c.books[i].Update(ctx, func(tx *Tx) error {
		tx.Describe(gitstore.Commit{Subject: "change"})
		if rapid.IntRange(0, 9).Draw(t, "file") == 0 {
			tx.Write(Branch, "README.md", []byte(rapid.SampledFrom([]string{"# Our memory\n\nOne.\n\nTwo.\n", "# Memory\n\nOne.\n\nTwo!\n"}).Draw(t, "readme")))
			return nil
		}
		held, err := tx.Find(base.ID)
		if err != nil {
			return tx.PutMemory(base, nil)
		}
		m := held
		switch rapid.IntRange(0, 6).Draw(t, "change") {
		case 0, 1:
			m.Text, m.Variants = fmt.Sprintf("Statement %d, part %d.", n, rapid.IntRange(0, 2).Draw(t, "text")), nil
			if m.Status == Contested {
				m.Status = Active
			}
		case 2:
			m.Body = strings.Replace(m.Body, "One.", "One!", 1)
		case 3:
			m.Body = strings.Replace(m.Body, "Three.", "Three!", 1)
		case 4:
			m.Tags = set(append(m.Tags, rapid.SampledFrom([]string{"a", "b"}).Draw(t, "tag")))
		case 5:
			m.Kind = rapid.SampledFrom([]Kind{Convention, Decision}).Draw(t, "kind")
		case 6:
			if m.Status == Retired {
				m = m.Revive()
			} else {
				m = m.Retire("gone")
			}
		}
		return tx.PutMemory(m, &held)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// pull merges, and compares the result with git's if git finds no conflict.
func (c *clones) pull(t *rapid.T, i, j int) {
	ctx := context.Background()
	ours, theirs := c.tip(t, i), c.tip(t, j)
	m, err := c.books[i].Merge(ctx, theirs, gitstore.Commit{Subject: "merge"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.adopted = c.adopted || m.Way == gitstore.Adopted
	if m.Way == gitstore.Joined {
		if parents := c.repo.Run("log", "-1", "--format=%P", c.refs[i]); parents != string(ours)+" "+string(theirs) {
			t.Fatalf("the merge commit has the parents %s", parents)
		}
	}
	bases := strings.Fields(c.repo.Run("merge-base", "--all", string(ours), string(theirs)))
	tree, err := c.repo.Try("merge-tree", "--write-tree", string(ours), string(theirs))
	if len(bases) != 1 || err != nil || c.detours(ours, theirs, bases[0]) {
		return
	}
	if c.compared++; tree != string(m.Tree) {
		t.Fatalf("git merges this without a conflict and to something else:\n%s", c.repo.Run("diff", tree, string(m.Tree)))
	}
}

// detours reports whether a file changed on both sides, and on one of them in several steps. git
// compares only the ends; our merge also honours removals on the way.
func (c *clones) detours(ours, theirs gitstore.ID, base string) bool {
	var steps [2]map[string]int
	for i, tip := range []gitstore.ID{ours, theirs} {
		steps[i] = map[string]int{}
		for _, path := range strings.Fields(c.repo.Run("log", "--format=", "--name-only", "-m", base+".."+string(tip))) {
			steps[i][path]++
		}
	}
	for path, n := range steps[0] {
		if m := steps[1][path]; m > 0 && n+m > 2 {
			return true
		}
	}
	return false
}

// TestMergeInGit generates histories in a real repository. Any order of merges gives the same tree,
// and that of git if git merges without a conflict. Run it longer with -rapid.checks=1000.
func TestMergeInGit(t *testing.T) {
	c := newClones(t, 3)
	if checks := flag.Lookup("rapid.checks"); checks.Value.String() == checks.DefValue && os.Getenv("REVERIE_E2E") == "" {
		if err := flag.Set("rapid.checks", "10"); err != nil { // each is some twenty git processes
			t.Fatal(err)
		}
		defer flag.Set("rapid.checks", checks.DefValue)
	}
	alike, histories := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		c.begin(t)
		histories++
		for range rapid.IntRange(3, 12).Draw(t, "steps") {
			i := rapid.IntRange(0, 2).Draw(t, "clone")
			if rapid.IntRange(0, 3).Draw(t, "what") > 0 {
				c.change(t, i)
			} else {
				c.pull(t, i, rapid.IntRange(0, 2).Draw(t, "from"))
			}
		}
		start := []gitstore.ID{c.tip(t, 0), c.tip(t, 1), c.tip(t, 2)}
		var ends []string
		adopted := false
		for _, order := range [][][2]int{{{0, 1}, {0, 2}}, {{2, 1}, {0, 2}}, {{1, 0}, {2, 1}, {0, 2}}} {
			for i, tip := range start {
				c.repo.Run("update-ref", c.refs[i], string(tip))
			}
			c.adopted = false
			for _, p := range append(order, [2]int{1, 0}, [2]int{2, 0}, [2]int{0, 1}, [2]int{0, 2}) {
				c.pull(t, p[0], p[1])
			}
			if a, b, d := c.tree(0), c.tree(1), c.tree(2); a != b || a != d {
				t.Fatalf("all have seen all, and have the trees %s, %s, %s", a, b, d)
			}
			ends = append(ends, c.tree(0))
			adopted = adopted || c.adopted
		}
		// Adopting a tip discards the intermediate steps of our commits, as a squash does.
		if !adopted && (ends[0] != ends[1] || ends[0] != ends[2]) {
			t.Fatalf("three orders give the trees %v", ends)
		}
		if !adopted {
			alike++
		}
	})
	c.repo.Run("fsck", "--strict")
	t.Logf("%d merges compared with git's, %d histories merged in three orders", c.compared, alike)
	if histories >= 50 && (c.compared == 0 || alike == 0) {
		// In a short run every merge may have adopted a tip.
		t.Errorf("of %d histories nothing was compared", histories)
	}
}
