//go:build linux || darwin

package process

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// child starts a program, and ends it with the test.
func child(t *testing.T, how *syscall.SysProcAttr) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "1000")
	cmd.SysProcAttr = how
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd
}

// A process is alive only under its own stamp, until it ends. It stays identifiable as a zombie.
func TestAliveIsOneProcess(t *testing.T) {
	self, cmd := os.Getpid(), child(t, nil)
	pid := cmd.Process.Pid
	start, stamp := Start(pid), Stamp(pid)
	if start == "" || stamp == "" || Boot() == "" {
		t.Fatalf("start %q, stamp %q, boot %q", start, stamp, Boot())
	}
	for _, c := range []struct {
		name  string
		pid   int
		stamp string
		want  bool
	}{
		{"itself", pid, stamp, true},
		{"who asks", self, Stamp(self), true},
		{"another one of that number", pid, stamp + "1", false},
		{"one that nobody noted", pid, "", false},
		{"no process", 1 << 22, "", false},
		{"a process that is gone", 1 << 22, stamp, false},
	} {
		if got := Alive(c.pid, c.stamp); got != c.want {
			t.Errorf("%s: alive %v", c.name, got)
		}
	}
	cmd.Process.Kill()
	for began := time.Now(); Alive(pid, stamp) && time.Since(began) < time.Minute; {
		time.Sleep(time.Millisecond)
	}
	if Alive(pid, stamp) || Start(pid) != start {
		t.Errorf("ended, and not asked for: alive %v, start %q, want %q", Alive(pid, stamp), Start(pid), start)
	}
	cmd.Wait()
	if Alive(pid, stamp) || Start(pid) == start {
		t.Errorf("gone: alive %v, start %q", Alive(pid, stamp), Start(pid))
	}
}

func TestAllTellGroups(t *testing.T) {
	all := All()
	if len(all) == 0 {
		t.Skip("this system does not show processes")
	}
	session, group := child(t, &syscall.SysProcAttr{Setsid: true}).Process.Pid, child(t, &syscall.SysProcAttr{Setpgid: true}).Process.Pid
	all = All()
	if got, want := all[session], (Stat{Group: session, Session: session}); got != want {
		t.Errorf("leader of a session: %+v, want %+v", got, want)
	}
	if got, want := all[group], (Stat{Group: group, Session: all[os.Getpid()].Session}); got != want {
		t.Errorf("leader of a group: %+v, want %+v", got, want)
	}
	if got := all[os.Getpid()].Group; got != syscall.Getpgrp() {
		t.Errorf("this process: group %d, want %d", got, syscall.Getpgrp())
	}
}
