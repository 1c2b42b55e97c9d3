package prompts

import "encoding/json"

// Line is one event of a session in a question.
type Line struct {
	N    int    // number of the event, used by evidence
	Who  string // user, agent, call, result, error, injected, …
	Text string
}

// Reflect asks which lessons of a session, or of a part of it, are worth keeping.
type Reflect struct {
	Title       string // of the session; may be empty
	Outcome     string // completed, failed, interrupted, or empty: unknown
	Part, Parts int    // 1 of 1 for a whole session
	Left        string // numbers of the events without room in any part; may be empty
	Lines       []Line
	Known       []string // statements that need not be found again
}

// Dropped is a malformed item of an answer's list, which is left out.
type Dropped struct {
	Index int // in its list
	Item  json.RawMessage
	Fault string
}

// ReflectAnswer is the answer to Reflect.
type ReflectAnswer struct {
	Candidates []ReflectCandidate `json:"candidates"`
	Dropped    []Dropped          `json:"-"` // the malformed items
}

// ReflectCandidate is one statement that the model would keep.
type ReflectCandidate struct {
	Why      string          `json:"why"`   // why it is worth keeping
	Proof    string          `json:"proof"` // person or outcome
	Evidence []ReflectAnchor `json:"evidence"`
	Kind     string          `json:"kind"` // one of record's kinds
	Text     string          `json:"text"`
	Body     string          `json:"body"`
	Paths    []string        `json:"paths"`
}

// ReflectAnchor is the passage of the session that supports a candidate.
type ReflectAnchor struct {
	Event int    `json:"event"`
	Quote string `json:"quote"` // verbatim
}

// Known is a memory in a question.
type Known struct {
	Ref  string // short name in this question, "m1"; ids are not shown
	Kind string
	Text string
	Body string
}

// Sight is a candidate of a session in a question.
type Sight struct {
	Ref      string // "c1"
	Sessions int    // distinct ones that bear it out
	Kind     string
	Text     string
	Quotes   []string // each after its author and its day
}

// Dream asks for changes to the memory that follow from sessions.
type Dream struct {
	Memories   []Known
	Waiting    []Known // proposed already, for a person to decide
	Candidates []Sight
}

// DreamAnswer is the answer to Dream.
type DreamAnswer struct {
	Operations []DreamOperation `json:"operations"`
	Dropped    []Dropped        `json:"-"` // the malformed items
}

// DreamOperation is one change that the model would make.
type DreamOperation struct {
	Why      string   `json:"why"`
	Op       string   `json:"op"`       // add, edit, merge, retire, join, close
	Targets  []string `json:"targets"`  // refs of what it changes; none for add
	Evidence []string `json:"evidence"` // refs of candidates; for close also of a memory
	Kind     string   `json:"kind"`
	Text     string   `json:"text"` // empty for retire, join and close
	Body     string   `json:"body"`
}

// Contradiction asks which of several contradictory statements holds.
type Contradiction struct {
	Statements []Known  // two or more
	Quotes     []string // statements of sessions about them
}

// ContradictionAnswer is the answer to Contradiction.
type ContradictionAnswer struct {
	Why string `json:"why"`
	// keep (one holds, the others go), both (each in its own scope), join (one text for all), unclear
	Verdict string `json:"verdict"`
	Keep    string `json:"keep"` // ref of the one to keep; for keep
	Text    string `json:"text"` // for join
	Body    string `json:"body"`
}

// Distill asks for a skill: a repeated workflow, written so that an agent can do it.
type Distill struct {
	Workflow Known
	Runs     []Run // how it went in sessions
}

// Run describes a workflow in one session.
type Run struct {
	Session string
	Steps   []string
}

// DistillAnswer is the answer to Distill.
type DistillAnswer struct {
	Why     string    `json:"why"`
	Worth   bool      `json:"worth"`   // false: no useful skill; all but Why is then empty
	Name    string    `json:"name"`    // a few words
	Trigger string    `json:"trigger"` // when to use it
	Steps   []string  `json:"steps"`
	Tools   []string  `json:"tools"`
	Example string    `json:"example"`
	Dropped []Dropped `json:"-"` // the malformed steps and tools
}

// Audit asks for the defects of a change, compared with its plan.
type Audit struct {
	Plan     string
	Diff     string   // all of it, or a part
	Output   string   // of the plan's own commands
	Rules    []string // memories to keep to
	Findings []string // open ones, each behind its number
}

// AuditAnswer is the answer to Audit.
type AuditAnswer struct {
	Fixed    []string       `json:"fixed"` // numbers of open findings that no longer hold
	Findings []AuditFinding `json:"findings"`
}

// AuditFinding is one defect.
type AuditFinding struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Quote    string `json:"quote"` // a line of the diff, verbatim
	Text     string `json:"text"`
	Scenario string `json:"scenario"` // how it shows
	Severity string `json:"severity"` // bug, warning, suggestion
}

// Code has an agent carry out a plan. Its answer is not read.
type Code struct {
	Plan       string
	Branch     string
	Iteration  int
	Iterations int      // maximum number; 0: no limit
	Commits    bool     // the agent can commit: git works in its folder
	Verified   bool     // the plan's commands passed after the last iteration
	Output     string   // of them
	Findings   []string // open ones, each with its place
	Failed     string   // why the last attempt at this iteration failed
	Memory     string   // memories for the agent
	Promise    string   // the line that declares the work done; empty: not requested
}
