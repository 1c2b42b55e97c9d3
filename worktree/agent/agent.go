// Package agent describes the coding agents for a loop's coding and auditing. Call returns the
// command line that runs an agent without a person or a terminal. Said extracts the agent's words
// from its stream of events for the loop; Readable and Writer do so for people.
//
// The package starts no process and reads only its arguments. Its functions are safe for concurrent
// use; a Writer serves one goroutine.
package agent

import (
	"fmt"
	"slices"

	"github.com/reverie-memory/reverie/worktree"
)

// agent describes the one-shot call of an agent: without a terminal, in the folder that it is to
// work in, with its prompt on standard input.
type agent struct {
	name  string
	code  []string // argv that may change files and run commands
	audit []string // argv that lets it read
	env   []string

	// its call in a container, which is already a sandbox and lacks the git directory; nil: the same
	inside    func(argv []string) []string
	insideEnv []string // with env there
}

// known returns the supported agents. They are asked for a stream of events, because their output
// is the only sign that they are alive.
func known() []agent {
	return []agent{
		{
			name: "opencode",
			// without --auto, actions that the user wants to confirm are refused
			code:  []string{"opencode", "run", "--format", "json", "--auto"},
			audit: []string{"opencode", "run", "--format", "json", "--auto", "--agent", "plan"},
			env:   []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_SHARE=1"},

			insideEnv: []string{"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"},
		},
		{
			// In its other modes it writes nothing below a folder .git. Its plan mode ends with 1 where a
			// server has to check an action.
			name: "claude",
			code: []string{"claude", "-p", "--output-format", "stream-json", "--verbose", "--permission-mode", "bypassPermissions"},
			audit: []string{"claude", "-p", "--output-format", "stream-json", "--verbose", "--permission-mode", "dontAsk",
				"--allowedTools=Read,Grep,Glob,Bash(git diff:*),Bash(git show:*),Bash(git log:*)"},
			// the owner of the work tree may be root, without its capabilities
			insideEnv: []string{"IS_SANDBOX=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"},
		},
		{
			name:  "codex",
			code:  []string{"codex", "exec", "--json", "--sandbox", "workspace-write", "-"},
			audit: []string{"codex", "exec", "--json", "--sandbox", "read-only", "-"},
			inside: func(argv []string) []string { // its own sandbox needs user namespaces, which a container lacks
				argv = slices.Clone(argv)
				argv[slices.Index(argv, "--sandbox")+1] = "danger-full-access"
				return slices.Insert(argv, len(argv)-trailing(argv), "--skip-git-repo-check")
			},
		},
		{
			name: "gemini", // its plan mode has no shell to inspect a change
			code: []string{"gemini", "--skip-trust", "--output-format", "stream-json", "--approval-mode", "yolo"},
			audit: []string{"gemini", "--skip-trust", "--output-format", "stream-json", "--approval-mode", "default",
				"--allowed-tools=run_shell_command(git diff),run_shell_command(git show),run_shell_command(git log)"},
		},
		{
			name:  "aider",
			code:  []string{"aider", "--yes-always", "--no-check-update", "--no-auto-commits", "--no-gitignore", "--message-file", "/dev/stdin"},
			audit: []string{"aider", "--no-check-update", "--dry-run", "--chat-mode", "ask", "--message-file", "/dev/stdin"},
		},
	}
}

// Names lists the supported agents.
func Names() []string {
	var names []string
	for _, a := range known() {
		names = append(names, a.name)
	}
	return names
}

// UnknownError is the error for an unknown agent name.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string { return fmt.Sprintf("there is no agent %q", e.Name) }

// Call returns the argv of an agent for coding or auditing, inside a container or not, and its
// variables. The prompt goes to its standard input. model may be "", the agent's default. The only
// error is an UnknownError.
func Call(name, model string, phase worktree.Phase, inside bool) (argv, env []string, err error) {
	all := known()
	i := slices.IndexFunc(all, func(a agent) bool { return a.name == name })
	if i < 0 {
		return nil, nil, &UnknownError{name}
	}
	a := all[i]
	argv = a.code
	if phase == worktree.Auditing {
		argv = a.audit
	}
	env = a.env
	if inside {
		env = slices.Concat(a.env, a.insideEnv)
		if a.inside != nil {
			argv = a.inside(argv)
		}
	}
	if model != "" {
		argv = slices.Insert(slices.Clone(argv), len(argv)-trailing(argv), "--model", model)
	}
	return argv, env, nil
}

// trailing counts the words that must stay at the end of an argv.
func trailing(argv []string) int {
	if argv[len(argv)-1] == "-" {
		return 1
	}
	return 0
}
