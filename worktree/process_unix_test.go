//go:build unix

package worktree

import (
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"
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

// A mark is a whole entry of an environment: not its beginning, nor a part of what another variable says, and "" is nobody's.
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
	for began := time.Now(); len(marked(mark)) < 2 && time.Since(began) < time.Minute; { // each has to become the program first
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
