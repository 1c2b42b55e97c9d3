package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// countingAgent is an agent that appends in small steps, so that a repeated iteration shows. After
// a kill of its own it is called again in the same tree, and undoes its count by @again@.
const countingAgent = `: @mark@; @again@
for n in 1 2 3; do echo "$REVERIE_ITERATION.$n" >>log; echo $n >part$n; sleep 0.05; done
rm part2; mkdir -p .git; echo "$REVERIE_ITERATION" >>after`

const countedAgain = `if [ -e log ]; then for f in log after; do grep -v "^$REVERIE_ITERATION" $f >kept; mv kept $f; done; fi`

// killing is one loop of two iterations that is disturbed.
type killing struct {
	t     *testing.T
	dir   string
	mark  string
	start []string
	pids  []int // of all that have led it
}

func newKilling(t *testing.T, again string) *killing {
	t.Helper()
	k := &killing{t: t, dir: newRepo(t)}
	k.mark = "counting " + k.dir
	plan := filepath.Join(t.TempDir(), "plan.md")
	write(t, plan, "# Count\n\n```verify\ngrep -q '^2$' after\n```\n")
	agent := strings.NewReplacer("@mark@", k.mark, "@again@", again).Replace(countingAgent)
	k.start = []string{"loop", "start", plan, "--name", "one", "--sandbox", loopEngine(), "--audit", noFindings, "--", "sh", "-c", agent}
	return k
}

// ended returns the final result of a loop.
func (k *killing) ended() string {
	k.t.Helper()
	return git(k.t, k.dir, "rev-parse", "reverie/loop/one^{tree}") + "\n" + git(k.t, k.dir, "log", "--format=%s", "main..reverie/loop/one")
}

// carry runs a command of the loop; disturb is called when it has begun, and told when it is over.
func (k *killing) carry(args []string, disturb func(pid int, over <-chan struct{})) (answer string, code int) {
	k.t.Helper()
	cmd := exec.Command(binary, args...)
	var out bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = k.dir, &out, &out
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	k.pids = append(k.pids, cmd.Process.Pid)
	hang := time.AfterFunc(2*patience, func() { cmd.Process.Kill() })
	defer hang.Stop()
	over := make(chan struct{})
	disturbed := make(chan struct{})
	go func() {
		disturb(cmd.Process.Pid, over)
		close(disturbed)
	}()
	err := cmd.Wait()
	close(over)
	<-disturbed
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		k.t.Fatal(err)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// moment is the time of a disturbance: some time after the loop's nth container. That is the same
// point on slow and fast machines.
type moment struct {
	containers int
	after      time.Duration
}

func (m moment) String() string { return fmt.Sprintf("%v after container %d", m.after, m.containers) }

// reach waits for a moment, and reports whether the loop was still running then.
func (m moment) reach(supervisor int, over <-chan struct{}) bool {
	seen := map[string]bool{}
	for len(seen) < m.containers {
		if !wait(2*time.Millisecond, over) {
			return false
		}
		for folder, pid := range givenTo() {
			if pid == supervisor {
				seen[folder] = true
			}
		}
	}
	return wait(m.after, over)
}

// givenTo maps the folders that we share with containers to the process that each was made for.
func givenTo() map[string]int {
	all := map[string]int{}
	names, _ := filepath.Glob(filepath.Join(os.TempDir(), "reverie-*-"+strconv.Itoa(os.Getuid()), "*", "owner"))
	for _, name := range names {
		var owner struct{ PID int }
		text, err := os.ReadFile(name)
		// otherwise another loop's, which is about to come or go
		if err == nil && json.Unmarshal(text, &owner) == nil {
			all[filepath.Dir(name)] = owner.PID
		}
	}
	return all
}

// finish carries the loop to its end, and looks for losses and leftovers.
func (k *killing) finish(want, story string) {
	t := k.t
	t.Helper()
	next := []string{"loop", "resume", "one"}
	if _, err := tryGit(k.dir, "rev-parse", "--verify", "--quiet", "refs/reverie/loops/one"); err != nil {
		next = k.start
	}
	said, code := k.carry(next, func(int, <-chan struct{}) {})
	if code != 0 && !strings.Contains(said, "is done: the loop has ended") {
		t.Fatalf("%s\nthen %d: %s", story, code, said)
	}
	if got := k.ended(); got != want {
		t.Fatalf("ends as\n%s\nwant\n%s\n%s\nthen %s", got, want, story, said)
	}
	if got := git(t, k.dir, "status", "--porcelain") + git(t, k.dir, "symbolic-ref", "HEAD"); got != "refs/heads/main" {
		t.Errorf("the checkout: %s\n%s", got, story)
	}
	git(t, k.dir, "fsck", "--strict", "--no-dangling")
	// a pending order may have been executed since
	must(t, k.dir, "sandbox", "--engine", loopEngine(), "prune")
	for _, c := range containers(t) {
		if strings.Contains(c, k.dir+"/") {
			t.Errorf("a container is left: %s\n%s", c, story)
		}
	}
	if left := processes(k.mark); len(left) > 0 {
		t.Errorf("processes are left: %v\n%s", left, story)
	}
	for folder, pid := range givenTo() {
		if slices.Contains(k.pids, pid) {
			t.Errorf("%s is left\n%s", folder, story)
		}
	}
}

// After a kill of the supervisor, the engine's client, the agent or the engine itself at any time,
// a resumed loop ends with the tree and the commits of an undisturbed one.
func TestLoopDockerKilled(t *testing.T) {
	engineOfTests(t)
	kills := 4
	if full {
		kills = 30
	}
	if n, err := strconv.Atoi(os.Getenv("REVERIE_KILLS")); err == nil {
		kills = n
	}
	k := newKilling(t, "")
	began := time.Now()
	must(t, k.dir, k.start...)
	whole, want := time.Since(began), k.ended()
	if got := git(t, k.dir, "show", "reverie/loop/one:log"); strings.Count(got, "\n") != 5 {
		t.Fatalf("undisturbed: %q", got)
	}

	var supervisors, clients, agents, engines atomic.Int64
	victims := []struct {
		name  string
		again string
		count *atomic.Int64
		kill  func(k *killing, supervisor int, over <-chan struct{}) bool
	}{
		{"supervisor", "", &supervisors, func(k *killing, supervisor int, _ <-chan struct{}) bool {
			return syscall.Kill(supervisor, syscall.SIGKILL) == nil
		}},
		{"client", "", &clients, killClient},
		{"agent", countedAgain, &agents, killAgent},
	}
	random := rand.New(rand.NewPCG(*seed, 0))
	anywhere := func() moment { // one looks for programs, and each of the two iterations has three
		return moment{random.IntN(8), time.Duration(random.Int64N(int64(min(whole/8, time.Second))))}
	}
	engine, restart := theEngine()
	t.Run("loops", func(t *testing.T) {
		for i := range kills {
			if engine != "" && i%10 == 3 {
				continue // below: no other loop may run then
			}
			v := victims[i%len(victims)]
			when := anywhere()
			t.Run(fmt.Sprint(i, v.name), func(t *testing.T) {
				t.Parallel()
				k := newKilling(t, v.again)
				killed := false
				said, code := k.carry(k.start, func(supervisor int, over <-chan struct{}) {
					if when.reach(supervisor, over) {
						killed = v.kill(k, supervisor, over)
					}
				})
				if killed {
					v.count.Add(1)
				}
				k.finish(want, fmt.Sprintf("%s killed %v (%v), %d:\n%s", v.name, when, killed, code, said))
			})
		}
	})
	for i := 3; i < kills && engine != ""; i += 10 {
		when := anywhere()
		t.Run(fmt.Sprint(i, "engine"), func(t *testing.T) {
			k := newKilling(t, "")
			said, code := k.carry(k.start, func(supervisor int, over <-chan struct{}) {
				if when.reach(supervisor, over) && killPID(engine) {
					engines.Add(1)
				}
			})
			story := fmt.Sprintf("engine killed %v, %d:\n%s", when, code, said)
			if _, err := tryGit(k.dir, "rev-parse", "--verify", "--quiet", "refs/reverie/loops/one"); err == nil && code != 0 {
				if said, code := k.carry([]string{"loop", "resume", "one"}, func(int, <-chan struct{}) {}); code != 27 {
					t.Errorf("%s\nresumed without an engine, %d: %s", story, code, said)
				}
			}
			restart(t)
			k.finish(want, story)
		})
	}
	t.Logf("%d supervisors, %d clients, %d agents and %d engines killed in %d loops of %v", supervisors.Load(), clients.Load(), agents.Load(), engines.Load(), kills, whole)
	if supervisors.Load() == 0 || clients.Load() == 0 || agents.Load() == 0 || engine != "" && engines.Load() == 0 {
		t.Error("of one kind nothing was killed")
	}
}

// wait waits for a time, and reports whether the process was still running then.
func wait(d time.Duration, over <-chan struct{}) bool {
	select {
	case <-over:
		return false
	case <-time.After(d):
		return true
	}
}

// killClient kills the client attached to a container of a supervisor's, as soon as there is one.
func killClient(_ *killing, supervisor int, over <-chan struct{}) bool {
	for wait(time.Millisecond, over) {
		for _, pid := range processes("--attach") {
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
			if err == nil && len(fields) > 1 && fields[1] == strconv.Itoa(supervisor) && syscall.Kill(pid, syscall.SIGKILL) == nil {
				return true
			}
		}
	}
	return false
}

// killAgent kills the agent in its container, as soon as there is one.
func killAgent(k *killing, _ int, over <-chan struct{}) bool {
	for wait(10*time.Millisecond, over) {
		for _, pid := range processes(k.mark) {
			line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			if err == nil && bytes.HasPrefix(line, []byte("sh\x00-c\x00")) && syscall.Kill(pid, syscall.SIGKILL) == nil {
				return true
			}
		}
	}
	return false
}

// theEngine returns the pid file of the engine that .ci/docker started, and a function that
// restarts it; "" for any other.
func theEngine() (pidFile string, restart func(*testing.T)) {
	folder := filepath.Dir(strings.TrimPrefix(os.Getenv("REVERIE_DOCKER"), "unix://"))
	if loopEngine() != "docker" || filepath.Base(folder) != fmt.Sprintf("reverie-ci-docker-%d", os.Getuid()) {
		return "", nil
	}
	return filepath.Join(folder, "pid"), func(t *testing.T) {
		t.Helper()
		again := exec.Command("../.ci/docker")
		again.Env = append(os.Environ(), "TMPDIR="+filepath.Dir(folder))
		if out, err := again.CombinedOutput(); err != nil {
			t.Fatalf("the engine does not start again: %v\n%s", err, out)
		}
	}
}

// killPID kills the process whose number is in a file.
func killPID(file string) bool {
	text, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	return err == nil && syscall.Kill(pid, syscall.SIGKILL) == nil
}
