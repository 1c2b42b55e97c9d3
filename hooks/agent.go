// Package hooks connects Reverie with the coding agents that call it.
//
// Agents is the table of known agents. An agent's Decode makes an Event of a hook's standard input,
// and Encode makes the answer. A Spool keeps events until a worker takes them. Other packages
// decide how to handle an event.
//
// Any number of processes may Append to a Spool at once, even while one worker takes from it. An
// event is never lost once Append has returned. Everything else is stateless.
package hooks

import (
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Kind is the meaning of an event in all agents.
type Kind string

const (
	Start        Kind = "start"         // a session begins or continues
	Prompt       Kind = "prompt"        // the user has typed something
	Stop         Kind = "stop"          // the agent has answered and waits
	SubagentStop Kind = "subagent-stop" // a sub-agent has finished
	Compacting   Kind = "compacting"    // a summary is about to replace the conversation
	Compacted    Kind = "compacted"     // the summary has replaced it
	End          Kind = "end"           // the session ends
)

// Form is an agent's format for the answer to an event.
type Form int

const (
	Silent Form = iota // the agent reads no answer
	Object             // a JSON object with hookSpecificOutput.additionalContext
	Plain              // the bare text
)

// Delivery is one event that we ask an agent for.
type Delivery struct {
	Name    string // the agent's name of the event
	Kind    Kind
	Answer  Form
	Timeout time.Duration // in its settings: its longest wait for us
}

// Agent describes one agent, as data.
type Agent struct {
	Name       string // opencode, claude, codex, gemini or generic; as in the names of sessions
	Title      string // for display
	Deliveries []Delivery
	Root       string        // environment variable with the folder where the session started
	Unit       time.Duration // unit of times in its settings
	Limit      int           // maximum length of a context from one hook, in characters
	Strict     bool          // it ignores a settings file with comments
	Unmarked   bool          // and one with a byte order mark
	Named      bool          // its settings name each hook
	Mark       string        // variable that it sets in its shells
	Sessions   []string      // such variables that hold a session's id; the first that is set counts
	Line       string        // for its shell, with CALL for the call; empty for the call alone
}

// Shell lines that let an agent continue, whatever the result of the call.
const (
	// One agent discards a prompt at exit code 2, which Go's runtime returns on a panic.
	forgiving = "CALL || true"
	// One blocks at every code but 0, even if the program is gone. On a timeout it ends a shell but
	// not the shell's children, and waits until all writers have closed the pipe.
	aloof = `printf %s "$(exec CALL 2>/dev/null)"`
)

// limit is below the smallest limit of the clients: one cuts at 10,000 characters, one at about
// 2,500 tokens.
const limit = 9000

// Agents lists the known agents, in display order.
var Agents = []Agent{
	{Name: "claude", Title: "Claude Code", Root: "CLAUDE_PROJECT_DIR", Unit: time.Second, Strict: true, Line: forgiving, Limit: limit,
		Mark: "CLAUDECODE", Sessions: []string{"CLAUDE_CODE_SESSION_ID"}, Deliveries: []Delivery{
			{"SessionStart", Start, Object, 5 * time.Second},
			{"UserPromptSubmit", Prompt, Object, 5 * time.Second},
			{"Stop", Stop, Silent, 5 * time.Second},
			{"SubagentStop", SubagentStop, Silent, 5 * time.Second},
			// Its output is appended to the instructions for the summary.
			{"PreCompact", Compacting, Plain, 10 * time.Second},
			// Without a timeout of its own it ends after 1.5 s.
			{"SessionEnd", End, Silent, 5 * time.Second},
		}},
	{Name: "codex", Title: "Codex CLI", Unit: time.Second, Strict: true, Unmarked: true, Line: forgiving, Limit: limit,
		Mark: "CODEX_SANDBOX", Sessions: []string{"CODEX_THREAD_ID", "CODEX_SESSION_ID"}, Deliveries: []Delivery{
			{"SessionStart", Start, Object, 5 * time.Second},
			{"UserPromptSubmit", Prompt, Object, 5 * time.Second},
			{"Stop", Stop, Silent, 5 * time.Second},
			{"PreCompact", Compacting, Silent, 5 * time.Second},
			{"SessionEnd", End, Silent, 3 * time.Second}, // a longer one gives a warning at every start
		}},
	{Name: "gemini", Title: "Gemini CLI", Root: "GEMINI_PROJECT_DIR", Unit: time.Millisecond, Named: true, Line: aloof, Limit: limit,
		Mark: "GEMINI_CLI", Sessions: []string{"GEMINI_SESSION_ID"}, Deliveries: []Delivery{
			{"SessionStart", Start, Object, 5 * time.Second},
			{"BeforeAgent", Prompt, Object, 5 * time.Second},
			{"AfterAgent", Stop, Silent, 5 * time.Second},
			{"SessionEnd", End, Silent, 5 * time.Second},
		}},
	{Name: "opencode", Title: "OpenCode", Unit: time.Millisecond, Limit: limit,
		Mark: "OPENCODE", Deliveries: []Delivery{ // by our plugin
			{"session.created", Start, Plain, time.Second},
			{"chat.message", Prompt, Plain, time.Second},
			{"session.idle", Stop, Silent, time.Second},
			{"session.compacting", Compacting, Plain, 1500 * time.Millisecond},
			{"session.compacted", Compacted, Plain, time.Second},
			{"dispose", End, Silent, time.Second},
		}},
	{Name: "generic", Title: "any other agent", Unit: time.Second, Limit: limit, Deliveries: []Delivery{
		{"start", Start, Plain, 5 * time.Second},
		{"prompt", Prompt, Plain, 5 * time.Second},
		{"stop", Stop, Silent, 5 * time.Second},
		{"subagent-stop", SubagentStop, Silent, 5 * time.Second},
		{"compacting", Compacting, Plain, 5 * time.Second},
		{"compacted", Compacted, Plain, 5 * time.Second},
		{"end", End, Silent, 5 * time.Second},
	}},
}

// Find returns the agent with a name.
func Find(name string) (Agent, bool) {
	i := slices.IndexFunc(Agents, func(a Agent) bool { return a.Name == name })
	if i < 0 {
		return Agent{}, false
	}
	return Agents[i], true
}

// Place returns the folder whose repository an event concerns. That is the session's start folder,
// if known, since an agent may move to another repository.
func (a Agent) Place(e Event) string {
	if dir := os.Getenv(a.Root); a.Root != "" && filepath.IsAbs(dir) {
		return dir
	}
	return e.Dir
}

// delivery returns the entry for an agent's event name.
func (a Agent) delivery(name string) (Delivery, bool) {
	i := slices.IndexFunc(a.Deliveries, func(d Delivery) bool { return d.Name == name })
	if i < 0 {
		return Delivery{}, false
	}
	return a.Deliveries[i], true
}
