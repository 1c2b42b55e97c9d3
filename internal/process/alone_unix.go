//go:build unix

package process

import (
	"os"
	"os/exec"
	"syscall"
)

// Alone gives a command a session of its own, so that no program in it finds a terminal to ask. At
// the end of the command's context the whole session's group is killed.
func Alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return KillGroup(cmd.Process) }
}

// KillGroup kills the group of a process that Alone began, even after its own end.
func KillGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }
