package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/hooks/setup/agents"
)

// recorder replaces the command: it notes an event about a call, and then runs $HOME/answer.
const recorder = `#!/bin/sh
in=$(tr -d '\n')
case $in in *'"tool_name"'*) ;; *) exit 0 ;; esac
printf '%s\n' "$in" >>"$HOME/calls"
. "$HOME/answer"
`

// guard makes the agent call recorder about some calls.
func (l *lab) guard() hooks.Agent {
	l.t.Helper()
	a, _ := hooks.Find(l.c.Name)
	f := hooks.Filter{Commands: []string{"frobnicate *"}, Failing: []string{"sh test.sh"}, Files: []string{"generated/**"}}
	write(l.t, filepath.Join(l.repo, ".git", "reverie", "guards"), "{}\nBash\tfrobnicate\t{}\nBash\tsh\t{}\nEdit\tgenerated/**\t{}\n")
	write(l.t, l.binary(), recorder)
	if err := os.Chmod(l.binary(), 0o755); err != nil {
		l.t.Fatal(err)
	}
	m := agents.Machine{Home: l.home, Env: func(string) string { return "" }}
	in := agents.Installer{Dir: m.StateDir(), FilterOf: func(string) hooks.Filter { return f }}
	target, _ := m.User(a)
	target.Bare = true
	if _, err := in.Install(l.t.Context(), target, l.binary(), filepath.Join(l.repo, ".git")); err != nil {
		l.t.Fatal(err)
	}
	return a
}

// asked returns the events about calls so far and forgets them.
func (l *lab) asked(a hooks.Agent) (all []string) {
	l.t.Helper()
	text, _ := os.ReadFile(filepath.Join(l.home, "calls"))
	os.Remove(filepath.Join(l.home, "calls"))
	for line := range strings.Lines(string(text)) {
		e, err := a.Decode("", strings.NewReader(line), time.Now())
		if err != nil {
			l.t.Fatalf("%v: %s", err, line)
		}
		about := e.Call.Command
		if about == "" || len(e.Call.Files) > 0 {
			about = filepath.Base(strings.Join(e.Call.Files, " "))
		}
		all = append(all, fmt.Sprint(e.Kind, " ", about))
	}
	return all
}

// A hook starts for the calls that it is installed for, and what it answers counts.
func TestClientsAskAboutGuardedCalls(t *testing.T) {
	inClients(t, nil, func(l *lab) {
		t := l.t
		a := l.guard()
		refusal := a.Encode(hooks.Event{Name: a.Calls[0].Name, Kind: hooks.Calling}, hooks.Reply{Ruling: hooks.Deny, Reason: "Never frobnicate."})
		write(t, filepath.Join(l.home, "refusal"), string(refusal))
		write(t, filepath.Join(l.home, "answer"), fmt.Sprintf("case $in in *%s*forbidden*|*forbidden*%[1]s*) cat \"$HOME/refusal\" ;; esac\n", a.Calls[0].Name))
		if err := os.MkdirAll(filepath.Join(l.repo, "generated"), 0o755); err != nil {
			t.Fatal(err)
		}
		const refused = "touch forbidden; env A=1 frobnicate x"
		var steps []step
		for _, c := range []call{l.c.shell("ls"), l.c.shell("sh test.sh"), l.c.shell(refused),
			l.c.create(filepath.Join(l.repo, "plain.txt"), "x"), l.c.create(filepath.Join(l.repo, "generated", "made.txt"), "x")} {
			steps = append(steps, step{Calls: []call{c}})
		}
		l.model.play(turn{"Go.", append(steps, step{Say: "Done."})})
		last := newest(l.run(l.c.session("Go.")...))
		if got := last.text("tool", "user"); !strings.Contains(got, "Never frobnicate.") {
			t.Errorf("the model was not told why:\n%s", got)
		}
		if _, err := os.Stat(filepath.Join(l.repo, "forbidden")); err == nil {
			t.Error("the refused command ran")
		}
		want := map[string][]string{
			"claude":   {"called sh test.sh", "calling " + refused, "calling made.txt"},
			"opencode": {"calling sh test.sh", "called sh test.sh", "calling " + refused, "calling plain.txt", "called plain.txt", "calling made.txt", "called made.txt"},
		}[l.c.Name]
		if want == nil { // every call of these tools
			for _, c := range []string{"ls", "sh test.sh", refused, "plain.txt", "made.txt"} {
				want = append(want, "calling "+c)
				// An agent that is told nothing before a call is told after each.
				if c != refused && (!a.TellsBefore() || !strings.HasSuffix(c, ".txt")) {
					want = append(want, "called "+c)
				}
			}
		}
		if diff := cmp.Diff(want, l.asked(a)); diff != "" {
			t.Errorf("hooks started (-want +got)\n%s", diff)
		}
	})
}

// A command that failed in an earlier session brings its lesson, in each client at the earliest
// moment that the client has for it.
func TestClientsAreToldTheLessonOfACommand(t *testing.T) {
	inClients(t, nil, func(l *lab) {
		t := l.t
		write(t, filepath.Join(l.repo, "serve.sh"), "touch up\n")
		write(t, filepath.Join(l.repo, "smoke.sh"), "if [ ! -e up ]; then\n  echo 'dial tcp 127.0.0.1:5433: connection refused' >&2\n  exit 1\nfi\necho all is well\n")
		l.install()
		fail, mend, pass := l.c.shell("sh smoke.sh"), l.c.shell("sh serve.sh"), l.c.shell("sh smoke.sh")
		l.model.play(turn{"Smoke test.", []step{{Calls: []call{fail}}, {Calls: []call{mend}}, {Calls: []call{pass}}, {Say: "It passes."}}})
		l.run(l.c.session("Smoke test.")...)
		lesson := "run `sh serve.sh`"
		l.eventually("the lesson waits", func() bool { return l.reverie("learn").code == 0 && strings.Contains(l.must("review"), lesson) })
		l.must("accept", "--all")
		l.must("-q", "config", "context.budget", "0") // the start of a session says nothing
		os.Remove(filepath.Join(l.repo, "up"))
		l.model.play(turn{"Once more.", []step{{Calls: []call{fail}}, {Say: "Done."}}})
		seen := steps(l.run(l.c.session("Once more.")...))
		if strings.Contains(seen[0].text(), lesson) {
			t.Error("the lesson came before the command")
		}
		if got := newest(seen).text(); !strings.Contains(got, lesson) {
			t.Errorf("the model was not told at the command:\n%s", got)
		}
		if got := l.must("why", "list"); !strings.Contains(got, "tool-") {
			t.Errorf("the ledger has no firing:\n%s", got)
		}
	})
}

// OpenCode's model is shown a long output shortened, and can have the original.
func TestOpenCodeShortensOutputs(t *testing.T) {
	inClients(t, []string{"opencode"}, func(l *lab) {
		t := l.t
		l.install()
		l.must("-q", "config", "agents.shorten", "4000")
		l.model.play(turn{"Count.", []step{{Calls: []call{l.c.shell("seq -f 'compiling file %g of the project' 1 900; echo 'a.c:3: error: no kestrel'; exit 2")}}, {Say: "Done."}}})
		seen := newest(l.run(l.c.session("Count.")...)).text("tool", "user")
		hash := regexp.MustCompile(`reverie expand ([0-9a-f]+)`).FindStringSubmatch(seen)
		if hash == nil || strings.Contains(seen, "file 450 of") || !strings.Contains(seen, "a.c:3: error: no kestrel") {
			t.Fatalf("the model saw\n%s", seen)
		}
		if whole := l.must("expand", hash[1]); !strings.Contains(whole, "file 450 of") {
			t.Errorf("the original is %q", whole)
		}
		if got := l.must("status"); !strings.Contains(got, "1 output, which saved about") {
			t.Errorf("status:\n%s", got)
		}
	})
}

// A call runs whatever becomes of the program.
func TestClientsOutliveBrokenGuards(t *testing.T) {
	inClients(t, unlike, func(l *lab) {
		l.guard()
		for _, broken := range []struct{ name, answer string }{
			{"crashing", "echo 'panic: x' >&2; echo 'goroutine 1 [running]:' >&2; exit 2"},
			{"hanging", "exec sleep 8"},
			{"missing", ""},
		} {
			write(l.t, filepath.Join(l.home, "answer"), broken.answer)
			if broken.answer == "" {
				os.Remove(l.binary())
			}
			l.model.play(turn{"Go " + broken.name, []step{{Calls: []call{l.c.shell("frobnicate; touch " + broken.name)}}, {Say: "Done."}}})
			l.run(l.c.session("Go " + broken.name)...)
			if _, err := os.Stat(filepath.Join(l.repo, broken.name)); err != nil {
				l.t.Errorf("%s: the command did not run: %v", broken.name, err)
			}
			text, _ := os.ReadFile(filepath.Join(l.home, "calls"))
			if got := string(text); broken.answer != "" && !strings.Contains(got, "touch "+broken.name) {
				l.t.Errorf("%s: the hook did not start: %s", broken.name, got)
			}
		}
	})
}

// An agent that is about to break a rule is held up, or told. A call without a guard is left alone,
// and so is every call once guards are off.
func TestClientsAreGuarded(t *testing.T) {
	inClients(t, unlike, func(l *lab) {
		t := l.t
		rule := func(strength string) string {
			return "Releases are made by CI, so deploy.sh " + strength + " stays out of sessions"
		}
		strengths := []string{"hold", "say", "ask", "deny"}
		write(t, filepath.Join(l.repo, "deploy.sh"), "echo \"$1\" >>deployed\n")
		l.install()
		for _, s := range strengths {
			id := strings.TrimSpace(l.must("-q", "remember", "--guard", "Bash(sh deploy.sh "+s+" *)", rule(s)))
			l.must("-q", "edit", id, "--strength", s)
		}
		l.must("-q", "config", "context.budget", "0") // the start of a session says nothing
		tries := []struct{ strength, ran string }{
			{"none", "none\n"},
			{"hold", ""}, {"hold", "hold\n"}, {"hold", "hold\n"}, // repeated twice
			{"say", "say\n"},
			{"ask", ""}, // there is no person
			{"deny", ""}, {"deny", ""},
			{"deny", "deny\n"}, // guards are off
		}
		var play []step
		var ran []string
		for i, try := range tries {
			play = append(play,
				step{Calls: []call{l.c.shell("cd . && sh deploy.sh " + try.strength + " 1")}, Before: func() {
					if i == len(tries)-1 {
						if a := l.reverie("-q", "guard", "off"); a.code != 0 {
							t.Errorf("%s", a)
						}
					}
				}},
				step{Calls: []call{l.c.shell("sleep 1.1")}, Before: func() { // what follows at once is held too
					text, _ := os.ReadFile(filepath.Join(l.repo, "deployed"))
					os.Remove(filepath.Join(l.repo, "deployed"))
					ran = append(ran, string(text))
				}})
		}
		l.model.play(turn{"Release.", append(play, step{Say: "Done."})})
		seen := steps(l.run(l.c.session("Release.")...))
		if len(seen) != len(play)+1 || len(ran) != len(tries) {
			t.Fatalf("%d requests, and %d tries ran", len(seen), len(ran))
		}
		for i, try := range tries {
			if ran[i] != try.ran {
				t.Errorf("try %d, %s: ran %q, want %q", i, try.strength, ran[i], try.ran)
			}
		}
		for _, s := range strengths {
			first := slices.IndexFunc(tries, func(try struct{ strength, ran string }) bool { return try.strength == s })
			if text := seen[2*first].text(); strings.Contains(text, rule(s)) {
				t.Errorf("%s: told before the call:\n%s", s, text)
			}
			if text := seen[2*first+1].text(); !strings.Contains(text, rule(s)) {
				t.Errorf("%s: not told:\n%s", s, text)
			}
		}
		if got := strings.Count(l.must("why", "list"), "tool-"); got != 5 {
			t.Errorf("%d firings in the ledger, want 5", got)
		}
	})
}
