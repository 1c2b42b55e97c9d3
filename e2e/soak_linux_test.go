package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// soakTime returns the duration of TestSoak: REVERIE_SOAK in Go's format, else a minute in CI.
func soakTime(t *testing.T) time.Duration {
	text := os.Getenv("REVERIE_SOAK")
	switch {
	case text != "":
		lasts, err := time.ParseDuration(text)
		if err != nil {
			t.Fatalf("REVERIE_SOAK: %v", err)
		}
		return lasts
	case full:
		return time.Minute
	}
	return 5 * time.Second
}

// soakRound is the duration of a soak between two complete checks.
const soakRound = 5 * time.Minute

// Two clones and a bare remote, for as long as REVERIE_SOAK says. In each clone workers remember,
// edit, forget, accept, purge and sync, commands are killed at random, and git collects garbage of
// any age, repacks, prunes and writes commit-graphs, some of it killed as well. Each round ends
// with syncs; then both clones have the same tree, every acknowledged change is there, what was
// purged is not, and git finds nothing wrong.
func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	t.Parallel()
	lasts := soakTime(t)
	s := newSoak(t)
	began := time.Now()
	for round := 1; time.Since(began) < lasts && !t.Failed(); round++ {
		s.round(min(soakRound, lasts-time.Since(began)))
		s.settle()
		s.check()
		t.Logf("%s, round %d: %v; %d killed, %d purged; slowest sync %s, %d late; git: %v", time.Since(began).Round(time.Second), round, s.h.counts(), s.killed, len(s.purged),
			s.slowest.Round(time.Millisecond), s.late, s.kept)
	}
	for _, want := range []string{"gc --prune=now", "prune --expire=now", "commit-graph write --reachable"} {
		if lasts >= time.Minute && s.kept[want] == 0 {
			t.Errorf("no git %s came to its end", want)
		}
	}
	if lasts >= time.Minute && (s.killed == 0 || len(s.purged) == 0) {
		t.Errorf("%d commands were killed and %d statements purged: the run shows nothing", s.killed, len(s.purged))
	}
}

type soak struct {
	t      *testing.T
	h      *history
	bare   string
	clones []*clone
	shared []string
	n      uint64 // of the workers so far

	mu      sync.Mutex
	running map[*os.Process]bool
	killed  int
	purged  []string       // ids whose purge was acknowledged
	kept    map[string]int // housekeeping that came to its end, and what failed
	late    int            // syncs between rounds that ran out of time
	slowest time.Duration  // of the syncs between rounds
}

func newSoak(t *testing.T) *soak {
	served := t.TempDir()
	s := &soak{t: t, h: &history{}, bare: filepath.Join(served, "bare.git"), running: map[*os.Process]bool{}, kept: map[string]int{}}
	git(t, "", "init", "-q", "--bare", s.bare)
	for _, name := range []string{"a", "b"} {
		dir := newRepo(t)
		git(t, dir, "remote", "add", "origin", s.bare)
		git(t, dir, "config", "user.name", "Clone "+name)
		s.clones = append(s.clones, &clone{name: name, dir: dir, adds: map[string]string{}})
	}
	for i := range 15 {
		token := fmt.Sprintf("s%d", i)
		id := strings.TrimSpace(must(t, s.clones[0].dir, "-q", "remember", token+" is a statement that both know"))
		s.h.add(event{clone: "a", op: "remember", id: id, token: token, ok: true})
		s.shared = append(s.shared, id)
	}
	git(t, s.clones[0].dir, "push", "-q", "origin", "HEAD:main")
	for _, c := range s.clones {
		must(t, c.dir, "sync", "--yes")
		c.propose(t, 60)
	}
	return s
}

// round has everybody at work for a time.
func (s *soak) round(lasts time.Duration) {
	ctx, stop := context.WithTimeout(s.t.Context(), lasts)
	defer stop()
	var all sync.WaitGroup
	start := func(work func(context.Context, *rand.Rand)) {
		s.n++
		rnd := rand.New(rand.NewPCG(*seed, s.n))
		all.Go(func() { work(ctx, rnd) })
	}
	for _, c := range s.clones {
		for range 2 {
			n := int(s.n)
			start(func(ctx context.Context, rnd *rand.Rand) {
				w := &worker{t: s.t, h: s.h, n: n, clone: c, shared: s.shared, rnd: rnd, run: s.run}
				for ctx.Err() == nil {
					for range rnd.IntN(15) {
						if w.step(); ctx.Err() != nil {
							return
						}
					}
					pause(ctx, rnd, lasts/40)
				}
			})
		}
		start(func(ctx context.Context, rnd *rand.Rand) { s.purge(ctx, rnd, c, lasts) })
		start(func(ctx context.Context, rnd *rand.Rand) { s.keep(ctx, rnd, c) })
	}
	start(s.kill)
	all.Wait()
}

// pause waits for some part of a time.
func pause(ctx context.Context, rnd *rand.Rand, most time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(rand.N(most + 1)):
	}
}

// run is reverie, whose process may be killed: then the code is -1.
func (s *soak) run(dir string, args ...string) answer {
	s.t.Helper()
	cmd := exec.Command(binary, args...)
	var out, stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = dir, &out, &stderr, time.Second
	s.mu.Lock()
	err := cmd.Start()
	s.running[cmd.Process] = true
	s.mu.Unlock()
	if err == nil {
		hangs := time.AfterFunc(patience, func() { s.t.Errorf("hangs: %q", args); cmd.Process.Kill() })
		err = cmd.Wait()
		hangs.Stop()
	}
	s.mu.Lock()
	delete(s.running, cmd.Process)
	s.mu.Unlock()
	return answer{args: cmd.Args, out: out.String(), err: stderr.String()}.ended(s.t, err)
}

// kill ends a command now and then, as a power cut does.
func (s *soak) kill(ctx context.Context, rnd *rand.Rand) {
	for ctx.Err() == nil {
		pause(ctx, rnd, 4*time.Second)
		s.mu.Lock()
		for process := range s.running { // some one of them
			if process.Kill() == nil {
				s.killed++
			}
			break
		}
		s.mu.Unlock()
	}
}

// purge remembers statements and takes some of them out again for good, here and on the remote.
func (s *soak) purge(ctx context.Context, rnd *rand.Rand, c *clone, lasts time.Duration) {
	for i := 0; ctx.Err() == nil; i++ {
		e := event{clone: c.name, op: "remember", token: fmt.Sprintf("p%s%d", c.name, rnd.Uint64()), ok: true}
		a := s.run(c.dir, "-q", "remember", e.token+" may be purged")
		e.id = strings.TrimSpace(a.out)
		pause(ctx, rnd, lasts/30)
		switch {
		case a.code == -1 || a.starved():
			continue
		case a.code != 0:
			s.t.Errorf("remember: %s", a)
			continue
		case rnd.IntN(2) == 0:
			s.h.add(e)
			continue
		}
		if a := s.run(c.dir, "-q", "purge", e.id, "--yes", "--push", "origin"); a.code == 0 {
			s.mu.Lock()
			s.purged = append(s.purged, e.id)
			s.mu.Unlock()
		} else if a.code != -1 && !strings.Contains(a.err, "reverie: ") {
			s.t.Errorf("it fails without a word: %s", a)
		}
	}
}

// chores are git commands to run in a clone; the first is repeated to run more often.
var chores = []string{"gc -q --prune=now", "gc -q --prune=now", "gc -q --prune=now", "gc -q", "prune --expire=now", "repack -adq", "pack-refs --all",
	"commit-graph write --reachable", "commit-graph write --reachable --split", "maintenance run --quiet", "reflog expire --expire=now --all"}

// keep keeps house in a clone, one chore after another. Some are killed, and what they started goes
// on to its end.
func (s *soak) keep(ctx context.Context, rnd *rand.Rand, c *clone) {
	for ctx.Err() == nil {
		chore := chores[rnd.IntN(len(chores))]
		cmd := exec.Command("git", strings.Fields(chore)...)
		cmd.Dir, cmd.SysProcAttr = c.dir, &syscall.SysProcAttr{Setpgid: true}
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := cmd.Start(); err != nil {
			s.t.Error(err)
			return
		}
		if rnd.IntN(8) == 0 && strings.HasPrefix(chore, "gc") {
			time.Sleep(rand.N(60 * time.Millisecond))
			cmd.Process.Kill()
		}
		err := cmd.Wait()
		for end := time.Now().Add(patience); syscall.Kill(-cmd.Process.Pid, 0) == nil && time.Now().Before(end); {
			time.Sleep(5 * time.Millisecond) // as one person would, who does not start two of them
		}
		os.Remove(filepath.Join(c.dir, ".git", "gc.pid.lock"))
		name := strings.Replace(chore, " -q", "", 1)
		if err != nil {
			name += " failed"
			if said.Len() > 0 {
				name += ": " + strings.SplitN(said.String(), "\n", 2)[0]
				name = name[:min(len(name), 90)]
			}
		}
		s.mu.Lock()
		s.kept[name]++
		s.mu.Unlock()
		pause(ctx, rnd, 500*time.Millisecond)
	}
}

// settle syncs until both clones have the same tree. A sync that runs out of time on a busy machine
// is repeated: each goes on from the step before.
func (s *soak) settle() {
	for round := 1; ; round++ {
		for _, c := range s.clones {
			began := time.Now()
			a := reverie(s.t, c.dir, "sync", "--yes")
			for strings.Contains(a.err, "not done within") && time.Since(began) < patience {
				s.late++
				a = reverie(s.t, c.dir, "sync", "--yes")
			}
			s.slowest = max(s.slowest, time.Since(began))
			if a.code == 12 && strings.Contains(a.err, "purge --push") { // one that was interrupted
				a = reverie(s.t, c.dir, "purge", "--yes", "--push", "origin")
			}
			if a.code != 0 && round > 4 {
				s.t.Errorf("clone %s: %s", c.name, a)
			}
		}
		if treeOf(s.t, s.clones[0]) == treeOf(s.t, s.clones[1]) && round > 1 {
			return
		}
		if round == 8 {
			s.t.Fatalf("still apart after %d syncs each: %s and %s", round, treeOf(s.t, s.clones[0]), treeOf(s.t, s.clones[1]))
		}
	}
}

// check looks at everything.
func (s *soak) check() {
	s.h.check(s.t, s.clones)
	want := treeOf(s.t, s.clones[0])
	if got := git(s.t, s.bare, "rev-parse", "reverie/memory^{tree}"); got != want {
		s.t.Errorf("the remote has tree %s, the clones %s", got, want)
	}
	for _, c := range s.clones {
		if a := reverie(s.t, c.dir, "check", "--deep"); a.code != 0 {
			s.t.Errorf("clone %s: %s", c.name, a)
		}
		all := must(s.t, c.dir, "list", "--all", "--json")
		for _, id := range s.purged {
			if strings.Contains(all, `"id":"`+id+`"`) {
				s.t.Errorf("clone %s: purged and there: %s", c.name, id)
			}
		}
	}
	for _, dir := range []string{s.clones[0].dir, s.clones[1].dir, s.bare} {
		if out, err := tryGit(dir, "fsck", "--strict", "--no-dangling"); err != nil {
			s.t.Errorf("%s: %v\n%s", dir, err, out)
		}
	}
	if left := s.leftovers(); len(left) > 0 {
		s.t.Logf("left behind: %v", left)
	}
}

// leftovers lists locks without a holder.
func (s *soak) leftovers() []string {
	var left []string
	for _, c := range s.clones {
		left = append(left, slices.DeleteFunc(files(s.t, filepath.Join(c.dir, ".git", "refs")), func(path string) bool { return !strings.HasSuffix(path, ".lock") })...)
		if _, err := os.Lstat(filepath.Join(c.dir, ".git", "packed-refs.lock")); !errors.Is(err, os.ErrNotExist) {
			left = append(left, "packed-refs.lock")
		}
	}
	return left
}
