package gitstore_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/internal/testrepo"
)

func TestCommitIsSignedWithoutAPerson(t *testing.T) {
	r := testrepo.New(t)
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Fatal("ssh-keygen comes with git and is needed to sign")
	}
	key := filepath.Join(t.TempDir(), "key")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r.Run("config", "gpg.format", "ssh")
	r.Run("config", "user.signingKey", key)
	r.Run("config", "commit.gpgSign", "true")
	s := create(t, r)
	result := write(t, s, map[string]string{"a": "1"})
	if result.Note != "" {
		t.Errorf("note: %s", result.Note)
	}
	if got := r.Run("cat-file", "-p", branch); !strings.Contains(got, "gpgsig -----BEGIN SSH SIGNATURE-----") {
		t.Errorf("not signed:\n%s", got)
	}
	r.Run("fsck", "--strict")
}

func TestCommitThatNeedsAPersonIsUnsignedAndSaysSo(t *testing.T) {
	r := testrepo.New(t)
	key := filepath.Join(t.TempDir(), "key")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "a passphrase", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Setenv("SSH_AUTH_SOCK", "")
	program, sang := canary(t)
	t.Setenv("SSH_ASKPASS", program)
	t.Setenv("DISPLAY", ":99")
	r.Run("config", "gpg.format", "ssh")
	r.Run("config", "user.signingKey", key)
	r.Run("config", "commit.gpgSign", "true")
	s := create(t, r)
	result := write(t, s, map[string]string{"a": "1"})
	if !strings.Contains(result.Note, "not signed") {
		t.Errorf("note: %q", result.Note)
	}
	if who := sang(); who != "" {
		t.Errorf("a person was asked: %s", who)
	}
	if got := contents(t, s)["a"]; got != "1" {
		t.Errorf("%q", got)
	}
}

// A read-only repository gives a clear error and stays readable.
func TestRepositoryWithoutRoomForState(t *testing.T) {
	r := testrepo.New(t)
	s := create(t, r)
	write(t, s, map[string]string{"a": "1"})
	state := filepath.Join(r.Dir, ".git", "reverie")
	if err := os.RemoveAll(state); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(state, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, s)["README.md"]; got != "what this is\n" {
		t.Errorf("read: %q", got)
	}
	_, err := s.Revert(t.Context(), "~0", nil)
	if err == nil || !strings.Contains(err.Error(), state) {
		t.Errorf("write: %v, want an error that names %s", err, state)
	}
}
