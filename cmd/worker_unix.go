//go:build unix

package cmd

import "syscall"

// apart starts a process in a session of its own: no terminal, no signal of ours, and a shell that waits for our group does
// not wait for it.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// beNice lets everything else go first. It is asked for the group that the worker leads: of a process, it would reach one thread.
func beNice() { syscall.Setpriority(syscall.PRIO_PGRP, 0, 10) }

// endGroup ends a process that leads its group, and all that it started.
func endGroup(pid int) { syscall.Kill(-pid, syscall.SIGKILL) }
