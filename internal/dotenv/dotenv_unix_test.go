//go:build unix

package dotenv

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/reverie-memory/reverie/internal/testrepo"
)

// Pipes, devices and folders with such names are found, and the reader must not wait for them. The
// result is bounded.
func TestFindHasBounds(t *testing.T) {
	r := testrepo.New(t)
	if err := syscall.Mkfifo(filepath.Join(r.Dir, ".env"), 0o600); err != nil {
		t.Fatal(err)
	}
	many := filepath.Join(r.Dir, "many")
	if err := os.Mkdir(many, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		if err := os.WriteFile(filepath.Join(many, fmt.Sprintf("%d.env", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	repo := open(t, r.Dir)
	started(t, repo)
	if got := Find(t.Context(), repo, Quick); len(got) != maxFiles || !strings.HasSuffix(got[0].Path, "/.env") {
		t.Errorf("%d files, the first %v", len(got), got[0])
	}
	l := listing{}
	for range maxKept + 10 {
		l.folders = append(l.folders, folder{path: r.Dir})
	}
	write(repo, &l)
	if got := read(repo, maxKept+1); len(got.folders) != maxKept {
		t.Errorf("%d folders are kept", len(got.folders))
	}
}
