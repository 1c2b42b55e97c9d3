package cmd

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// A terminal asks one question per author, lists no wall of changes, and releases what the answer
// trusts.
func TestTrustAsksOncePerAuthor(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	r := testrepo.New(t)
	answer(t, r.Dir, "", "remember", "We deploy on Tuesdays")
	theirs := filepath.Join(t.TempDir(), "theirs")
	r.Run("clone", "-q", ".", theirs)
	for _, who := range []string{"alice@example.com", "*@example.com"} {
		t.Setenv("GIT_COMMITTER_EMAIL", who)
		for i := range maxTrustLines {
			answer(t, theirs, "", "remember", fmt.Sprintf("Host %d of %s has %d disks", i, strings.Trim(who, "*@.com"), i))
		}
	}
	t.Setenv("GIT_COMMITTER_EMAIL", "ann@example.com")
	r.Run("fetch", "-q", theirs, "reverie/memory:reverie/memory")
	trusting := func(typed string) string {
		var out bytes.Buffer
		env := &Env{Terminal: term.Terminal{In: strings.NewReader(typed), Out: &out, Err: &out, Width: 80, Interactive: true, Screen: true}, Dir: r.Dir, Now: time.Now}
		if err := env.with(t.Context(), func(w *workspace) error { return runTrust(t.Context(), w, false) }); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	said := trusting("n\n")
	if strings.Count(said, "[y/N]") != 1 || !strings.Contains(said, "Trust alice@example.com (8 memories)? [y/N]") || strings.Contains(said, "disks") {
		t.Errorf("a no: %s", said)
	}
	if !strings.Contains(said, "16 memories") {
		t.Errorf("a no: %s", said)
	}
	if said = trusting("y\n"); !strings.Contains(said, "released 8 memories") {
		t.Errorf("a yes: %s", said)
	}
	if _, text, _ := runPlain(r.Dir, "trust"); strings.Count(text, "\n! ") != 8 {
		t.Errorf("a script: %s", text)
	}
}
