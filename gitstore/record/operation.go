package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
	"github.com/reverie-memory/reverie/gitstore"
)

// Op names the effect of an operation.
type Op string

const (
	Add    Op = "add"    // a new memory, which retires those it supersedes
	Edit   Op = "edit"   // new text or fields for a memory
	Merge  Op = "merge"  // one memory that replaces several
	Retire Op = "retire" // retires a memory
	Skill  Op = "skill"  // a new skill: no memory, but a file that agents read
)

// Operation is a proposed change in the inbox, with the resulting memory and its evidence. For a
// skill, Path and File belong to its SKILL.md; Memory only represents it in lists and is never
// written.
type Operation struct {
	// ID has 16 hex digits, from Op and the memory's id or a skill's workflow.
	ID      string `json:"id"`
	Op      Op     `json:"op"`
	How     How    `json:"how"`
	Memory  Memory `json:"-"`
	Path    string `json:"path"`              // of Memory
	File    string `json:"file"`              // the text form of Memory
	Private bool   `json:"private,omitempty"` // goes to the journal, not to the branch
	// Base holds the changed memories as they were when proposed.
	Base        []Base     `json:"base,omitempty"`
	Contradicts []string   `json:"contradicts,omitempty"` // conflicting memories on the same topic
	Alike       []string   `json:"alike,omitempty"`       // similar memories
	Sightings   []Sighting `json:"sightings,omitempty"`
	// Model is the name of the proposing model, even after an edit by a person.
	Model    string    `json:"model,omitempty"`
	Why      string    `json:"why,omitempty"`   // reason for the proposal, if no session gives one
	Dream    string    `json:"dream,omitempty"` // the dream that proposed it
	Proposed time.Time `json:"proposed,omitzero"`
}

// Base is a memory's file as an operation found it.
type Base struct {
	ID   string `json:"id"`   // of the memory
	Path string `json:"path"` // of its file
	Blob string `json:"blob"` // git's object id of the file
}

// Sighting is one session that supports a statement.
type Sighting struct {
	Reflection string `json:"reflection"` // id
	Client     string `json:"client"`
	Session    string `json:"session"`
	Parent     string `json:"parent,omitempty"` // the session that started this one as a sub-agent
	How        How    `json:"how"`
	Model      string `json:"model,omitempty"` // of the finding model, if How is Model
	// Says is the session's own statement, if a model reworded it.
	Says     string     `json:"says,omitempty"`
	Evidence []Evidence `json:"evidence"`
}

// Sessions counts the distinct sessions among sightings. A sub-agent's session counts with its
// parent's. A session that begins with a copy of another's history (the same words at the same
// time) counts with that one.
func Sessions(sightings []Sighting) int {
	seen := map[string]bool{}
	n := 0
	for _, s := range sightings {
		root := s.Session
		if s.Parent != "" {
			root = s.Parent
		}
		keys := []string{s.Client + "/" + root}
		for _, e := range s.Evidence {
			if !e.Time.IsZero() {
				keys = append(keys, e.Time.UTC().Format(time.RFC3339Nano)+" "+e.Quote)
			}
		}
		known := false
		for _, k := range keys {
			known = known || seen[k]
			seen[k] = true
		}
		if !known {
			n++
		}
	}
	return n
}

// NewSkill completes an operation that proposes a skill with its id, path and file.
func NewSkill(o Operation, s SkillFile) Operation {
	o.Op, o.Memory, o.Private = Skill, s.standIn(o), false
	o.ID, o.Path, o.File = SkillOperationID(s.Workflow), s.Path(), string(s.Format())
	return o
}

// NewOperation completes an operation with its id, path and file, from Op and Memory. A skill's
// stay as they are.
func NewOperation(o Operation) Operation {
	if o.Op == Skill {
		return o
	}
	o.ID = newID("op:"+string(o.Op)+":"+o.Memory.ID, "", "")
	o.Path, o.File = o.Memory.Path(), string(o.Memory.Format())
	o.Private = o.Memory.Private
	return o
}

// OperationDir is the folder of the pending operations in the inbox.
const OperationDir = "ops"

// OperationPath returns the path of a pending operation in the inbox.
func OperationPath(id string) string { return OperationDir + "/" + id[:2] + "/" + id + ".json" }

// Format returns the operation's text form: JSON, indented, keys in a fixed order.
func (o Operation) Format() ([]byte, error) { return formatJSON(o) }

// ParseOperation reads the text form of the operation at path.
func ParseOperation(at string, data []byte) (Operation, error) {
	var o Operation
	if err := parseJSON(at, data, &o); err != nil {
		return Operation{}, err
	}
	if !ValidID(o.ID) || at != OperationPath(o.ID) {
		return Operation{}, &FormatError{Path: at, Field: "id", Reason: fmt.Sprintf("%q does not belong to this path", o.ID)}
	}
	switch o.Op {
	case Add, Edit, Merge, Retire:
	case Skill:
		s, err := ParseSkill(o.Path, []byte(o.File))
		if err != nil {
			return Operation{}, &FormatError{Path: at, Field: "file", Reason: err.Error()}
		}
		o.Memory, o.Private = s.standIn(o), false
		return o, nil
	default:
		return Operation{}, &FormatError{Path: at, Field: "op", Reason: fmt.Sprintf("%q is not one of add, edit, merge, retire, skill", o.Op)}
	}
	m, err := ParseMemory(o.Path, []byte(o.File))
	if err != nil {
		return Operation{}, &FormatError{Path: at, Field: "file", Reason: err.Error()}
	}
	m.Private = o.Private
	o.Memory = m
	return o, nil
}

// Rejection records that a person rejected a statement, so that it is not proposed again; or that
// a model settled it, which stops no person's words and no outcome of commands.
type Rejection struct {
	ID   string `json:"id"` // of the operation
	Text string `json:"text"`
	Body string `json:"body,omitempty"`
	// Says has the statements that were joined into a new one, and those that a model reworded.
	Says   []string `json:"says,omitempty"`
	Reason string   `json:"reason,omitempty"`
	// How is that of the operation. Rejecting a model's words does not reject a person's.
	How   How       `json:"how,omitempty"`
	Model string    `json:"model,omitempty"` // that settled it; empty: a person rejected it
	Time  time.Time `json:"time,omitzero"`
}

// Reject returns the rejection of an operation, by a person or by the model with that name.
func (o Operation) Reject(reason, model string, at time.Time) Rejection {
	r := Rejection{ID: o.ID, Text: o.Memory.Text, Body: o.Memory.Body, Reason: reason, How: o.How, Model: model, Time: at.UTC()}
	for _, s := range o.Sightings { // what a change of a memory rests on may be right by itself
		if o.Op == Add && s.Says != "" && !slices.Contains(r.Statements(), s.Says) {
			r.Says = append(r.Says, s.Says)
		}
	}
	return r
}

// Statements returns all statements that were rejected.
func (r Rejection) Statements() []string { return append([]string{r.Text}, r.Says...) }

// RejectionPath returns the path of a rejection in the inbox.
func RejectionPath(id string) string { return "rejected/" + id[:2] + "/" + id + ".json" }

// Format returns the rejection's text form.
func (r Rejection) Format() ([]byte, error) { return formatJSON(r) }

// ParseRejection reads the text form of the rejection at path.
func ParseRejection(at string, data []byte) (Rejection, error) {
	var r Rejection
	if err := parseJSON(at, data, &r); err != nil {
		return Rejection{}, err
	}
	if !ValidID(r.ID) || at != RejectionPath(r.ID) {
		return Rejection{}, &FormatError{Path: at, Field: "id", Reason: fmt.Sprintf("%q does not belong to this path", r.ID)}
	}
	return r, nil
}

// CountOperations counts the operations of an inbox by their files, without reading them. Damage
// ends the count: it is for display alone, and must not fail its caller.
func CountOperations(ctx context.Context, inbox *gitstore.Store) (n int) {
	_ = inbox.View(ctx, func(t *gitstore.Tree) error {
		return t.Walk("ops", func(string, gitstore.ID) error {
			n++
			return nil
		})
	})
	return n
}

// FindOperation returns the operation whose id, or whose memory's id, begins with prefix. The error
// wraps ErrNoMemory or ErrAmbiguous.
func FindOperation(all []Operation, prefix string) (Operation, error) {
	o, err := byID(all, func(o Operation) string { return o.ID }, prefix)
	if errors.Is(err, ErrNoMemory) {
		return byID(all, func(o Operation) string { return o.Memory.ID }, prefix)
	}
	return o, err
}

// FindRejection returns the rejection whose id begins with prefix. Its errors are those of
// FindOperation.
func FindRejection(all []Rejection, prefix string) (Rejection, error) {
	return byID(all, func(r Rejection) string { return r.ID }, prefix)
}

// Undecidable reports whether an error concerns only one operation, which then stays in the inbox.
func Undecidable(err error) bool {
	for _, one := range []error{ErrChanged, ErrTaken, ErrRetired, ErrDecided, ErrPurged} {
		if errors.Is(err, one) {
			return true
		}
	}
	return false
}

// byID finds the only value whose id begins with prefix.
func byID[T any](values []T, id func(T) string, prefix string) (T, error) {
	var zero T
	prefix = strings.ToLower(prefix)
	if prefix == "" || strings.Trim(prefix, "0123456789abcdef") != "" {
		return zero, fmt.Errorf("%q: %w", prefix, ErrNoMemory)
	}
	var found []T
	for _, v := range values {
		if id(v) == prefix {
			return v, nil
		}
		if strings.HasPrefix(id(v), prefix) {
			found = append(found, v)
		}
	}
	switch len(found) {
	case 0:
		return zero, fmt.Errorf("%s: %w", prefix, ErrNoMemory)
	case 1:
		return found[0], nil
	}
	names := make([]string, 0, len(found))
	for _, v := range found {
		names = append(names, id(v))
	}
	slices.Sort(names)
	return zero, fmt.Errorf("%s: %w: %s", prefix, ErrAmbiguous, strings.Join(names[:min(5, len(names))], ", "))
}

// subjectWidth bounds a statement in a commit subject, in columns.
const subjectWidth = 72

// CommitSubject shortens a statement to fit a commit subject. It removes the full stop and writes
// the first word small unless that word has more capitals or digits.
func CommitSubject(s string) string {
	s = strings.TrimRight(s, ".。")
	first, size := utf8.DecodeRuneInString(s)
	word, _, _ := strings.Cut(s, " ")
	if !strings.ContainsFunc(word[min(size, len(word)):], func(r rune) bool { return unicode.IsUpper(r) || unicode.IsDigit(r) }) {
		s = string(unicode.ToLower(first)) + s[size:]
	}
	return displaywidth.TruncateString(s, subjectWidth, "…")
}

// Verb returns the word for the operation's effect in a commit subject.
func (o Operation) Verb() string {
	switch {
	case o.Op == Skill:
		return "skill"
	case o.Op == Retire:
		return "forget"
	case o.Op == Edit:
		return "edit"
	case o.Op == Merge:
		return "merge"
	case len(o.Memory.Supersedes) > 0:
		return "correct"
	}
	return "remember"
}

// Subject returns the memory's topic, or else the file or folder to which it is limited, or its
// kind.
func (m Memory) Subject() string {
	place := ""
	if len(m.Paths) > 0 {
		place = strings.TrimSuffix(m.Paths[0], "**")
	}
	return cmp.Or(m.Topic, place, string(m.Kind))
}

// Imported reports whether the memory came in by import.
func (m Memory) Imported() bool { return strings.HasPrefix(m.Source.By, "import/") }
