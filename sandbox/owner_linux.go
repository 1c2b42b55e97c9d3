package sandbox

import (
	"os"
	"strconv"
	"strings"
)

// startOf is when a process started: the boot of the machine, and ticks since then. "" where there is none, or one that ended and waits for
// its parent.
func startOf(pid int) string {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	text := string(stat)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:]) // from the third: the name may hold anything
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return ""
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + "/" + fields[19] // the 22nd of all
}

// pidSpace tells the spaces of process ids of one machine apart.
func pidSpace() string {
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return "/" + space
}
