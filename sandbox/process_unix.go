//go:build unix

package sandbox

import (
	"os"
	"syscall"
)

// endGroup ends a process that leads its group, and all in it.
func endGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }

// exitCode is a process's, or 128 and the number of the signal that ended it.
func exitCode(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}
