//go:build unix

package gitstore_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// A reader finds no ref, and another process makes the store before the reader checks the note
// about it. The ref's log is a pipe here, which holds the reader at that point.
func TestStoreThatIsJustBeingMadeIsNotGone(t *testing.T) {
	r := testrepo.New(t)
	repo, err := git.Find(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	made := r.Run("commit-tree", "-m", "begin", r.Run("mktree"))
	log := filepath.Join(repo.CommonDir, "logs", filepath.FromSlash(branch))
	file := filepath.Join(repo.CommonDir, filepath.FromSlash(branch))
	for _, name := range []string{log, file} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(log, 0o600); err != nil {
		t.Fatal(err)
	}
	type answer struct {
		id  gitstore.ID
		err error
	}
	asked := make(chan answer, 1)
	go func() {
		id, err := gitstore.Open(repo, branch).Tip(t.Context())
		asked <- answer{id, err}
	}()
	pipe, err := os.OpenFile(log, os.O_WRONLY, 0) // returns when the reader opens it
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(made+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	pipe.WriteString("0000000000000000000000000000000000000000 " + made + " A <a@b.c> 1 +0000\tbegin\n")
	pipe.Close()
	if got := <-asked; got.err != nil || string(got.id) != made {
		t.Errorf("the tip is %q, %v; want %s", got.id, got.err, made)
	}
}
