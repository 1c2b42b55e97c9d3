//go:build unix

package worktree

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/internal/process"
)

// started starts a program, and ends it with the test.
func started(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd.Process.Pid
}

// A mark must equal a whole entry of an environment, not its beginning or a part of another value;
// "" matches no process.
func TestMarkedProcesses(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("this system does not show the environment of processes")
	}
	mark := Mark(State{Run: "00112233aabbccdd"})
	var pids []int
	for _, env := range []string{mark, mark + "0", "X=" + mark, "X=a\n" + mark} {
		cmd := exec.Command("sleep", "1000")
		cmd.Env = []string{"A=1", env, "B=2"}
		pids = append(pids, started(t, cmd))
	}
	first := exec.Command("sleep", "1000")
	first.Env = []string{mark}
	pids = append(pids, started(t, first))
	// each must first become the program
	for began := time.Now(); len(marked(mark)) < 2 && time.Since(began) < time.Minute; {
		time.Sleep(time.Millisecond)
	}
	got := marked(mark)
	slices.Sort(got)
	if want := []int{pids[0], pids[4]}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v of %v", got, want, pids)
	}
	if all := marked(""); len(all) > 0 {
		t.Errorf("without a mark: %v", all)
	}
}

// The lease of a killed holder names its process group. The group is ended only if it must be the
// same: not after a reboot, not if its number was reused, and not if it belongs to another session.
func TestGroupOfADeadLease(t *testing.T) {
	if len(process.All()) == 0 {
		t.Skip("this system does not tell groups")
	}
	for _, c := range []struct {
		name    string
		leads   bool // the group's leader exists
		session bool // it led a session, like the processes of a loop
		change  func(h *Holder)
		ends    bool
	}{
		{"with its leader", true, true, nil, true},
		{"without its leader", false, true, nil, true},
		{"of another start of the system", true, true, func(h *Holder) { h.Boot = "before" }, false},
		{"of another start, without its leader", false, true, func(h *Holder) { h.Boot = "before" }, false},
		{"of who knows when", false, true, func(h *Holder) { h.Boot = "" }, false},
		{"led by another process of that number", true, true, func(h *Holder) { h.GroupStart = "1" }, false},
		{"of a shell's session, without its leader", false, false, nil, false},
		{"of another machine", true, true, func(h *Holder) { h.Host += "x" }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, nil)
			end := "exit"
			if c.leads {
				end = "wait"
			}
			leader := exec.Command("sh", "-c", "sleep 1000 & echo $!; "+end)
			leader.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			if c.session {
				leader.SysProcAttr = ownGroup()
			}
			out, err := leader.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			pid := started(t, leader)
			t.Cleanup(func() { syscall.Kill(-pid, syscall.SIGKILL) })
			var child int
			if _, err := fmt.Fscan(out, &child); err != nil {
				t.Fatal(err)
			}
			host, _ := os.Hostname()
			h := Holder{Host: host, PID: 1 << 22, Boot: process.Boot(), Beat: time.Now().Add(-time.Hour), Group: pid, GroupStart: process.Start(pid)}
			if !c.leads {
				leader.Process.Wait()
			}
			if c.change != nil {
				c.change(&h)
			}
			text, err := json.Marshal(h)
			if err != nil {
				t.Fatal(err)
			}
			dir, err := folder(b.repo, "one")
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, leaseFile), text, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			lease, err := TakeLease(t.Context(), b.repo, "one", "")
			if err != nil {
				t.Fatal(err)
			}
			lease.Release()
			stat, found := process.All()[child]
			if gone := !found || stat.Ended; gone != c.ends {
				t.Errorf("ended %v, want %v", gone, c.ends)
			}
		})
	}
}
