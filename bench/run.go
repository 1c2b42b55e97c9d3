package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	row "github.com/reverie-memory/reverie/bench/figure"
	"github.com/reverie-memory/reverie/bench/lab"
	"github.com/reverie-memory/reverie/internal/job"
)

// runner runs commands, and ends the program if one fails: such a step has no cost.
type runner struct {
	dir    string // of everything
	bin    string
	rounds int
}

func (r runner) must(err error) {
	if err != nil {
		os.RemoveAll(r.dir)
		lab.Exit("bench", err)
	}
}

// write writes a file of the bench's folder and returns its path.
func (r runner) write(name, text string) string {
	path := filepath.Join(r.dir, name)
	r.must(os.MkdirAll(filepath.Dir(path), 0o755))
	r.must(os.WriteFile(path, []byte(text), 0o644))
	return path
}

func (r runner) size(path string) float64 {
	info, err := os.Stat(path)
	r.must(err)
	return float64(info.Size())
}

// settle replaces a program that was just built by a copy. The linker leaves it in the page cache
// in single pages, and it then takes at least half as long again to start until it is next read
// from the disk.
func (r runner) settle(program string) {
	text, err := os.ReadFile(program)
	r.must(err)
	r.must(os.WriteFile(program+"-copy", text, 0o755))
	r.must(os.Rename(program+"-copy", program))
}

// sample has the costs of the rounds of one command.
type sample []lab.Cost

func (s sample) median() figure {
	var walls, cpus []time.Duration
	for _, c := range s {
		walls, cpus = append(walls, c.Wall), append(cpus, c.CPU)
	}
	return figure{row.Median(walls), row.Median(cpus)}
}

// repeat measures something r.rounds times.
func (r runner) repeat(one func(i int) lab.Cost) figure {
	var s sample
	for i := range r.rounds {
		s = append(s, one(i))
	}
	return s.median()
}

// once runs a command in dir.
func (r runner) once(dir string, stdin []byte, name string, args ...string) lab.Result {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(stdin)
	done, err := lab.Run(cmd)
	r.must(err)
	return done
}

// output returns the output of a command without the blanks around it.
func (r runner) output(dir, name string, args ...string) string {
	return strings.TrimSpace(r.once(dir, nil, name, args...).Out)
}

// measure runs a command r.rounds times in dir, each time with further arguments from extra.
func (r runner) measure(dir string, extra func() []string, name string, args ...string) figure {
	return r.repeat(func(int) lab.Cost {
		all := args
		if extra != nil {
			all = slices.Concat(args, extra())
		}
		return r.once(dir, nil, name, all...).Cost
	})
}

// fed runs a command r.rounds times in dir with new input each time. A run before them counts for
// nothing, because it may make what the others read.
func (r runner) fed(dir string, input func() []byte, name string, args ...string) figure {
	r.once(dir, input(), name, args...)
	return r.repeat(func(int) lab.Cost { return r.once(dir, input(), name, args...).Cost })
}

// repo makes a repository with one commit.
func (r runner) repo(name string) string {
	dir := filepath.Join(r.dir, name)
	r.once(r.dir, nil, "git", "init", "-q", dir)
	r.once(dir, nil, "git", "commit", "-q", "--allow-empty", "-m", "one")
	return dir
}

// filled makes a repository with 1,000 files.
func (r runner) filled(name string) string {
	dir := r.repo(name)
	for n := range 1000 {
		r.write(fmt.Sprintf("%s/src/part%d/file%d.txt", name, n%50, n), fmt.Sprintln(n))
	}
	r.once(dir, nil, "git", "add", ".")
	r.once(dir, nil, "git", "commit", "-qm", "files")
	return dir
}

// idle waits for the end of the background work in a repository.
func (r runner) idle(dir string) {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	r.must(job.Settle(ctx, filepath.Join(dir, ".git/reverie")))
}

// store makes a repository with n memories, and waits until git's answers about it may be cached:
// the configuration must not be too fresh.
func (r runner) store(name string, n int) string {
	dir := r.repo(name)
	r.once(dir, statements(n), r.bin, "-q", "import", "--accept", "-")
	time.Sleep(2100 * time.Millisecond)
	return dir
}
