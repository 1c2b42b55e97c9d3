// Package hooks connects Reverie to the coding agents that call it.
//
// Agents is the table of known agents. An agent's Decode turns a hook's standard input into an
// Event, and Encode writes the answer in the agent's form. A Spool keeps events until a worker
// takes them. Other packages decide how to handle an event.
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

// Kind is the meaning of an event, the same for all agents.
type Kind string

const (
	Start        Kind = "start"         // a session begins or continues
	Prompt       Kind = "prompt"        // the user has typed something
	Stop         Kind = "stop"          // the agent has answered and waits
	SubagentStop Kind = "subagent-stop" // a sub-agent has finished
	Compacting   Kind = "compacting"    // a summary is about to replace the conversation
	Compacted    Kind = "compacted"     // the summary has replaced it
	Calling      Kind = "calling"       // the agent is about to call a tool
	Called       Kind = "called"        // a tool has returned
	Answered     Kind = "answered"      // the agent has written a message
	End          Kind = "end"           // the session ends
)

// Form is an agent's format for the answer to an event.
type Form int

const (
	Silent   Form = iota // the agent reads no answer
	Object               // a JSON object with hookSpecificOutput.additionalContext
	Plain                // the bare text
	Decision             // a JSON object with decision and reason; the agent takes no text here
	Flat                 // a JSON object with additionalContext, permissionDecision and its reason
	Context              // a JSON object with additional_context
	Permit               // a JSON object with permission and its reasons; the agent takes no text here
)

// Delivery is one event that Reverie asks an agent to report.
type Delivery struct {
	Name    string // the agent's name of the event
	Kind    Kind
	Answer  Form
	Timeout time.Duration // in its settings: its longest wait for us
	Tools   []string      // for a call: the tools it is about, by the agent's names; none: commands
	Unasked bool          // for a call: the agent asks no person here
}

// Agent describes one agent, as data.
type Agent struct {
	Name       string // as in the names of sessions; also of its program
	Title      string // for display
	Home       string // variable with the folder of its settings
	Folder     string // that folder without the variable, in the home
	Settings   string // file of its hooks, in that folder; "" for an agent without settings
	Project    string // and in a work tree
	Servers    string // file of its servers of tools in that folder, if another
	Shared     string // and in a work tree
	Deliveries []Delivery
	Calls      []Delivery    // events about calls of tools, for memories with triggers
	Root       string        // environment variable with the folder where the session started
	Unit       time.Duration // unit of times in its settings
	Limit      int           // maximum length of a context from one hook, in characters
	Strict     bool          // it ignores a settings file with comments
	Unmarked   bool          // and one with a byte order mark
	Named      bool          // its settings name each hook
	Ungrouped  bool          // and list the hooks of an event without groups
	Spooled    bool          // its calls are spooled, because no documented transcript has them
	Mark       string        // variable that it sets in its shells
	Sessions   []string      // such variables that hold a session's id; the first that is set counts
	Line       string        // for its shell, with CALL for the call; empty for the call alone
	Commands   []string      // its tools that run a shell command
	Edits      []string      // and those that change files
	Asks       bool          // a hook can have it ask the person about a call
	Filters    bool          // its settings can limit a hook to certain calls
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
	{Name: "claude", Title: "Claude Code", Home: "CLAUDE_CONFIG_DIR", Folder: ".claude",
		Settings: "settings.json", Project: ".claude/settings.local.json", Servers: ".claude.json", Shared: ".mcp.json",
		Root: "CLAUDE_PROJECT_DIR", Unit: time.Second, Strict: true, Line: forgiving, Limit: limit,
		Mark: "CLAUDECODE", Sessions: []string{"CLAUDE_CODE_SESSION_ID"}, Asks: true, Filters: true,
		Commands: []string{"Bash"}, Edits: []string{"Edit", "Write", "MultiEdit", "NotebookEdit"}, Deliveries: []Delivery{
			{Name: "SessionStart", Kind: Start, Answer: Object, Timeout: 5 * time.Second},
			{Name: "UserPromptSubmit", Kind: Prompt, Answer: Object, Timeout: 5 * time.Second},
			{Name: "Stop", Kind: Stop, Answer: Silent, Timeout: 5 * time.Second},
			{Name: "SubagentStop", Kind: SubagentStop, Answer: Silent, Timeout: 5 * time.Second},
			// Its output is appended to the instructions for the summary.
			{Name: "PreCompact", Kind: Compacting, Answer: Plain, Timeout: 10 * time.Second},
			// Without a timeout of its own it ends after 1.5 s.
			{Name: "SessionEnd", Kind: End, Answer: Silent, Timeout: 5 * time.Second},
		}, Calls: []Delivery{
			{Name: "PreToolUse", Kind: Calling, Answer: Object, Timeout: 5 * time.Second, Tools: []string{"Bash", "Edit", "Write", "NotebookEdit"}},
			{Name: "PostToolUseFailure", Kind: Called, Answer: Object, Timeout: 5 * time.Second, Tools: []string{"Bash"}},
		}},
	{Name: "codex", Title: "Codex CLI", Home: "CODEX_HOME", Folder: ".codex",
		Settings: "hooks.json", Project: ".codex/hooks.json", Servers: "config.toml", Shared: ".codex/config.toml",
		Unit: time.Second, Strict: true, Unmarked: true, Line: forgiving, Limit: limit,
		Mark: "CODEX_SANDBOX", Sessions: []string{"CODEX_THREAD_ID", "CODEX_SESSION_ID"},
		Commands: []string{"Bash"}, Edits: []string{"apply_patch"}, Deliveries: []Delivery{
			{Name: "SessionStart", Kind: Start, Answer: Object, Timeout: 5 * time.Second},
			{Name: "UserPromptSubmit", Kind: Prompt, Answer: Object, Timeout: 5 * time.Second},
			{Name: "Stop", Kind: Stop, Answer: Silent, Timeout: 5 * time.Second},
			{Name: "PreCompact", Kind: Compacting, Answer: Silent, Timeout: 5 * time.Second},
			// A longer timeout gives a warning at every start.
			{Name: "SessionEnd", Kind: End, Answer: Silent, Timeout: 3 * time.Second},
		}, Calls: []Delivery{
			{Name: "PreToolUse", Kind: Calling, Answer: Object, Timeout: 5 * time.Second, Tools: []string{"Bash", "apply_patch"}},
			{Name: "PostToolUse", Kind: Called, Answer: Object, Timeout: 5 * time.Second, Tools: []string{"Bash"}},
		}},
	{Name: "gemini", Title: "Gemini CLI", Home: "GEMINI_CLI_HOME", Folder: ".gemini",
		Settings: "settings.json", Project: ".gemini/settings.json",
		Root: "GEMINI_PROJECT_DIR", Unit: time.Millisecond, Named: true, Line: aloof, Limit: limit,
		Mark: "GEMINI_CLI", Sessions: []string{"GEMINI_SESSION_ID"},
		Commands: []string{"run_shell_command"}, Edits: []string{"write_file", "replace"}, Deliveries: []Delivery{
			{Name: "SessionStart", Kind: Start, Answer: Object, Timeout: 5 * time.Second},
			{Name: "BeforeAgent", Kind: Prompt, Answer: Object, Timeout: 5 * time.Second},
			{Name: "AfterAgent", Kind: Stop, Answer: Silent, Timeout: 5 * time.Second},
			{Name: "SessionEnd", Kind: End, Answer: Silent, Timeout: 5 * time.Second},
		}, Calls: []Delivery{
			{Name: "BeforeTool", Kind: Calling, Answer: Decision, Timeout: 5 * time.Second, Tools: []string{"run_shell_command", "write_file", "replace"}},
			{Name: "AfterTool", Kind: Called, Answer: Object, Timeout: 5 * time.Second, Tools: []string{"run_shell_command", "write_file", "replace"}},
		}},
	{Name: "opencode", Title: "OpenCode", Home: "OPENCODE_CONFIG_DIR", Folder: "opencode",
		Settings: "plugin/reverie.js", Project: ".opencode/plugin/reverie.js", Unit: time.Millisecond, Limit: limit,
		Mark: "OPENCODE", Commands: []string{"bash"}, Edits: []string{"edit", "write", "apply_patch"},
		Deliveries: []Delivery{ // by our plugin
			{Name: "session.created", Kind: Start, Answer: Plain, Timeout: time.Second},
			{Name: "chat.message", Kind: Prompt, Answer: Plain, Timeout: time.Second},
			{Name: "session.idle", Kind: Stop, Answer: Silent, Timeout: time.Second},
			{Name: "session.compacting", Kind: Compacting, Answer: Plain, Timeout: 1500 * time.Millisecond},
			{Name: "session.compacted", Kind: Compacted, Answer: Plain, Timeout: time.Second},
			{Name: "dispose", Kind: End, Answer: Silent, Timeout: time.Second},
		}, Calls: []Delivery{
			{Name: "tool.execute.before", Kind: Calling, Answer: Decision, Timeout: time.Second, Tools: []string{"bash", "edit", "write", "apply_patch"}},
			{Name: "tool.execute.after", Kind: Called, Answer: Plain, Timeout: time.Second, Tools: []string{"bash", "edit", "write", "apply_patch"}},
		}},
	{Name: "copilot", Title: "Copilot CLI", Home: "COPILOT_HOME", Folder: ".copilot",
		Settings: "hooks/reverie.json", Project: ".github/hooks/reverie.json", Servers: "mcp-config.json",
		Root: "COPILOT_PROJECT_DIR", Unit: time.Second, Strict: true, Line: aloof, Limit: limit,
		Sessions: []string{"COPILOT_AGENT_SESSION_ID"},
		Commands: []string{"Bash"}, Edits: []string{"Edit", "Write"}, Deliveries: []Delivery{
			{Name: "SessionStart", Kind: Start, Answer: Flat, Timeout: 5 * time.Second},
			{Name: "UserPromptSubmit", Kind: Prompt, Answer: Flat, Timeout: 5 * time.Second},
			{Name: "Stop", Kind: Stop, Answer: Silent, Timeout: 5 * time.Second},
			{Name: "PreCompact", Kind: Compacting, Answer: Silent, Timeout: 5 * time.Second},
			{Name: "SessionEnd", Kind: End, Answer: Silent, Timeout: 5 * time.Second},
		}, Calls: []Delivery{
			{Name: "PreToolUse", Kind: Calling, Answer: Flat, Timeout: 5 * time.Second, Tools: []string{"Bash", "Edit", "Write"}},
			{Name: "PostToolUse", Kind: Called, Answer: Flat, Timeout: 5 * time.Second, Tools: []string{"Bash"}},
		}},
	{Name: "qwen", Title: "Qwen Code", Home: "QWEN_HOME", Folder: ".qwen",
		Settings: "settings.json", Project: ".qwen/settings.json",
		Root: "QWEN_PROJECT_DIR", Unit: time.Millisecond, Named: true, Line: aloof, Limit: limit,
		Mark: "QWEN_CODE", Sessions: []string{"QWEN_CODE_SESSION_ID"},
		Commands: []string{"run_shell_command"}, Edits: []string{"edit", "write_file"}, Deliveries: []Delivery{
			{Name: "SessionStart", Kind: Start, Answer: Object, Timeout: 5 * time.Second},
			{Name: "UserPromptSubmit", Kind: Prompt, Answer: Object, Timeout: 5 * time.Second},
			{Name: "Stop", Kind: Stop, Answer: Silent, Timeout: 5 * time.Second},
			{Name: "PreCompact", Kind: Compacting, Answer: Silent, Timeout: 5 * time.Second},
			{Name: "SessionEnd", Kind: End, Answer: Silent, Timeout: 5 * time.Second},
		}, Calls: []Delivery{
			{Name: "PreToolUse", Kind: Calling, Answer: Decision, Timeout: 5 * time.Second, Tools: []string{"run_shell_command", "edit", "write_file"}},
			{Name: "PostToolUse", Kind: Called, Answer: Object, Timeout: 5 * time.Second, Tools: []string{"run_shell_command", "edit", "write_file"}},
			{Name: "PostToolUseFailure", Kind: Called, Answer: Object, Timeout: 5 * time.Second, Tools: []string{"run_shell_command"}},
		}},
	// Cursor was written from its documentation, and never seen running.
	{Name: "cursor", Title: "Cursor", Folder: ".cursor",
		Settings: "hooks.json", Project: ".cursor/hooks.json", Servers: "mcp.json", Shared: ".cursor/mcp.json",
		Root: "CURSOR_PROJECT_DIR", Unit: time.Second, Line: aloof, Limit: limit,
		Mark: "CURSOR_AGENT", Ungrouped: true, Spooled: true, Asks: true,
		Commands: []string{"Shell"}, Edits: []string{"Write", "Delete"}, Deliveries: []Delivery{
			{Name: "sessionStart", Kind: Start, Answer: Context, Timeout: 5 * time.Second},
			{Name: "beforeSubmitPrompt", Kind: Prompt, Answer: Silent, Timeout: 5 * time.Second},
			{Name: "postToolUse", Kind: Called, Answer: Context, Timeout: 5 * time.Second, Tools: []string{"Shell", "Write"}},
			{Name: "postToolUseFailure", Kind: Called, Answer: Silent, Timeout: 5 * time.Second, Tools: []string{"Shell"}},
			{Name: "afterFileEdit", Kind: Called, Answer: Silent, Timeout: 5 * time.Second, Tools: []string{"Write"}},
			{Name: "afterAgentResponse", Kind: Answered, Answer: Silent, Timeout: 5 * time.Second},
			{Name: "preCompact", Kind: Compacting, Answer: Silent, Timeout: 5 * time.Second},
			{Name: "stop", Kind: Stop, Answer: Silent, Timeout: 5 * time.Second},
			{Name: "sessionEnd", Kind: End, Answer: Silent, Timeout: 5 * time.Second},
		}, Calls: []Delivery{
			{Name: "beforeShellExecution", Kind: Calling, Answer: Permit, Timeout: 5 * time.Second},
			{Name: "preToolUse", Kind: Calling, Answer: Permit, Timeout: 5 * time.Second, Tools: []string{"Write", "Delete"}, Unasked: true},
		}},
	{Name: "generic", Title: "any other agent", Unit: time.Second, Limit: limit, Asks: true, Commands: []string{"Bash"}, Edits: []string{"Edit"}, Deliveries: []Delivery{
		{Name: "start", Kind: Start, Answer: Plain, Timeout: 5 * time.Second},
		{Name: "prompt", Kind: Prompt, Answer: Plain, Timeout: 5 * time.Second},
		{Name: "stop", Kind: Stop, Answer: Silent, Timeout: 5 * time.Second},
		{Name: "subagent-stop", Kind: SubagentStop, Answer: Silent, Timeout: 5 * time.Second},
		{Name: "compacting", Kind: Compacting, Answer: Plain, Timeout: 5 * time.Second},
		{Name: "compacted", Kind: Compacted, Answer: Plain, Timeout: 5 * time.Second},
		{Name: "end", Kind: End, Answer: Silent, Timeout: 5 * time.Second},
	}, Calls: []Delivery{
		{Name: "calling", Kind: Calling, Answer: Object, Timeout: 5 * time.Second},
		{Name: "called", Kind: Called, Answer: Plain, Timeout: 5 * time.Second},
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

// Caller returns the agent that runs a hook for a. Some agents run the hooks of others and set the
// others' variables beside their own, so the last one in Agents whose variable is set calls.
func (a Agent) Caller(get func(variable string) string) Agent {
	if a.Root != "" {
		for _, other := range slices.Backward(Agents) {
			if other.Name == a.Name || other.Root != "" && get(other.Root) != "" {
				return other
			}
		}
	}
	return a
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
	for _, all := range [][]Delivery{a.Deliveries, a.Calls} {
		if i := slices.IndexFunc(all, func(d Delivery) bool { return d.Name == name }); i >= 0 {
			return all[i], true
		}
	}
	return Delivery{}, false
}

// Filter selects the calls of tools that memories may be about. The zero value selects none.
type Filter struct {
	Commands []string // of Bash, as words with wildcards: "npm *", "git push *"
	Failing  []string // commands whose failure a memory is about
	Files    []string // globs of changed files, below the top of the work tree
	Tools    []string // other tools, by the agents' names
}
