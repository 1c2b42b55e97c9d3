package process

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// Alone starts a command without our console, so that no program in it finds one to ask. At the end
// of the command's context the command is killed.
func Alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NO_WINDOW}
	cmd.Cancel = func() error { return KillGroup(cmd.Process) }
}

// KillGroup kills a process that Alone began.
func KillGroup(p *os.Process) error { return p.Kill() }
