//go:build unix && !linux

package sandbox

import "syscall"

// ownGroup starts a client in a group of its own, where no key of a terminal reaches it.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// outlive has nothing to do: no client ends with us.
func outlive(*syscall.SysProcAttr) {}

// hardProcesses is not known: elsewhere than on Linux, containers run in a machine with limits of
// its own.
func hardProcesses() uint64 { return 0 }
