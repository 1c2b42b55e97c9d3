//go:build unix && !linux

package sandbox

import "syscall"

// ownGroup starts a client in a process group of its own, out of reach of a terminal's keys.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// outlive does nothing: no client ends with us.
func outlive(*syscall.SysProcAttr) {}

// hardProcesses returns 0, unknown: outside of Linux, containers run in a machine with limits of
// its own.
func hardProcesses() uint64 { return 0 }
