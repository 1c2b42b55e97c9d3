package sandbox

import (
	"os"
	"syscall"
)

// Find finds no engine on Windows, so nothing is started there.

func ownGroup() *syscall.SysProcAttr { return nil }

func exitCode(s *os.ProcessState) int { return s.ExitCode() }

// outlive does nothing: no client ends with us.
func outlive(*syscall.SysProcAttr) {}

// hardProcesses returns 0, unknown: outside of Linux, containers run in a machine with limits of
// its own.
func hardProcesses() uint64 { return 0 }
