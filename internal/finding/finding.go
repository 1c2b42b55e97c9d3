// Package finding is what a check found in files, as values: how bad, by which rule, where. It
// writes them for machines: in SARIF 2.1.0, the form in which forges and editors take findings, and
// as commands to the runner of GitHub Actions.
package finding

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
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

// Rules are all rules of one check, in the order in which they are described.
type Rules []Rule

// index is the place of a rule; -1 for one that is not there.
func (rs Rules) index(id string) int {
	return slices.IndexFunc(rs, func(r Rule) bool { return r.ID == id })
}

// Finding is one thing that a check found. Its message never holds a secret.
type Finding struct {
	Rule    string `json:"rule"`
	Level   Level  `json:"level"`
	Path    string `json:"path"` // empty for what is in a commit's message
	Line    int    `json:"line"` // from 1; 0 for the file as a whole
	ID      string `json:"id"`   // of the memory; empty for other files
	Message string `json:"message"`
}

// fingerprint stays the same while a finding does, wherever its line moves to. n tells apart those
// that are alike in all else.
func (f Finding) fingerprint(n int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%s\x00%d", f.Rule, f.Path, f.ID, f.Message, n))
	return hex.EncodeToString(sum[:16])
}

// Sort orders findings by place, those of one place as the rules are, and drops doubles. It sorts
// all in place.
func (rs Rules) Sort(all []Finding) []Finding {
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(rs.index(a.Rule), rs.index(b.Rule)), cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(all)
}
