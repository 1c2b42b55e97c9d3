package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// loopState is the part of a loop's status that these tests look at.
type loopState struct {
	Phase     string `json:"phase"`
	Reason    string `json:"reason"`
	Iteration int    `json:"iteration"`
	Waits     bool   `json:"waits"`
	Holder    any    `json:"holder"`
}

// awaitLoop waits until a loop has reached an iteration and waits for a commit, or has ended.
func awaitLoop(t *testing.T, dir, name string, iteration int) (s loopState) {
	t.Helper()
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(100 * time.Millisecond) {
		s = loopState{}
		a := reverie(t, dir, "loop", "status", name, "--json")
		if json.Unmarshal([]byte(a.out), &s); a.code == 0 && s.Holder == nil && (s.Iteration >= iteration && s.Phase == "coding" || s.Phase == "done" || s.Phase == "stopped") {
			return s
		}
	}
	log, _ := os.ReadFile(filepath.Join(dir, ".git", "reverie", "log"))
	t.Fatalf("loop %s: %+v\n%s\n%s", name, s, must(t, dir, "loop", "status"), log)
	return s
}

// A person commits in the work tree of a loop in a sandbox. Each commit is verified and audited in
// containers, by git's hook in the background, and what they run reaches neither that work tree nor
// anything else of the host.
func TestLoopDockerByHand(t *testing.T) {
	engineOfTests(t)
	t.Setenv("SECRET_OF_THE_HOST", "s3cret")
	dir := newRepo(t)
	canaries := t.TempDir()
	mark := fmt.Sprintf("79%d", os.Getpid())
	kit := strings.NewReplacer("@canary@", canaries, "@repo@", dir, "@mark@", mark, "@socket@", strings.TrimPrefix(os.Getenv("DOCKER_HOST"), "unix://")).Replace(escapeKit)
	write(t, filepath.Join(dir, "kit.sh"), kit)
	write(t, filepath.Join(dir, "tracked"), "plain\n")
	write(t, filepath.Join(dir, "folder", "file"), "plain\n")
	write(t, filepath.Join(dir, "audit.sh"), `cat >/tmp/prompt
test ! -e .git && test ! -e /usr/bin/git && test "$HOSTNAME" = sandbox || exit 9
touch `+canaries+`/audit; mkdir .git; echo spoilt >parse.sh
grep -q '^+++ b/parse.sh' /tmp/prompt || exit 8
if [ "$REVERIE_ITERATION" = 2 ]; then
	echo '{"findings":[{"file":"parse.sh","line":2,"severity":"bug","text":"An empty list prints an empty line."}]}'
else
	echo '{"findings":[]}'
fi
`)
	for key, name := range map[string]string{"filter.host.clean": "clean", "filter.host.smudge": "smudge", "diff.host.textconv": "textconv", "merge.host.driver": "merge"} {
		git(t, dir, "config", key, "touch "+canaries+"/"+name+"; cat")
	}
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "scripts")
	must(t, dir, "init", "--git-hooks")
	plan := filepath.Join(t.TempDir(), "plan.md")
	write(t, plan, "# Parse\n\n```verify\ntest ! -e .git\nsh kit.sh\ntest ! -e .git\nsh parse.sh a\nsleep 2\n```\n")
	before := snapshot(t, dir)
	must(t, dir, "loop", "start", plan, "--name", "hand", "--agent", "hand", "--sandbox", loopEngine(), "--audit", "sh audit.sh")
	tree := filepath.Join(dir, ".git", "reverie", "loops", "hand", "tree")
	dotGit := read(t, filepath.Join(tree, ".git"))

	commit := func(text string) time.Duration {
		t.Helper()
		write(t, filepath.Join(tree, "parse.sh"), text)
		git(t, tree, "add", "parse.sh")
		began := time.Now()
		if out := git(t, tree, "commit", "-qm", "by hand"); out != "" {
			t.Errorf("the commit said %q", out)
		}
		return time.Since(began)
	}
	for i, step := range []struct{ text, finding string }{
		{"exit 1\n", ""},
		{"#!/bin/sh\necho \"$1\"\n", "An empty list prints"},
	} {
		if took := commit(step.text); took > 1500*time.Millisecond {
			t.Errorf("commit %d took %v, and the plan's commands take 2s", i+1, took)
		}
		if s := awaitLoop(t, dir, "hand", i+2); s.Phase != "coding" {
			t.Fatalf("after commit %d: %+v\n%s", i+1, s, must(t, dir, "loop", "status", "hand"))
		}
		if said := must(t, dir, "loop", "findings", "hand"); !strings.Contains(said, step.finding) {
			t.Errorf("findings after commit %d: %q", i+1, said)
		}
	}
	// An agent on the host has its tool calls run inside, in the same work tree.
	write(t, filepath.Join(tree, "mine"), "not committed\n")
	inside := exec.Command(binary, "sandbox", "exec", "--engine", loopEngine(), "--", "sh", "-c", `test ! -s .git && ! rm -rf .git 2>/dev/null && printf '#!/bin/sh\n[ -n "$1" ] || exit 0\necho "$1"\n' >parse.sh`)
	inside.Dir = tree
	if out, err := inside.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	git(t, tree, "commit", "-qam", "by an agent")
	if s := awaitLoop(t, dir, "hand", 4); s.Phase != "done" || s.Iteration != 3 {
		t.Fatalf("%+v\n%s", s, must(t, dir, "loop", "status", "hand"))
	}

	for n := 1; n <= 3; n++ {
		out := git(t, dir, "show", fmt.Sprintf("refs/reverie/loops/hand:iterations/%d/verify.txt", n))
		if strings.Contains(out, "ESCAPED") || !strings.Contains(out, "end of the kit") || strings.Count(out, "$ test ! -e .git\n[exit code 0]") != 2 {
			t.Errorf("iteration %d: %s", n, out)
		}
	}
	if entries, _ := os.ReadDir(canaries); len(entries) > 0 {
		t.Errorf("escaped: %v", entries)
	}
	if found := processes(mark); len(found) > 0 {
		t.Errorf("processes are left: %v", found)
	}
	if after := snapshot(t, dir); after != before {
		t.Errorf("the checkout changed:\n%s\n%s", before, after)
	}
	if got := git(t, tree, "status", "--porcelain", "--ignored"); got != "?? mine" || read(t, filepath.Join(tree, ".git")) != dotGit {
		t.Errorf("the work tree changed: %q", got)
	}
	if got := git(t, dir, "log", "--format=%s", "main..reverie/loop/hand"); got != "by an agent\nby hand\nby hand" {
		t.Errorf("commits: %q", got)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".git", "reverie", "loops", ".try-*")); len(left) > 0 || strings.Contains(git(t, dir, "worktree", "list"), ".try-") {
		t.Errorf("checkouts are left: %v", left)
	}
	git(t, dir, "fsck", "--strict", "--no-dangling")
}

// A commit of a plan starts a loop in the sandbox if the user's settings say so: the user works on
// in the same work tree, uncommitted files and all. A stranger's branch with a plan starts nothing.
func TestLoopDockerStartsByCommit(t *testing.T) {
	engineOfTests(t)
	settings := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "reverie", "config.toml")
	write(t, settings, "[sandbox]\nmode = \""+loopEngine()+"\"\nimage = \"reverie-busybox\"\nmemory = 256\n[loop]\nmin-audits = 0\nstart-on = [\"branch\", \"trailer\"]\n")
	dir := newRepo(t)
	must(t, dir, "init", "--git-hooks")
	plan := "# Parse\n\n```verify\ntest ! -e .git && test \"$HOSTNAME\" = sandbox && test ! -e mine\nsh parse.sh a\n```\n"

	stranger := filepath.Join(t.TempDir(), "stranger")
	git(t, "", "clone", "-q", dir, stranger)
	git(t, stranger, "switch", "-qc", "plan/evil")
	write(t, filepath.Join(stranger, "plan.md"), plan)
	git(t, stranger, "add", ".")
	git(t, stranger, "commit", "-qm", "a plan\n\nReverie-Plan: plan.md")
	git(t, dir, "fetch", "-q", stranger, "plan/evil:plan/evil")
	for _, args := range [][]string{{"switch", "-q", "plan/evil"}, {"switch", "-qc", "plan/mine", "main"}, {"merge", "-q", "--ff-only", "plan/evil"}, {"switch", "-q", "main"},
		{"commit", "-q", "--allow-empty", "-m", "mine"}, {"cherry-pick", "plan/evil"}, {"reset", "-q", "--hard", "HEAD~1"}} {
		git(t, dir, args...)
	}
	time.Sleep(time.Second) // the hooks run in the background
	if got := must(t, dir, "loop", "status"); got != "" {
		t.Fatalf("a stranger's plan started a loop: %s", got)
	}

	write(t, filepath.Join(dir, "mine"), "not committed\n")
	for n, start := range [][]string{{"-qm", "a plan"}, {"-qm", "a plan", "--trailer", "Reverie-Plan: doc/todo.md"}} {
		name, file, branch := "parse", "plan.md", "plan/parse"
		if n == 1 {
			name, file, branch = "parse-2", "doc/todo.md", "work"
		}
		git(t, dir, "switch", "-qc", branch, "main")
		write(t, filepath.Join(dir, file), plan)
		git(t, dir, "add", file)
		git(t, dir, append([]string{"commit"}, start...)...)
		awaitLoop(t, dir, name, 1)
		for i, text := range []string{"exit 1\n", "exit 0\n"} {
			write(t, filepath.Join(dir, "parse.sh"), text)
			git(t, dir, "add", "parse.sh")
			git(t, dir, "commit", "-qm", "work")
			s := awaitLoop(t, dir, name, i+2)
			if done := text == "exit 0\n"; (s.Phase == "done") != done {
				log, _ := os.ReadFile(filepath.Join(dir, ".git", "reverie", "log"))
				t.Fatalf("%s: %+v\n%s\n%s", name, s, must(t, dir, "loop", "output", name), log)
			}
		}
	}
	if got := git(t, dir, "status", "--porcelain"); got != "?? mine" {
		t.Errorf("the work tree changed: %q", got)
	}

	// Without a sandbox, or without the setting, a plan starts nothing.
	git(t, dir, "switch", "-qc", "plan/third", "main")
	must(t, dir, "config", "--user", "sandbox.mode", "off")
	write(t, filepath.Join(dir, "plan.md"), plan)
	git(t, dir, "add", "plan.md")
	git(t, dir, "commit", "-qm", "a plan")
	for began := time.Now(); !strings.Contains(read(t, filepath.Join(dir, ".git", "reverie", "log")), "runs in a sandbox"); time.Sleep(100 * time.Millisecond) {
		if time.Since(began) > 10*time.Second {
			t.Fatal("the log says nothing of the sandbox")
		}
	}
	if got := must(t, dir, "loop", "status"); strings.Contains(got, "parse-3") {
		t.Errorf("%s", got)
	}
}
