package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// startOf is when a process started, in seconds and microseconds. "" where there is none, or one that ended and waits for its parent.
func startOf(pid int) string {
	const zombie = 5 // SZOMB of sys/proc.h
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(info.Proc.P_pid) != pid || info.Proc.P_stat == zombie {
		return ""
	}
	at := info.Proc.P_starttime
	return fmt.Sprintf("%d.%06d", at.Sec, at.Usec)
}

func pidSpace() string { return "" }
