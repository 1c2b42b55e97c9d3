package cmd

import (
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// apart starts a process away from our console and our group.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}
}

// beNice lets everything else go first.
func beNice() {
	windows.SetPriorityClass(windows.CurrentProcess(), windows.BELOW_NORMAL_PRIORITY_CLASS)
}

// endGroup ends a process.
func endGroup(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		p.Kill()
	}
}
