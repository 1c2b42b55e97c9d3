package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// knowing returns a repository with memories of every kind, partly packed.
func knowing(t *testing.T) string {
	t.Helper()
	dir := newRepo(t)
	var lines strings.Builder
	for i := range 16 {
		fmt.Fprintf(&lines, "{\"text\":\"imported statement number %d stands alone\",\"body\":\"because of reason %d\"}\n", i, i*i)
	}
	write(t, filepath.Join(dir, "..", "import.jsonl"), lines.String())
	must(t, dir, "import", "--accept", filepath.Join(dir, "..", "import.jsonl"))
	git(t, dir, "gc", "-q")
	id := strings.TrimSpace(must(t, dir, "remember", "-t", "one", "a first thing by hand"))
	must(t, dir, "edit", id, "a first thing, edited later")
	id = strings.TrimSpace(must(t, dir, "remember", "-k", "decision", "what will be forgotten"))
	must(t, dir, "forget", "--reason", "it was wrong", id)
	must(t, dir, "remember", "--private", "a matter of my own")
	must(t, dir, "learn", example(t))
	knowCode(t, dir)
	must(t, dir, "stale")
	theirs := copyDir(t, dir) // of an author not trusted here
	git(t, theirs, "config", "user.email", "mallory@example.com")
	for _, text := range []string{"what a stranger says", "another thing of the stranger", "a third of that sort"} {
		must(t, theirs, "remember", text)
	}
	git(t, dir, "fetch", "-q", theirs, "reverie/memory")
	must(t, dir, "merge", "FETCH_HEAD")
	remove(t, filepath.Join(dir, ".git", "FETCH_HEAD"))
	if list := must(t, dir, "list", "--json"); strings.Count(list, "mallory@example.com") != 3 {
		t.Fatalf("three should be withheld: %s", list)
	}
	must(t, dir, "trust", "approve", strings.TrimSpace(must(t, dir, "-q", "recall", "--all", "--json", "-n", "1", "third sort of that"))[7:23])
	bare := filepath.Join(t.TempDir(), "bare.git")
	git(t, "", "init", "-q", "--bare", bare)
	git(t, dir, "remote", "add", "origin", bare)
	git(t, dir, "push", "-q", "origin", "HEAD:main")
	must(t, dir, "sync", "--yes")
	must(t, dir, "list")
	if _, err := os.Stat(filepath.Join(dir, ".git", "reverie", "cache")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// packed packs all objects of a repository.
func packed(t *testing.T, dir string) string {
	t.Helper()
	git(t, dir, "repack", "-adq")
	git(t, dir, "pack-refs", "--all")
	return dir
}

// knowCode adds memories anchored in code: on a line that moves and is deleted, and on a side
// branch that lands by a squash. To judge them, git must read the code and its history.
func knowCode(t *testing.T, dir string) {
	t.Helper()
	write(t, filepath.Join(dir, "db", "store.go"), "package db\n\nfunc Begin() error {\n\treturn nil\n}\n")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-qm", "code")
	must(t, dir, "remember", "-p", "db/store.go", "Call `Begin` before anything is written")
	git(t, dir, "checkout", "-q", "-b", "side")
	write(t, filepath.Join(dir, "db", "side.go"), "package db\n\nfunc Side() {}\n")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-qm", "side")
	must(t, dir, "remember", "what holds on the side branch alone")
	git(t, dir, "checkout", "-q", "-")
	git(t, dir, "merge", "-q", "--squash", "side")
	git(t, dir, "mv", "db/store.go", "db/moved.go")
	git(t, dir, "commit", "-qm", "squash")
}
