//go:build unix

package catalog

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// If writing fails, the old file stays and answers are right.
func TestFullDiskAndReadOnlyFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cache")
	to, all := entries(1)
	brought(t, read(path), to, all, 0).Close()
	self := start(path, 50, 3)
	cmd := exec.Command("sh", "-c", `ulimit -f 1 && exec "$0"`, self.Path) // 512 or 1024 bytes
	cmd.Env = self.Env
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "unkept: ") != 3 {
		t.Errorf("%v\n%s", err, out)
	}
	c := read(path)
	if wantRight(t, c, all); c.Key != to.Key {
		t.Errorf("it is at %q", c.Key)
	}
	c.Close()
	if os.Getuid() == 0 {
		return // may write anywhere
	}
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	to2, other := entries(2)
	c = brought(t, read(path), to2, other, 0)
	if wantRight(t, c, other); c.Unkept() == nil {
		t.Error("it says that it is kept")
	}
	c = read(path)
	defer c.Close()
	wantRight(t, c, all)
}
