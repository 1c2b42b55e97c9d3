// Package transcript turns an agent's record of a session into session events.
//
// Each agent has its own kind of transcript, read by the files that begin with the agent's name.
// Decode recognises the format and emits one event at a time, so it reads a transcript of any
// length in bounded memory. Events hold the transcript's exact text: the package does not redact,
// so a caller must redact events before they reach a disk.
package transcript

import "time"

// Session identifies the agent's run to which the events belong. All but Client and ID may be
// empty, because transcripts differ in content.
type Session struct {
	// the name of a Format, or the agent named by a generic transcript
	Client string `json:"client"`
	ID     string `json:"id"` // the agent's own id, made safe by SafeID
	// id of the session that started this one as a sub-agent
	Parent  string    `json:"parent,omitempty"`
	Version string    `json:"version,omitempty"` // of the agent
	Model   string    `json:"model,omitempty"`   // the last model seen
	Dir     string    `json:"dir,omitempty"`     // working directory, absolute, as the agent saw it
	Branch  string    `json:"branch,omitempty"`  // git branch at the start
	Commit  string    `json:"commit,omitempty"`  // git commit at the start, hex
	Title   string    `json:"title,omitempty"`   // the agent's or the user's name for the session
	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"` // time of the last event seen
}

// Kind is the kind of an event.
type Kind string

const (
	User       Kind = "user"       // text in the user's role; Origin names the real author
	Assistant  Kind = "assistant"  // text of the agent's model
	Reasoning  Kind = "reasoning"  // the model's thinking, if the transcript has it
	Call       Kind = "call"       // the agent calls a tool
	Result     Kind = "result"     // the tool's output
	Error      Kind = "error"      // the agent or its model failed, or the user stopped the turn
	Compaction Kind = "compaction" // earlier events were replaced by a summary, held in Text
	End        Kind = "end"        // the session's end was recorded
)

// Origin is the origin of text in the user's role. Only Typed is a person's own words.
type Origin string

const (
	Typed     Origin = "typed"     // by a person, in a top-level session
	Injected  Origin = "injected"  // by a hook, a plugin, the client or ourselves
	Summary   Origin = "summary"   // a compaction summary given back to the model
	Command   Origin = "command"   // the text or the output of a slash command
	Delegated Origin = "delegated" // the prompt one agent gave another
)

// wordsOf returns the origin of words that a person typed or that, in a sub-agent, another agent
// wrote.
func wordsOf(subagent bool) Origin {
	if subagent {
		return Delegated
	}
	return Typed
}

// Action is the action of a tool, under any agent's name for it.
type Action string

const (
	Run    Action = "run"    // a shell command
	Read   Action = "read"   // a file's text
	Edit   Action = "edit"   // change, create or delete files
	Search Action = "search" // grep, glob, list
	Fetch  Action = "fetch"  // the network
	Task   Action = "task"   // start a sub-agent
	Other  Action = "other"
)

// Outcome is the result of a call, or of a turn.
type Outcome string

const (
	Unknown Outcome = ""
	OK      Outcome = "ok"
	Failed  Outcome = "failed"
	Denied  Outcome = "denied"  // the user refused the call
	Aborted Outcome = "aborted" // the user or the client stopped it
)

// MaxText bounds the text of one event, in bytes. Longer text keeps its head and its tail around a
// line that counts the dropped bytes; that line counts too.
const MaxText = 32 << 10

// Event is one event of a session.
type Event struct {
	N    int       `json:"n"` // position in the session, from 0
	Kind Kind      `json:"kind"`
	Time time.Time `json:"time,omitzero"`
	// what was said; for a Result the output, for a Call what no other field says (pattern, URL,
	// prompt, other input as JSON); at most MaxText
	Text string `json:"text,omitempty"`
	// for User; Command also on the Call and Result of a shell command the user ran
	Origin Origin `json:"origin,omitempty"`
	// for User: its message also holds text that the client put there, so a quoted file may have
	// shifted the border; or it is an option that a person chose, in the agent's words
	Mixed bool `json:"mixed,omitempty"`
	// a sub-agent's id, if its events are in the parent's transcript
	Agent  string `json:"agent,omitempty"`
	Tool   string `json:"tool,omitempty"`   // for Call and Result: the agent's name of the tool
	CallID string `json:"call,omitempty"`   // joins a Call and its Result
	Action Action `json:"action,omitempty"` // for Call and Result
	// for Run, on the Call and its Result: the shell command line
	Command string `json:"command,omitempty"`
	// for Run: the folder, if it is not the session's directory
	Dir     string   `json:"dir,omitempty"`
	Paths   []string `json:"paths,omitempty"`   // files a Call names, as the agent wrote them
	Old     string   `json:"old,omitempty"`     // for Edit: replaced text, at most MaxText
	New     string   `json:"new,omitempty"`     // for Edit: its replacement, at most MaxText
	Outcome Outcome  `json:"outcome,omitempty"` // for Result, Error and End
	Exit    *int     `json:"exit,omitempty"`    // for a Run's Result: exit code; nil if unknown
}
