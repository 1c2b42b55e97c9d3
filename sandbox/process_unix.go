//go:build unix

package sandbox

import (
	"os"
	"syscall"
)

// endGroup ends a group leader and its group.
func endGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }

// exitCode returns a process's exit code, or 128 plus the number of its signal.
func exitCode(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}
