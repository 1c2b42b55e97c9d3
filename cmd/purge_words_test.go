package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/internal/exit"
)

// A text that Reverie itself writes into every file is no person's text.
func TestPurgeLooksOnlyAtWhatSomebodyWrote(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	r := newRepo(t)
	told(t, r.Dir, "s1", "From now on always deploy from the kestrel machine.", "Remember: we never squash merges.")
	reverie(t, r.Dir, "-q", "remember", "We write tests first")
	reverie(t, r.Dir, "-q", "remember", "-k", "preference", "I like short answers")
	state := filepath.Join(r.Dir, ".git/reverie")
	remotes := `{"remotes":{"origin":{"published":{"memory":"https://human.example/note.git"}}}}`
	if err := os.WriteFile(filepath.Join(state, "remotes.json"), []byte(remotes), 0o600); err != nil {
		t.Fatal(err)
	}
	trust := `{"approved":{"0123456789abcdef":"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"}}`
	if err := os.WriteFile(filepath.Join(state, "trust.json"), []byte(trust), 0o600); err != nil {
		t.Fatal(err)
	}
	list, tip := reverie(t, r.Dir, "list", "--all", "--json"), r.Run("for-each-ref", "--format=%(objectname) %(refname)", "refs/heads/reverie/", "refs/reverie/")
	for _, text := range []string{"human", "active", "status", "source", "memories", "remember", "Reverie-Op", "2026", "evidence", "detector", "claude", "approved", "origin", "note.git", "reflect"} {
		reverie(t, r.Dir, "purge", "--yes", text)
		if now := r.Run("for-each-ref", "--format=%(objectname) %(refname)", "refs/heads/reverie/", "refs/reverie/"); now != tip {
			t.Fatalf("%q: refs moved:\n%s\n%s", text, tip, now)
		}
	}
	if now := reverie(t, r.Dir, "list", "--all", "--json"); now != list {
		t.Errorf("the list changed:\n%s\n%s", list, now)
	}
	for name, want := range map[string]string{"remotes.json": remotes, "trust.json": trust} {
		if got, _ := os.ReadFile(filepath.Join(state, name)); string(got) != want {
			t.Errorf("%s is now %s", name, got)
		}
	}
	if got, _ := filepath.Glob(filepath.Join(state, "sessions/*")); len(got) != 1 {
		t.Errorf("sessions: %q", got)
	}
	reverie(t, r.Dir, "check", "--deep")
}

func TestPurgeRefusesWhatIsEverywhere(t *testing.T) {
	r := newRepo(t)
	reverie(t, r.Dir, "-q", "remember", "The kestrel is small")
	reverie(t, r.Dir, "-q", "remember", "A kestrel flies")
	if code, talk := fails(t, r.Dir, "purge", "--yes", "ke"); code != exit.BadUsage {
		t.Errorf("two letters: exit %d: %s", code, talk)
	}
	if code, talk := fails(t, r.Dir, "purge", "--yes", "kestrel"); code != exit.NeedsPerson || !strings.Contains(talk, "all 2 memories") {
		t.Errorf("every memory: exit %d: %s", code, talk)
	}
	if list := reverie(t, r.Dir, "list"); strings.Count(list, "\n") != 2 {
		t.Errorf("left: %s", list)
	}
	reverie(t, r.Dir, "purge", "--yes", "--regexp", "kestrel")
	wantHits(t, r.Dir, "kestrel", false)
}

// A purge that fails after its start still ends in order: it names the rest, and the next purge
// continues.
func TestPurgeEndsAlsoAfterAFailure(t *testing.T) {
	r := newRepo(t)
	reverie(t, r.Dir, "-q", "remember", "The box is called kestrel")
	cache := filepath.Join(r.Dir, ".git/reverie/cache")
	os.Remove(cache)
	if err := os.MkdirAll(filepath.Join(cache, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	if code, answer, _ := runJSON(r.Dir, "", []string{"purge", "--yes", "kestrel"}); code == exit.Done || !strings.Contains(answer, `"left":[{`) {
		t.Errorf("exit %d; it does not say what is left: %s", code, answer)
	}
	if rest, err := os.ReadFile(filepath.Join(r.Dir, ".git/reverie", "purging")); len(rest) == 0 {
		t.Errorf("what is left to do is forgotten: %v", err)
	}
	if err := os.RemoveAll(cache); err != nil {
		t.Fatal(err)
	}
	reverie(t, r.Dir, "purge", "--yes", "kestrel")
	wantHits(t, r.Dir, "kestrel", false)
	if all := r.Run("cat-file", "--batch-all-objects", "--batch"); strings.Contains(all, "kestrel") {
		t.Error("it still lies in loose objects")
	}
}
