//go:build unix

package cmd

import "syscall"

// apart starts a process in a session of its own: no terminal, no signal of ours, and a shell that waits for our group does
// not wait for it.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// beNice lets everything else go first.
func beNice() { syscall.Setpriority(syscall.PRIO_PROCESS, 0, 10) }

// endGroup ends a process that leads its group, and all that it started.
func endGroup(pid int) { syscall.Kill(-pid, syscall.SIGKILL) }
