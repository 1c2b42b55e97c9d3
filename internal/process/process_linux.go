package process

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Boot identifies one boot of the system, and one pid namespace.
func Boot() string {
	boot := bootID()
	if boot == "" {
		return ""
	}
	return strings.TrimSpace(boot + " " + Space())
}

// Space names this process's pid namespace: in another one, the same number belongs to another
// process.
func Space() string {
	space, _ := os.Readlink("/proc/self/ns/pid")
	return space
}

// All returns the visible processes, or none if the system does not show them.
func All() map[int]Stat {
	all := map[int]Stat{}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		stat := statOf(pid)
		if stat == nil {
			continue
		}
		group, err := strconv.Atoi(stat[statGroup])
		session, err2 := strconv.Atoi(stat[statSession])
		if err == nil && err2 == nil {
			all[pid] = Stat{Group: group, Session: session, Ended: ended(stat)}
		}
	}
	return all
}

// look returns a process's Start, and whether it has ended.
func look(pid int) (start string, over bool) {
	stat := statOf(pid)
	if stat == nil {
		return "", true
	}
	return stat[statStart], ended(stat)
}

// stamp prefixes the ticks since the boot with the boot's id.
func stamp(start string) string {
	boot := bootID()
	if start == "" || boot == "" {
		return ""
	}
	return boot + "/" + start
}

func bootID() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// Indexes into the result of statOf.
const (
	statState   = 0
	statGroup   = 2
	statSession = 3
	statStart   = 19 // clock ticks since the machine started
)

// statOf returns the fields of /proc/<pid>/stat from the third on, or nil.
func statOf(pid int) []string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	// the name before it may have blanks and parentheses
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) <= statStart {
		return nil
	}
	return fields
}

func ended(stat []string) bool { return stat[statState] == "Z" || stat[statState] == "X" }
