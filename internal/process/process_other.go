//go:build !linux && !darwin

package process

import (
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

// Boot returns "": it is unknown on this system.
func Boot() string { return "" }

// Space returns "": it is unknown on this system.
func Space() string { return "" }

// All returns nil on this system.
func All() map[int]Stat { return nil }

// look returns a process's Start, to the second, if ps is available. It cannot tell whether the
// process has ended.
func look(pid int) (start string, ended bool) {
	if runtime.GOOS == "windows" { // a ps there has its own numbers
		return "", false
	}
	out, err := exec.Command("ps", "-o", "lstart=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return "", true
	}
	return strings.TrimSpace(string(out)), false
}

// stamp returns "": the output of ps depends on the caller's time zone.
func stamp(string) string { return "" }
