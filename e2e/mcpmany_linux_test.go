package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// An agent calls our tools a thousand times in one session, several at once, while memories are
// added and git repacks. Each answer reaches the model, and the server's resources at the end equal
// those after its warm-up.
func TestClientsCallOurToolsAThousandTimes(t *testing.T) {
	inClients(t, []string{"codex"}, func(l *lab) { // the fastest, and it keeps all answers in its requests to the model
		const each, rounds, some = 25, 40, 12
		const known = "Use pnpm, never npm, in web/"
		t := l.t
		l.install()
		id := strings.TrimSpace(l.must("remember", "-k", "convention", known))
		var sizes []size // at the beginning of each round
		look := func() { sizes = append(sizes, asking{pid: l.server()}.size(t)) }
		var steps []step
		for i := range rounds {
			s := step{Say: fmt.Sprintf("Round %d.", i)}
			if i > 0 { // before, it may not have begun
				s.Before = look
			}
			for n := range each {
				c := []call{
					{l.c.tool("recall"), fields{"query": fmt.Sprintf("pnpm or npm in package %d", i*each+n), "limit": 1}},
					{l.c.tool("show"), fields{"id": id}},
					{l.c.tool("context"), fields{"files": []string{"web/app.ts"}}},
				}[n%3]
				s.Calls = append(s.Calls, c)
			}
			steps = append(steps, s)
		}
		l.model.play(turn{"Ask a lot.", append(steps, step{Say: "That is all.", Before: look})})

		ctx, stop := context.WithCancel(t.Context())
		var beside sync.WaitGroup
		kept, packed := 0, 0
		beside.Go(func() {
			for ctx.Err() == nil {
				for range 4 {
					kept++
					if a := l.reverie("remember", fmt.Sprintf("Beside the agent thing %d was kept", kept)); a.code != 0 {
						t.Error(a)
					}
				}
				packed++
				if out, err := tryGit(l.repo, "gc", "-q"); err != nil {
					t.Errorf("git gc: %v %s", err, out)
				}
			}
		})
		heard := l.run(l.c.session("Ask a lot.")...)
		stop()
		beside.Wait()
		if len(sizes) != rounds {
			t.Fatalf("%d rounds", len(sizes))
		}
		before, after := least(sizes[:some]), least(sizes[rounds-some:])
		answered := 0
		for _, s := range newest(heard).Said {
			answered += strings.Count(s.Text, known)
		}
		t.Logf("%d of %d answers, beside %d memories kept and %d times git gc; the server: %+v, then %+v", answered, each*rounds, kept, packed, before, after)
		if answered < each*rounds || kept < 8 || packed < 2 {
			t.Errorf("%d of %d answers reached the model beside %d memories kept and %d times git gc", answered, each*rounds, kept, packed)
		}
		if after.files > before.files+4 || after.threads > before.threads+16 || after.kilobytes > before.kilobytes+24<<10 {
			t.Errorf("the server grew: %+v, then %+v", before, after)
		}
		l.settle() // fsck misses what a worker writes meanwhile
		git(t, l.repo, "fsck", "--strict")
	})
}

// least returns the smallest of each value. Garbage collection makes the values vary, and only
// their minimum shows a leak.
func least(all []size) size {
	low := all[0]
	for _, s := range all {
		low = size{min(low.files, s.files), min(low.threads, s.threads), min(low.kilobytes, s.kilobytes)}
	}
	return low
}

// server returns the process of our server that the agent started.
func (l *lab) server() int {
	l.t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		l.t.Fatal(err)
	}
	for _, file := range all {
		argv, _ := os.ReadFile(file)
		if bytes.HasPrefix(argv, []byte(l.binary()+"\x00mcp\x00")) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			return pid
		}
	}
	l.t.Error("the agent has no server of ours")
	return os.Getpid()
}
