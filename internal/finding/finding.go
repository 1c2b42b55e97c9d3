// Package finding holds the findings of checks in files: severity, rule and place. It writes them
// as SARIF 2.1.0, for forges and editors, and as commands to the runner of GitHub Actions.
package finding

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Level grades the severity of a finding, in SARIF's words.
type Level string

const (
	Error   Level = "error"   // must not be merged as it is
	Warning Level = "warning" // a person should weigh it
	Note    Level = "note"    // worth knowing
)

// Rule is one sort of finding. Findings may have a lower level than their rule.
type Rule struct {
	ID    string
	Level Level
	Short string // one sentence
	Help  string // what to do
}

// Rules lists all rules of one check, in the order of their descriptions.
type Rules []Rule

// index returns the position of a rule, or -1.
func (rs Rules) index(id string) int {
	return slices.IndexFunc(rs, func(r Rule) bool { return r.ID == id })
}

// Finding is one result of a check. Its message never holds a secret.
type Finding struct {
	Rule    string `json:"rule"`
	Level   Level  `json:"level"`
	Path    string `json:"path"` // empty for a commit's message
	Line    int    `json:"line"` // from 1; 0 for the file as a whole
	ID      string `json:"id"`   // of the memory; empty for other files
	Message string `json:"message"`
}

// fingerprint identifies a finding independently of its line. n distinguishes otherwise equal
// findings.
func (f Finding) fingerprint(n int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%s\x00%d", f.Rule, f.Path, f.ID, f.Message, n))
	return hex.EncodeToString(sum[:16])
}

// Sort orders findings by place, then by rule, and drops duplicates. It sorts in place.
func (rs Rules) Sort(all []Finding) []Finding {
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(rs.index(a.Rule), rs.index(b.Rule)), cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(all)
}

// Annotation returns a finding as a command to the runner of GitHub Actions, which shows it beside
// the line. Everything in it is escaped, so that it stays one command.
func (f Finding) Annotation() string {
	command := string(f.Level)
	if f.Level == Note {
		command = "notice"
	}
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	place := ""
	if f.Path != "" {
		place = fmt.Sprintf("file=%s,line=%d,", property.Replace(f.Path), max(1, f.Line))
	}
	return fmt.Sprintf("::%s %stitle=%s::%s", command, place, property.Replace("reverie "+f.Rule), data.Replace(f.Message))
}
