package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// The folder of verdicts may have come with the repository: as a link to one of the user's, or with files of his.
func TestVerdictsDeleteOnlyTheirOwn(t *testing.T) {
	r := testrepo.New(t)
	repo, err := git.Find(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	state, err := repo.StateDir()
	if err != nil {
		t.Fatal(err)
	}
	documents := t.TempDir()
	names := []string{"new-plan", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(documents, name), []byte("precious"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	save := func() {
		v := readVerdicts(state, strings.Repeat("1", 40))
		v.put("k", verdict{letter: isFresh})
		v.save(repo)
	}
	intact := func(dir string, more int) {
		t.Helper()
		there, err := os.ReadDir(dir)
		if err != nil || len(there) != len(names)+more {
			t.Errorf("%d files, %v; want %d", len(there), err, len(names)+more)
		}
	}
	dir := filepath.Join(state, verdictDir)
	if err := os.Symlink(documents, dir); err != nil {
		t.Fatal(err)
	}
	save()
	intact(documents, 0)
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(documents, dir); err != nil {
		t.Fatal(err)
	}
	save()
	intact(dir, 1)
	for _, digit := range "23456789abcdef" {
		v := readVerdicts(state, strings.Repeat(string(digit), 40))
		v.put("k", verdict{letter: isFresh})
		v.save(repo)
	}
	intact(dir, verdictFiles)
}
