package e2e

import (
	"errors"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const answerPlan = "# Answer\n\nPut the number of the answer into answer.txt.\n\n" +
	"```verify\necho \"the answer is $(cat answer.txt)\"\ngrep -qx 42 answer.txt\n```\n"

// inLoop is an agent as a loop finds it: on PATH under its own name, with the arguments of
// worktree/agent.
type inLoop struct {
	*lab
	bin  string
	tree string
	box  string   // --sandbox
	more []string // in the environment of the loop
}

func newInLoop(l *lab) inLoop {
	l.t.Helper()
	p := inLoop{lab: l, bin: l.onPath(), tree: filepath.Join(l.repo, ".git/reverie/loops/answer/tree"), box: "off"}
	write(l.t, filepath.Join(l.home, "plan.md"), answerPlan)
	return p
}

// loop starts a loop and waits for its end.
func (p inLoop) loop(args ...string) answer {
	p.t.Helper()
	return p.begin(slices.Concat([]string{"start", filepath.Join(p.home, "plan.md"), "--name", "answer", "--sandbox", p.box, "--max-errors", "1"}, args)...).wait()
}

// begin starts a loop command.
func (p inLoop) begin(args ...string) *running {
	p.t.Helper()
	// a user's possible setting; no user is there to ask
	env := append(slices.Clone(p.more), `OPENCODE_PERMISSION={"edit":"ask","bash":"ask"}`)
	return p.begun(p.bin, env, append([]string{"loop"}, args...)...)
}

// promise matches the promise that a coder is asked to give.
var promise = regexp.MustCompile(`<promise>[0-9a-f]+</promise>`)

// carried plays the coder of a loop that ends well. The coder writes a mistake, runs a command, and
// corrects the mistake after seeing the output of the plan's command. carried checks the loop's
// messages and leftovers, and returns the requests to the model in the first iteration.
func (p inLoop) carried(command string) []request {
	l, t := p.lab, p.t
	t.Helper()
	before := p.checkout()
	answer := filepath.Join(p.tree, "answer.txt")
	wrong := []step{{Calls: []call{l.c.create(answer, "41")}}, {Calls: []call{l.c.shell(command)}}, {Say: "It is 41."}}
	var right []step
	for _, c := range l.c.edit(answer, "41", "42") {
		right = append(right, step{Calls: []call{c}})
	}
	right = append(right, step{Say: "Now it is 42.\n", Quote: promise})
	l.model.play(turn{"Put the number of the answer", wrong}, turn{"the answer is 41", right})
	a := p.loop("--agent", l.c.Name, "--audit", noFindings, "--max", "3", "--promise")
	if a.code != 0 {
		t.Fatal(a)
	}
	asked := steps(l.model.heard())
	if want := len(wrong) + len(right); len(asked) != want {
		t.Fatalf("the model was asked %d times, and not %d:\n%s", len(asked), want, a)
	}
	if got, want := asked[len(wrong)].text("user"), "$ grep -qx 42 answer.txt\n[exit code 1]"; !strings.Contains(html.UnescapeString(got), want) {
		t.Errorf("the second iteration was not told %q, but\n%s", want, got)
	}
	if got := git(t, l.repo, "show", "reverie/loop/answer:answer.txt"); got != "42" {
		t.Errorf("the branch has %q", got)
	}
	if got := git(t, l.repo, "diff", "--name-status", "main", "reverie/loop/answer"); got != "A\tanswer.txt" {
		t.Errorf("the branch changes\n%s", got)
	}
	if diff := cmp.Diff(before, p.checkout()); diff != "" {
		t.Errorf("the user's checkout (-before +after)\n%s", diff)
	}
	return asked[:len(wrong)]
}

// audited plays the auditor of a loop whose coder makes a mistake. The auditor writes a file, makes
// the given calls, and finds the mistake. audited checks the results, and returns the requests to
// the model.
func (p inLoop) audited(calls ...call) []request {
	l, t := p.lab, p.t
	t.Helper()
	play := []step{{Calls: []call{l.c.create(filepath.Join(p.tree, "mine.txt"), "mine")}}}
	for _, c := range calls {
		play = append(play, step{Calls: []call{c}})
	}
	play = append(play, step{Say: "There is one.\n" + `{"findings":[{"file":"answer.txt","line":1,"severity":"bug","text":"It is not 41."}]}`})
	l.model.play(turn{"Put the number of the answer", play})
	a := p.loop("--audit-agent", l.c.Name, "--max", "1", "--", "sh", "-c", "echo 41 >answer.txt")
	if a.code != 20 { // --max
		t.Fatal(a)
	}
	asked := steps(l.model.heard())
	if len(asked) != len(play) {
		t.Fatalf("the model was asked %d times, and not %d:\n%s", len(asked), len(play), a)
	}
	if _, err := os.Stat(filepath.Join(p.tree, "mine.txt")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the auditor has changed the work tree: %v", err)
	}
	if got := l.must("loop", "findings", "answer"); !strings.Contains(got, "answer.txt:1") || !strings.Contains(got, "It is not 41.") {
		t.Errorf("findings:\n%s", got)
	}
	return asked
}

// refusals are the outputs of an agent's commands that try to commit a secret and to push. Codex
// stops writes outside the work tree. Gemini makes git skip all hooks and the user's configuration,
// so the loop rejects the commit. A push ends with 128, or with 141 if git still writes to the
// missing helper.
var refusals = map[string][]string{
	"claude":   {"token.txt must not be committed", "commit ended with 1\n", "push ended with 1"},
	"codex":    {"Read-only file system", "commit ended with 128", "push ended with 1"},
	"gemini":   {"commit ended with 0", "push ended with 1"},
	"opencode": {"token.txt must not be committed", "commit ended with 1\n", "push ended with 1"},
}

// An agent makes a mistake, and would commit a secret and push. It sees the output of the plan's
// command, and corrects the mistake.
func TestClientsCarryALoop(t *testing.T) {
	inClients(t, looping, func(l *lab) {
		t := l.t
		l.install()
		p := newInLoop(l)
		origin := filepath.Join(l.home, "origin.git")
		git(t, "", "init", "-q", "--bare", origin)
		git(t, l.repo, "remote", "add", "origin", origin)
		git(t, l.repo, "config", "user.name", "Ann Author")
		git(t, l.repo, "config", "user.email", "ann@example.com")
		write(t, filepath.Join(l.repo, "calc.sh"), "what the user is at\n")
		token := "ghp_" + strings.Repeat("aB3dE6gH9", 4)
		unsafe := "echo token=" + token + " >token.txt; git add token.txt; git commit -qm token; echo commit ended with $?; " +
			"git reset -q; rm token.txt; git push origin HEAD:refs/heads/stolen 2>push.txt; echo push ended with $?; rm push.txt"
		first := p.carried(unsafe)
		told := first[len(first)-1].text("tool", "user")
		for _, want := range refusals[l.c.Name] {
			if !strings.Contains(told, want) {
				t.Errorf("the model was not told %q, but\n%s", want, told)
			}
		}
		if got := git(t, l.repo, "log", "--format=%an", "-p", "reverie/loop/answer"); strings.Contains(got, token) {
			t.Errorf("a secret is on the branch:\n%s", got)
		}
		if got := git(t, origin, "for-each-ref"); got != "" {
			t.Errorf("pushed:\n%s", got)
		}
		l.eventually("the sessions of both iterations are kept, and the loop's own", func() bool {
			var agents, loops int
			for _, name := range l.kept() {
				switch {
				case strings.HasPrefix(name, l.c.Name+"/"):
					agents++
				case strings.HasPrefix(name, "loop/"):
					loops++
				default:
					t.Errorf("kept: %s", name)
				}
			}
			return agents == 2 && loops == 1
		})
	})
}

// An auditing agent reads the commit, changes nothing, and its findings become the loop's.
func TestClientsAuditALoop(t *testing.T) {
	inClients(t, looping, func(l *lab) {
		t := l.t
		l.install()
		p := newInLoop(l)
		asked := p.audited(l.c.shell("git show HEAD"))
		if told := asked[2].text("tool", "user"); !strings.Contains(told, "+41") {
			t.Errorf("the auditor did not get to see the change:\n%s", told)
		}
	})
}

// An agent that a killed loop left at work is ended before another one begins, and its work is
// kept.
func TestClientsOfAKilledLoopAreEnded(t *testing.T) {
	inClients(t, []string{"claude", "codex"}, func(l *lab) {
		t := l.t
		l.install()
		p := newInLoop(l)
		answer := filepath.Join(p.tree, "answer.txt")
		l.model.play(turn{"Put the number of the answer", []step{
			{Calls: []call{l.c.create(answer, "41")}}, {Stall: true},
			{Calls: []call{l.c.create(answer, "42")}}, {Say: "It is 42."},
		}})
		r := p.begin("start", filepath.Join(p.home, "plan.md"), "--name", "answer", "--agent", l.c.Name, "--sandbox", "off", "--min-audits", "0")
		select {
		case <-l.model.Stalled:
		case a := <-r.ended():
			t.Fatal(a)
		}
		l.eventually("what it has done is seen, and no event", func() bool {
			_, live, _ := strings.Cut(l.must("loop", "status", "answer", "--json"), `"live":{`)
			return strings.Contains(live, "answer.txt") && !strings.Contains(live, `\"type\"`)
		})
		if err := r.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		r.wait()
		left := l.left()
		if len(left) == 0 {
			t.Fatal("the agent has ended with the loop: nothing is tested")
		}
		if a := p.begin("resume", "answer").wait(); a.code != 0 {
			t.Fatal(a)
		}
		for pid, line := range l.left() {
			if left[pid] == line {
				t.Errorf("process %d is at work still: %s", pid, line)
			}
		}
		if got := git(t, l.repo, "show", "reverie/loop/answer:answer.txt"); got != "42" {
			t.Errorf("the branch has %q", got)
		}
		kept := git(t, l.repo, "for-each-ref", "--format=%(refname)", "refs/reverie-kept/answer/")
		if kept == "" {
			t.Fatal("nothing is kept")
		}
		if got := git(t, l.repo, "show", kept+":answer.txt"); got != "41" {
			t.Errorf("kept is %q", got)
		}
	})
}

// checkout returns the user's checked-out commit and the changes in it.
func (p inLoop) checkout() string {
	p.t.Helper()
	return git(p.t, p.repo, "status", "--porcelain", "--branch", "--untracked-files=all") + "\n" + git(p.t, p.repo, "rev-parse", "HEAD") +
		"\n" + read(p.t, filepath.Join(p.repo, "calc.sh"))
}
