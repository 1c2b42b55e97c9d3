package gitstore_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// imported makes a history of n commits by git fast-import. Each writes one of files memories of
// realistic shape; some hold the word. Every seventh is a merge of a side branch that began a few
// commits before.
func imported(t testing.TB, r *testrepo.Repo, n, files int, word string) {
	t.Helper()
	var in strings.Builder
	data := func(s string) { fmt.Fprintf(&in, "data %d\n%s\n", len(s), s) }
	commit := func(mark int, subject string, parents ...int) {
		fmt.Fprintf(&in, "commit %s\nmark :%d\nauthor Ann <ann@example.com> %d +0100\ncommitter Bob <bob@example.com> %d +0000\n", branch, mark, 1700000000+mark, 1700000100+mark)
		data(subject)
		for i, p := range parents {
			fmt.Fprintf(&in, "%s :%d\n", []string{"from", "merge"}[min(i, 1)], p)
		}
	}
	write := func(i int, text string) {
		f := i * 7919 % files
		fmt.Fprintf(&in, "M 100644 inline memories/%02x/%016x-some-words.md\n", f%256, f)
		data(text)
	}
	commit(1, "begin\n")
	fmt.Fprintf(&in, "M 100644 inline reverie.toml\n")
	data("format = 1\n")
	for i := 2; i <= n; i++ {
		text, subject := fmt.Sprintf("memory %d\n", i), fmt.Sprintf("remember: memory %d\n", i)
		if i%50 == 3 {
			text, subject = fmt.Sprintf("memory %d %s\n", i, word), fmt.Sprintf("remember: memory %d %s\n", i, word)
		}
		if i%7 == 0 && i > 20 {
			commit(i, "merge\n", i-1, i-9)
			continue
		}
		commit(i, subject, i-1)
		write(i, text)
	}
	cmd := exec.Command("git", "fast-import", "--quiet", "--force")
	cmd.Dir, cmd.Stdin = r.Dir, strings.NewReader(in.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git fast-import: %v\n%s", err, out)
	}
}

// holding returns the blobs and the messages of a history that hold a word.
func holding(t testing.TB, repo *git.Repo, word string, tips ...gitstore.ID) gitstore.Omit {
	t.Helper()
	o := gitstore.Omit{Blobs: map[gitstore.ID]bool{}, Messages: map[string]bool{}}
	var ids []string
	err := gitstore.Survey(t.Context(), repo, tips, func(_ string, id gitstore.ID) { ids = append(ids, string(id)) }, func(_ gitstore.ID, _, message string) {
		if strings.Contains(message, word) {
			o.Messages[gitstore.MessageHash(message)] = true
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	objects := repo.Objects()
	defer objects.Close()
	err = objects.ReadAll(t.Context(), ids, func(i int, obj git.Object) error {
		if strings.Contains(string(obj.Data), word) {
			o.Blobs[gitstore.ID(ids[i])] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// rewritten rewrites the branch and moves it.
func rewritten(t testing.TB, repo *git.Repo, o gitstore.Omit) gitstore.ID {
	t.Helper()
	s := gitstore.Open(repo, branch)
	tip, err := s.Tip(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rw, err := gitstore.Rewrite(t.Context(), repo, []gitstore.ID{tip}, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	defer rw.Close()
	ctx, unlock, err := s.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if err := rw.Save(); err != nil {
		t.Fatal(err)
	}
	res, err := s.Replace(ctx, rw, nil, gitstore.Commit{})
	if err != nil {
		t.Fatal(err)
	}
	if err := rw.Release(ctx); err != nil {
		t.Fatal(err)
	}
	return res.Commit
}

// reachableText returns the content of every object that a ref reaches, as git gives it.
func reachableText(t testing.TB, dir string, refs ...string) string {
	t.Helper()
	list := exec.Command("git", append([]string{"rev-list", "--objects", "--no-object-names"}, refs...)...)
	list.Dir = dir
	ids, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	cat := exec.Command("git", "cat-file", "--batch")
	cat.Dir, cat.Stdin = dir, strings.NewReader(string(ids))
	out, err := cat.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestRewriteIsTheSameInEveryClone(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			r := testrepo.New(t, "--object-format="+format)
			imported(t, r, 300, 40, "xyzzy")
			old := gitstore.ID(r.Run("rev-parse", branch))
			clone := testrepo.At(t, filepath.Join(t.TempDir(), "clone.git"))
			r.Run("clone", "-q", "--mirror", r.Dir, clone.Dir)
			clone.Run("gc", "-q")
			linked := filepath.Join(t.TempDir(), "linked")
			r.Run("worktree", "add", "-q", linked)

			repo := find(t, linked)
			omit := holding(t, repo, "xyzzy", old)
			if len(omit.Blobs) < 5 || len(omit.Messages) < 5 {
				t.Fatalf("%d blobs and %d messages hold the word: too few to say anything", len(omit.Blobs), len(omit.Messages))
			}
			tip := rewritten(t, repo, omit)
			if again := rewritten(t, find(t, clone.Dir), omit); again != tip {
				t.Errorf("a packed clone came to %s, a linked worktree to %s", again, tip)
			}
			for _, r := range []*testrepo.Repo{r, clone} {
				if n := strings.Count(reachableText(t, r.Dir, branch), "xyzzy"); n > 0 {
					t.Errorf("%s: %d hits", r.Dir, n)
				}
				r.Run("fsck", "--strict", "--no-dangling")
				if log := r.Run("reflog", "show", branch); log != "" {
					t.Errorf("reflog still leads back: %s", log)
				}
			}
			// As git sees it, the shape, people and dates are unchanged.
			shape := func(tip gitstore.ID) string {
				return r.Run("log", "--topo-order", "--format=%an %ae %at %cn %ce %ct %P", string(tip))
			}
			before, after := strings.Split(shape(old), "\n"), strings.Split(shape(tip), "\n")
			if len(before) != len(after) {
				t.Fatalf("%d commits became %d", len(before), len(after))
			}
			for i := range before {
				a, b := strings.Fields(before[i]), strings.Fields(after[i])
				if len(a) != len(b) || !slices.Equal(a[:6], b[:6]) {
					t.Fatalf("commit %d: %q became %q", i, before[i], after[i])
				}
			}
			// The commits before the first with the word keep their ids.
			if a, b := r.Run("rev-list", "--reverse", string(old)), r.Run("rev-list", "--reverse", string(tip)); !strings.HasPrefix(b, a[:strings.IndexByte(a, '\n')]) {
				t.Error("the first commit changed")
			}
			if a, b := r.Run("ls-tree", "-r", string(old)), r.Run("ls-tree", "-r", string(tip)); strings.Count(b, "\n") < strings.Count(a, "\n")-8 {
				t.Errorf("files went that hold nothing: %d became %d", strings.Count(a, "\n"), strings.Count(b, "\n"))
			}
		})
	}
}

// Two purges have the same outcome in any order, or at once.
func TestRewritesCommute(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	r := testrepo.New(t)
	imported(t, r, 120, 12, "xyzzy")
	repo := find(t, r.Dir)
	old := gitstore.ID(r.Run("rev-parse", branch))
	var blobs []gitstore.ID
	var paths, messages []string
	err := gitstore.Survey(t.Context(), repo, []gitstore.ID{old}, func(path string, id gitstore.ID) {
		blobs, paths = append(blobs, id), append(paths, path)
	}, func(_ gitstore.ID, _, message string) { messages = append(messages, gitstore.MessageHash(message)) })
	if err != nil {
		t.Fatal(err)
	}
	seed, rounds := uint64(1), 5
	if os.Getenv("REVERIE_E2E") != "" {
		rounds = 50
	}
	for range rounds {
		rnd := rand.New(rand.NewPCG(seed, 1))
		seed++
		pick := func() gitstore.Omit {
			o := gitstore.Omit{Blobs: map[gitstore.ID]bool{}, Messages: map[string]bool{}}
			for range rnd.IntN(8) {
				o.Blobs[blobs[rnd.IntN(len(blobs))]] = true
			}
			for range rnd.IntN(4) {
				o.Messages[messages[rnd.IntN(len(messages))]] = true
			}
			if rnd.IntN(2) == 0 {
				which := paths[rnd.IntN(len(paths))]
				o.Path = func(path string) bool { return path == which }
			}
			return o
		}
		a, b := pick(), pick()
		both := gitstore.Omit{Blobs: map[gitstore.ID]bool{}, Messages: map[string]bool{}, Path: func(p string) bool {
			return a.Path != nil && a.Path(p) || b.Path != nil && b.Path(p)
		}}
		for _, o := range []gitstore.Omit{a, b} {
			maps.Copy(both.Blobs, o.Blobs)
			maps.Copy(both.Messages, o.Messages)
		}
		after := func(omits ...gitstore.Omit) gitstore.ID {
			r.Run("update-ref", branch, string(old))
			var tip gitstore.ID
			for _, o := range omits {
				tip = rewritten(t, repo, o)
			}
			return tip
		}
		ab, ba, at := after(a, b), after(b, a), after(both)
		if ab != ba || ab != at {
			t.Fatalf("seed %d: one after the other %s, the other way round %s, at once %s", seed-1, ab, ba, at)
		}
		if again := after(both, both, a); again != at {
			t.Fatalf("seed %d: once more gives %s instead of %s", seed-1, again, at)
		}
	}
}

// The history has a merge that removed a file, a signature, a merged tag, an unusual header, and
// entries that a store must not have.
func TestRewriteKeepsWhatItDoesNotKnow(t *testing.T) {
	r := testrepo.New(t)
	blob := func(text string) string {
		r.Write("b", text)
		return r.Run("hash-object", "-w", "b")
	}
	keep, bad := blob("fine\n"), blob("xyzzy\n")
	object := func(kind, text string) string {
		r.Write("o", text)
		return r.Run("hash-object", "-t", kind, "-w", "--literally", "o")
	}
	mktree := func(lines ...string) string {
		cmd := exec.Command("git", "mktree")
		cmd.Dir, cmd.Stdin = r.Dir, strings.NewReader(strings.Join(append(lines, ""), "\n"))
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	empty := mktree()
	odd := []string{"120000 blob " + keep + "\tlink", "160000 commit " + strings.Repeat("1", 40) + "\tsub", "100755 blob " + keep + "\trun"}
	t1 := mktree(append(odd, "100644 blob "+bad+"\tsecret")...)
	t2 := mktree(append(odd, "040000 tree "+mktree("100644 blob "+bad+"\tonly")+"\tdeep")...)
	people := "author A <a@b> 1700000000 +0000\ncommitter C <c@d> 1700000001 +0100\n"
	root := object("commit", "tree "+empty+"\n"+people+"\nbegin\n")
	one := object("commit", "tree "+t1+"\nparent "+root+"\n"+people+"gpgsig -----BEGIN\n line\n -----END\nnote more\n about it\n\nadds\n")
	two := object("commit", "tree "+t2+"\nparent "+root+"\n"+people+"encoding ISO-8859-1\nmergetag object "+root+"\n type commit\n tag xyzzy\n\nplain \xe9\n")
	merge := object("commit", "tree "+mktree(odd...)+"\nparent "+one+"\nparent "+two+"\n"+people+"note more\n about it\n\ntakes both away\n")
	last := object("commit", "tree "+mktree(odd...)+"\nparent "+merge+"\n"+people+"note more\n about it\ngpgsig x\n y\n\nstays\n\ntext\n")
	r.Run("update-ref", branch, last)

	repo := find(t, r.Dir)
	tip := rewritten(t, repo, gitstore.Omit{Blobs: map[gitstore.ID]bool{gitstore.ID(bad): true}})
	want := []struct{ rev, text string }{
		{"~1^1", "tree " + mktree(odd...) + "\nparent " + root + "\n" + people + "\npurged\n"},
		{"~1^2", "tree " + mktree(odd...) + "\nparent " + root + "\n" + people + "\npurged\n"},
		// The merge itself removed neither file: each was absent in the other parent.
		{"~1", "tree " + mktree(odd...) + "\nparent " + r.Run("rev-parse", string(tip)+"~1^1") + "\nparent " + r.Run("rev-parse", string(tip)+"~1^2") + "\n" + people + "note more\n about it\n\ntakes both away\n"},
		{"", "tree " + mktree(odd...) + "\nparent " + r.Run("rev-parse", string(tip)+"~1") + "\n" + people + "note more\n about it\n\nstays\n\ntext\n"},
	}
	for _, w := range want {
		if got := r.Run("cat-file", "commit", string(tip)+w.rev) + "\n"; got != w.text {
			t.Errorf("%s:\n%s\nwant\n%s", w.rev, got, w.text)
		}
	}
	if n := strings.Count(reachableText(t, r.Dir, branch), "xyzzy"); n > 0 {
		t.Errorf("%d hits", n)
	}
}

func TestRewriteOfATruncatedHistoryIsRefused(t *testing.T) {
	r := testrepo.New(t)
	imported(t, r, 30, 10, "xyzzy")
	clone := testrepo.At(t, filepath.Join(t.TempDir(), "shallow"))
	r.Run("clone", "-q", "--depth=3", "--branch=reverie/memory", "file://"+r.Dir, clone.Dir)
	_, err := gitstore.Rewrite(context.Background(), find(t, clone.Dir), []gitstore.ID{gitstore.ID(clone.Run("rev-parse", "HEAD"))}, nil, gitstore.Omit{})
	if err == nil || !strings.Contains(err.Error(), gitstore.ErrShallow.Error()) {
		t.Errorf("error is %v", err)
	}
}

// Rewrites ten thousand commits over ten thousand memories if REVERIE_E2E=1, as a measure of cost.
func TestRewriteOfALongHistory(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	n := 400
	if os.Getenv("REVERIE_E2E") != "" {
		n = 10000
	}
	r := testrepo.New(t)
	imported(t, r, n, n, "xyzzy")
	repo := find(t, r.Dir)
	omit := holding(t, repo, "xyzzy", gitstore.ID(r.Run("rev-parse", branch)))
	rewritten(t, repo, omit)
	if n := strings.Count(reachableText(t, r.Dir, branch), "xyzzy"); n > 0 {
		t.Errorf("%d hits", n)
	}
	if got := r.Run("rev-list", "--count", branch); got != fmt.Sprint(n) {
		t.Errorf("%s commits, want %d", got, n)
	}
	r.Run("fsck", "--strict", "--no-dangling")
}
