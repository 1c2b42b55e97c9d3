package gitstore_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/internal/testrepo"
)

// A writer is killed, or gets a disk error, at each of its calls that change the disk in turn. Each
// time the store is intact, and the next write works at once.
func TestFaultAtEveryCallLeavesOldOrNew(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	strace := needStrace(t)
	for _, fault := range []string{"signal=KILL", "error=EIO", "error=ENOSPC"} {
		for _, name := range []string{"fsync", "renameat", "linkat", "unlinkat", "openat"} {
			if fault != "signal=KILL" && (name == "unlinkat" || name == "openat") {
				continue // a writer survives failed removals and some failed opens
			}
			t.Run(fault+" at "+name, func(t *testing.T) {
				r := testrepo.New(t)
				s := create(t, r)
				hit := 0
				for n := 1; ; n++ {
					file := fmt.Sprintf("memories/3f/%s-%d", name, n)
					writer := command("append", r.Dir, file, "1")
					inject := fmt.Sprintf("inject=%s:%s:when=%d", name, fault, n)
					args := []string{"-f", "-qq", "-o", filepath.Join(t.TempDir(), "log"), "-e", "trace=" + name, "-e", inject}
					cmd := exec.Command(strace, append(args, writer.Args...)...)
					cmd.Env = writer.Env
					out, err := cmd.Output()
					acked := strings.Contains(string(out), file)
					files := contents(t, s)
					if _, stored := files[file+"-0.md"]; acked && !stored {
						t.Fatalf("at %d: acknowledged and lost", n)
					}
					after := fmt.Sprintf("after/%d", n)
					write(t, s, map[string]string{after: "works\n"})
					if err == nil {
						break
					}
					if hit++; hit > 200 {
						t.Fatal("it never comes through")
					}
				}
				if hit == 0 {
					t.Error("no fault hit")
				}
				r.Run("fsck", "--strict")
				t.Logf("%d faults", hit)
			})
		}
	}
}
