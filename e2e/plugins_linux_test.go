package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// installPlugin installs the agent's plugin of packaging/plugins by the agent's own command.
func (l *lab) installPlugin() {
	l.t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		l.t.Fatal(err)
	}
	plugins := filepath.Join(root, "packaging", "plugins")
	extra := l.c.extra
	l.c.extra = nil
	defer func() { l.c.extra = extra }()
	switch l.c.Name {
	case "claude":
		l.run("plugin", "marketplace", "add", root)
		l.run("plugin", "install", "reverie@reverie")
	case "codex":
		l.run("plugin", "marketplace", "add", root)
		l.run("plugin", "add", "reverie@reverie")
	case "gemini":
		l.run("extensions", "install", filepath.Join(plugins, "gemini"), "--consent")
	case "copilot":
		l.run("plugin", "marketplace", "add", root)
		l.run("plugin", "install", "reverie@reverie")
	case "qwen":
		market := l.t.TempDir() // it writes into the folder
		for _, dir := range []string{".claude-plugin", "packaging/plugins/reverie"} {
			if err := os.CopyFS(filepath.Join(market, dir), os.DirFS(filepath.Join(root, dir))); err != nil {
				l.t.Fatal(err)
			}
		}
		l.run("extensions", "install", market+":reverie", "--consent")
	case "opencode":
		l.run("plugin", filepath.Join(plugins, "opencode"), "--global")
	}
}

// An agent with the plugin is given the memory, the tools, a command and the skill. Hooks of init
// beside it repeat nothing, and without the program the agent works as if it had no plugin.
func TestClientsInstallThePlugin(t *testing.T) {
	inClients(t, nil, func(l *lab) {
		const known = "The carrot harvest runs on port 8123"
		path := "PATH=" + filepath.Dir(l.binary()) + ":" + os.Getenv("PATH")
		env := l.c.env
		l.c.env = func(l *lab) []string { return append(env(l), path) }
		if err := errors.Join(os.MkdirAll(filepath.Dir(l.binary()), 0o755), os.Link(binary, l.binary())); err != nil {
			l.t.Fatal(err)
		}
		l.must("remember", "-k", "constraint", known)
		l.installPlugin()
		tool := l.c.tool("recall")
		if l.c.Name == "claude" {
			tool = "mcp__plugin_reverie_reverie__recall"
		}
		l.model.play(
			turn{"Say hello.", []step{{Calls: []call{{tool, fields{"query": "carrot"}}}}, {Say: "Hello."}}},
			turn{"Search this repository's memory", []step{{Say: "Nothing."}}},
			turn{"Say it twice.", []step{{Say: "Twice."}}},
			turn{"Say it alone.", []step{{Say: "Alone."}}})

		all := steps(l.run(l.c.session("Say hello.")...))
		if len(all) != 2 {
			l.t.Fatalf("the model answered %d requests", len(all))
		}
		if got := given(all[0]); !strings.Contains(got, known) {
			l.t.Errorf("the session was not told the memory, but %q", got)
		}
		if !strings.Contains(all[0].Body, "Recall and propose what is known about this repository") {
			l.t.Error("the skill is not listed")
		}
		if got := given(all[1]); !strings.Contains(got, "recall") || !strings.Contains(got, known) {
			l.t.Errorf("the tool answered %q", got)
		}
		l.over()
		l.wantStory("user: Say hello.", "assistant: Hello.")
		if got := l.reverie("doctor").out; !strings.Contains(got, "as a plugin does") {
			l.t.Errorf("doctor does not see the plugin:\n%s", got)
		}

		if l.c.Name != "codex" && l.c.Name != "copilot" { // their users type $reverie and /reverie
			l.must("config", "context.budget", "0") // Gemini CLI takes no command behind a context
			typed := l.slashed("recall", "carrots")
			if l.c.Name == "qwen" {
				typed = l.c.session("/recall carrots") // the name in an extension
			}
			if all := steps(l.run(typed...)); len(all) != 1 || !strings.Contains(all[0].text("user"), "carrots") {
				l.t.Errorf("the command is not there: %d requests", len(all))
			}
			l.must("config", "context.budget", "1500")
		}

		if err := os.Remove(l.binary()); err != nil {
			l.t.Fatal(err)
		}
		l.install()
		twice := steps(l.run(l.c.session("Say it twice.")...))
		if got := len(block.FindAllString(unescaped(twice[0]), -1)); len(twice) != 1 || got != 1 {
			l.t.Errorf("the memory was given %d times in %d requests", got, len(twice))
		}

		if err := os.Remove(l.binary()); err != nil {
			l.t.Fatal(err)
		}
		alone := steps(l.run(l.c.session("Say it alone.")...))
		if len(alone) != 1 || given(alone[0]) != "" {
			l.t.Errorf("without the program: %d requests, given %q", len(alone), given(alone[0]))
		}
	})
}
