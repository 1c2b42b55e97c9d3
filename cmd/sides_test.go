//go:build unix

package cmd

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/internal/testrepo"
)

// logGit puts a git into PATH that writes down each call of it, and returns what reads and empties
// the list.
func logGit(t *testing.T) func() []string {
	t.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	script := fmt.Sprintf("#!/bin/sh\nprintf '%%s ' \"$@\" >>%q\necho >>%q\nexec %q \"$@\"\n", log, log, real)
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return func() []string {
		data, _ := os.ReadFile(log)
		os.Remove(log)
		return strings.Split(strings.TrimSpace(string(data)), "\n")
	}
}

// sided returns a repository with n memories that name made-up side branches of one base, by the
// author with that email.
func sided(t *testing.T, n int, email string) *testrepo.Repo {
	t.Helper()
	r := newRepo(t)
	base := r.Run("rev-parse", "HEAD")[:16]
	r.Write("more.txt", "more\n")
	r.Commit("more")
	tree := filepath.Join(t.TempDir(), "tree")
	r.Run("worktree", "add", "-q", tree, "reverie/memory")
	w := testrepo.At(t, tree)
	for i := range n {
		path, text := strange(fmt.Sprintf("%016x", i), fmt.Sprintf("x%d %016x %s %016x", i, i+1, base, i), fmt.Sprintf("Nonsense %d", i))
		w.Write(path, text)
	}
	w.Run("add", ".")
	w.Run("-c", "user.name=X", "-c", "user.email="+email, "commit", "-qm", "strange")
	return r
}

// A memory withheld for its author costs nothing more, however many side branches it names.
func TestSidesOfWithheldMemoriesAreNotLookedFor(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	for _, args := range [][]string{{"list"}, {"dream"}} {
		var counts []int
		for _, n := range []int{1, maxSides} {
			r := sided(t, n, "mallory@example.com")
			calls := logGit(t)
			reverie(t, r.Dir, args...)
			all := calls()
			counts = append(counts, len(all))
			for _, call := range all {
				if strings.Contains(call, "patch-id") {
					t.Errorf("%v with %d memories: git %s", args, n, call)
				}
			}
		}
		if counts[0] != counts[1] {
			t.Errorf("%v: %d processes for one memory, %d for %d", args, counts[0], counts[1], maxSides)
		}
	}
}

// Side branches with one base are compared with the default branch's commits once.
func TestPatchesAreListedOnce(t *testing.T) {
	r := sided(t, maxSides, "bob@example.com")
	calls := logGit(t)
	reverie(t, r.Dir, "config", "trust.everyone", "true")
	calls()
	if got := reverie(t, r.Dir, "list"); strings.Count(got, "(only on ") != maxSides {
		t.Errorf("%s", got)
	}
	all := calls()
	patches := 0
	for _, call := range all {
		if strings.Contains(call, "patch-id") {
			patches++
		}
	}
	if patches != 1 || len(all) > maxSides+20 {
		t.Errorf("%d processes, %d of them compare patches", len(all), patches)
	}
}
