package gitstore_test

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// tale is a generated commit: its author, its parents by number, and the text of every file.
type tale struct {
	author  string
	parents []int
	files   map[string]string
}

// tell generates a history of edits, reverts, and good and bad merges.
func tell(r *rand.Rand) []tale {
	people := []string{"ann", "ann", "bob", "mallory"}
	history := []tale{{author: "ann", files: map[string]string{"a": "0", "b": "0", "c": "0"}}}
	for i := 1; i < 9; i++ {
		t := tale{author: people[r.IntN(len(people))], parents: []int{r.IntN(i)}, files: map[string]string{}}
		if other := r.IntN(i); r.IntN(3) == 0 && other != t.parents[0] {
			t.parents = append(t.parents, other)
		}
		for _, f := range []string{"a", "b", "c"} {
			from := history[t.parents[r.IntN(len(t.parents))]]
			switch t.files[f] = from.files[f]; {
			case len(t.parents) > 1 && r.IntN(8) > 0: // from one side or the other
			case r.IntN(3) == 0: // few texts, so that old ones come back
				t.files[f] = fmt.Sprint(r.IntN(4))
			}
		}
		history = append(history, t)
	}
	return history
}

// stream returns histories for git fast-import, with one branch for every commit.
func stream(histories [][]tale) string {
	var b strings.Builder
	for h, history := range histories {
		for i, t := range history {
			who := fmt.Sprintf("X <%s@example.com> %d +0000", t.author, 1700000000+i)
			fmt.Fprintf(&b, "commit refs/heads/h%d/%d\nauthor %s\ncommitter %s\ndata 1\nx\n", h, i, who, who)
			for n, p := range t.parents {
				fmt.Fprintf(&b, "%s refs/heads/h%d/%d\n", []string{"from", "merge"}[n], h, p)
			}
			b.WriteString("deleteall\n")
			for _, f := range []string{"a", "b", "c"} {
				fmt.Fprintf(&b, "M 100644 inline m/%s\ndata %d\n%s\n", f, len(t.files[f]), t.files[f])
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// wrote reports whether ann herself once put a text where none of the parents had it.
func wrote(history []tale, at int, file, text string) bool {
	seen := map[int]bool{}
	var look func(int) bool
	look = func(i int) bool {
		if seen[i] {
			return false
		}
		seen[i] = true
		t := history[i]
		if t.author == "ann" && t.files[file] == text && !slices.ContainsFunc(t.parents, func(p int) bool { return history[p].files[file] == text }) {
			return true
		}
		return slices.ContainsFunc(t.parents, look)
	}
	return look(at)
}

// In any history, a file counts as ann's only if she wrote these bytes. It never does if another
// author changed it last on a single line of commits. Continuing from an earlier answer trusts no
// more than a full walk, except for ann's files of that time.
func TestNoHistoryLaunders(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	r := rand.New(rand.NewPCG(7, 7))
	var histories [][]tale
	for range 60 {
		histories = append(histories, tell(r))
	}
	repo := testrepo.New(t)
	load := exec.Command("git", "-C", repo.Dir, "fast-import", "--quiet")
	load.Stdin = strings.NewReader(stream(histories))
	if out, err := load.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s := gitstore.Open(find(t, repo.Dir), branch)
	whole := func(o *gitstore.Origins, file string) bool {
		by := o.Files["m/"+file].By
		return len(by) > 0 && !slices.ContainsFunc(by, func(a gitstore.Author) bool { return !trustedAnn(a) })
	}
	origins := func(h, i int, since *gitstore.Origins) *gitstore.Origins {
		tip, err := s.Resolve(t.Context(), fmt.Sprintf("refs/heads/h%d/%d", h, i))
		if err != nil {
			t.Fatal(err)
		}
		o, err := s.Authors().Origins(t.Context(), tip, "m", since, false, gitstore.Belief{Author: trustedAnn})
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	trusted, strange := 0, 0
	for h, history := range histories {
		last := len(history) - 1
		before := r.IntN(last)
		since := origins(h, before, nil)
		anew, on := origins(h, last, nil), origins(h, last, since)
		for file, text := range history[last].files {
			if whole(anew, file) {
				trusted++
				if !wrote(history, last, file, text) {
					t.Errorf("history %d: %s is held to be ann's, who never wrote %q:\n%v", h, file, text, history)
				}
			} else {
				strange++
			}
			if whole(on, file) && !whole(anew, file) && !(whole(since, file) && history[before].files[file] == text) {
				t.Errorf("history %d: going on from %d trusts %s, beginning anew does not:\n%v", h, before, file, history)
			}
			at := last
			for len(history[at].parents) == 1 && history[history[at].parents[0]].files[file] == text {
				at = history[at].parents[0]
			}
			if len(history[at].parents) == 1 && (history[at].author == "ann") != whole(anew, file) {
				t.Errorf("history %d: %s was changed last by %s, and trusted is %v", h, file, history[at].author, whole(anew, file))
			}
		}
	}
	if trusted < 30 || strange < 30 {
		t.Errorf("%d trusted and %d others: the histories are too much alike", trusted, strange)
	}
}
