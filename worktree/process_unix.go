//go:build unix

package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/reverie-memory/reverie/internal/process"
)

// ownGroup starts a process as the leader of a session and group of its own, away from our
// terminal.
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
	all := process.All()
	for _, stat := range all {
		if stat.Group == group && !stat.Ended {
			return true
		}
	}
	return len(all) == 0 // a system that does not tell
}

// endMarked ends every process of this user that has an entry in its environment, where the system
// shows that, but for ourselves, and reports how many there were. Who has left group and session of
// what started it is found like this alone.
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

// endGroupOf ends what is left of a group that ownGroup made, if the system has not been started
// anew since, and the process that led it is the one that it was, or gone. Where it is gone,
// another may have had its number since: then it is the session of that number that is ended, not a
// group that somebody's shell has made.
func endGroupOf(pid int, start, boot string) {
	if pid <= 1 || boot != process.Boot() {
		return
	}
	switch now := process.Start(pid); {
	case now == "":
		endSession(pid, boot)
	case now == start:
		endGroup(pid)
	}
}

// endSession ends all processes of a session, and returns when none of them runs. Where the system
// does not tell them, it is the group of that number, if the start of the system is known.
func endSession(sid int, boot string) {
	if len(process.All()) == 0 {
		if boot != "" {
			endGroup(sid)
		}
		return
	}
	for began := time.Now(); time.Since(began) < lastWords; time.Sleep(2 * time.Millisecond) {
		found := false
		for pid, stat := range process.All() {
			if stat.Session == sid && !stat.Ended {
				found = syscall.Kill(pid, syscall.SIGKILL) == nil || found
			}
		}
		if !found {
			return
		}
	}
}
