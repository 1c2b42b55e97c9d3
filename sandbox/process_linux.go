package sandbox

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// ownGroup starts a client in a process group of its own, out of reach of a terminal's keys, and
// makes it end with us. The kernel watches the starting thread; Go's threads live as long as the
// process, unless a goroutine ends while locked to one.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// outlive lets a client continue when we end.
func outlive(how *syscall.SysProcAttr) { how.Pdeathsig = 0 }

// hardProcesses returns the maximum number of processes of the current user; 0 if unknown.
func hardProcesses() uint64 {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NPROC, &l) != nil {
		return 0
	}
	return l.Max
}
