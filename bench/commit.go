package main

import (
	"fmt"
	"os"
)

// commit measures an agent's commit in a repository of 1,000 files with our git hooks, alternating
// with the same commit in one without.
func (b *bench) commit() {
	names := [2]string{"commit-without", "commit-with"}
	var dirs [2]string
	for i, name := range names {
		dirs[i] = b.filled(name)
	}
	b.once(dirs[1], nil, b.bin, "-q", "init", "--git-hooks")
	os.Setenv("CLAUDE_CODE_SESSION_ID", "5f0c1e2a-0000-4000-8000-000000000001")
	defer os.Unsetenv("CLAUDE_CODE_SESSION_ID")
	var all [2]sample
	// a commit takes milliseconds, which vary with the load of the machine
	for n := range 4 * b.rounds {
		for i, dir := range dirs {
			b.write(names[i]+"/src/part1/file1.txt", fmt.Sprintln("round", n))
			all[i] = append(all[i], b.once(dir, nil, "git", "commit", "-qam", fmt.Sprint("round ", n)).Cost)
		}
	}
	if n := b.output(dirs[1], "wc", "-l", ".git/reverie/links"); n[:1] == "0" {
		b.must(fmt.Errorf("commit: the hooks linked nothing"))
	}
	without, with := all[0].median(), all[1].median()
	b.ratio("git commit by an agent with git's hooks, wall, against without", with.wall, without.wall, 1.3)
	b.ratio("git commit by an agent with git's hooks, cpu, against without", with.cpu, without.cpu, 1.3)
}
