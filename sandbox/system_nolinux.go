//go:build !linux

package sandbox

import "os/exec"

// endWithUs does nothing: only Linux ends a client with us.
func endWithUs(*exec.Cmd) {}

// hardProcesses returns 0, unknown: containers run in a machine with limits of its own.
func hardProcesses() uint64 { return 0 }

// dropCapabilities returns false: files have capabilities only on Linux.
func dropCapabilities(string) (there bool, err error) { return false, nil }
