package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// clone is one of the two, with its users' knowledge.
type clone struct {
	name string
	dir  string

	mu   sync.Mutex
	own  []string          // ids remembered here
	ops  []string          // operations that wait here
	adds map[string]string // the memory that an operation adds
}

// Two clones and a bare remote: four processes at once remember, edit, forget, accept and sync,
// while connections to the remote are cut at random. After the network is repaired and each clone
// has synced, both have the same tree, and a checker finds every acknowledged change.
func TestTwoClonesOverABrokenNetworkLoseNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	t.Parallel()
	lasts, waiting, both := 3*time.Second, 30, 15
	ops, least := 1, int32(1) // and cuts
	if full {
		lasts, waiting, both = 30*time.Second, 400, 40
		ops, least = 600, 20
	}
	served := t.TempDir()
	git(t, "", "init", "-q", "--bare", filepath.Join(served, "bare.git"))
	net := newNetwork(t, served)
	clones := []*clone{newClone(t, net, "a"), newClone(t, net, "b")}
	h := &history{}

	// Memories that both know from the beginning, so that both edit and forget them.
	var shared []string
	for i := range both {
		token := fmt.Sprintf("s%d", i)
		id := strings.TrimSpace(must(t, clones[0].dir, "-q", "remember", token+" is a statement that both know"))
		h.add(event{clone: "a", op: "remember", id: id, token: token, ok: true})
		shared = append(shared, id)
	}
	git(t, clones[0].dir, "push", "-q", "origin", "HEAD:main")
	for _, c := range clones {
		must(t, c.dir, "sync", "--yes")
		c.propose(t, waiting)
	}

	net.broken.Store(true)
	began := time.Now()
	var workers sync.WaitGroup
	for n := range 4 {
		w := worker{t: t, h: h, n: n, clone: clones[n%2], shared: shared, rnd: rand.New(rand.NewPCG(*seed, uint64(n)+10))}
		workers.Go(func() {
			for { // a slow machine gets more time
				if gone := time.Since(began); gone > 10*lasts || gone > lasts && net.cuts.Load() >= least && h.size() >= ops+len(shared) {
					return
				}
				w.step()
			}
		})
	}
	workers.Wait()
	took := time.Since(began)
	net.broken.Store(false)
	cuts := net.cuts.Load()

	for round := 0; ; round++ {
		for _, c := range clones {
			must(t, c.dir, "sync", "--yes")
		}
		if treeOf(t, clones[0]) == treeOf(t, clones[1]) && round > 0 {
			break
		}
		if round == 5 {
			t.Fatalf("still apart after %d syncs each: %s and %s", round+1, treeOf(t, clones[0]), treeOf(t, clones[1]))
		}
	}
	h.check(t, clones)
	bare := filepath.Join(served, "bare.git")
	if got, want := git(t, bare, "rev-parse", "reverie/memory^{tree}"), treeOf(t, clones[0]); got != want {
		t.Errorf("the remote has tree %s, the clones %s", got, want)
	}
	for _, dir := range []string{clones[0].dir, clones[1].dir, bare} {
		git(t, dir, "fsck", "--strict", "--no-dangling")
	}
	for _, c := range clones {
		must(t, c.dir, "check", "--deep")
	}

	rate := float64(len(h.events)-len(shared)) / took.Seconds()
	t.Logf("%d operations in %.1f s, %.0f a second: %v; %d connections, %d cut, %d of them on the way in; -seed %d",
		len(h.events)-len(shared), took.Seconds(), rate, h.counts(), net.connections.Load(), cuts, net.into.Load(), *seed)
	if n := len(h.events) - len(shared); n < ops {
		t.Errorf("%d operations are less than %d: the run shows nothing", n, ops)
	}
	if cuts < least {
		t.Errorf("only %d connections were cut", cuts)
	}
	if !full {
		return
	}
	for _, op := range []string{"remember", "edit", "forget", "accept", "sync"} {
		if h.counts()[op+" ok"] == 0 {
			t.Errorf("no %s was acknowledged", op)
		}
	}
	if h.counts()["sync failed"] == 0 {
		t.Error("no sync failed: the cuts did nothing")
	}
}

func newClone(t *testing.T, net *network, name string) *clone {
	t.Helper()
	dir := newRepo(t)
	git(t, dir, "remote", "add", "origin", net.URL+"/bare.git")
	git(t, dir, "config", "user.name", "Clone "+name)
	return &clone{name: name, dir: dir, adds: map[string]string{}}
}

// propose puts operations into the inbox.
func (c *clone) propose(t *testing.T, n int) {
	t.Helper()
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, "{\"text\":\"%s%d was proposed in this clone\"}\n", c.name, i)
	}
	file := filepath.Join(t.TempDir(), "import.jsonl")
	write(t, file, lines.String())
	must(t, c.dir, "import", file)
	for line := range strings.Lines(must(t, c.dir, "review", "--json")) {
		var op struct {
			ID     string
			Memory struct{ ID string }
		}
		if err := json.Unmarshal([]byte(line), &op); err != nil {
			t.Fatal(err)
		}
		c.ops, c.adds[op.ID] = append(c.ops, op.ID), op.Memory.ID
	}
	if len(c.ops) != n {
		t.Fatalf("%d operations wait, want %d", len(c.ops), n)
	}
}

func treeOf(t *testing.T, c *clone) string {
	return git(t, c.dir, "rev-parse", "reverie/memory^{tree}")
}

// worker does one operation after another in a clone.
type worker struct {
	t      *testing.T
	h      *history
	n      int
	clone  *clone
	shared []string
	rnd    *rand.Rand
	steps  int

	// nil for reverie; its commands may be killed, which gives -1
	run func(dir string, args ...string) answer
}

func (w *worker) step() {
	w.steps++
	e := event{clone: w.clone.name, token: fmt.Sprintf("w%dn%d", w.n, w.steps)}
	var args []string
	switch k := w.rnd.IntN(100); {
	case k < 46:
		e.op, args = "remember", []string{"remember", e.token + " is what this one learned"}
	case k < 69:
		e.op, e.id = "edit", w.any(70)
		args = []string{"edit", e.id, e.token + " is what this one now says"}
	case k < 76:
		e.op, e.id = "forget", w.any(15)
		args = []string{"forget", "--reason", "no longer so", e.id}
	case k < 88:
		op := w.pending()
		if op == "" {
			return
		}
		e.op, e.id = "accept", w.clone.adds[op]
		args = []string{"accept", op}
	default:
		e.op, args = "sync", []string{"sync", "--yes", "--timeout", "10s"}
	}
	if e.op != "remember" && e.op != "sync" && e.id == "" {
		return
	}
	args = append([]string{"-q"}, args...)
	var a answer
	if w.run != nil {
		a = w.run(w.clone.dir, args...)
	} else {
		a = reverie(w.t, w.clone.dir, args...)
	}
	killed := w.run != nil && a.code == -1
	e.ok = a.code == 0
	if e.ok && e.op == "remember" {
		e.id = strings.TrimSpace(a.out)
		w.clone.mu.Lock()
		w.clone.own = append(w.clone.own, e.id)
		w.clone.mu.Unlock()
	}
	// A failure in the clone has one valid reason: another process changed the memory between this
	// one's reading and writing, and a person is asked to look again.
	lost := (e.op == "edit" || e.op == "forget") && a.code == 12
	if !e.ok && e.op != "sync" && !lost && !killed && !(w.run != nil && a.starved()) {
		w.t.Errorf("%s: %s", e.op, a)
	}
	if !e.ok && !killed && !strings.Contains(a.err, "reverie: ") {
		w.t.Errorf("it fails without a word: %s", a)
	}
	w.h.add(e)
}

// any returns a memory that both know, in percent of the cases, or one remembered in this clone.
func (w *worker) any(percent int) string {
	w.clone.mu.Lock()
	defer w.clone.mu.Unlock()
	if len(w.clone.own) == 0 || w.rnd.IntN(100) < percent {
		return w.shared[w.rnd.IntN(len(w.shared))]
	}
	return w.clone.own[w.rnd.IntN(len(w.clone.own))]
}

// pending takes a pending operation of this clone.
func (w *worker) pending() string {
	w.clone.mu.Lock()
	defer w.clone.mu.Unlock()
	if len(w.clone.ops) == 0 {
		return ""
	}
	op := w.clone.ops[0]
	w.clone.ops = w.clone.ops[1:]
	return op
}

// starved reports whether a command gave up its wait for a lock: on a busy machine, holders may run
// that rarely.
func (a answer) starved() bool {
	return a.code != 0 && (strings.Contains(a.err, ": held by ") || strings.Contains(a.err, "ref is locked"))
}
