package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Reverie learns from a session unasked, and tells the next one.
func TestClientsTeachAndAreTaught(t *testing.T) {
	inClients(t, nil, func(l *lab) {
		t := l.t
		settings := l.settings()
		l.install()
		l.model.play(l.fixing("Mend the test."), turn{"Thanks.", []step{{Say: "I will."}}}, turn{"Write a script.", []step{{Say: "Written."}}})

		last := newest(l.run(l.c.session("Mend the test.")...))
		if got := last.text("tool", "user"); !strings.Contains(got, "FAIL: add 2 2 is 5") || !strings.Contains(got, "all is well") {
			t.Errorf("the model did not get to see what the commands said:\n%s", got)
		}
		if got := read(t, filepath.Join(l.repo, "calc.sh")); !strings.Contains(got, "$1 + $2))") {
			t.Errorf("not mended:\n%s", got)
		}
		l.run(l.c.resume("Thanks. " + rule)...)
		l.over()
		l.eventually("the user's rule is a memory", func() bool { return strings.Contains(l.must("list"), rule) })
		l.wantStory(slices.Concat(mending, thanking)...)
		before, names := l.must("--json", "list"), l.kept()

		first := steps(l.run(l.c.session("Write a script.")...))[0]
		if block := given(first); !strings.Contains(block, rule) {
			t.Errorf("the next session was not told the rule, but %q", block)
		}
		if got := l.must("why"); !strings.Contains(got, rule) {
			t.Errorf("why does not tell what was given:\n%s", got)
		}
		l.over()
		l.eventually("the second session is kept", func() bool { return len(l.kept()) == 2 })
		l.settle()
		if got := l.must("--json", "list"); got != before {
			t.Errorf("what was told was learned once more:\n%s\n%s", before, got)
		}
		told := l.kept()
		told = slices.DeleteFunc(told, func(name string) bool { return slices.Contains(names, name) })
		if diff := cmp.Diff([]string{"user: Write a script.", "assistant: Written."}, l.story(told[0])); diff != "" {
			t.Errorf("the session that was told (-want +got)\n%s", diff)
		}

		l.must("uninstall", "--yes")
		if diff := cmp.Diff(settings, l.settings()); diff != "" {
			t.Errorf("uninstall leaves the agent's settings otherwise than they were (-before +after):\n%s", diff)
		}
	})
}

// over has the last session pass for ended if the agent reports no end of a headless one.
func (l *lab) over() {
	l.t.Helper()
	if l.c.Name == "qwen" {
		l.settle()
		l.later(time.Hour)
		l.must("list") // any command finds it
	}
}

// settings returns the texts of the agent's settings, without parts that the agent itself writes
// while running.
func (l *lab) settings() map[string]string {
	l.t.Helper()
	found := map[string]string{}
	for _, name := range []string{".claude/settings.json", ".codex/config.toml", ".codex/hooks.json", ".gemini/settings.json",
		".config/opencode/opencode.jsonc", ".config/opencode/plugin/reverie.js", ".copilot/settings.json", ".copilot/hooks/reverie.json",
		".copilot/mcp-config.json", ".copilot/skills/reverie/SKILL.md", ".qwen/settings.json"} {
		if text, err := os.ReadFile(filepath.Join(l.home, name)); err == nil {
			found[name] = string(text)
		}
	}
	return found
}

// wantStory waits until the only kept session tells a story.
func (l *lab) wantStory(want ...string) {
	l.t.Helper()
	diff := ""
	defer func() {
		if diff != "" {
			l.t.Logf("(-want +got)\n%s", diff)
		}
	}()
	l.eventually("one session tells what happened", func() bool {
		names := l.kept()
		if len(names) != 1 || !strings.HasPrefix(names[0], l.c.Name+"/") {
			diff = fmt.Sprintf("the sessions kept are %q", names)
			return false
		}
		diff = cmp.Diff(want, l.story(names[0]))
		return diff == ""
	})
}

var block = regexp.MustCompile(`(?s)<reverie-memory\b.*?</reverie-memory>`)

// given returns Reverie's last text in a request: a client may repeat earlier ones before it.
func given(r request) (last string) {
	for _, text := range block.FindAllString(unescaped(r), -1) {
		last = text
	}
	return last
}

// unescaped returns all text of a request, without the escapes of Gemini CLI and of tools' results.
func unescaped(r request) string {
	return html.UnescapeString(strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\"`, `"`).Replace(r.text()))
}

// steps returns the requests that took a step of a turn.
func steps(all []request) []request {
	return slices.DeleteFunc(slices.Clone(all), func(r request) bool { return r.Kind != stepped })
}

func newest(all []request) request { return all[len(all)-1] }

// Words from before a compaction are kept, and known memories reach the agent again afterwards.
func TestClientsGoOnAfterCompaction(t *testing.T) {
	inClients(t, []string{"claude", "codex", "opencode"}, func(l *lab) {
		t := l.t
		l.install()
		l.must("remember", rule)
		var summary, after request
		switch l.c.Name {
		case "claude":
			l.model.play(l.fixing("Mend the test."), turn{"Go on.", []step{{Say: "I went on."}}})
			l.run(l.c.session("Mend the test.")...)
			summary = newest(l.run("-p", "/compact", "-c"))
			after = newest(l.run(l.c.resume("Go on.")...))
		case "codex":
			l.model.play(turn{"Mend the test.", []step{{Calls: []call{l.c.shell("sh test.sh")}, Used: 90_000}, {Say: "I went on."}}})
			all := l.run(append([]string{"-c", "model_auto_compact_token_limit=50000"}, l.c.session("Mend the test.")...)...)
			summary, after = all[1], newest(all)
		case "opencode":
			l.model.play(turn{"Mend the test.", []step{{Calls: []call{l.c.shell("sh test.sh")}, Used: 97_000}}},
				turn{"Continue if you have next steps", []step{{Say: "I went on."}}})
			all := l.run(l.c.session("Mend the test.")...)
			summary, after = all[len(all)-2], newest(all)
		}
		if summary.Kind != summed || after.Kind != stepped {
			t.Fatalf("not summed up: the last requests were for a %s and a %s", summary.Kind, after.Kind)
		}
		// codex takes nothing there
		if got := given(summary); l.c.Name != "codex" && !strings.Contains(got, rule) {
			t.Errorf("the summary was not asked to keep the rule, but %q", got)
		}
		if got := given(after); !strings.Contains(got, rule) {
			t.Errorf("the rule was not given again, but %q", got)
		}
		l.eventually("there is a checkpoint", func() bool { return strings.TrimSpace(l.must("checkpoint", "list")) != "" })
	})
}

// A killed agent reports no end of its session. Its delivered events are kept all the same.
func TestKilledClientsLoseNothing(t *testing.T) {
	inClients(t, nil, func(l *lab) {
		t := l.t
		l.install()
		const command = "until [ -e go ]; do sleep 0.1; done; sh test.sh"
		l.model.play(turn{"Run the test.", []step{{Calls: []call{l.c.shell(command)}}, {Stall: true}}})
		r := l.start(l.c.session("Run the test. " + rule)...)
		l.eventually("the prompt is delivered", func() bool { return slices.Contains(l.spooled(), "prompt") })
		l.eventually("what was said so far is kept", func() bool {
			return l.reverie("learn").code == 0 && len(l.kept()) == 1
		})
		write(t, filepath.Join(l.repo, "go"), "")
		select {
		case <-l.model.Stalled:
		case a := <-r.ended():
			t.Fatalf("it did not wait for the model: %s", a)
		}
		l.eventually("the agent's own record has the result", func() bool { return l.written("FAIL: add 2 2 is 5") })
		delivered := l.spooled()
		r.kill()
		r.wait()
		for _, kind := range []string{"start", "prompt"} {
			if !slices.Contains(delivered, kind) {
				t.Errorf("delivered were %q, and no %s", delivered, kind)
			}
		}
		l.settle()
		l.later(time.Hour)
		l.must("list") // any command finds the leftovers
		l.wantStory("user: Run the test. "+rule, command+": failed 1")
		l.eventually("the user's rule is a memory", func() bool { return strings.Contains(l.must("list"), rule) })
	})
}

// Codex runs no hook without its user's approval, and says nothing about it; doctor does.
func TestUnapprovedHooksOfCodexAreFound(t *testing.T) {
	inClients(t, []string{"codex"}, func(l *lab) {
		t := l.t
		l.install()
		l.c.extra = nil // it was told to treat hooks as approved
		l.model.play(l.fixing("Mend the test."), turn{"Thanks.", []step{{Say: "I will."}}})
		l.run(l.c.session("Mend the test.")...)
		if got := l.kept(); len(got) > 0 {
			t.Errorf("hooks ran that nobody approved: %q", got)
		}
		if a := l.reverie("doctor"); !strings.Contains(a.out, "runs its hooks once you approve them") {
			t.Errorf("doctor does not say what is missing: %s", a)
		}

		l.approve()
		if a := l.reverie("doctor"); a.code != 0 || strings.Contains(a.out, "you approve") {
			t.Errorf("doctor does not know an approval: %s", a)
		}
		l.run(l.c.session("Thanks. " + rule)...)
		l.wantStory(thanking...)
	})
}

// approve does what the user of Codex does in /hooks: it records the hashes that Codex shows.
func (l *lab) approve() {
	l.t.Helper()
	cmd := exec.Command(l.program()[0], "app-server")
	cmd.Dir, cmd.Env = l.repo, append(l.env(), l.c.env(l)...)
	in, err := cmd.StdinPipe()
	if err != nil {
		l.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = l.net.start(cmd)
	}
	if err != nil {
		l.t.Fatal(err)
	}
	defer cmd.Wait()
	defer in.Close()
	defer time.AfterFunc(clientPatience, func() { cmd.Process.Kill() }).Stop()
	fmt.Fprintf(in, "%s\n%s\n%s\n",
		asJSON(fields{"id": 1, "method": "initialize", "params": fields{"clientInfo": fields{"name": "test", "title": "test", "version": "1"}}}),
		asJSON(fields{"method": "initialized"}),
		asJSON(fields{"id": 2, "method": "hooks/list", "params": fields{"cwds": list{l.repo}}}))
	for d := json.NewDecoder(out); ; {
		var answer struct {
			ID     int
			Result struct {
				Data []struct {
					Hooks []struct{ Key, CurrentHash string }
				}
			}
		}
		if err := d.Decode(&answer); err != nil {
			l.t.Fatalf("codex app-server: %v", err)
		}
		if answer.ID != 2 {
			continue
		}
		var b strings.Builder
		for _, h := range answer.Result.Data[0].Hooks {
			fmt.Fprintf(&b, "\n[hooks.state.%q]\ntrusted_hash = %q\n", h.Key, h.CurrentHash)
		}
		l.write(".codex/config.toml", read(l.t, filepath.Join(l.home, ".codex", "config.toml"))+b.String())
		return
	}
}

// A sub-agent's session is kept as its parent's.
func TestClientsSubagentsKeepTheirParent(t *testing.T) {
	inClients(t, []string{"claude", "opencode"}, func(l *lab) {
		l.install()
		delegate := call{"Agent", fields{"description": "Look around", "prompt": "Look at the test.", "subagent_type": "general-purpose", "run_in_background": false}}
		if l.c.Name == "opencode" {
			delegate = call{"task", fields{"description": "Look around", "prompt": "Look at the test.", "subagent_type": "general"}}
		}
		l.model.play(
			turn{"Let another one look.", []step{{Calls: []call{delegate}}, {Say: "It has looked."}}},
			turn{"Look at the test.", []step{{Calls: []call{l.c.shell("sh test.sh")}}, {Say: "I looked."}}})
		l.run(l.c.session("Let another one look.")...)
		l.eventually("both sessions are kept", func() bool {
			parents := map[string]string{}
			for _, s := range l.sessions() {
				parents[s.ID] = s.Parent
			}
			for _, parent := range parents {
				if _, kept := parents[parent]; kept && len(parents) == 2 {
					return true
				}
			}
			return false
		})
	})
}

// later lets time pass for the spooled events.
func (l *lab) later(passed time.Duration) {
	l.t.Helper()
	then := time.Now().Add(-passed)
	for _, path := range l.spool() {
		text := spoolTime.ReplaceAllString(read(l.t, path), `"time":"`+then.UTC().Format(time.RFC3339)+`"`)
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, then, then)); err != nil {
			l.t.Fatal(err)
		}
	}
}

var spoolTime = regexp.MustCompile(`"time":"[^"]*"`)

// spool lists the files of spooled events.
func (l *lab) spool() []string {
	l.t.Helper()
	return slices.DeleteFunc(files(l.t, filepath.Join(l.repo, ".git", "reverie", "spool")), func(path string) bool {
		return filepath.Base(path) != "events.jsonl"
	})
}

// written reports whether a text is in one of the agent's files.
func (l *lab) written(text string) bool {
	l.t.Helper()
	return slices.ContainsFunc(files(l.t, l.home), func(path string) bool {
		data, err := os.ReadFile(path)
		if err != nil || l.c.Name != "qwen" {
			return bytes.Contains(data, []byte(text))
		}
		// It writes outputs of commands elsewhere, too, and in the chat first as telemetry.
		lines := slices.Collect(bytes.Lines(data))
		return strings.Contains(path, "/chats/") && slices.ContainsFunc(lines, func(line []byte) bool {
			return bytes.Contains(line, []byte(text)) && bytes.HasSuffix(line, []byte("\n")) && !bytes.Contains(line, []byte(`"ui_telemetry"`))
		})
	})
}

// spooled returns the kinds of the spooled events.
func (l *lab) spooled() []string {
	l.t.Helper()
	var kinds []string
	for _, path := range l.spool() {
		for line := range strings.Lines(read(l.t, path)) {
			var e struct{ Kind string }
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				l.t.Fatal(err)
			}
			kinds = append(kinds, e.Kind)
		}
	}
	return kinds
}

// An agent with a missing or endless hook does its work all the same.
func TestClientsDoWithoutTheHook(t *testing.T) {
	for _, c := range []struct{ name, program string }{
		{"missing", ""},
		{"failing", "#!/bin/sh\necho no good\nexit 2\n"},
		{"hanging", "#!/bin/sh\nexec sleep 600\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			names := unlike
			if c.name == "hanging" {
				names = nil // Qwen Code too: only when it waits does it differ from Gemini CLI
			}
			inClients(t, names, func(l *lab) {
				l.install()
				os.Remove(l.binary())
				if c.program != "" {
					write(l.t, l.binary(), c.program)
					os.Chmod(l.binary(), 0o755)
				}
				// One call: Qwen Code waits for a hanging hook before each request to its model.
				l.model.play(turn{"Go.", []step{{Calls: []call{l.c.shell("sh test.sh")}}, {Say: "Done."}}})
				a := l.start(l.c.session("Go.")...).wait()
				all := steps(l.model.heard())
				if len(all) == 0 || !strings.Contains(newest(all).text(), "FAIL: add 2 2 is 5") {
					l.t.Errorf("the agent did not come to its end: %s", a)
				}
				for pid := range l.left() { // hung processes stay
					syscall.Kill(pid, syscall.SIGKILL)
				}
			})
		})
	}
}

// eventually waits until a fact holds that a worker establishes in the background.
func (l *lab) eventually(fact string, holds func() bool) {
	l.t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			log, _ := os.ReadFile(filepath.Join(l.repo, ".git", "reverie", "log"))
			l.t.Fatalf("not in a minute: %s\nlog: %s", fact, log)
		}
	}
}

// settle waits until nothing works in the background any more.
func (l *lab) settle() {
	l.t.Helper()
	quiet := 0 // looks in a row: a process that another starts at its end may be in neither
	l.eventually("nothing works in the background", func() bool {
		if quiet++; len(l.left()) > 0 {
			quiet = 0
		}
		return quiet == 3
	})
}

// The text behind a repository's slash command is not the user's words.
func TestOpenCodeCommandsAreNoWordsOfTheUsers(t *testing.T) {
	inClients(t, []string{"opencode"}, func(l *lab) {
		write(l.t, filepath.Join(l.repo, ".opencode/command/review.md"), "---\ndescription: Look at it\n---\n\n"+rule+" Now look at $ARGUMENTS.\n")
		for name, text := range map[string]string{"node_modules/.keep": "", "package-lock.json": read(l.t, filepath.Join(l.home, ".config/opencode/package-lock.json"))} {
			// otherwise it tries to install a package there
			write(l.t, filepath.Join(l.repo, ".opencode", name), text)
		}
		l.install()
		l.model.play(turn{"Now look at", []step{{Say: "I have."}}}, turn{"Thanks.", []step{{Say: "I did."}}})
		l.run("run", "--command", "review", "calc.sh")
		l.run(l.c.resume("Thanks. Never use bashisms in shell files, always plain sh.")...)
		l.eventually("the user's rule is a memory", func() bool { return strings.Contains(l.must("list"), "bashisms") })
		l.settle()
		if got := l.must("list"); strings.Contains(got, rule) {
			l.t.Errorf("the command's file is a memory:\n%s", got)
		}
		for _, e := range objects[toldEvent](l.t, l.must("--json", "sessions", "show", l.kept()[0])) {
			if e.Kind == "user" && strings.Contains(e.Text, rule) && e.Origin != "command" {
				l.t.Errorf("%s: %s", e.Origin, e.Text)
			}
		}
	})
}
