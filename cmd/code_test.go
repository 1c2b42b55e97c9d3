package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/internal/testrepo"
)

// codeRepo is a repository with a file of code and a statement that rests on a line of it.
func codeRepo(t *testing.T) (r *testrepo.Repo, id string) {
	t.Helper()
	r = testrepo.New(t)
	r.Write("lib/load.go", "package lib\n\nfunc Load(name string) error {\n\treturn nil\n}\n")
	r.Commit("code")
	return r, strings.TrimSpace(reverie(t, r.Dir, "remember", "-k", "fact", "-p", "lib/load.go", "Call `Load` once"))
}

func verdictsOf(t *testing.T, r *testrepo.Repo) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(r.Dir, ".git/reverie/code/*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// A verdict for a commit is not computed again: it is the same when the code can no longer be read.
func TestVerdictsAreFoundOnce(t *testing.T) {
	r, _ := codeRepo(t)
	r.Write("lib/load.go", "package lib\n")
	r.Commit("gone")
	want := reverie(t, r.Dir, "stale")
	if !strings.Contains(want, "no longer has") || len(verdictsOf(t, r)) != 1 {
		t.Fatalf("%q, %v", want, verdictsOf(t, r))
	}
	tree := r.Run("rev-parse", "HEAD:lib")
	object := filepath.Join(r.Dir, ".git/objects", tree[:2], tree[2:])
	if err := os.Rename(object, object+".away"); err != nil {
		t.Fatal(err)
	}
	if got := reverie(t, r.Dir, "stale"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	// Without the verdicts, and without the code, nothing is known, and nothing fails.
	os.Remove(verdictsOf(t, r)[0])
	if got := reverie(t, r.Dir, "stale"); got != "" {
		t.Errorf("%q of code that cannot be read", got)
	}
}

// A few commits are kept, not every one there ever was.
func TestVerdictsOfOldCommitsGo(t *testing.T) {
	r, _ := codeRepo(t)
	const kept = 8
	for range kept + 3 {
		r.Commit("more")
		reverie(t, r.Dir, "list")
	}
	if n := len(verdictsOf(t, r)); n != kept {
		t.Errorf("%d files, want %d", n, kept)
	}
}

// In a shallow clone that lost the commit of a memory, a file that is not there may have another
// name.
func TestShallowCloneKnowsLess(t *testing.T) {
	r, _ := codeRepo(t)
	r.Run("mv", "lib/load.go", "lib/other.go")
	r.Write("lib/other.go", "package lib\n\nfunc Load(name string) error {\n\treturn os.ErrNotExist\n}\n")
	r.Commit("move and change")
	r.Run("commit", "-q", "--allow-empty", "-m", "newest")
	shallow := filepath.Join(t.TempDir(), "shallow")
	r.Run("clone", "-q", "--depth=1", "--no-single-branch", "file://"+r.Dir, shallow)
	if got := reverie(t, shallow, "stale"); got != "" {
		t.Errorf("a shallow clone says %q", got)
	}
	if got := reverie(t, r.Dir, "stale"); !strings.Contains(got, "lib/load.go=lib/other.go") || strings.Contains(got, "gone") || strings.Contains(got, "no longer") {
		t.Errorf("the whole one says %q", got)
	}
	r.Write("lib/other.go", "package lib\n")
	r.Commit("load is gone")
	if got := reverie(t, r.Dir, "stale"); !strings.Contains(got, `lib/other.go no longer has "func Load(name string) error {"`) {
		t.Errorf("the whole one says %q", got)
	}
}

// A verdict unknown in a shallow clone is computed at the same commit once the history is there.
func TestUnknownIsNotKept(t *testing.T) {
	r, _ := codeRepo(t)
	r.Run("switch", "-qc", "topic")
	r.Write("t.txt", "t\n")
	r.Commit("t")
	reverie(t, r.Dir, "remember", "Topics have a t.txt")
	r.Run("switch", "-q", "main")
	r.Run("merge", "-q", "--no-ff", "-m", "merge", "topic")
	r.Run("rm", "-q", "lib/load.go")
	r.Run("commit", "-qm", "gone")
	r.Run("commit", "-q", "--allow-empty", "-m", "newest")
	r.Run("branch", "-qD", "topic")
	shallow := filepath.Join(t.TempDir(), "shallow")
	r.Run("clone", "-q", "--depth=1", "--no-single-branch", "file://"+r.Dir, shallow)
	reverie(t, shallow, "config", "trust.everyone", "true")
	look := func() string { return reverie(t, shallow, "stale") + reverie(t, shallow, "list") }
	for range 2 {
		if got := look(); strings.Contains(got, "is gone") || !strings.Contains(got, "only on topic") {
			t.Fatalf("a shallow clone says %q", got)
		}
	}
	testrepo.At(t, shallow).Run("fetch", "-q", "--unshallow")
	if got := look(); !strings.Contains(got, "lib/load.go is gone") || strings.Contains(got, "only on") {
		t.Errorf("the whole clone says %q", got)
	}
}

// Worktrees are judged by what is checked out in each.
func TestEachWorktreeHasItsOwnCode(t *testing.T) {
	r, id := codeRepo(t)
	r.Run("switch", "-qc", "topic")
	r.Write("lib/load.go", "package lib\n")
	r.Commit("gone")
	side := filepath.Join(t.TempDir(), "side")
	r.Run("worktree", "add", "-q", side, "main")
	for range 2 {
		if got := reverie(t, r.Dir, "show", id); !strings.Contains(got, "stale:") {
			t.Errorf("on topic: %q", got)
		}
		if got := reverie(t, side, "show", id); strings.Contains(got, "stale:") {
			t.Errorf("on main: %q", got)
		}
	}
	bare := filepath.Join(t.TempDir(), "bare.git")
	r.Run("clone", "-q", "--bare", r.Dir, bare)
	if got := reverie(t, bare, "show", id); !strings.Contains(got, "stale:") { // its HEAD is topic
		t.Errorf("bare: %q", got)
	}
}

// Statements are kept before the first commit of the code too, and rest on nothing.
func TestBeforeTheFirstCommitOfTheCode(t *testing.T) {
	testrepo.Isolate(t)
	r := testrepo.Init(t, filepath.Join(t.TempDir(), "new"))
	r.Write("a.go", "package a\n")
	id := strings.TrimSpace(reverie(t, r.Dir, "remember", "-p", "a.go", "All of it is in `package a`"))
	if got := reverie(t, r.Dir, "show", id); strings.Contains(got, "anchor") || strings.Contains(got, "branch:") {
		t.Error(got)
	}
	r.Commit("begin")
	if got := reverie(t, r.Dir, "stale"); got != "" {
		t.Error(got)
	}
}

// A statement from a session that quotes a name rests on the one file that has it.
func TestLearnedStatementsFindTheirCode(t *testing.T) {
	r := testrepo.New(t)
	r.Write("db/pool.go", "package db\n\n// OpenPool is slow.\nfunc OpenPool() {}\n")
	r.Write("big.bin", "\x00OpenPool")
	r.Commit("code")
	line := `{"type":"user","uuid":"u1","sessionId":"5f0c1e2a-0000-4000-8000-000000000001","timestamp":"2026-11-02T10:00:00.000Z","cwd":"/src/demo","message":{"role":"user","content":"From now on always call ` + "`OpenPool`" + ` once per process, never twice."}}` + "\n"
	file := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(file, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	reverie(t, r.Dir, "learn", file)
	got := reverie(t, r.Dir, "--json", "list")
	if !strings.Contains(got, `"anchors":["db/pool.go@`+r.Run("rev-parse", "HEAD:db/pool.go")[:16]+` \"func OpenPool() {}\""]`) {
		t.Errorf("got %s", got)
	}
}

// A reader does not wait for a server: objects missing in a partial clone are unknown.
func TestPartialCloneFetchesNothing(t *testing.T) {
	r, _ := codeRepo(t)
	r.Write("lib/load.go", "package lib\n")
	r.Commit("gone")
	r.Run("config", "uploadpack.allowFilter", "true")
	partial := filepath.Join(t.TempDir(), "partial")
	r.Run("clone", "-q", "--no-checkout", "--filter=blob:none", "file://"+r.Dir, partial)
	p := testrepo.At(t, partial)
	p.Run("fetch", "-q", "--refetch", "--no-filter", "origin", "+refs/heads/reverie/memory:refs/heads/reverie/memory")
	missing := func() int {
		return strings.Count(p.Run("rev-list", "--objects", "--missing=print", "HEAD"), "?")
	}
	before := missing()
	if got := reverie(t, partial, "stale"); before == 0 || got != "" || missing() != before {
		t.Errorf("%q; %d objects of the code were missing, now %d", got, before, missing())
	}
	p.Run("cat-file", "-p", "HEAD:lib/load.go") // another command needed it
	p.Run("commit", "-q", "--allow-empty", "--only", "-m", "more")
	if got := reverie(t, partial, "stale"); !strings.Contains(got, "no longer has") {
		t.Errorf("%q", got)
	}
}
