//go:build unix

package job

import "syscall"

// apart starts a process in its own session. It has no terminal and gets none of our signals, and a
// shell that waits for our group does not wait for it.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// BeNice lowers the priority of the calling process and its group. Setting it for the process alone
// would reach one thread.
func BeNice() { syscall.Setpriority(syscall.PRIO_PGRP, 0, 10) }

// Kill ends a process that leads its group, and everything that it started.
func Kill(pid int) { syscall.Kill(-pid, syscall.SIGKILL) }
