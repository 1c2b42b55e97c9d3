package worktree

import (
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// ownGroup starts a process in its own group.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// signalGroup ends a process, but not its children.
func signalGroup(p *os.Process, _ bool) { p.Kill() }

func endGroup(int) {}

func endMarked(string) {}

func endGroupOf(int, string, string) {}
