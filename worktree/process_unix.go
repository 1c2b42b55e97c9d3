//go:build unix

package worktree

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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

// runs reports whether a group has a process that has not ended.
func runs(group int) bool {
	all := stats()
	for _, stat := range all {
		if stat[statGroup] == strconv.Itoa(group) && !ended(stat) {
			return true
		}
	}
	return len(all) == 0 // a system that does not tell
}

// startOf tells processes apart that had one number after each other; "" if there is none of that number.
func startOf(pid int) string {
	if stat := statOf(strconv.Itoa(pid)); stat != nil {
		return stat[statStart]
	}
	if statOf("self") != nil {
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

// endGroupOf ends what is left of a group that ownGroup made, if the system has not been started anew since, and the process that led it is the
// one that it was, or gone. Where it is gone, another may have had its number since: then it is the session of that number that is ended,
// not a group that somebody's shell has made.
func endGroupOf(pid int, start, boot string) {
	if pid <= 1 || boot != bootID() {
		return
	}
	switch now := startOf(pid); {
	case now == "":
		endSession(pid, boot)
	case now == start:
		endGroup(pid)
	}
}

// endSession ends all processes of a session, and returns when none of them runs. Where the system does not tell them, it is the group of
// that number, if the start of the system is known.
func endSession(sid int, boot string) {
	if statOf("self") == nil {
		if boot != "" {
			endGroup(sid)
		}
		return
	}
	for began := time.Now(); time.Since(began) < lastWords; time.Sleep(2 * time.Millisecond) {
		found := false
		for pid, stat := range stats() {
			if stat[statSession] == strconv.Itoa(sid) && !ended(stat) {
				found = syscall.Kill(pid, syscall.SIGKILL) == nil || found
			}
		}
		if !found {
			return
		}
	}
}

// bootID tells one start of the system from another, and on Linux one space of process numbers from another; "" where that is not known.
func bootID() string {
	if text, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		space, _ := os.Readlink("/proc/self/ns/pid")
		return strings.TrimSpace(strings.TrimSpace(string(text)) + " " + space)
	}
	if runtime.GOOS != "darwin" {
		return ""
	}
	out, err := exec.Command("sysctl", "-n", "kern.bootsessionuuid").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// Places in what statOf returns.
const (
	statState   = 0
	statGroup   = 2
	statSession = 3
	statStart   = 19 // clock ticks since the machine started
)

// statOf is what /proc says of a process, from the third field of its file stat on; nil if it says nothing.
func statOf(pid string) []string {
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return nil
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])) // the name before it may have blanks and parentheses
	if len(fields) <= statStart {
		return nil
	}
	return fields
}

// stats are the processes that /proc shows, each with what statOf says of it.
func stats() map[int][]string {
	all := map[int][]string{}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if stat := statOf(filepath.Base(dir)); err == nil && stat != nil {
			all[pid] = stat
		}
	}
	return all
}

// ended reports whether a process only waits to be asked for how it ended; who has to ask is not us.
func ended(stat []string) bool { return stat[statState] == "Z" || stat[statState] == "X" }
