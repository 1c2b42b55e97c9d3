package record

import "time"

// Reflection is the outcome of studying one session. It never changes: a session that grew
// gets another one.
type Reflection struct {
	Client       string         `json:"client"`
	Session      string         `json:"session"`
	Parent       string         `json:"parent,omitempty"` // the session that started this one as a sub-agent
	Hash         string         `json:"hash"`             // SHA-256 of the session's events as kept, hex
	Events       int            `json:"events"`           // how many there were
	Started      time.Time      `json:"started,omitzero"`
	Ended        time.Time      `json:"ended,omitzero"`
	Commit       string         `json:"commit,omitempty"`  // of the code, when the session began
	Branch       string         `json:"branch,omitempty"`  // of the code, when the session began
	Detectors    int            `json:"detectors"`         // version of the detectors that ran
	Model        string         `json:"model,omitempty"`   // empty: the detectors alone
	Prompt       string         `json:"prompt,omitempty"`  // hash of the prompt given to the model
	Outcome      string         `json:"outcome,omitempty"` // completed, interrupted, failed, or empty: unknown
	Observations []Observation  `json:"observations,omitempty"`
	Candidates   []Candidate    `json:"candidates,omitempty"`
	Dropped      map[string]int `json:"dropped,omitempty"` // candidates refused at the gate, by reason
}

// Observation is something a reflection noticed that is not worth a memory by itself.
type Observation struct {
	Text   string `json:"text"`
	Events []int  `json:"events,omitempty"` // positions in the session
}

// Candidate is a statement a reflection found, with what it rests on.
type Candidate struct {
	Kind     Kind       `json:"kind"`
	Text     string     `json:"text"`           // the statement: one line, self-contained
	Body     string     `json:"body,omitempty"` // why and how, Markdown
	Paths    []string   `json:"paths,omitempty"`
	Tags     []string   `json:"tags,omitempty"`
	Topic    string     `json:"topic,omitempty"` // what it is about; two statements on one topic may contradict
	How      How        `json:"how"`
	Weak     bool       `json:"weak,omitempty"`     // one session says too little: it counts, but is not proposed by itself
	Detector string     `json:"detector"`           // which detector found it; "model" for a model
	Corrects string     `json:"corrects,omitempty"` // words it takes the place of
	Evidence []Evidence `json:"evidence"`
}

// Evidence is what a statement rests on: words that stand verbatim in one session event.
type Evidence struct {
	Event int       `json:"event"` // position in the session
	Quote string    `json:"quote"` // verbatim, at most MaxQuote bytes
	Time  time.Time `json:"time,omitzero"`
}

// MaxQuote is the longest quote kept as evidence, in bytes.
const MaxQuote = 400
