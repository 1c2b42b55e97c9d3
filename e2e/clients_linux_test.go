package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// These tests drive the real agents against a scripted model. .ci/clients installs them, and
// REVERIE_CLIENTS names their folder. Each has its own home, and a network that is limited to
// 127.0.0.1.

// client describes one agent: how to set it up, start it and talk to it.
type client struct {
	Name    string // as Reverie calls it
	program []string
	env     func(l *lab) []string
	prepare func(l *lab)
	session func(prompt string) []string // arguments that begin a session
	resume  func(prompt string) []string // arguments that continue the last session
	shell   func(command string) call
	create  func(path, line string) call       // a file of one line
	edit    func(path, old, new string) []call // one after the other
	tool    func(name string) string           // the model's name for one of our tools
	extra   []string                           // arguments in front of all others
}

var clients = []client{
	{
		Name:    "claude",
		program: []string{"@anthropic-ai/claude-code-linux-x64/claude"},
		env: func(l *lab) []string {
			return []string{"ANTHROPIC_BASE_URL=" + l.model.URL, "ANTHROPIC_API_KEY=none", "IS_SANDBOX=1",
				"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1"}
		},
		prepare: func(*lab) {},
		extra:   []string{"--permission-mode", "bypassPermissions"},
		session: func(prompt string) []string { return []string{"-p", prompt} },
		resume:  func(prompt string) []string { return []string{"-p", prompt, "-c"} },
		shell: func(command string) call {
			return call{"Bash", fields{"command": command, "description": "Run a command"}}
		},
		tool: func(name string) string { return "mcp__reverie__" + name },
		create: func(path, line string) call {
			return call{"Write", fields{"file_path": path, "content": line + "\n"}}
		},
		edit: func(path, old, new string) []call {
			return []call{{"Read", fields{"file_path": path}}, {"Edit", fields{"file_path": path, "old_string": old, "new_string": new}}}
		},
	},
	{
		Name:    "codex",
		program: []string{"@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"},
		env:     func(*lab) []string { return []string{"SCRIPTED_KEY=none", "RUST_LOG=error"} },
		prepare: func(l *lab) {
			l.write(".codex/config.toml", fmt.Sprintf(`# kept as it is
model = "gpt-6-sol"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.scripted]
name = "Scripted"
base_url = "%s/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 0
stream_max_retries = 0

[projects."%s"]
trust_level = "trusted"
`, l.model.URL, l.repo))
		},
		extra:   []string{"--dangerously-bypass-hook-trust"},
		session: func(prompt string) []string { return []string{"exec", prompt} },
		resume:  func(prompt string) []string { return []string{"exec", "resume", "--last", prompt} },
		shell:   func(command string) call { return call{"exec_command", fields{"cmd": command}} },
		tool:    func(name string) string { return "mcp__reverie__" + name },
		create: func(path, line string) call {
			return call{"exec_command", fields{"cmd": "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: " + path + "\n+" + line + "\n*** End Patch\nEOF"}}
		},
		edit: func(path, old, new string) []call {
			patch := fmt.Sprintf("apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: %s\n@@\n-%s\n+%s\n*** End Patch\nEOF", filepath.Base(path), old, new)
			return []call{{"exec_command", fields{"cmd": patch}}}
		},
	},
	{
		Name:    "gemini",
		program: []string{"node", "@google/gemini-cli/bundle/gemini.js"},
		env: func(l *lab) []string {
			return []string{"GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL=" + l.model.URL, "GEMINI_CLI_TRUST_WORKSPACE=true",
				"GEMINI_TELEMETRY_ENABLED=false", "NO_UPDATE_NOTIFIER=1"}
		},
		prepare: func(l *lab) {
			l.write(".gemini/settings.json", `{
  // kept as it is
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
  "privacy": {"usageStatisticsEnabled": false},
  "telemetry": {"enabled": false},
  "model": {"name": "gemini-2.5-pro"}
}
`)
		},
		extra:   []string{"--approval-mode", "yolo"},
		session: func(prompt string) []string { return []string{"-p", prompt} },
		resume:  func(prompt string) []string { return []string{"--resume", "latest", "-p", prompt} },
		shell: func(command string) call {
			return call{"run_shell_command", fields{"command": command, "description": "Run a command"}}
		},
		tool: func(name string) string { return "mcp_reverie_" + name },
		create: func(path, line string) call {
			return call{"write_file", fields{"file_path": path, "content": line + "\n"}}
		},
		edit: func(path, old, new string) []call {
			return []call{{"replace", fields{"file_path": path, "old_string": old, "new_string": new, "instruction": "Mend it."}}}
		},
	},
	{
		Name:    "opencode",
		program: []string{"opencode-linux-x64/bin/opencode"},
		env: func(*lab) []string {
			return []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_SHARE=1"}
		},
		prepare: func(l *lab) {
			l.write(".config/opencode/opencode.jsonc", fmt.Sprintf(`{
  "$schema": "https://opencode.ai/config.json", // it would add this itself
  "model": "scripted/one",
  "small_model": "scripted/one",
  "autoupdate": false,
  "share": "disabled",
  "provider": {
    "scripted": {
      "npm": "@ai-sdk/openai-compatible",
      "name": "Scripted",
      "options": {"baseURL": "%s/v1", "apiKey": "none"},
      "models": {"one": {"name": "One", "tool_call": true, "limit": {"context": 100000, "output": 4000}}},
    },
  },
}
`, l.model.URL))
			// It installs a package there at each start, and tries for a minute without a network, unless a
			// lock file names it.
			version := l.version("opencode-linux-x64")
			l.write(".config/opencode/node_modules/.keep", "")
			l.write(".config/opencode/package-lock.json", string(asJSON(fields{"lockfileVersion": 3,
				"packages": fields{"": fields{"dependencies": fields{"@opencode-ai/plugin": version}}}})))
		},
		session: func(prompt string) []string { return []string{"run", prompt} },
		resume:  func(prompt string) []string { return []string{"run", "-c", prompt} },
		shell: func(command string) call {
			return call{"bash", fields{"command": command, "description": "Run a command"}}
		},
		tool: func(name string) string { return "reverie_" + name },
		create: func(path, line string) call {
			return call{"write", fields{"filePath": path, "content": line + "\n"}}
		},
		edit: func(path, old, new string) []call {
			return []call{{"read", fields{"filePath": path}}, {"edit", fields{"filePath": path, "oldString": old, "newString": new}}}
		},
	},
	{
		Name:    "copilot",
		program: []string{"@github/copilot-linux-x64/copilot"},
		env: func(l *lab) []string {
			return []string{"COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=" + l.model.URL + "/v1", "COPILOT_MODEL=gpt-5",
				"COPILOT_AUTO_UPDATE=false", "PWD=" + l.repo} // PWD as a shell sets it
		},
		prepare: func(l *lab) { l.write(".copilot/settings.json", "{\n  \"banner\": \"never\"\n}\n") },
		extra:   []string{"--allow-all-tools"},
		session: func(prompt string) []string { return []string{"-p", prompt} },
		resume:  func(prompt string) []string { return []string{"--continue", "-p", prompt} },
		shell: func(command string) call {
			return call{"bash", fields{"command": command, "description": "Run a command"}}
		},
		tool: func(name string) string { return "reverie-" + name },
		create: func(path, line string) call {
			return call{"create", fields{"path": path, "file_text": line + "\n"}}
		},
		edit: func(path, old, new string) []call {
			return []call{{"edit", fields{"path": path, "old_str": old, "new_str": new}}}
		},
	},
	{
		Name:    "qwen",
		program: []string{"node", "@qwen-code/qwen-code/cli.js"},
		env: func(l *lab) []string {
			return []string{"OPENAI_BASE_URL=" + l.model.URL + "/v1", "OPENAI_API_KEY=none", "OPENAI_MODEL=scripted", "QWEN_CODE_NO_RELAUNCH=true"}
		},
		prepare: func(l *lab) {
			// By default Qwen Code takes what a command of a prompt has printed when the command ends, and
			// may lose it on a busy machine. From a terminal it reads to the end.
			l.write(".qwen/settings.json", `{
  // kept as it is
  "general": {"enableAutoUpdate": false},
  "privacy": {"usageStatisticsEnabled": false},
  "telemetry": {"enabled": false},
  "tools": {"shell": {"enableInteractiveShell": true}},
  "$version": 4
}
`)
		},
		extra:   []string{"--approval-mode", "yolo"},
		session: func(prompt string) []string { return []string{"-p", prompt} },
		resume:  func(prompt string) []string { return []string{"--continue", "-p", prompt} },
		shell: func(command string) call {
			return call{"run_shell_command", fields{"command": command, "description": "Run a command", "is_background": false}}
		},
		tool: func(name string) string { return "mcp__reverie__" + name },
		create: func(path, line string) call {
			return call{"write_file", fields{"file_path": path, "content": line + "\n"}}
		},
		edit: func(path, old, new string) []call {
			return []call{{"read_file", fields{"file_path": path}}, {"edit", fields{"file_path": path, "old_string": old, "new_string": new}}}
		},
	},
}

// looping lists the agents that a loop can run and that can be the model. unlike lists those that
// differ in calls of tools: Qwen Code has the shell line and the forms of answers of Gemini CLI.
var (
	looping = []string{"claude", "codex", "gemini", "opencode"}
	unlike  = append(slices.Clone(looping), "copilot")
)

// clientPatience bounds one run of an agent, of a few steps. It catches a hang: under load OpenCode
// takes minutes.
const clientPatience = 10 * time.Minute

// lab is the test bench of one agent: its own home and repository, and a model.
type lab struct {
	t      *testing.T
	c      client
	home   string
	repo   string
	folder string // of the installed agents
	net    *loopback
	model  *model
}

// inClients runs a test with each of the named agents, or with all, beside one another: they mostly
// wait, for Reverie's worker, for a hook that hangs or for a command that sleeps.
func inClients(t *testing.T, names []string, test func(*lab)) {
	folder := os.Getenv("REVERIE_CLIENTS")
	if folder == "" {
		t.Skip("REVERIE_CLIENTS does not name a folder with the agents: .ci/clients installs them and prints it")
	}
	t.Parallel()
	for _, c := range clients {
		if len(names) > 0 && !slices.Contains(names, c.Name) {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			test(newLab(t, c, folder))
		})
	}
}

func newLab(t *testing.T, c client, folder string) *lab {
	t.Helper()
	l := &lab{t: t, c: c, folder: folder, net: newLoopback(t)}
	dir := t.TempDir()
	l.home, l.repo = filepath.Join(dir, "home"), filepath.Join(dir, "toy")
	t.Cleanup(l.clean)
	program := l.program()
	if _, err := os.Stat(program[len(program)-1]); err != nil {
		t.Fatalf("the agent is missing: %v", err)
	}
	if got := l.net.reachable(t); l.net.own && !slices.Equal(got, []string{"lo"}) {
		t.Fatalf("the agent would reach %q", got)
	}
	l.model = newModel(t, l.net.listen(t))
	l.write(".gitconfig", "[user]\n\tname = Ann Author\n\temail = ann@example.com\n[init]\n\tdefaultBranch = main\n")
	c.prepare(l)
	git(t, "", "init", "-q", l.repo)
	write(t, filepath.Join(l.repo, "calc.sh"), "add() {\n  echo $(($1 + $2 + 1))\n}\n")
	write(t, filepath.Join(l.repo, "test.sh"), ". ./calc.sh\nif [ \"$(add 2 2)\" != 4 ]; then\n  echo \"FAIL: add 2 2 is $(add 2 2), not 4\" >&2\n  exit 1\nfi\necho all is well\n")
	git(t, l.repo, "add", ".")
	git(t, l.repo, "commit", "-qm", "begin")
	return l
}

// write writes a file below the home.
func (l *lab) write(name, text string) {
	l.t.Helper()
	write(l.t, filepath.Join(l.home, name), text)
}

// version returns the version of an installed package.
func (l *lab) version(name string) string {
	l.t.Helper()
	var p struct{ Version string }
	if err := json.Unmarshal([]byte(read(l.t, filepath.Join(l.folder, "node_modules", name, "package.json"))), &p); err != nil {
		l.t.Fatal(err)
	}
	return p.Version
}

func (l *lab) program() []string {
	program := slices.Clone(l.c.program)
	last := &program[len(program)-1]
	*last = filepath.Join(l.folder, "node_modules", filepath.FromSlash(*last))
	return program
}

// running is a running agent.
type running struct {
	l    *lab
	cmd  *exec.Cmd
	out  bytes.Buffer
	err  bytes.Buffer
	over chan error
}

// start starts the agent, without this test's environment.
func (l *lab) start(args ...string) *running {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), clientPatience)
	l.t.Cleanup(cancel)
	argv := slices.Concat(l.program(), l.c.extra, args)
	r := &running{l: l, cmd: exec.CommandContext(ctx, argv[0], argv[1:]...), over: make(chan error, 1)}
	r.cmd.Dir = l.repo
	r.cmd.Env = append(l.env(), l.c.env(l)...)
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.err
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r.cmd.Cancel = r.kill
	r.cmd.WaitDelay = 5 * time.Second
	if err := l.net.start(r.cmd); err != nil {
		l.t.Fatal(err)
	}
	go func() { r.over <- r.cmd.Wait() }()
	return r
}

// onPath makes a folder for PATH with the agent under its own name.
func (l *lab) onPath() string {
	l.t.Helper()
	program := l.program()
	if l.c.Name == "codex" {
		program = append(program, l.c.extra...) // the user's consent by trusting the hooks
	}
	for i, word := range program {
		program[i] = "'" + word + "'"
	}
	bin := filepath.Join(l.home, "agents")
	err := os.MkdirAll(bin, 0o755)
	if err = errors.Join(err, os.WriteFile(filepath.Join(bin, l.c.Name), []byte("#!/bin/sh\nexec "+strings.Join(program, " ")+" \"$@\"\n"), 0o755)); err != nil {
		l.t.Fatal(err)
	}
	return bin
}

// begun starts the installed command, with a folder in front on PATH and the agent's environment.
func (l *lab) begun(bin string, more []string, args ...string) *running {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*clientPatience)
	l.t.Cleanup(cancel)
	r := &running{l: l, cmd: exec.CommandContext(ctx, l.binary(), args...), over: make(chan error, 1)}
	r.cmd.Dir = l.repo
	r.cmd.Env = append(slices.DeleteFunc(l.env(), func(kv string) bool { return strings.HasPrefix(kv, "PATH=") }), "PATH="+bin+":"+os.Getenv("PATH"))
	r.cmd.Env = slices.Concat(r.cmd.Env, l.c.env(l), more)
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.err
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r.cmd.Cancel = r.kill
	r.cmd.WaitDelay = 5 * time.Second
	if err := l.net.start(r.cmd); err != nil {
		l.t.Fatal(err)
	}
	go func() { r.over <- r.cmd.Wait() }()
	return r
}

// env returns the environment of the agents and the command.
func (l *lab) env() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + l.home, "TERM=dumb", "LANG=C.UTF-8"}
}

// kill kills the agent and its attached children.
func (r *running) kill() error { return syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) }

// wait waits for the end of the agent.
func (r *running) wait() answer {
	r.l.t.Helper()
	err := <-r.over
	r.over <- err // for repeated calls
	a := answer{args: r.cmd.Args, out: r.out.String(), err: r.err.String()}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		a.code = exit.ExitCode()
	} else if err != nil {
		r.l.t.Fatalf("%s: %v", a, err)
	}
	return a
}

// ended returns a channel with the agent's result.
func (r *running) ended() <-chan answer {
	c := make(chan answer, 1)
	go func() { c <- r.wait() }()
	return c
}

// run runs the agent, requires success, and returns the requests to the model.
func (l *lab) run(args ...string) []request {
	l.t.Helper()
	a := l.start(args...).wait()
	if a.code != 0 {
		l.t.Fatal(a)
	}
	return l.model.heard()
}

// fixing returns a turn in which the test fails, is mended and succeeds.
func (l *lab) fixing(on string) turn {
	steps := []step{{Say: "I run the test first.", Calls: []call{l.c.shell("sh test.sh")}}}
	for _, c := range l.c.edit(filepath.Join(l.repo, "calc.sh"), "  echo $(($1 + $2 + 1))", "  echo $(($1 + $2))") {
		steps = append(steps, step{Calls: []call{c}})
	}
	return turn{on, append(steps, step{Calls: []call{l.c.shell("sh test.sh")}}, step{Say: "Mended: add adds no one any more."})}
}

// rule is the user's instruction to the agents.
const rule = "Always use tabs in shell files, never spaces."

// mending is the story of fixing's turn, and thanking that of the next one.
var (
	mending  = []string{"user: Mend the test.", "sh test.sh: failed 1", "edit calc.sh: ok", "sh test.sh: ok 0", "assistant: Mended: add adds no one any more."}
	thanking = []string{"user: Thanks. " + rule, "assistant: I will."}
)

// keptSession is a kept session.
type keptSession struct{ Name, ID, Parent string }

func (l *lab) sessions() []keptSession {
	l.t.Helper()
	return objects[keptSession](l.t, l.must("--json", "sessions"))
}

// kept returns the names of the kept sessions.
func (l *lab) kept() []string {
	l.t.Helper()
	var names []string
	for _, s := range l.sessions() {
		names = append(names, s.Name)
	}
	return names
}

// objects reads JSON, one value per line.
func objects[T any](t *testing.T, text string) []T {
	t.Helper()
	var all []T
	for d := json.NewDecoder(strings.NewReader(text)); ; {
		var v T
		if err := d.Decode(&v); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
}

type toldEvent struct {
	Kind, Text, Origin, Action, Command, Call, Outcome string
	Paths                                              []string
	Exit                                               *int
}

// story returns the user's words and the results of commands and edits in a stored session.
func (l *lab) story(name string) []string {
	l.t.Helper()
	var told []string
	for _, e := range objects[toldEvent](l.t, l.must("--json", "sessions", "show", name)) {
		switch {
		case e.Kind == "user" && e.Origin != "injected":
			told = append(told, "user: "+e.Text)
		case e.Kind == "assistant" && e.Text != "I run the test first.":
			told = append(told, "assistant: "+e.Text)
		case e.Kind == "call" && e.Action == "edit":
			told = append(told, "edit "+filepath.Base(e.Paths[0]))
		case e.Kind == "result" && e.Action == "edit":
			told[len(told)-1] += ": " + e.Outcome
		case e.Kind == "result" && e.Exit != nil:
			told = append(told, fmt.Sprintf("%s: %s %d", e.Command, e.Outcome, *e.Exit))
		case e.Kind == "result" && e.Action == "run":
			told = append(told, fmt.Sprintf("%s: %s", e.Command, e.Outcome))
		}
	}
	return told
}

// binary returns the path of the installed command.
func (l *lab) binary() string { return filepath.Join(l.home, "bin", "reverie") }

// reverie runs the command as the user would.
func (l *lab) reverie(args ...string) answer {
	l.t.Helper()
	return finish(l.t, func(ctx context.Context) *exec.Cmd {
		cmd := exec.CommandContext(ctx, binary, args...)
		cmd.Dir, cmd.Env = l.repo, l.env()
		return cmd
	})
}

// must is reverie, but anything except success ends the test.
func (l *lab) must(args ...string) string {
	l.t.Helper()
	a := l.reverie(args...)
	if a.code != 0 {
		l.t.Fatal(a)
	}
	return a.out
}

// install starts a memory and makes the agent call a copy of the command, which a test may damage.
func (l *lab) install() {
	l.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(l.binary()), 0o755), os.Link(binary, l.binary())); err != nil {
		l.t.Fatal(err)
	}
	a := finish(l.t, func(ctx context.Context) *exec.Cmd {
		cmd := exec.CommandContext(ctx, l.binary(), "init", "--agent", l.c.Name)
		cmd.Dir, cmd.Env = l.repo, l.env()
		return cmd
	})
	if a.code != 0 {
		l.t.Fatal(a)
	}
}

// left returns the processes with this lab's home: the agent's, and their children.
func (l *lab) left() map[int]string {
	l.t.Helper()
	found := map[int]string{}
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		l.t.Fatal(err)
	}
	for _, path := range all {
		env, err := os.ReadFile(path)
		if err != nil || !slices.Contains(strings.Split(string(env), "\x00"), "HOME="+l.home) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		found[pid] = strings.ReplaceAll(string(line), "\x00", " ")
	}
	return found
}

// clean waits for background work, so that the lab can be removed.
func (l *lab) clean() {
	end := time.Now().Add(10 * time.Second)
	for len(l.left()) > 0 && time.Now().Before(end) {
		time.Sleep(50 * time.Millisecond)
	}
	for pid, line := range l.left() {
		l.t.Errorf("process %d is left behind: %s", pid, line)
		syscall.Kill(pid, syscall.SIGKILL)
	}
}
