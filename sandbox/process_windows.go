package sandbox

import (
	"os"
	"syscall"
)

// Find finds no engine on Windows, so nothing is started there.

func ownGroup() *syscall.SysProcAttr { return nil }

func endGroup(p *os.Process) error { return p.Kill() }

func exitCode(s *os.ProcessState) int { return s.ExitCode() }
