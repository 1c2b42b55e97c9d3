package worktree

import (
	"fmt"
	"time"
)

// stateFormat is the newest format of state.json that this version reads and writes.
const stateFormat = 1

// Phase is the current phase of a loop.
type Phase string

const (
	Starting  Phase = "starting"  // the work tree is being made
	Coding    Phase = "coding"    // an agent works
	Verifying Phase = "verifying" // the plan's commands run on the commit
	Auditing  Phase = "auditing"  // an auditor looks for defects
	Done      Phase = "done"
	Stopped   Phase = "stopped" // for a Reason
)

// Over reports whether the loop has ended.
func (p Phase) Over() bool { return p == Done || p == Stopped }

// Reason is the reason why a loop stopped before it was done.
type Reason string

const (
	MaxIterations Reason = "max-iterations"
	Cancelled     Reason = "cancelled"
	Errors        Reason = "errors"        // the same phase failed too often
	Stalled       Reason = "stalled"       // no output for too long
	NoProgress    Reason = "no-progress"   // iterations without a new tree
	TimeOver      Reason = "time"          // the time of the whole loop
	WorktreeGone  Reason = "worktree-gone" // the work tree was removed or is unreadable
	SandboxFailed Reason = "sandbox"
	Refusal       Reason = "refused" // by one of our rules
	Other         Reason = "other"   // State.Detail says what
)

// Reasons lists all reasons in the order of their exit codes, from 20.
var Reasons = [...]Reason{MaxIterations, Cancelled, Errors, Stalled, NoProgress, TimeOver, WorktreeGone, SandboxFailed, Refusal, Other}

// State is the state of a loop: state.json of its record. It holds no secret, and all start
// settings.
type State struct {
	Format int    `json:"format"`
	Name   string `json:"name"`
	Title  string `json:"title"`
	Phase  Phase  `json:"phase"`
	Reason Reason `json:"reason,omitempty"` // of Stopped
	Detail string `json:"detail,omitempty"` // the last error, or the details of Reason
	At     Phase  `json:"at,omitempty"`     // of Stopped: the phase from which a resume continues

	Branch  string `json:"branch"`             // whole name of the ref that holds the work
	Base    string `json:"base"`               // the commit that the loop began from
	Tip     string `json:"tip"`                // the newest known commit of the loop
	InPlace string `json:"in_place,omitempty"` // the user's own work tree, if the loop has none
	// of Coding: the commit that ended it; no one has to work any more
	Given string `json:"given,omitempty"`

	Iteration int `json:"iteration"` // the current one, from 1; 0 while starting
	Audits    int `json:"audits"`    // that came to an end
	Errors    int `json:"errors"`    // of the current phase, in a row
	Stalls    int `json:"stalls"`    // times without output, in a row
	// consecutive iterations that ended in an earlier tree
	Repeats  int      `json:"repeats"`
	Trees    []string `json:"trees,omitempty"` // of the last iterations, newest last
	Verified bool     `json:"verified"`        // the plan's commands passed on Tip
	// the coder of the current iteration declared the work done
	Promised bool `json:"promised"`
	// the first of the plan's commands that failed on Tip
	Failing  *Failing `json:"failing,omitempty"`
	Blocking int      `json:"blocking"`        // open blocking findings after the last audit
	Spent    float64  `json:"spent"`           // seconds of work, without pauses
	Nonce    string   `json:"nonce,omitempty"` // of the completion promise
	// marks the processes of this loop in their environment
	Run     string    `json:"run"`
	Started time.Time `json:"started"`
	Changed time.Time `json:"changed"` // of the last step

	Settings Settings `json:"settings"`
}

// Settings are the settings of a loop. Times are in seconds; 0 means no limit.
type Settings struct {
	Agent      string   `json:"agent"`             // by the caller's table, Hand, or "" for Command
	Model      string   `json:"model,omitempty"`   // of the agent
	Command    []string `json:"command,omitempty"` // argv of the coder
	Audit      string   `json:"audit,omitempty"`   // shell command of the auditor
	AuditAgent string   `json:"audit_agent,omitempty"`
	AuditModel string   `json:"audit_model,omitempty"`
	Sandbox    string   `json:"sandbox"` // off, or the engine's name
	Image      string   `json:"image,omitempty"`
	Promise    bool     `json:"promise"` // a completion promise is necessary

	MaxIterations int     `json:"max_iterations"`
	MinAudits     int     `json:"min_audits"`
	MaxErrors     int     `json:"max_errors"`
	StallTime     float64 `json:"stall_time"` // without output, for one stall
	MaxStalls     int     `json:"max_stalls"`
	MaxRepeats    int     `json:"max_repeats"`
	TurnTime      float64 `json:"turn_time"`   // of one agent or auditor
	VerifyTime    float64 `json:"verify_time"` // of one command of the plan
	TotalTime     float64 `json:"total_time"`  // of the whole loop
	// the wait after a phase's first error; each error doubles it, up to four times
	Backoff    float64  `json:"backoff"`
	BlockOn    []string `json:"block_on"`    // severities of findings that prevent the end
	MaxFile    int64    `json:"max_file"`    // bytes of a committed file
	RemoveTree bool     `json:"remove_tree"` // remove the work tree when the loop is done
}

// DefaultSettings returns the default settings of a loop.
func DefaultSettings() Settings {
	return Settings{
		Sandbox: "off", MaxIterations: 15, MinAudits: 1, MaxErrors: 3, StallTime: 60, MaxStalls: 5, MaxRepeats: 3,
		TurnTime: 3600, VerifyTime: 600, Backoff: 2, BlockOn: []string{string(Bug)}, MaxFile: 5 << 20,
	}
}

// keptTrees bounds the iterations whose trees are compared to detect a repetition.
const keptTrees = 8

// Failing is a failed command of the plan.
type Failing struct {
	Command string `json:"command"`
	Exit    int    `json:"exit"` // its exit code; -1: it took too long and was ended
}

// String returns the command, shortened, and its result.
func (f Failing) String() string {
	command := bounded(joined(f.Command), 100)
	if f.Exit < 0 {
		return command + " took too long"
	}
	return fmt.Sprintf("%s ended with exit code %d", command, f.Exit)
}
