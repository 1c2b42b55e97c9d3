//go:build unix

package worktree

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ownGroup starts a process as the leader of a session and group of its own, away from our terminal.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// signalGroup asks a process and those it started to end, or ends them.
func signalGroup(p *os.Process, now bool) {
	signal := syscall.SIGTERM
	if now {
		signal = syscall.SIGKILL
	}
	syscall.Kill(-p.Pid, signal)
}

// endGroup ends what is left of the group that a process led, and returns when nothing of it runs.
func endGroup(pid int) {
	for began := time.Now(); time.Since(began) < lastWords; time.Sleep(2 * time.Millisecond) {
		if err := syscall.Kill(-pid, syscall.SIGKILL); errors.Is(err, syscall.ESRCH) || !runs(pid) {
			return
		}
	}
}

// runs reports whether a group has a process that is not only waiting to be asked for how it ended; who has to ask is not us.
func runs(group int) bool {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range files {
		text, _ := os.ReadFile(name)
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if len(fields) > 2 && fields[2] == strconv.Itoa(group) && fields[0] != "Z" && fields[0] != "X" {
			return true
		}
	}
	return len(files) == 0 // a system that does not tell
}

// startOf tells processes apart that had one number after each other; "" if there is none of that number.
func startOf(pid int) string {
	if text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil {
		if at := bytes.LastIndexByte(text, ')'); at >= 0 {
			if fields := strings.Fields(string(text[at+1:])); len(fields) > 19 {
				return fields[19] // clock ticks since the machine started
			}
		}
		return ""
	}
	if _, err := os.Stat("/proc/self/stat"); err == nil {
		return ""
	}
	out, err := exec.Command("ps", "-o", "lstart=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// endMarked ends every process of this user that has an entry in its environment, where the system shows that, but for ourselves, and
// reports how many there were. Who has left group and session of what started it is found like this alone.
func endMarked(mark string) int {
	ended := map[int]bool{}
	for began := time.Now(); time.Since(began) < 2*time.Second; time.Sleep(5 * time.Millisecond) {
		found := marked(mark)
		for _, pid := range found {
			if err := syscall.Kill(pid, syscall.SIGKILL); err == nil || errors.Is(err, syscall.ESRCH) {
				ended[pid] = true
			}
		}
		if len(found) == 0 { // those that one of them started meanwhile have been found too
			break
		}
	}
	return len(ended)
}

// marked are the processes with an entry of their environment, NAME=value; none with "".
func marked(mark string) []int {
	var found []int
	if mark == "" {
		return nil
	}
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range files {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil || pid == os.Getpid() {
			continue
		}
		if text, err := os.ReadFile(name); err == nil && slices.Contains(strings.Split(string(text), "\x00"), mark) {
			found = append(found, pid)
		}
	}
	return found
}

// endGroupOf ends what is left of a group that a process led, if that is the process that it was, or gone.
func endGroupOf(pid int, start string) {
	if pid <= 1 {
		return
	}
	if now := startOf(pid); now == "" || now == start { // a number is not given again while a group has it
		endGroup(pid)
	}
}
