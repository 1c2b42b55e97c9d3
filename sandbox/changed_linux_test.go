package sandbox

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Changed clears capabilities of files like set-user-ID bits.
func TestChangedDropsCapabilities(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "tool")
	if err := os.WriteFile(path, []byte("x"), 0o755); err != nil {
		t.Fatal(err)
	}
	// Version 2, effective; permitted: bit 13.
	capNetRaw := []byte{1, 0, 0, 2, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	if err := syscall.Setxattr(path, "security.capability", capNetRaw, 0); err != nil {
		t.Skipf("only root may give a file capabilities, on a file system that keeps them: %v", err)
	}
	got, err := Changed(dir, time.Now().Add(-time.Minute))
	if err != nil || len(got) != 1 || got[0].Path != "tool" {
		t.Errorf("%v %v", got, err)
	}
	if _, err := syscall.Getxattr(path, "security.capability", nil); err != syscall.ENODATA {
		t.Errorf("they are still there: %v", err)
	}
}
