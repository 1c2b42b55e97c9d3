package gitstore_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

func TestNothingIsLostBesideGitsOwnHousekeeping(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	r := testrepo.New(t)
	s := create(t, r)
	r.Run("config", "gc.auto", "512") // so that Tidy has something to do, too
	writers, each := 8, 100
	ctx, stop := context.WithCancel(t.Context())
	var keeper sync.WaitGroup
	rounds := 0
	keeper.Go(func() {
		for ctx.Err() == nil {
			for _, args := range [][]string{{"pack-refs", "--all"}, {"repack", "-adq"}, {"pack-refs", "--all"}, {"gc", "-q"}} {
				if out, err := r.Try(args...); err != nil {
					t.Errorf("git %s: %v\n%s", args[0], err, out)
				}
			}
			rounds++
		}
	})
	var done sync.WaitGroup
	for w := range writers {
		done.Go(func() {
			cmd := command("append", r.Dir, fmt.Sprintf("memories/%02x/w%d", w, w), fmt.Sprint(each))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("writer %d: %v\n%s", w, err, tail(out))
			}
		})
	}
	done.Wait()
	stop()
	keeper.Wait()
	if rounds == 0 {
		t.Error("the housekeeping beside the writers never came round")
	}
	got := contents(t, s)
	if want := writers*each + 1; len(got) != want {
		t.Errorf("%d files, want %d", len(got), want)
	}
	if n := r.Run("rev-list", "--count", branch); n != fmt.Sprint(writers*each+2) {
		t.Errorf("%s commits, want %d", n, writers*each+2)
	}
	r.Run("fsck", "--strict")
	t.Logf("%d rounds of pack-refs, repack and gc beside %d writes", rounds, writers*each)
}

func TestKilledWritersLoseNothingAcknowledged(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	r := testrepo.New(t)
	s := create(t, r)
	const kills = 200
	acked := map[string]bool{}
	hit, left := 0, 0
	for round := 0; round < kills; round += 2 {
		writers := []*writerProcess{startWriter(t, r.Dir, round), startWriter(t, r.Dir, round+1)}
		writers[0].waitFirst()
		time.Sleep(time.Duration(rand.IntN(20_000)) * time.Microsecond)
		for _, w := range writers {
			for _, path := range w.kill() {
				acked[path] = true
			}
			if w.killed {
				hit++
			}
		}
		left += leftovers(t, filepath.Join(r.Dir, ".git"))
		// The next command works at once.
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		path := fmt.Sprintf("after/%02x/r%d.md", round%256, round)
		_, err := s.Update(ctx, gitstore.Commit{Subject: "after the kill"}, func(tx *gitstore.Tx) error {
			return tx.Write(path, text("works\n"))
		})
		cancel()
		if err != nil {
			t.Fatalf("after kill %d: %v", round, err)
		}
		acked[path] = true
	}
	got := contents(t, s)
	for path := range acked {
		if _, ok := got[path]; !ok {
			t.Errorf("%s was acknowledged and is lost", path)
		}
	}
	r.Run("fsck", "--strict")
	if err := s.Check(t.Context(), true, func(p gitstore.Problem) { t.Errorf("check: %s", p) }); err != nil {
		t.Error(err)
	}
	t.Logf("%d kills of writers, %d acknowledged writes, %d files and locks left half-done", hit, len(acked), left)
	if hit < kills*9/10 || left == 0 {
		t.Errorf("only %d of %d kills hit a running writer, and %d things were left half-done: the test shows nothing", hit, kills, left)
	}
}

// writerProcess appends until it is killed.
type writerProcess struct {
	t      *testing.T
	cmd    *exec.Cmd
	lines  *bufio.Reader
	stderr bytes.Buffer
	acked  []string
	killed bool
}

func startWriter(t *testing.T, dir string, n int) *writerProcess {
	w := &writerProcess{t: t, cmd: command("append", dir, fmt.Sprintf("memories/%02x/k%d", n%256, n), "100000")}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	w.lines = bufio.NewReader(out)
	w.cmd.Stderr = &w.stderr
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *writerProcess) waitFirst() {
	line, err := w.lines.ReadString('\n')
	if err != nil {
		w.t.Fatalf("writer: %v: %s", err, w.stderr.Bytes())
	}
	w.acked = append(w.acked, strings.TrimSpace(line))
}

// kill ends the writer without warning and returns the writes it had acknowledged.
func (w *writerProcess) kill() []string {
	w.cmd.Process.Kill()
	rest, err := io.ReadAll(w.lines)
	if err != nil {
		w.t.Fatal(err)
	}
	for line := range strings.Lines(string(rest)) {
		if strings.HasSuffix(line, "\n") {
			w.acked = append(w.acked, strings.TrimSpace(line))
		}
	}
	w.killed = w.cmd.Wait() != nil
	if w.stderr.Len() > 0 {
		w.t.Errorf("writer: %s", w.stderr.Bytes())
	}
	return w.acked
}

// leftovers counts files that only a killed writer leaves.
func leftovers(t *testing.T, dir string) int {
	n := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		name := filepath.Base(path)
		if strings.HasSuffix(name, ".lock") {
			n++
		}
		if strings.HasPrefix(name, "tmp_obj_") {
			n++
			return os.Remove(path) // to count it once
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func tail(out []byte) []byte { return out[max(0, len(out)-500):] }
