package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Who only looks at a loop makes nothing; its folder is there from the first lease on.
func TestOnlyALeaseMakesTheFolderOfALoop(t *testing.T) {
	b := newBench(t, nil)
	dir := filepath.Join(b.repo.CommonDir, "reverie", "loops")
	if !Free(t.Context(), b.repo, b.record.Name) || Held(t.Context(), b.repo, b.record.Name) != nil {
		t.Error("somebody has the lease of a loop that has no folder")
	}
	if err := b.place.Check(); !errors.Is(err, ErrGone) {
		t.Errorf("its work tree: %v", err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("looking made %s: %v", dir, err)
	}
	b.lease().Release()
	if _, err := os.Lstat(filepath.Join(dir, b.record.Name)); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"", ".", "..", "a/b", "../x"} {
		if _, err := PlaceOf(b.repo, State{Name: name}, nil); err == nil {
			t.Errorf("%q is a name of a loop", name)
		}
	}
}
