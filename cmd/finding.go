package cmd

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
)

// level is how bad a finding is, in SARIF's words.
type level string

const (
	levelError   level = "error"   // must not be merged as it is
	levelWarning level = "warning" // a person should weigh it
	levelNote    level = "note"    // worth knowing
)

// rule is one sort of finding. Findings may have a lower level than their rule.
type rule struct {
	id    string
	level level
	short string // one sentence
	help  string // what to do
}

// rules lists every rule; docs/commands.md describes them in this order.
var rules = []rule{
	{"format", levelError, "A file does not have the form that FORMAT.md describes.", "Put right what the message names; 'reverie edit' and 'reverie remember' write the form by themselves."},
	{"entry", levelError, "The tree has an entry that a memory must not have: a link, a submodule, an executable file, a dangerous name.", "Remove it from the branch."},
	{"unknown-file", levelError, "A file is nothing of Reverie's.", "Remove it from the branch: it holds memories and what belongs to them."},
	{"immutable", levelError, "Something changed that never changes: a memory's id, source, ref, supersedes or path.", "Put it back. A statement that says something else is a new memory that supersedes the old one."},
	{"deleted", levelWarning, "A file of the memory is deleted.", "Retire a memory instead ('reverie forget'), or clones that still know it bring it back."},
	{"conflict-marker", levelError, "A file holds the markers of a merge that was left unfinished.", "Keep what is right and take the markers out."},
	{"contested", levelWarning, "A memory has several variants that a merge could not decide between.", "Keep one: 'reverie edit ID --take NUMBER'."},
	{"duplicate", levelWarning, "A statement says what another memory says.", "Keep one of them, or make the difference clear."},
	{"contradiction", levelWarning, "A ruling on a topic on which another memory rules otherwise.", "Retire one, or say in both where each holds."},
	{"retired", levelWarning, "A memory that was retired comes back.", "Look up why it was retired: 'reverie log ID'."},
	{"constraint", levelWarning, "A constraint is retired, or says something else.", "Merge it only if the team wants that; another constraint is a new memory that supersedes the old one."},
	{"loss", levelError, "Much of the memory is put out of force at once.", "Look at each that goes, and make several changes of it if that is meant."},
	{"evidence", levelNote, "Evidence is added for no memory of the same change.", "Ask where it comes from: what it says counts for a memory that nobody has reviewed. Take the file out if that is not known."},
	{"reference", levelWarning, "A memory refers to one that is not there.", "Take the id out, or bring the memory along."},
	{"anchor", levelNote, "The code that a memory rests on is no longer what it was.", "Look whether the statement still holds."},
	{"secret", levelError, "Text holds what looks like a secret.", "Take it out, also of the branch's history, and make the secret worthless: it was published."},
	{"injection", levelError, "Text looks like an attack on an agent that reads it.", "Say the fact without giving orders to a reader, and without the form of a chat, a tool call or a remote image."},
	{"hidden-text", levelError, "Text holds characters that a reader does not see.", "Take them out."},
	{"ci-file", levelError, "A file changes that decides what a pull request is checked by.", "Read it as you would read code that runs on your machines. 'reverie init --ci' writes the file that is known here."},
	{"size", levelError, "A change has more files than are looked at.", "Make several changes of it."},
	{"restriction", levelError, "A restriction that the team agreed on is loosened.", "Merge it only if the team wants that."},
}

// ruleIndex is the place of a rule in rules.
func ruleIndex(id string) int {
	return slices.IndexFunc(rules, func(r rule) bool { return r.id == id })
}

// finding is one thing that a check found in a change. Its message never holds a secret.
type finding struct {
	Rule    string `json:"rule"`
	Level   level  `json:"level"`
	Path    string `json:"path"` // empty for what is in a commit's message
	Line    int    `json:"line"` // from 1; 0 for the file as a whole
	ID      string `json:"id"`   // of the memory; empty for other files
	Message string `json:"message"`
}

// fingerprint stays the same while a finding does, wherever its line moves to. n tells apart those that
// are alike in all else.
func (f finding) fingerprint(n int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%s\x00%d", f.Rule, f.Path, f.ID, f.Message, n))
	return hex.EncodeToString(sum[:16])
}

// sortFindings orders findings by place, and drops doubles.
func sortFindings(all []finding) []finding {
	slices.SortStableFunc(all, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(ruleIndex(a.Rule), ruleIndex(b.Rule)), cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(all)
}
