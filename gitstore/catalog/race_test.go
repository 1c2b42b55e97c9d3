package catalog

import (
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if path := os.Getenv("CATALOG_TEST_FILE"); path != "" {
		process(path)
		return
	}
	os.Exit(m.Run())
}

// mended returns a segment with the right sums.
func mended(data []byte) []byte {
	at, sums := segmentHead, data[segmentHead:]
	for i := range sections {
		at += 4 * ((int(le.Uint32(data[segSections+8*i:])) + pageSize - 1) / pageSize)
	}
	le.PutUint32(data, crc32.ChecksumIEEE(data[4:min(at, len(data))]))
	for i := range sections {
		end := at + int(le.Uint32(data[segSections+8*i:]))
		for ; at < min(end, len(data)); at = min(at+pageSize, end) {
			le.PutUint32(sums, crc32.ChecksumIEEE(data[at:min(at+pageSize, end, len(data))]))
			sums = sums[4:]
		}
		at = end
	}
	return data
}

// process brings the catalog through states of its own, and judges each. It fails if one is wrong.
func process(path string) {
	first, _ := strconv.Atoi(os.Getenv("CATALOG_TEST_FIRST"))
	rounds, _ := strconv.Atoi(os.Getenv("CATALOG_TEST_ROUNDS"))
	fail := func(v ...any) {
		fmt.Fprintln(os.Stderr, v...)
		os.Exit(1)
	}
	for n := first; n < first+rounds; n++ {
		c := read(path)
		to, all := entries(n)
		if n%5 == 0 {
			to.Purged = fmt.Sprint(n)
		}
		y, err := bring(endless{}, c, to, all, 0)
		if errors.Is(err, ErrBehind) {
			continue
		}
		if err != nil {
			fail(to.Key, err)
		}
		if bad := judge(y, all); bad != "" || y.Err() != nil {
			fail(to.Key, bad, y.Err())
		}
		if y.Unkept() != nil {
			fmt.Println("unkept:", y.Unkept())
		}
		c.Close()
		y.Close()
	}
}

// endless is a context that never ends.
type endless struct{}

func (endless) Deadline() (t time.Time, ok bool) { return }
func (endless) Done() <-chan struct{}            { return nil }
func (endless) Err() error                       { return nil }
func (endless) Value(any) any                    { return nil }

func start(path string, first, rounds int) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "CATALOG_TEST_FILE="+path, fmt.Sprintf("CATALOG_TEST_FIRST=%d", first), fmt.Sprintf("CATALOG_TEST_ROUNDS=%d", rounds))
	return cmd
}

// Two processes write, others are killed while writing, and readers check the content. They always
// see one complete state, and never an empty one.
func TestWritersAndReadersRace(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	path := filepath.Join(t.TempDir(), "cache")
	to, all := entries(0)
	brought(t, read(path), to, all, 0).Close()
	var writers, readers sync.WaitGroup
	var done atomic.Bool
	var states sync.Map
	for i := range 2 {
		writers.Go(func() {
			if out, err := start(path, 100+1000*i, 60).CombinedOutput(); err != nil {
				t.Errorf("writer: %v\n%s", err, out)
			}
		})
	}
	writers.Go(func() {
		r := rand.New(rand.NewPCG(1, 2))
		for i := range 8 {
			cmd := start(path, 5000+100*i, 100)
			if err := cmd.Start(); err != nil {
				t.Error(err)
				return
			}
			time.Sleep(time.Duration(r.IntN(60)) * time.Millisecond)
			cmd.Process.Kill()
			cmd.Wait()
		}
	})
	for range 4 {
		readers.Go(func() {
			for !done.Load() {
				c := read(path)
				n := 0
				if _, err := fmt.Sscanf(c.Key, "state %d", &n); err != nil {
					t.Errorf("a reader finds %q", c.Key)
				} else if _, all := entries(n); true {
					if bad := judge(c, all); bad != "" || c.Err() != nil {
						t.Errorf("state %d: %s, %v", n, bad, c.Err())
					}
					states.Store(n, true)
				}
				c.Close()
			}
		})
	}
	writers.Wait()
	done.Store(true)
	readers.Wait()
	n := 0
	states.Range(func(any, any) bool { n++; return true })
	if n < 10 {
		t.Errorf("readers saw %d states: that shows little", n)
	}
}
