package file

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

func TestLockWhoseFileGoesIsHeldByOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var held atomic.Int32
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 200 {
				unlock, err := LockPath(t.Context(), path)
				if err != nil {
					t.Error(err)
					return
				}
				if n := held.Add(1); n != 1 {
					t.Errorf("%d hold the lock", n)
				}
				held.Add(-1) // without its name the lock has no owner
				if err := os.Remove(path); err != nil && os.PathSeparator == '/' {
					t.Error(err)
				}
				unlock()
			}
		})
	}
	group.Wait()
}
