package sandbox

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// ownGroup starts a client in a group of its own, where no key of a terminal reaches it, and has it
// end with us. The kernel looks at the thread that started it; Go's threads live as long as the
// process, where no goroutine ends while it holds one.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// outlive has a client go on when we end.
func outlive(how *syscall.SysProcAttr) { how.Pdeathsig = 0 }

// hardProcesses returns the maximum number of processes of the current user; 0 if unknown.
func hardProcesses() uint64 {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NPROC, &l) != nil {
		return 0
	}
	return l.Max
}
