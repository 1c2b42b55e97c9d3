package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A mere look at a loop creates nothing; the first lease creates its folder.
func TestOnlyALeaseMakesTheFolderOfALoop(t *testing.T) {
	b := newBench(t, nil)
	const name = "looked-at"
	dir := filepath.Join(b.repo.CommonDir, "reverie", "loops", name)
	if !Free(t.Context(), b.repo, name) || Held(t.Context(), b.repo, name) != nil {
		t.Error("somebody has the lease of a loop that has no folder")
	}
	place, err := PlaceOf(b.repo, State{Name: name}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := place.Check(); !errors.Is(err, ErrGone) {
		t.Errorf("its work tree: %v", err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("looking made %s: %v", dir, err)
	}
	lease, err := TakeLease(t.Context(), b.repo, name, "")
	if err != nil {
		t.Fatal(err)
	}
	lease.Release()
	if _, err := os.Lstat(dir); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"", ".", "..", "a/b", "../x"} {
		if _, err := PlaceOf(b.repo, State{Name: name}, nil); err == nil {
			t.Errorf("%q is a name of a loop", name)
		}
	}
}
