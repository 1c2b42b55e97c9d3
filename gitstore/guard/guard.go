// Package guard recognises the calls of tools that memories are about, by a small table made from
// the memories beforehand. Begin with Open and Table.Match. It writes nothing, and its functions
// are safe for concurrent use.
//
// A hook runs Match while an agent waits, so a table is one file, and a call decodes only the lines
// about the programs that it starts.
package guard

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/file"
)

// File is the table in the state folder. It may be deleted at any time. Its first line is a
// header, and each other one a rule: tool, program or glob, and the rule as JSON, between tabs.
const File = "guards"

// MaxRules bounds the rules of a table. The strongest and newest come first.
const MaxRules = 2000

// maxTable bounds the file, in bytes.
const maxTable = 4 << 20

// format grows when an older table says too little.
const format = 2

// Rule is a memory with one pattern of calls. A memory has one rule for each pattern.
type Rule struct {
	ID       string           `json:"id"`
	Kind     record.Kind      `json:"kind"`
	Status   record.Status    `json:"status"`
	Text     string           `json:"text"`
	Variants []record.Variant `json:"variants,omitempty"`
	On       string           `json:"on"` // a Pattern
	Strength record.Strength  `json:"strength"`
	Errors   []string         `json:"errors,omitempty"` // for the lesson of a failure: its output
	Lesson   bool             `json:"lesson,omitempty"`
	Paths    []string         `json:"paths,omitempty"`
	Expires  time.Time        `json:"expires,omitzero"`
	Stale    bool             `json:"stale,omitempty"`
	Anchors  []record.Anchor  `json:"anchors,omitempty"` // that the commit's code has
	Own      bool             `json:"own,omitempty"`     // of the person's own memory
}

// Rules returns the rules of a memory: those of its guards, and one of its lesson. A guard that
// cannot be parsed gives none.
func Rules(m record.Memory, stale bool, anchors []record.Anchor) (all []Rule) {
	t := m.Trigger()
	rule := Rule{ID: m.ID, Kind: m.Kind, Status: m.Status, Text: m.Text, Variants: m.Variants, Paths: m.Paths, Expires: m.Expires, Stale: stale, Anchors: anchors, Own: m.Own}
	for _, on := range t.Guards {
		if p, err := Parse(on); err == nil {
			r := rule
			r.On, r.Strength = p.String(), t.Strength
			all = append(all, r)
		}
	}
	if t.Command == "" {
		return all
	}
	if p, err := Parse(hooks.Bash + "(" + t.Command + " *)"); err == nil {
		rule.On, rule.Strength, rule.Errors, rule.Lesson = p.String(), record.Say, t.Errors, true
		all = append(all, rule)
	}
	return all
}

// header is the first line of the file.
type header struct {
	Format int    `json:"format"`
	Key    string `json:"key"`    // of the state that the table was made of
	Commit string `json:"commit"` // of the memory in that state
	Sum    uint32 `json:"sum"`    // CRC-32 of the other lines

	// OpenCode's plugin shortens outputs of so many bytes or more; 0: none
	Shorten int `json:"shorten,omitempty"`
}

// Encode returns the text of a table with rules. It takes the other fields from t.
func (t Table) Encode(rules []Rule) ([]byte, error) {
	rules = slices.Clone(rules)
	slices.SortStableFunc(rules, func(a, b Rule) int {
		return cmp.Compare(slices.Index(record.Strengths, b.Strength), slices.Index(record.Strengths, a.Strength))
	})
	var lines bytes.Buffer
	for _, r := range rules[:min(len(rules), MaxRules)] {
		p, err := Parse(r.On)
		if err != nil {
			return nil, err
		}
		data, err := json.Marshal(r)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&lines, "%s\t%s\t%s\n", p.Tool, p.first(), data)
	}
	head, err := json.Marshal(header{format, t.Key, t.Commit, crc32.ChecksumIEEE(lines.Bytes()), t.Shorten})
	if err != nil {
		return nil, err
	}
	return slices.Concat(head, []byte("\n"), lines.Bytes()), nil
}

// Table holds the rules of a state. The zero value has none.
type Table struct {
	Key    string
	Commit string // of the memory

	Shorten int // see header
	lines   []byte
}

// Open reads the table in a state folder. A missing or damaged one has no rules and no key.
func Open(state string) Table {
	text, err := file.Read(filepath.Join(state, File), maxTable)
	if err != nil {
		return Table{}
	}
	return Decode(text)
}

// Decode parses the text of a table. A damaged one has no rules and no key.
func Decode(text []byte) Table {
	head, lines, _ := bytes.Cut(text, []byte("\n"))
	var h header
	if json.Unmarshal(head, &h) != nil || h.Format != format || h.Sum != crc32.ChecksumIEEE(lines) {
		return Table{}
	}
	return Table{h.Key, h.Commit, h.Shorten, lines}
}

// Empty reports whether a table has no rules.
func (t Table) Empty() bool { return len(t.lines) == 0 }

// each calls fn with the columns of every rule.
func (t Table) each(fn func(tool, first, rule []byte)) {
	for line := range bytes.Lines(t.lines) {
		tool, rest, _ := bytes.Cut(line, []byte("\t"))
		first, rule, ok := bytes.Cut(rest, []byte("\t"))
		if ok {
			fn(tool, first, rule)
		}
	}
}

// Rules returns all rules, the strongest first.
func (t Table) Rules() (all []Rule) {
	t.each(func(_, _, data []byte) {
		var r Rule
		if json.Unmarshal(data, &r) == nil {
			all = append(all, r)
		}
	})
	return all
}

// Place tells where a call is made.
type Place struct {
	Top string // of the work tree, absolute
	Dir string // the agent's folder, absolute
}

// Match returns the rules in force that a call matches, the strongest first. Rules of a failure
// match before the call; once it has returned, use Failed.
func (t Table) Match(c hooks.Call, at Place, now time.Time) (all []Rule) {
	var run []command
	if c.Command != "" {
		run = commands(c.Command, at.Dir)
	}
	dir := at.Dir
	for _, c := range run {
		if c.words[0] == "apply_patch" {
			dir = cmp.Or(c.dir, dir)
		}
	}
	var files []string
	for _, f := range c.Files {
		if file, ok := below(at.Top, dir, f); ok {
			files = append(files, file)
		}
	}
	t.each(func(tool, first, data []byte) {
		var r Rule
		switch {
		case string(tool) == hooks.Bash:
			starts := func(c command) bool { return string(first) == "*" || string(first) == c.words[0] }
			if !slices.ContainsFunc(run, starts) || json.Unmarshal(data, &r) != nil || !r.matchesRun(run, at) {
				return
			}
		case string(tool) == hooks.Edit:
			match := func(f string) bool { return recall.Covers(string(first), f) }
			if !slices.ContainsFunc(files, match) || json.Unmarshal(data, &r) != nil ||
				!slices.ContainsFunc(files, func(f string) bool { return match(f) && inPlaces(r.Paths, f, false) }) {
				return
			}
		case string(tool) != c.Tool || json.Unmarshal(data, &r) != nil:
			return
		}
		if r.Expires.IsZero() || now.Before(r.Expires) {
			all = append(all, r)
		}
	})
	return all
}

// matchesRun reports whether one of some commands matches the rule, in one of its places. A rule
// that only tells or holds passes over what follows the command that it asks for first.
func (r Rule) matchesRun(run []command, at Place) bool {
	p, err := Parse(r.On)
	if err != nil {
		return false
	}
	want := strings.Fields(p.Of)
	prepared := false
	return slices.ContainsFunc(run, func(c command) bool {
		if asks := c.asks(); prepared || !matchesWords(want, c.words) || asks != "" && !slices.Contains(want, asks) || c.spares(r.Text) {
			prepared = prepared || (r.Strength == record.Say || r.Strength == record.Hold) && c.prepares(r.Text)
			return false
		}
		place, ok := below(at.Top, at.Top, cmp.Or(c.dir, at.Dir))
		return len(r.Paths) == 0 || r.Lesson || ok && inPlaces(r.Paths, place, true)
	})
}

// Failed returns the rules among some that are about the output of a call that failed.
func Failed(rules []Rule, output string) []Rule {
	output = strings.ToLower(output)
	return slices.DeleteFunc(slices.Clone(rules), func(r Rule) bool {
		return !r.Lesson || !slices.ContainsFunc(r.Errors, func(e string) bool {
			return e != "" && strings.Contains(output, strings.ToLower(e))
		})
	})
}

// FilterOf returns the filter that lets an agent start a hook only where the table of a repository
// may match, by an agent's own rules. commonDir is the repository's common git directory.
func FilterOf(commonDir string) (f hooks.Filter) {
	for _, r := range Open(filepath.Join(commonDir, "reverie")).Rules() {
		p, err := Parse(r.On)
		if err != nil {
			continue
		}
		to, what := &f.Tools, p.Tool
		switch p.Tool {
		case hooks.Bash:
			to, what = &f.Commands, p.wide()
		case hooks.Edit:
			to, what = &f.Files, p.Of
		}
		if !slices.Contains(*to, what) {
			*to = append(*to, what)
		}
		if r.Lesson && !slices.Contains(f.Failing, p.Of) {
			f.Failing = append(f.Failing, p.Of)
		}
	}
	return f
}
