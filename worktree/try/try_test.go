package try

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// here returns a repository and the folder of its loops.
func here(t *testing.T) (repo *git.Repo, loops string) {
	t.Helper()
	repo, err := git.Find(t.Context(), testrepo.New(t).Dir)
	if err != nil {
		t.Fatal(err)
	}
	return repo, filepath.Join(repo.CommonDir, "reverie", "loops")
}

// The next start removes the leftovers of a killed one. A folder in use stays, and so does a loop's
// folder, whatever its name.
func TestStartRemovesWhatKilledStartsLeft(t *testing.T) {
	repo, loops := here(t)
	alive, done, err := Make(t.Context(), repo)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	// one of them before it had its lock
	left := []string{filepath.Join(loops, prefix+"1"), filepath.Join(loops, prefix+"2/tree")}
	loop := filepath.Join(loops, "try-harder/tree")
	for _, dir := range append(left, loop) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(lockOf(filepath.Dir(left[1])), []byte("process 1 (killed)\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	next, doneNext, err := Make(t.Context(), repo)
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
	repo, loops := here(t)
	if _, err := repo.State().Dir(); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 50 {
				tree, done, err := Make(t.Context(), repo)
				if err != nil {
					t.Error(err)
					return
				}
				if err := Clear(loops); err != nil {
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
	left, err := os.ReadDir(loops)
	if err != nil || len(left) > 0 {
		t.Errorf("%v %v", left, err)
	}
}
