package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// commit measures an agent's commit in a repository of 1,000 files with our git hooks, alternating
// with the same commit in one without.
func (b *bench) commit() error {
	var dirs [2]string
	for i, name := range []string{"commit-without", "commit-with"} {
		dir, err := b.repo(name)
		if err != nil {
			return err
		}
		for n := range 1000 {
			file := filepath.Join(dir, fmt.Sprintf("src/part%d/file%d.txt", n%50, n))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(file, fmt.Appendln(nil, n), 0o644); err != nil {
				return err
			}
		}
		if err := sh(dir, "git", "add", "."); err != nil {
			return err
		}
		if err := sh(dir, "git", "commit", "-qm", "files"); err != nil {
			return err
		}
		dirs[i] = dir
	}
	once(dirs[1], nil, b.bin, "-q", "init", "--git-hooks")
	os.Setenv("CLAUDE_CODE_SESSION_ID", "5f0c1e2a-0000-4000-8000-000000000001")
	defer os.Unsetenv("CLAUDE_CODE_SESSION_ID")
	var walls, cpus [2][]time.Duration
	// a commit takes milliseconds, which vary with the load of the machine
	for n := range 4 * b.rounds {
		for i, dir := range dirs {
			if err := os.WriteFile(filepath.Join(dir, "src/part1/file1.txt"), fmt.Appendln(nil, "round", n), 0o644); err != nil {
				return err
			}
			f := once(dir, nil, "git", "commit", "-qam", fmt.Sprint("round ", n))
			walls[i], cpus[i] = append(walls[i], f.wall.Duration), append(cpus[i], f.cpu.Duration)
		}
	}
	if n := output(dirs[1], "wc", "-l", ".git/reverie/links"); n[:1] == "0" {
		return fmt.Errorf("commit: the hooks linked nothing")
	}
	b.ratio("git commit by an agent with git's hooks, wall, against without", median(walls[1]), median(walls[0]), 1.3)
	b.ratio("git commit by an agent with git's hooks, cpu, against without", median(cpus[1]), median(cpus[0]), 1.3)
	return nil
}
