package cmd

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// The first publication is asked about where a person sits, once for each address.
func TestFirstSyncAsks(t *testing.T) {
	r := testrepo.New(t)
	bare := testrepo.Init(t, filepath.Join(filepath.Dir(r.Dir), "bare"), "--bare")
	r.Run("remote", "add", "origin", "https://example.com/code.git")
	r.Run("config", "url."+filepath.ToSlash(bare.Dir)+".insteadOf", "https://example.com/code.git")
	r.Run("push", "-q", "origin", "main")
	answer(t, r.Dir, "", "remember", "Known")
	env, screen := terminal(r.Dir, "n\n")
	if code := Run(t.Context(), env, []string{"reverie", "-C", r.Dir, "sync"}); code != exit.NeedsPerson {
		t.Errorf("no: exit code %d\n%s", code, screen)
	}
	for _, want := range []string{"Publish the branch reverie/memory (1 memory in 3 commits; the journal stays here)", bare.Dir, "[y/N]"} {
		if !strings.Contains(screen.String(), want) {
			t.Errorf("the screen does not show %q:\n%s", want, screen)
		}
	}
	if refs := bare.Run("for-each-ref", "--format=%(refname)"); refs != "refs/heads/main" {
		t.Errorf("published: %s", refs)
	}
	if shown := atTerminal(t, r.Dir, "y\n", "sync"); !strings.Contains(shown, "pushed") {
		t.Errorf("yes:\n%s", shown)
	}
	answer(t, r.Dir, "", "remember", "Known too")
	if shown := atTerminal(t, r.Dir, "", "sync"); !strings.Contains(shown, "pushed") || strings.Contains(shown, "Publish") {
		t.Errorf("asked again:\n%s", shown)
	}

	// Another address is another question.
	other := testrepo.Init(t, filepath.Join(filepath.Dir(r.Dir), "other"), "--bare")
	r.Run("push", "-q", other.Dir, "main")
	r.Run("config", "--unset", "url."+filepath.ToSlash(bare.Dir)+".insteadOf")
	r.Run("config", "remote.origin.pushurl", other.Dir)
	r.Run("remote", "set-url", "origin", other.Dir)
	answer(t, r.Dir, "", "remember", "Known elsewhere")
	env, screen = terminal(r.Dir, "n\n")
	if code := Run(t.Context(), env, []string{"reverie", "-C", r.Dir, "sync", "--restore"}); code != exit.NeedsPerson || !strings.Contains(screen.String(), other.Dir) {
		t.Errorf("elsewhere: exit code %d\n%s", code, screen)
	}
}
