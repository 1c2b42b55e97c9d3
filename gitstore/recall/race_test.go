package recall

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/gitstore/recall/segment"
)

// indexProcess brings the index in a folder through states of its own, and judges each. It ends with an error when one is wrong.
func indexProcess(dir string) {
	first, _ := strconv.Atoi(os.Getenv("RECALL_TEST_FIRST"))
	rounds, _ := strconv.Atoi(os.Getenv("RECALL_TEST_ROUNDS"))
	if grace, err := time.ParseDuration(os.Getenv("RECALL_TEST_GRACE")); err == nil {
		graceTime = grace
	}
	fail := func(v ...any) {
		fmt.Fprintln(os.Stderr, v...)
		os.Exit(1)
	}
	for n := first; n < first+rounds; n++ {
		x := Make(dir, testAnalysis)
		to, entries := testEntries(n)
		limit := Limits{Docs: 12 * (n % 3)}
		y, err := x.Bring(context.Background(), to, entries, limit, func(i int) (segment.Doc, error) { return testDoc(entries[i]), nil })
		x.Close()
		if errors.Is(err, ErrBehind) {
			continue
		}
		if err != nil || y.Unkept() != nil && graceTime > 0 { // others take away at once what is not finished, too
			fail(to.Key, err, y.Unkept())
		}
		if bad := judge(y, entries); bad != "" || y.Err() != nil {
			fail(to.Key, bad, y.Err())
		}
		y.Close()
	}
}

// Two processes write, others are killed while they do, and ten readers judge what they find: it is always the whole answer of
// some state. Nobody finds an index empty, unless segments go at once, when a reader may be too late twice.
func TestWritersAndReadersRace(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	for _, grace := range []time.Duration{10 * time.Minute, 0} {
		t.Run(grace.String(), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "index")
			to, entries := testEntries(0)
			bring(t, Make(dir, testAnalysis), to, entries, Limits{}).Close()
			process := func(first, rounds int) *exec.Cmd {
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), "RECALL_TEST_INDEX="+dir, fmt.Sprintf("RECALL_TEST_FIRST=%d", first), fmt.Sprintf("RECALL_TEST_ROUNDS=%d", rounds), "RECALL_TEST_GRACE="+grace.String())
				return cmd
			}
			var writers, readers sync.WaitGroup
			ended := make(chan struct{})
			for w := range 2 {
				writers.Go(func() {
					if out, err := process(w*100, 60).CombinedOutput(); err != nil {
						t.Errorf("%v\n%s", err, out)
					}
				})
			}
			go func() { writers.Wait(); close(ended) }()
			running := func() bool {
				select {
				case <-ended:
					return false
				default:
					return true
				}
			}
			killed := 0
			readers.Go(func() {
				for n := 0; running() || killed < 5; n++ {
					cmd := process(200+n, 1000)
					if err := cmd.Start(); err != nil {
						t.Error(err)
						return
					}
					time.Sleep(time.Duration(20+rand.IntN(60)) * time.Millisecond)
					cmd.Process.Kill()
					var exit *exec.ExitError
					if errors.As(cmd.Wait(), &exit) && exit.ExitCode() == -1 {
						killed++
					}
				}
			})
			var right, empty atomic.Int32
			for range 10 {
				readers.Go(func() {
					for again := true; again; again = running() {
						x := Open(dir, testAnalysis)
						var n int
						if _, err := fmt.Sscanf(x.State().Key, "state %d", &n); err != nil {
							empty.Add(1)
						} else if _, entries := testEntries(n); true {
							if bad := judge(x, entries); bad != "" || x.Err() != nil {
								t.Errorf("%s: %s, %v", x.State().Key, bad, x.Err())
							}
							right.Add(1)
						}
						x.Close()
						time.Sleep(time.Millisecond)
					}
				})
			}
			readers.Wait()
			if empty.Load() > 0 && grace > 0 || right.Load() < 20 || killed < 5 {
				t.Errorf("%d whole answers, %d empty, %d writers killed", right.Load(), empty.Load(), killed)
			}
			t.Logf("%d whole answers, %d empty, %d writers killed", right.Load(), empty.Load(), killed)
			to, entries = testEntries(500)
			x := bring(t, Make(dir, testAnalysis), to, entries, Limits{})
			wantRight(t, x, entries)
			x.Close()
		})
	}
}
