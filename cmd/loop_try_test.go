package cmd

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/reverie-memory/reverie/internal/testrepo"
)

// What a start that was killed has left goes with the next one; a folder in which somebody looks stays, and so does a loop's, whatever its name.
func TestStartRemovesWhatKilledStartsLeft(t *testing.T) {
	w := at(t, testrepo.New(t).Dir, noon)
	alive, done, err := w.tryFolder(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	left := []string{w.loopFolder(tryPrefix + "1"), w.loopFolder(tryPrefix + "2/tree")} // one of them before it had its lock
	loop := w.loopFolder("try-harder/tree")
	for _, dir := range append(left, loop) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(tryLock(filepath.Dir(left[1])), []byte("process 1 (killed)\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	next, doneNext, err := w.tryFolder(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range left {
		if _, err := os.Lstat(dir); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", dir, err)
		}
	}
	for _, dir := range []string{alive, next, loop} {
		if _, err := os.Lstat(dir); err != nil {
			t.Error(err)
		}
	}
	doneNext()
	if _, err := os.Lstat(filepath.Dir(next)); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", next, err)
	}
}

func TestNoStartTakesTheFolderOfAnother(t *testing.T) {
	w := at(t, testrepo.New(t).Dir, noon)
	if _, err := w.repo.StateDir(); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 50 {
				tree, done, err := w.tryFolder(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				if err := w.clearTries(); err != nil {
					t.Error(err)
				}
				if _, err := os.Lstat(tree); err != nil {
					t.Error(err)
				}
				done()
			}
		})
	}
	group.Wait()
	left, err := os.ReadDir(w.loopFolder(""))
	if err != nil || len(left) > 0 {
		t.Errorf("%v %v", left, err)
	}
}
