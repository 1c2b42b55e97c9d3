package worktree

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Severity grades a finding.
type Severity string

const (
	Bug        Severity = "bug"
	Warning    Severity = "warning"
	Suggestion Severity = "suggestion"
)

// Standing is the state of a finding.
type Standing string

const (
	OpenFinding Standing = "open"
	Fixed       Standing = "fixed"
	Waived      Standing = "waived" // by a person; it does not reopen
)

// Finding is a defect that an audit, or Reverie itself, found in a loop's work: findings/<id>.json
// of the record.
type Finding struct {
	// 16 hex digits of a hash of file, rule or else text, and the line's text
	ID       string   `json:"id"`
	File     string   `json:"file"`
	Line     int      `json:"line"` // in the commit At, from 1; 0: without a line
	At       string   `json:"at"`   // the commit that Line counts in
	Severity Severity `json:"severity"`
	Rule     string   `json:"rule,omitempty"` // the auditor's name for this kind of defect
	Text     string   `json:"text"`
	Scenario string   `json:"scenario,omitempty"`
	Context  string   `json:"context,omitempty"` // the line's text when first seen, with single blanks
	By       string   `json:"by"`                // audit, or host: work that could not be committed

	State       Standing `json:"state"`
	Touched     bool     `json:"touched,omitempty"` // its code changed since its finder last looked
	Reason      string   `json:"reason,omitempty"`  // of a waiver
	First       int      `json:"first"`             // iteration
	Last        int      `json:"last"`              // iteration that named it last
	Recurrences int      `json:"recurrences"`       // how often it was named again
}

// Finders.
const (
	ByAudit = "audit"
	ByHost  = "host"
)

// Audit is an auditor's answer.
type Audit struct {
	Findings []Reported `json:"findings"`
	Fixed    []string   `json:"fixed"` // ids of open findings that no longer hold
}

// Reported is a finding in an auditor's form.
type Reported struct {
	File     string   `json:"file"`
	Line     int      `json:"line"`
	Severity Severity `json:"severity"`
	Rule     string   `json:"rule"`
	Text     string   `json:"text"`
	Scenario string   `json:"scenario"`
}

// maxFindings bounds the findings of an answer.
const maxFindings = 50

// Lengths of a finding's stored texts, in bytes. Record.writeFinding shortens to them, because no
// text is cut before its secrets are removed.
const (
	maxSaid    = 2000 // a text or a scenario
	maxRule    = 100
	maxContext = 200
)

// severityOf returns the severity for an auditor's word, and false if the word is unknown.
func severityOf(word Severity) (Severity, bool) {
	switch strings.ToLower(string(word)) {
	case "bug", "blocking", "major", "error":
		return Bug, true
	case "warning", "minor":
		return Warning, true
	case "suggestion", "info":
		return Suggestion, true
	}
	return "", false
}

// ParseAudit parses an auditor's output: one JSON object
// {"findings":[{"file","line","severity","text"}]}. A finding may also have rule and scenario, and
// the object a list fixed of ids. Other text may surround it, but no second object with findings,
// which may be the output of a program that the auditor ran. Severities are bug, warning and
// suggestion; blocking, major and error count as bug, minor as warning, info as suggestion.
func ParseAudit(out []byte) (Audit, error) {
	var a Audit
	text, err := answerIn(out)
	if err != nil {
		return a, err
	}
	var fields map[string]json.RawMessage // its names are case-sensitive
	var findings *[]Reported
	if err = json.Unmarshal(text, &fields); err == nil && fields["findings"] != nil {
		err = json.Unmarshal(fields["findings"], &findings)
	}
	if err == nil && fields["fixed"] != nil {
		err = json.Unmarshal(fields["fixed"], &a.Fixed)
	}
	if err != nil {
		return Audit{}, fmt.Errorf("the audit's answer: %w", err)
	}
	if findings == nil {
		return Audit{}, fmt.Errorf(`the audit's answer has no list "findings"; an empty one says that there are none`)
	}
	if len(*findings) > maxFindings {
		return a, fmt.Errorf("the audit's answer has %d findings; at most %d are read", len(*findings), maxFindings)
	}
	for i, f := range *findings {
		severity, known := severityOf(f.Severity)
		switch {
		case !known:
			return a, fmt.Errorf("finding %d: severity %q is none of bug, warning, suggestion", i+1, f.Severity)
		case strings.TrimSpace(f.Text) == "":
			return a, fmt.Errorf("finding %d has no text", i+1)
		case f.Line < 0:
			return a, fmt.Errorf("finding %d: line %d", i+1, f.Line)
		case strings.ContainsFunc(f.File, unicode.IsControl):
			return a, fmt.Errorf("finding %d: file %q has a control character", i+1, f.File)
		}
		f.Severity = severity
		f.File = strings.TrimPrefix(f.File, "./")
		a.Findings = append(a.Findings, f)
	}
	return a, nil
}

// answerIn finds the object with the only key "findings" in an answer, or returns the whole answer
// if it is JSON without one. Inside a string a quotation mark follows a backslash, so a finding's
// text is no key.
func answerIn(out []byte) ([]byte, error) {
	text := strings.TrimSpace(string(out))
	const key = `"findings"`
	at, keys := -1, 0
	for i := 0; ; i += len(key) {
		next := strings.Index(text[i:], key)
		if next < 0 {
			break
		}
		i += next
		if strings.HasPrefix(strings.TrimLeft(text[i+len(key):], " \t\r\n"), ":") {
			at, keys = i, keys+1
		}
	}
	if keys > 1 {
		return nil, fmt.Errorf(`the audit printed "findings" %d times, so what it found is not certain; it is to print one object, and nothing of the kind that other programs print`, keys)
	}
	if keys == 0 && json.Valid([]byte(text)) {
		return []byte(text), nil
	}
	for begin := at; begin > 0; {
		if begin = strings.LastIndexByte(text[:begin], '{'); begin < 0 {
			break
		}
		var object json.RawMessage
		if json.NewDecoder(strings.NewReader(text[begin:])).Decode(&object) == nil && begin+len(object) > at {
			return object, nil
		}
	}
	return nil, fmt.Errorf(`the audit printed no JSON object; it is to print {"findings":[{"file","line","severity","text"}]}`)
}

// bounded returns trimmed text, cut to a length in bytes.
func bounded(text string, most int) string {
	text = strings.ToValidUTF8(strings.TrimSpace(text), "\ufffd")
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// joined returns text with each run of white space as one blank.
func joined(text string) string { return strings.Join(strings.Fields(text), " ") }

// findingID returns the id of a finding, independent of its severity and line number. A host
// finding's id is long enough to prevent collisions, because a person waives exactly that content.
func findingID(by, file, rule, text, context string) string {
	if by == ByHost {
		sum := sha256.Sum256([]byte(by + "\x00" + file + "\x00" + rule))
		return hex.EncodeToString(sum[:16])
	}
	what := bounded(rule, maxRule)
	if what == "" {
		what = strings.ToLower(joined(bounded(text, maxSaid)))
	}
	sum := sha256.Sum256([]byte(file + "\x00" + what + "\x00" + joined(context)))
	return hex.EncodeToString(sum[:8])
}

// newest gives a merge of findings access to the newest commit of the loop.
type newest struct {
	commit string
	line   func(file string, line int) string // the text of a line, or ""
	// a known finding's line in the new commit, and whether its code changed since
	moves func(f Finding) (file string, line int, changed bool)
}

// mergeFindings merges an audit with the known findings, and returns every new or changed one. A
// finding named again recurs, and is open unless a person waived it. An open one that is no longer
// named is fixed if the auditor says so or its code changed; otherwise it stays open.
func mergeFindings(known []Finding, a Audit, by string, iteration int, tip newest) []Finding {
	now := slices.Clone(known)
	for i, f := range now {
		changed := false
		now[i].File, now[i].Line, changed = tip.moves(f)
		now[i].At, now[i].Touched = tip.commit, f.Touched || changed
	}
	named := make([]bool, len(now))
	for _, r := range a.Findings {
		context := tip.line(r.File, r.Line)
		id := findingID(by, r.File, r.Rule, r.Text, context)
		i := slices.IndexFunc(now, func(f Finding) bool { return f.ID == id })
		if i < 0 {
			for at, f := range now { // the same place in other words; two of one answer stay two
				if f.By == by && f.State != Fixed && f.File == r.File && f.Line == r.Line && r.Line > 0 && f.Rule == bounded(r.Rule, maxRule) && !named[at] {
					i = at
					break
				}
			}
		}
		if i < 0 {
			now = append(now, Finding{
				ID: id, File: r.File, Line: r.Line, At: tip.commit, Severity: r.Severity, Rule: r.Rule, Text: r.Text, Scenario: r.Scenario,
				Context: joined(context), By: by, State: OpenFinding, First: iteration, Last: iteration,
			})
			named = append(named, true)
			continue
		}
		f := &now[i]
		if !named[i] && f.Last != iteration {
			f.Recurrences++
		}
		named[i] = true
		f.File, f.Line, f.Last, f.Severity = r.File, r.Line, iteration, r.Severity
		if r.Scenario != "" {
			f.Scenario = r.Scenario
		}
		if f.State == Fixed {
			f.State = OpenFinding
		}
	}
	for i := range now {
		f := &now[i]
		if f.By != by {
			continue
		}
		if f.State == OpenFinding && !named[i] && (f.Touched || slices.Contains(a.Fixed, f.ID)) {
			f.State = Fixed
		}
		f.Touched = false
	}
	var out []Finding
	for i, f := range now {
		if i >= len(known) || f != known[i] {
			out = append(out, f)
		}
	}
	return out
}

// Blocks reports whether a finding prevents the end of the loop.
func (o Settings) Blocks(f Finding) bool {
	return f.State == OpenFinding && slices.Contains(o.BlockOn, string(f.Severity))
}
