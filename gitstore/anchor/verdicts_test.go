package anchor

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/internal/testrepo"
)

// The folder of verdicts may have come with the repository: as a link to one of the user's, or with
// files of his.
func TestVerdictsDeleteOnlyTheirOwn(t *testing.T) {
	r := testrepo.New(t)
	repo, state := find(t, r)
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

// A flipped byte in the stored verdicts changes no answer.
func TestSpoiltVerdictsAreNotBelieved(t *testing.T) {
	r := testrepo.New(t)
	repo, state := find(t, r)
	want := map[string]verdict{
		verdictKey("anchor", "a"): {isChanged, strings.Repeat("ab", 20), "lib/a file.go"},
		verdictKey("side", "b"):   {letter: isAway},
	}
	v := readVerdicts(state, r.Run("rev-parse", "HEAD"))
	for key, found := range want {
		v.put(key, found)
	}
	v.save(repo)
	whole, err := os.ReadFile(v.file)
	if err != nil {
		t.Fatal(err)
	}
	if got := parseVerdicts(v.file); !maps.Equal(want, got) {
		t.Fatalf("as it was written: %v, want %v", got, want)
	}
	for i := range whole {
		spoilt := slices.Clone(whole)
		spoilt[i] ^= 0x21
		if err := os.WriteFile(v.file, spoilt, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := parseVerdicts(v.file); got != nil {
			t.Fatalf("byte %d: believed %v", i, got)
		}
		if err := os.WriteFile(v.file, whole[:i], 0o600); err != nil {
			t.Fatal(err)
		}
		if got := parseVerdicts(v.file); got != nil {
			t.Fatalf("cut to %d bytes: believed %v", i, got)
		}
	}
}
