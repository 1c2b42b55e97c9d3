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

// ownGroup starts a process as the leader of its own session and group, without our terminal.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// signalGroup asks a process and its group to end, or kills them.
func signalGroup(p *os.Process, now bool) {
	signal := syscall.SIGTERM
	if now {
		signal = syscall.SIGKILL
	}
	syscall.Kill(-p.Pid, signal)
}

// endGroup kills the rest of the group that a process led, and returns when none of it runs.
func endGroup(pid int) {
	for began := time.Now(); time.Since(began) < lastWords; time.Sleep(2 * time.Millisecond) {
		if err := syscall.Kill(-pid, syscall.SIGKILL); errors.Is(err, syscall.ESRCH) || !runs(pid) {
			return
		}
	}
}

// runs reports whether a group has a living process.
func runs(group int) bool {
	all := process.All()
	for _, stat := range all {
		if stat.Group == group && !stat.Ended {
			return true
		}
	}
	return len(all) == 0 // a system that does not tell
}

// endMarked ends every other process of this user that has mark in its environment, if the system
// shows environments. Only this finds a process that has left the group and session of its parent.
func endMarked(mark string) {
	for began := time.Now(); time.Since(began) < 2*time.Second; time.Sleep(5 * time.Millisecond) {
		found := marked(mark)
		for _, pid := range found {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		if len(found) == 0 { // processes started meanwhile have been found too
			return
		}
	}
}

// marked returns the processes with an environment entry NAME=value; none for "".
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

// endGroupOf ends the rest of a group that ownGroup made, unless the system has rebooted or another
// process now has the leader's number. If the leader is gone, its number may have been reused
// meanwhile. So endGroupOf then ends the session of that number, not a group made by a person's
// shell.
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

// endSession ends all processes of a session, and returns when none runs. If the system does not
// list them, it ends the group of that number, provided that the boot is known.
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
