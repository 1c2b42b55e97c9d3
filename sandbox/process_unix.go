//go:build unix

package sandbox

import (
	"os"
	"syscall"
)

// exitCode returns a process's exit code, or 128 plus the number of its signal.
func exitCode(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}
