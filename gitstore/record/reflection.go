package record

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"
)

// Reflection is the outcome of studying one session. It never changes; a longer session gets a new
// one. The detectors and each model have their own; a model's includes the detectors' findings.
type Reflection struct {
	Client  string `json:"client"`
	Session string `json:"session"`
	// Parent is the session that started this one as a sub-agent.
	Parent string `json:"parent,omitempty"`
	// Hash is the SHA-256 of the session's stored events, in hex.
	Hash      string    `json:"hash"`
	Events    int       `json:"events"` // how many there were
	Started   time.Time `json:"started,omitzero"`
	Ended     time.Time `json:"ended,omitzero"`
	Commit    string    `json:"commit,omitempty"` // of the code, when the session began
	Branch    string    `json:"branch,omitempty"` // of the code, when the session began
	Detectors int       `json:"detectors"`        // version of the detectors that ran
	Model     string    `json:"model,omitempty"`  // empty: the detectors alone
	// Digest identifies the model's weights and settings, or a further reading by it, in hex. It is
	// empty if unknown.
	Digest string `json:"digest,omitempty"`
	Prompt string `json:"prompt,omitempty"` // SHA-256 of the model's prompt, hex
	// Outcome is completed, interrupted, failed, or empty if unknown.
	Outcome      string         `json:"outcome,omitempty"`
	Observations []Observation  `json:"observations,omitempty"`
	Candidates   []Candidate    `json:"candidates,omitempty"`
	Dropped      map[string]int `json:"dropped,omitempty"` // candidates refused at the gate, by reason
}

// Observation is a finding that does not deserve a memory of its own.
type Observation struct {
	Text   string `json:"text"`
	Events []int  `json:"events,omitempty"` // positions in the session
}

// Candidate is a statement found by a reflection, with its evidence.
type Candidate struct {
	Kind  Kind     `json:"kind"`
	Text  string   `json:"text"`           // the statement: one line, self-contained
	Body  string   `json:"body,omitempty"` // why and how, Markdown
	Paths []string `json:"paths,omitempty"`
	Tags  []string `json:"tags,omitempty"`
	Topic string   `json:"topic,omitempty"` // subject; two statements on one topic may contradict
	How   How      `json:"how"`
	// Weak marks too little evidence in one session: the candidate counts, but is not proposed alone.
	Weak     bool       `json:"weak,omitempty"`
	Detector string     `json:"detector"`           // the detector; "model" for a model
	Corrects string     `json:"corrects,omitempty"` // words that it replaces
	Command  string     `json:"command,omitempty"`  // of a failure: the failing program and subcommand
	Errors   []string   `json:"errors,omitempty"`   // of a failure: their output
	Evidence []Evidence `json:"evidence"`
}

// Order is the detector of short orders. dream counts them over sessions; a single one means
// nothing.
const Order = "order"

// ByModel is the Detector of what a model found in a session.
const ByModel = "model"

// Evidence quotes the words of one session event, verbatim.
type Evidence struct {
	Event int       `json:"event"` // position in the session
	Quote string    `json:"quote"` // verbatim, at most MaxQuote bytes
	Time  time.Time `json:"time,omitzero"`
	Doubt Doubt     `json:"doubt,omitempty"` // of a person's words: why another may have written them
	By    Author    `json:"by,omitempty"`    // of a model's quote: its author; empty for a file
}

// Author is the author of words in a session.
type Author string

const (
	ByPerson  Author = "person"  // typed by a person
	ByCommand Author = "command" // a command, or its output
	ByAgent   Author = "agent"
)

// Doubt is a reason to think that another author wrote the words in a person's message. Doubtful
// words support nothing until a person has checked. Empty means no doubt.
type Doubt string

const (
	Mixed    Doubt = "mixed"    // a client put other text into the message
	Reported Doubt = "reported" // the message quotes, pastes or asks about words
	Worded   Doubt = "worded"   // an agent worded a choice of the person
	Passing  Doubt = "passing"  // the person's own words, which do not say that they last
)

// Doubtful reports whether one of the quotes is doubtful.
func Doubtful(evidence []Evidence) bool {
	return slices.ContainsFunc(evidence, func(e Evidence) bool { return e.Doubt != "" })
}

// MaxQuote bounds a quote in evidence, in bytes.
const MaxQuote = 400

// ID names the reflection: "<client>-<session>-<first 8 hex digits of Hash>", and for a model's
// "-<reading>" after it.
func (r Reflection) ID() string {
	id := r.Client + "-" + r.Session + "-" + short(r.Hash)
	if reading := r.reading(); reading != "" {
		id += "-" + reading
	}
	return id
}

// reading identifies the model's reading. It is the first 8 hex digits of SHA-256 over its name, a
// zero byte, its digest, a zero byte, and the prompt's hash. It is empty for the detectors alone.
func (r Reflection) reading() string {
	if r.Model == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(r.Model + "\x00" + r.Digest + "\x00" + r.Prompt))
	return short(hex.EncodeToString(sum[:]))
}

// ReadOf returns the id of the detectors' reflection of a session, from the id of a model's
// reflection; "" for any other id.
func ReadOf(id string) string {
	at := len(id) - 9
	if at < 9 || id[at] != '-' || id[at-9] != '-' || !isHex(id[at+1:]) || !isHex(id[at-8:at]) {
		return ""
	}
	return id[:at]
}

// Path returns the reflection's path in its tree: by the month the session began and the first two
// digits of Hash.
func (r Reflection) Path() string {
	return ReflectionDir + "/" + month(r.Started) + "/" + r.Hash[:2] + "/" + r.ID() + ".json"
}

// ReflectionDir is the folder of reflections in a tree.
const ReflectionDir = "reflections"

// Format returns the reflection's text form.
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
	if !isSHA256(r.Hash) {
		return Reflection{}, &FormatError{Path: at, Field: "hash", Reason: "is not SHA-256 in hex"}
	}
	if err := r.checkModel(at); err != nil {
		return Reflection{}, err
	}
	if at != r.Path() {
		return Reflection{}, &FormatError{Path: at, Reason: "belongs at " + r.Path()}
	}
	return r, nil
}

// maxModel bounds a model's name and its digest, in bytes.
const maxModel = 200

// checkModel validates the model's names, which people will see.
func (r Reflection) checkModel(at string) error {
	bad := func(field, reason string) error { return &FormatError{Path: at, Field: field, Reason: reason} }
	switch {
	case r.Model == "" && r.Digest != "":
		return bad("digest", "is of no model")
	case r.Model == "" && r.Prompt != "":
		return bad("prompt", "was given to no model")
	case r.Model == "":
		return nil
	case len(r.Model) > maxModel || strings.TrimSpace(r.Model) != r.Model || strings.ContainsAny(r.Model, "\n\t") || readable(r.Model) != r.Model:
		return bad("model", "is no name")
	case len(r.Digest) > maxModel || !isHex(r.Digest):
		return bad("digest", "is not hex")
	case !isSHA256(r.Prompt):
		return bad("prompt", "is not SHA-256 in hex")
	}
	return nil
}
