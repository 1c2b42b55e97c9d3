package process

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// Boot identifies one boot of the system.
func Boot() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(id)
}

// Space returns "": macOS has one space of process numbers.
func Space() string { return "" }

// All returns nil: macOS does not list this as simply.
func All() map[int]Stat { return nil }

// look returns a process's Start, in seconds and microseconds of wall time, and whether it has
// ended.
func look(pid int) (start string, ended bool) {
	const zombie = 5 // SZOMB of sys/proc.h
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(info.Proc.P_pid) != pid {
		return "", true
	}
	at := info.Proc.P_starttime
	return fmt.Sprintf("%d.%06d", at.Sec, at.Usec), info.Proc.P_stat == zombie
}

// stamp returns Start: no two boots share a moment.
func stamp(start string) string { return start }
