// Package record defines Reverie's records and their text forms: memories, operations, reflections,
// dreams and checkpoints. Parse and Format are pure and agree with FORMAT.md in gitstore. Only a
// Book reads records from git and writes them.
//
// Parsing is lenient about edits by hand (key order, line endings, missing optional keys) and exact
// where meaning is at stake. An unreadable record gives a *FormatError with path, line and field,
// and never hides its neighbours. Formatting is stable: Format(Parse(Format(m))) is Format(m).
//
// A Book may be used by several goroutines and by several processes at once.
package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
)

// Kind classifies the knowledge in a memory.
type Kind string

const (
	Convention Kind = "convention" // how things are done here
	Decision   Kind = "decision"   // a choice, with its reason
	Constraint Kind = "constraint" // a requirement or a prohibition
	Preference Kind = "preference" // one person's taste; private by default
	Pattern    Kind = "pattern"    // a shape that recurs in the code
	Workflow   Kind = "workflow"   // steps or commands that do a job
	Failure    Kind = "failure"    // a fault with its fix or refutation
	Fact       Kind = "fact"       // how something is
	Note       Kind = "note"       // anything else
)

// Kinds lists every kind, the most binding first: the order in which views show them.
var Kinds = []Kind{Constraint, Convention, Decision, Workflow, Failure, Pattern, Fact, Preference, Note}

// KindList names every kind: "constraint, convention, …".
func KindList() string {
	names := make([]string, len(Kinds))
	for i, k := range Kinds {
		names[i] = string(k)
	}
	return strings.Join(names, ", ")
}

// Valid reports whether k is one of Kinds.
func (k Kind) Valid() bool { return slices.Contains(Kinds, k) }

// Status tells whether a memory is in force.
type Status string

const (
	Active    Status = "active"
	Contested Status = "contested" // a merge could not decide: every variant is kept and given
	Retired   Status = "retired"   // kept so that it cannot come back; the reason ends the body
)

// How is the justification for keeping a statement.
type How string

const (
	Said    How = "said"    // a person's own words, in a top-level session
	Seen    How = "seen"    // commands and their outcomes
	Model   How = "model"   // a language model's reading of a session
	Written How = "written" // typed by a person for Reverie, or imported
)

func (h How) valid() bool {
	switch h {
	case Said, Seen, Model, Written:
		return true
	}
	return false
}

// MaxMemory bounds the text form of a memory, in bytes. Larger ones are refused.
const MaxMemory = 64 << 10

// MaxText bounds a statement, in bytes. Longer text belongs in the body.
const MaxText = 1000

// Source records the origin of a memory and never changes. Its text form is one line: "<RFC 3339
// time> <by> <commit or -> <how>".
type Source struct {
	Time   time.Time // to the second, UTC
	By     string    // "<client>/<session>", "human" or "import/<tool>"; no spaces
	Commit string    // the code's commit, abbreviated or whole, or ""
	How    How
}

func (s Source) String() string {
	commit := cmp.Or(s.Commit, "-")
	return fmt.Sprintf("%s %s %s %s", s.Time.UTC().Format(time.RFC3339), s.By, commit, s.How)
}

// ParseSource parses the output of String.
func ParseSource(line string) (Source, error) {
	f := strings.Fields(line)
	if len(f) != 4 {
		return Source{}, fmt.Errorf("want four words (time, by, commit or -, how), have %d", len(f))
	}
	at, err := time.Parse(time.RFC3339, f[0])
	if err != nil {
		return Source{}, fmt.Errorf("time %q is not like 2026-01-31T15:04:05Z", f[0])
	}
	s := Source{Time: at.UTC(), By: f[1], Commit: f[2], How: How(f[3])}
	if s.Commit == "-" {
		s.Commit = ""
	}
	if !s.How.valid() {
		return Source{}, fmt.Errorf("%q is not one of said, seen, model, written", f[3])
	}
	return s, nil
}

// Agent returns the client in By, or "".
func (s Source) Agent() string {
	client, _, ok := strings.Cut(s.By, "/")
	if !ok || client == "import" {
		return ""
	}
	return client
}

// Session returns the session in By, or "".
func (s Source) Session() string {
	if s.Agent() == "" {
		return ""
	}
	_, session, _ := strings.Cut(s.By, "/")
	return session
}

// Memory is one statement worth keeping. ID, Source, Ref and Supersedes never change once it
// is written; everything else may, by commits.
type Memory struct {
	ID         string // 16 lower-case hex digits
	Slug       string // words of the statement at birth, for the path; may be empty
	Kind       Kind
	Status     Status
	Text       string // the statement: one line
	Body       string // why and how: Markdown, without leading or trailing blank lines
	Variants   []Variant
	Source     Source
	Paths      []string // globs of files it is about; empty means the whole repository
	Ref        string   // the importer's own key, "<tool>:<key>", or ""
	Tags       []string
	Topic      string    // subject; two memories on one topic may contradict
	Branch     string    // holds only on this branch until it lands; "" means everywhere
	Supersedes []string  // ids of the memories that it replaces
	Expires    time.Time // zero: never
	Anchors    []string  // anchors in the code
	Extra      []Field   // keys unknown to this version, kept as
	Private    bool      // lives in this clone's journal; not part of the text form
	Own        bool      // lives in the person's own memory; likewise
	// Noted is the agent whose note this is, which no person has reviewed; "" for a memory. Likewise.
	Noted string
}

// Variant is another text of a contested memory.
type Variant struct{ Text, Body string }

// Field is an unknown front matter key with its TOML value.
type Field struct{ Key, Value string }

// New sets a memory's id and slug from its ref, or else from its text.
func New(m Memory) Memory {
	m.Text, m.Body = oneLine(m.Text), trimBlank(m.Body)
	m.ID, m.Slug = newID(m.Ref, m.Text, m.Body), slug(m.Text)
	if m.Ref != "" {
		m.Slug = slug(m.Ref) // both from the ref: clones that import it apart agree on the path
	}
	m.Status = cmp.Or(m.Status, Active)
	m.Source.Time = m.Source.Time.UTC().Truncate(time.Second)
	m.Paths, m.Tags = set(m.Paths), set(m.Tags)
	return m
}

// Path returns the memory's path in its tree. It never changes.
func (m Memory) Path() string {
	name := m.ID
	if m.Slug != "" {
		name += "-" + m.Slug
	}
	return MemoryDir + "/" + m.ID[:2] + "/" + name + ".md"
}

// Texts returns every text of the memory; a contested one has several.
func (m Memory) Texts() []Variant { return append([]Variant{{m.Text, m.Body}}, m.Variants...) }

// MemoryID returns the id of the memory in the file at path.
func MemoryID(path string) (id string, ok bool) {
	id, _, ok = splitPath(path)
	return id, ok
}

// MemoryDir is the folder of memories in a tree. It has 256 folders, named by the first two digits
// of the ids: 10,000 memories leave about 40 in each.
const MemoryDir = "memories"

// Live reports whether the memory is in force at a time.
func (m Memory) Live(now time.Time) bool {
	return m.Status != Retired && (m.Expires.IsZero() || now.Before(m.Expires))
}

// Retire returns the memory out of force, with the reason appended to its body.
func (m Memory) Retire(reason string) Memory {
	m.Status = Retired
	body, reasons := splitReasons(m.Body)
	m.Body = joinReasons(body, append(reasons, oneLine(reason)))
	return m
}

// Reasons returns the reasons that a memory was retired for, sorted.
func (m Memory) Reasons() []string {
	_, reasons := splitReasons(m.Body)
	return set(reasons)
}

// Revive returns a retired memory in force again, without the reasons for its retirement.
func (m Memory) Revive() Memory {
	m.Status = Active
	if len(m.Variants) > 0 {
		m.Status = Contested
	}
	m.Body, _ = splitReasons(m.Body)
	return m
}

// set returns the values sorted, trimmed, unique and not empty.
func set(values []string) []string {
	var out []string
	for _, v := range values {
		if v = strings.TrimSpace(v); v != "" {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// SplitText splits a typed text into the statement, its first nonempty line, and the rest.
func SplitText(text string) (statement, body string) {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	statement, body, _ = strings.Cut(text, "\n")
	return strings.TrimSpace(statement), strings.TrimSpace(body)
}

// retiredMark begins a paragraph with the reason of a retirement.
const retiredMark = "Retired: "

// splitReasons cuts the reasons of retirement off the end of a body.
func splitReasons(body string) (rest string, reasons []string) {
	for {
		before, last := "", body
		if at := strings.LastIndex(body, "\n\n"); at >= 0 {
			before, last = body[:at], body[at+2:]
		}
		reason, ok := strings.CutPrefix(last, retiredMark)
		if !ok || strings.Contains(reason, "\n") {
			return body, reasons
		}
		reasons, body = append(reasons, reason), trimBlank(before)
	}
}

// joinReasons appends reasons to a body, sorted and unique, so that their order does not matter.
func joinReasons(body string, reasons []string) string {
	for _, reason := range set(reasons) {
		body = trimBlank(body + "\n\n" + retiredMark + reason)
	}
	return body
}

// Trigger recognises the calls of tools that a memory is about. A memory stores it as keys of its
// front matter, which readers without support for them preserve.
type Trigger struct {
	// Command and Errors belong to the lesson of a failure: the program and subcommand that fail
	// ("go test"), and their output.
	Command string
	Errors  []string
	// Guards are the calls at which the memory acts: "Bash(npm *)", "Edit(generated/**)".
	Guards   []string
	Strength Strength
}

// Strength is the effect of a guard. If branches disagree, the gentlest one stays: the greatest in
// bytes.
type Strength string

const (
	Say  Strength = "say"  // the agent is told beside the call, once a session; the default
	Hold Strength = "hold" // the call is refused once; if the agent repeats it, it runs
	Ask  Strength = "ask"  // the person is asked whether the call may run
	Deny Strength = "deny" // the call is refused
)

// Strengths lists them, the gentlest first.
var Strengths = []Strength{Say, Hold, Ask, Deny}

const (
	commandKey  = "command"
	errorsKey   = "errors"
	guardKey    = "guard"
	strengthKey = "strength"
)

func ofTrigger(key string) bool {
	return key == commandKey || key == errorsKey || key == guardKey || key == strengthKey
}

// Trigger returns the memory's trigger, or an empty one if it is missing or invalid. An unknown
// strength is Say.
func (m Memory) Trigger() Trigger {
	var t struct {
		Command  string
		Errors   []string
		Guards   []string `toml:"guard"`
		Strength Strength
	}
	for _, f := range m.Extra {
		if ofTrigger(f.Key) {
			_ = toml.Unmarshal([]byte(f.Key+" = "+f.Value), &t) // a person may have written anything there
		}
	}
	switch {
	case len(t.Guards) == 0:
		t.Strength = ""
	case !slices.Contains(Strengths, t.Strength):
		t.Strength = Say
	}
	return Trigger(t)
}

func (m Memory) hasTrigger() bool {
	return slices.ContainsFunc(m.Extra, func(f Field) bool { return ofTrigger(f.Key) })
}

// WithTrigger returns the memory with a trigger in place of the one it has.
func (m Memory) WithTrigger(t Trigger) Memory {
	m.Extra = slices.DeleteFunc(slices.Clone(m.Extra), func(f Field) bool { return ofTrigger(f.Key) })
	add := func(key string, value any) {
		if f, err := tomlValue(key, value); err == nil {
			m.Extra = append(m.Extra, f)
		}
	}
	if t.Command != "" {
		add(commandKey, t.Command)
	}
	if len(t.Errors) > 0 {
		add(errorsKey, t.Errors)
	}
	if t.Guards = set(t.Guards); len(t.Guards) > 0 {
		add(guardKey, t.Guards)
		if t.Strength != Say && t.Strength != "" {
			add(strengthKey, string(t.Strength))
		}
	}
	slices.SortFunc(m.Extra, func(a, b Field) int { return strings.Compare(a.Key, b.Key) })
	return m
}

// tomlValue writes an unknown key and its value on one line.
func tomlValue(key string, v any) (Field, error) {
	if _, isTable := v.(map[string]any); isTable {
		return Field{}, fmt.Errorf("is a table; front matter holds one key a line")
	}
	out, err := toml.Marshal(map[string]any{key: v})
	if err != nil {
		return Field{}, err
	}
	name, value, ok := strings.Cut(strings.TrimSpace(string(out)), " = ")
	if !ok || strings.Contains(value, "\n") {
		return Field{}, fmt.Errorf("does not fit on one line")
	}
	return Field{Key: name, Value: value}, nil
}
