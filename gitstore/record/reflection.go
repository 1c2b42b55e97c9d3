package record

import (
	"strings"
	"time"
)

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

// ID names the reflection: "<client>-<session>-<first 8 hex digits of Hash>".
func (r Reflection) ID() string { return r.Client + "-" + r.Session + "-" + short(r.Hash) }

// Path is where the reflection lies in its tree: by the month the session began, and by the
// first two digits of Hash.
func (r Reflection) Path() string {
	return ReflectionDir + "/" + month(r.Started) + "/" + r.Hash[:2] + "/" + r.ID() + ".json"
}

// ReflectionDir is the folder of reflections in a tree.
const ReflectionDir = "reflections"

// Format is the reflection's text form.
func (r Reflection) Format() ([]byte, error) { return formatJSON(r) }

// ParseReflection reads the text form of the reflection at path.
func ParseReflection(at string, data []byte) (Reflection, error) {
	var r Reflection
	if err := parseJSON(at, data, &r); err != nil {
		return Reflection{}, err
	}
	for _, need := range []struct{ field, value string }{{"client", r.Client}, {"session", r.Session}} {
		if need.value == "" || strings.ContainsAny(need.value, "/\\ \n") {
			return Reflection{}, &FormatError{Path: at, Field: need.field, Reason: "is empty or no name"}
		}
	}
	if len(r.Hash) != 64 || strings.Trim(r.Hash, "0123456789abcdef") != "" {
		return Reflection{}, &FormatError{Path: at, Field: "hash", Reason: "is not SHA-256 in hex"}
	}
	if at != r.Path() {
		return Reflection{}, &FormatError{Path: at, Reason: "belongs at " + r.Path()}
	}
	return r, nil
}

func short(hash string) string { return hash[:min(8, len(hash))] }

// month is the folder of a time, "2026-11"; "undated" for the zero time.
func month(t time.Time) string {
	if t.IsZero() {
		return "undated"
	}
	return t.UTC().Format("2006-01")
}
