package gitstore_test

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// filled returns a store with n memories of about 600 bytes in 256 folders, packed as git gc leaves
// them.
func filled(b *testing.B, n int) (*testrepo.Repo, *gitstore.Store) {
	b.Helper()
	r := testrepo.New(b)
	s := create(b, r)
	files := make(map[string]string, n)
	for i := range n {
		files[memoryPath(i)] = fmt.Sprintf("+++\nkind = \"fact\"\nid = \"%016x\"\n+++\nMemory %d.\n\n", i, i) + strings.Repeat("Some words about why it is so. ", 17)
	}
	write(b, s, files)
	return r, s
}

func memoryPath(i int) string { return fmt.Sprintf("memories/%02x/%016x-some-words.md", i%256, i) }

// BenchmarkAppend adds one memory durably as a command does, and finds the repository first.
// "ratio" compares the time with git commit-tree and update-ref, two durable processes that write
// no file.
func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r, _ := filled(b, n)
			tree := r.Run("rev-parse", branch+"^{tree}")
			var ours, gits time.Duration
			i := n
			for b.Loop() {
				start := time.Now()
				repo, err := git.Find(b.Context(), r.Dir)
				if err != nil {
					b.Fatal(err)
				}
				write(b, gitstore.Open(repo, branch), map[string]string{memoryPath(i): fmt.Sprintf("memory %d\n", i)})
				i++
				ours += time.Since(start)

				start = time.Now()
				id := r.Run("-c", "core.fsync=all", "commit-tree", "-p", "HEAD", "-m", "one", tree)
				r.Run("-c", "core.fsync=all", "update-ref", "refs/heads/other", id)
				gits += time.Since(start)
			}
			b.ReportMetric(float64(ours.Microseconds())/float64(b.N), "µs/append")
			b.ReportMetric(float64(gits.Microseconds())/float64(b.N), "µs/git")
			b.ReportMetric(float64(ours)/float64(gits), "ratio")
		})
	}
}

// BenchmarkReadAll reads 10,000 memories, walking the tree included. "ratio" is the time against
// git ls-tree and git cat-file --batch.
func BenchmarkReadAll(b *testing.B) {
	for _, packed := range []bool{false, true} {
		b.Run(fmt.Sprintf("repacked=%t", packed), func(b *testing.B) {
			r, s := filled(b, 10_000)
			if packed {
				r.Run("repack", "-adfq")
			}
			var ours, gits time.Duration
			for b.Loop() {
				start := time.Now()
				if n := readEverything(b, s); n != 10_001 {
					b.Fatalf("%d files", n)
				}
				ours += time.Since(start)

				start = time.Now()
				list := r.Run("ls-tree", "-r", "--format=%(objectname)", branch)
				cmd := exec.Command("git", "cat-file", "--batch", "--buffer")
				cmd.Dir, cmd.Stdin = r.Dir, strings.NewReader(list+"\n")
				var out bytes.Buffer
				cmd.Stdout = io.Writer(&out)
				if err := cmd.Run(); err != nil || out.Len() < 10_000*500 {
					b.Fatalf("%d bytes: %v", out.Len(), err)
				}
				gits += time.Since(start)
			}
			b.ReportMetric(float64(ours.Microseconds())/float64(b.N)/1000, "ms/all")
			b.ReportMetric(float64(gits.Microseconds())/float64(b.N)/1000, "ms/git")
			b.ReportMetric(float64(ours)/float64(gits), "ratio")
		})
	}
}

func readEverything(b *testing.B, s *gitstore.Store) (n int) {
	err := s.View(b.Context(), func(tree *gitstore.Tree) error {
		var ids []gitstore.ID
		if err := tree.Walk("", func(_ string, id gitstore.ID) error { ids = append(ids, id); return nil }); err != nil {
			return err
		}
		return tree.ReadAll(ids, func(int, []byte) error { n++; return nil })
	})
	if err != nil {
		b.Fatal(err)
	}
	return n
}
