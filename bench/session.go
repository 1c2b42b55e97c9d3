package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	row "github.com/reverie-memory/reverie/bench/figure"
	"github.com/reverie-memory/reverie/bench/lab"
	"github.com/reverie-memory/reverie/internal/job"
)

// steps lists the measured steps of a session: events of Claude Code, with Entire's names for them,
// and a commit.
var steps = []struct{ event, entire, name string }{
	{"SessionStart", "session-start", "hook at session start"},
	{"UserPromptSubmit", "user-prompt-submit", "hook at a prompt"},
	{"Stop", "stop", "hook at turn end"},
	{"", "", "git commit, hooks"},
	{"SessionEnd", "session-end", "hook at session end"},
}

// entire compares a session of one turn and its commit, beside none and many old sessions.
func (m *match) entire() {
	enable := []string{"entire", "enable", "--agent", "claude-code", "--telemetry=false"}
	hook := func(string, string) []string { return []string{m.bin, "hook", "claude"} }
	entireHook := func(_, entire string) []string { return []string{"entire", "hooks", "claude-code", entire} }
	for _, n := range present {
		ours, again, theirs := m.filled(fmt.Sprintf("ours-%d", n)), m.filled(fmt.Sprintf("again-%d", n)), m.filled(fmt.Sprintf("entire-%d", n))
		for _, dir := range []string{ours, again} {
			m.once(dir, nil, m.bin, "-q", "init", "--git-hooks")
		}
		m.once(theirs, nil, enable[0], enable[1:]...)
		var o, work, t [6]sample // by step, and the sums
		for i := range m.rounds + 1 {
			costs := [][]lab.Cost{m.session(ours, i, m.waited, hook), m.session(again, i, m.work, hook), m.session(theirs, i, m.waited, entireHook)}
			if i == 0 { // it makes what old sessions are copied from, and counts for nothing
				m.oldOurs(ours, n)
				m.oldOurs(again, n)
				m.oldEntire(theirs, n)
				continue
			}
			for k, all := range []*[6]sample{&o, &work, &t} {
				var sum lab.Cost
				for s, c := range costs[k] {
					all[s], sum = append(all[s], c), sum.Plus(c)
				}
				all[5] = append(all[5], sum)
			}
		}
		m.counted(theirs, n, ours, again)
		name := fmt.Sprintf(", %d old sessions", n)
		for s, step := range steps {
			m.both(step.name+name, o[s], t[s])
		}
		m.both("all five"+name, o[5], t[5])
		m.show(row.Time(m.set, "our background work"+name+", cpu", work[5].median().cpu, "rounds"), "")
		for i, c := range work[5] {
			o[5][i] = o[5][i].Plus(c)
		}
		m.versus("all and background"+name+", cpu", o[5].median().cpu, t[5].median().cpu)
	}
	m.footprints([][]string{{m.bin, "-q", "init", "--agent", "claude", "--git-hooks"}, enable},
		[][]string{{m.bin, "-q", "uninstall", "--yes"}, {"entire", "disable", "--uninstall", "--force"}})
}

// session plays session i and returns the cost of each step, which run runs with the command of an
// agent's hook.
func (m *match) session(dir string, i int, run func(dir string, stdin []byte, argv []string) lab.Cost, hook func(event, entire string) []string) (costs []lab.Cost) {
	os.Setenv("CLAUDE_CODE_SESSION_ID", sessionID(i))
	defer os.Unsetenv("CLAUDE_CODE_SESSION_ID")
	name := filepath.Base(dir)
	file := filepath.Join("transcripts", name, sessionID(i)+".jsonl")
	for _, step := range steps {
		if step.event == "Stop" {
			m.write(file, turn(dir, m.write(name+"/src/part1/file1.txt", fmt.Sprintln("session", i)), i))
		}
		argv := hook(step.event, step.entire)
		if step.event == "" {
			argv = []string{"git", "commit", "-qam", "session"}
		}
		costs = append(costs, run(dir, payload(dir, filepath.Join(m.dir, file), step.event, i), argv))
	}
	return costs
}

// waited runs a step, and waits for the end of our background work.
func (m *match) waited(dir string, stdin []byte, argv []string) lab.Cost {
	defer m.idle(dir)
	return m.once(dir, stdin, argv[0], argv[1:]...).Cost
}

// work runs one of our steps without its background work, then that in the foreground. It returns
// the cost of the latter.
func (m *match) work(dir string, stdin []byte, argv []string) lab.Cost {
	state := filepath.Join(dir, ".git/reverie")
	lock, err := job.TryLock(state, job.Worker)
	if err == nil && lock == nil {
		err = fmt.Errorf("%s: a worker runs", dir)
	}
	m.must(err)
	m.once(dir, stdin, argv[0], argv[1:]...)
	lock.Close()
	if !job.Requested(state, job.Worker) {
		return lab.Cost{}
	}
	return m.once(dir, nil, m.bin, "-q", "worker").Cost
}

// oldOurs learns n sessions.
func (m *match) oldOurs(dir string, n int) {
	if n == 0 {
		return
	}
	argv := []string{"-q", "learn"}
	for i := range n {
		name := fmt.Sprintf("transcripts/old-%s/%d.jsonl", filepath.Base(dir), i)
		argv = append(argv, m.write(name, turn(dir, filepath.Join(dir, "src/part1/file1.txt"), 100_000+i)))
	}
	m.once(dir, nil, m.bin, argv...)
	m.idle(dir)
}

const checkpoints = "refs/heads/entire/checkpoints/v1"

// oldEntire copies the checkpoint of the first session n times.
func (m *match) oldEntire(dir string, n int) {
	shard, _, _ := strings.Cut(m.output(dir, "git", "ls-tree", "-d", "--name-only", checkpoints), "\n")
	tree := m.output(dir, "git", "ls-tree", "-d", "--format=%(objectname)", checkpoints, shard+"/")
	var b bytes.Buffer
	fmt.Fprintf(&b, "commit %s\ncommitter Bench <bench@example.org> 1767225600 +0000\ndata 3\nold\nfrom %[1]s^0\n", checkpoints)
	for i := range n {
		fmt.Fprintf(&b, "M 040000 %s %02x/%010x\n", tree, i%256, i)
	}
	m.once(dir, b.Bytes(), "git", "fast-import", "--quiet")
}

// counted makes sure that both have done their work in each round: Entire's clone has a checkpoint
// of every session, and our clones have every session and a link for every commit.
func (m *match) counted(theirs string, n int, ours ...string) {
	want := n + m.rounds + 1
	if kept := strings.Count(m.output(theirs, "git", "ls-tree", "-r", "--name-only", checkpoints), "/full.jsonl"); kept != want {
		m.must(fmt.Errorf("of %d sessions Entire kept %d", want, kept))
	}
	for _, dir := range ours {
		sessions := strings.Count(m.output(dir, m.bin, "--json", "sessions"), "\n") + 1
		links := strings.Count(m.output(dir, "cat", ".git/reverie/links"), "\n") + 1
		if sessions != want || links != m.rounds+1 {
			m.must(fmt.Errorf("of %d sessions and %d commits we kept %d, with %d links", want, m.rounds+1, sessions, links))
		}
	}
}
