// Package agent asks the model of a coding agent one question, by the agent's own program. Begin
// with Find, then Agent.Ask.
//
// The program has no terminal, tools, hooks, servers or project memory. It works in its own empty
// folder outside every repository, and is killed with its children when the context ends. So if it
// keeps a record of the question, that belongs to no repository. An Agent is safe for concurrent
// use, also across processes: each agent is asked one question at a time.
package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/cut"
	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/internal/process"
)

var (
	// ErrMissing is returned when an agent's program is not installed.
	ErrMissing = errors.New("its program is not on PATH")
	// ErrFailed is returned when an agent's program gave no answer.
	ErrFailed = errors.New("it gave no answer")
)

// Agent is an agent with its program.
type Agent struct {
	Name    string // claude, codex, gemini or opencode
	Program string // absolute path
}

// Find looks for the program of an agent. The error wraps ErrMissing.
func Find(name string) (Agent, error) {
	path, err := exec.LookPath(name)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return Agent{}, fmt.Errorf("%s: %w", name, ErrMissing)
	}
	return Agent{name, path}, nil
}

// Answer is an agent's answer. The program counts the tokens; without a count both are 0.
type Answer struct {
	Text        []byte // JSON, unless the model gave none
	Asked, Said int
}

// Ask puts a question with a task to the agent. The error wraps ErrFailed, or the context's when
// that has ended.
func (a Agent) Ask(ctx context.Context, task, question string) (Answer, error) {
	answer, err := a.ask(ctx, task, question)
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		return answer, fmt.Errorf("ask %s: %w", a.Name, err)
	}
	return answer, nil
}

func (a Agent) ask(ctx context.Context, task, question string) (Answer, error) {
	w, err := open(ctx, a.Name)
	if err != nil {
		return Answer{}, err
	}
	defer w.close()
	if err := os.WriteFile(w.task, []byte(task), 0o600); err != nil {
		return Answer{}, err
	}
	servers, err := a.servers(ctx, w.dir)
	if err != nil {
		return Answer{}, err
	}
	c := callOf(a.Name, w.task, servers)
	if c.settings != "" {
		path := filepath.Join(w.dir, filepath.FromSlash(c.settings))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(c.text), 0o600)); err != nil {
			return Answer{}, err
		}
	}
	out, said, err := a.run(ctx, w.dir, c, question)
	r := read(out)
	text := r.json()
	switch {
	case err != nil:
		return Answer{Asked: r.asked, Said: r.said}, fmt.Errorf("%w: %w: %s", ErrFailed, err, quote(cmp.Or(r.fault, said)))
	case len(text) == 0:
		return Answer{Asked: r.asked, Said: r.said}, fmt.Errorf("%w: %s", ErrFailed, quote(cmp.Or(r.fault, said, "its output is empty")))
	}
	return Answer{text, r.asked, r.said}, nil
}

// call is a command line of an agent that reads its question from standard input.
type call struct {
	args, env []string
	settings  string // file that it reads in its folder; may be ""
	text      string // of that file
}

// callOf returns the call of an agent with its task in a file. servers are those of the user's
// settings that it must not start.
func callOf(name, task string, servers []string) call {
	switch name {
	case "claude":
		return call{
			args: []string{"-p", "--output-format", "json", "--safe-mode", "--strict-mcp-config", "--tools", "", "--no-session-persistence", "--system-prompt-file", task},
			env:  []string{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1"},
		}
	case "codex":
		c := call{args: []string{"exec", "--json", "--ephemeral", "--skip-git-repo-check", "--ignore-rules", "--sandbox", "read-only"}}
		for _, set := range []string{
			"features.hooks=false", "features.shell_tool=false", "features.unified_exec=false", "features.view_image=false",
			"features.sleep_tool=false", "agents.enabled=false", "features.apps=false", "features.plugins=false", "features.goals=false",
			"features.image_generation=false", "features.memories=false", "features.tool_suggest=false", "features.skill_search=false",
			"tools.experimental_request_user_input.enabled=false", "tools.update_plan.enabled=false", `web_search="disabled"`, "notify=[]",
			"skills.include_instructions=false", "include_permissions_instructions=false", "include_environment_context=false",
			"model_instructions_file=" + toml(task),
		} {
			c.args = append(c.args, "-c", set)
		}
		for _, server := range servers {
			c.args = append(c.args, "-c", "mcp_servers."+server+".enabled=false")
		}
		c.args = append(c.args, "-")
		return c
	case "gemini":
		return call{
			args:     []string{"--output-format", "json", "--approval-mode", "default", "--extensions", "none"},
			env:      []string{"GEMINI_SYSTEM_MD=" + task, "GEMINI_CLI_TRUST_WORKSPACE=true"},
			settings: ".gemini/settings.json",
			text: `{"tools": {"core": ["none"]}, "mcp": {"allowed": ["none"]}, "hooksConfig": {"enabled": false}, "skills": {"enabled": false}, ` +
				`"experimental": {"enableAgents": false}, "general": {"enableAutoUpdate": false}}`,
		}
	case "opencode":
		// the title spares a question for one
		file, _ := json.Marshal("{file:" + task + "}")
		return call{
			args: []string{"run", "--pure", "--format", "json", "--agent", "reverie", "--title", "reverie"},
			env: []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_SHARE=1", `OPENCODE_CONFIG_CONTENT={"share": "disabled", ` +
				`"agent": {"reverie": {"mode": "primary", "prompt": ` + string(file) + `, "tools": {"*": false}, "permission": {"*": "deny"}}}}`},
		}
	}
	panic("agent: no call of " + name)
}

// toml writes a path as a TOML string.
func toml(path string) string {
	text, _ := json.Marshal(path)
	return string(text)
}

// servers names the servers that Codex would start. It merges settings of a command line into the
// user's, so each has to be turned off by its name.
func (a Agent) servers(ctx context.Context, dir string) ([]string, error) {
	if a.Name != "codex" {
		return nil, nil
	}
	out, said, err := a.run(ctx, dir, call{args: []string{"mcp", "list", "--json"}}, "")
	if err != nil {
		return nil, fmt.Errorf("%w: list its servers: %w: %s", ErrFailed, err, quote(said))
	}
	var all []struct{ Name string }
	if err := json.Unmarshal(out, &all); err != nil {
		return nil, fmt.Errorf("%w: list its servers: %w", ErrFailed, err)
	}
	var names []string
	for _, s := range all {
		if s.Name == "" || strings.ContainsFunc(s.Name, func(r rune) bool {
			return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
		}) {
			return nil, fmt.Errorf("%w: its server %s cannot be turned off by that name", ErrFailed, quote(s.Name))
		}
		names = append(names, s.Name)
	}
	return names, nil
}

const (
	maxOut = 4 << 20  // bytes of an answer with its frame
	maxErr = 16 << 10 // bytes kept of standard error
	linger = 2 * time.Second
)

// run runs the program in a folder, and returns its standard output and the last line of the other.
func (a Agent) run(ctx context.Context, dir string, c call, question string) (out []byte, said string, err error) {
	stdout, stderr := &limited{most: maxOut}, &limited{most: maxErr}
	cmd := exec.CommandContext(ctx, a.Program, c.args...)
	process.Alone(cmd)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, environ(c.env), linger
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(question), stdout, stderr
	err = cmd.Run()
	if cmd.Process != nil {
		process.KillGroup(cmd.Process) // its servers may outlive it
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // they held its output open
	}
	if err == nil && stdout.more {
		err = fmt.Errorf("its answer is longer than %d bytes", maxOut)
	}
	lines := strings.Split(strings.TrimSpace(stderr.kept.String()), "\n")
	return stdout.kept.Bytes(), lines[len(lines)-1], err
}

// environ returns the environment of an agent's program: this process's, without marks of an outer
// session. Our hooks do nothing in it.
func environ(more []string) []string {
	marks := hooks.Marks(os.Getenv)
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return strings.HasPrefix(name, "GIT_") || strings.HasPrefix(name, "REVERIE_") || slices.Contains(marks, name)
	})
	return append(append(env, more...), job.Depth+"=1", job.DisableVariable+"=1")
}

// limited keeps the beginning of what is written to it.
type limited struct {
	kept bytes.Buffer // not embedded: it would read past the limit
	most int
	more bool // something was dropped
}

func (l *limited) Write(p []byte) (int, error) {
	room := min(len(p), l.most-l.kept.Len())
	l.more = l.more || room < len(p)
	l.kept.Write(p[:room])
	return len(p), nil
}

// quote shortens a text of the program for an error.
func quote(text string) string { return fmt.Sprintf("%q", cut.Bytes(strings.TrimSpace(text), 200)) }
