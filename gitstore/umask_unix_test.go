//go:build unix

package gitstore_test

import (
	"syscall"
	"testing"
)

func setUmask(t *testing.T, mask int) {
	old := syscall.Umask(mask)
	t.Cleanup(func() { syscall.Umask(old) })
}
