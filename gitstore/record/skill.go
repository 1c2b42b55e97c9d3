package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/internal/pattern"
)

// SkillDir is the folder of skills in a tree: one folder each, with a file SKILL.md.
const SkillDir = "skills"

// MaxSkill bounds the text form of a skill, in bytes.
const MaxSkill = 16 << 10

// maxSkillName and maxDescription bound a skill's name and description, in bytes.
const (
	maxSkillName   = 64
	maxDescription = 1024
)

// SkillFile is a procedure for agents in their own format: SKILL.md, front matter in YAML and then
// Markdown.
type SkillFile struct {
	Name        string // of its folder: lower-case letters, digits, hyphens
	Description string // purpose and occasion, one line
	Workflow    string // the statement behind it, or ""
	Body        string // Markdown
}

// SkillName makes a name from words, or "" if they have no ASCII letter or digit. It avoids names
// of Windows devices, which could not be checked out there.
func SkillName(words string) string {
	name := slug(words)
	if device.MatchString(name) {
		name += "-skill"
	}
	return name
}

// device matches the name of a Windows device.
var device = pattern.New(`^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])$`)

// Path returns the skill's path in its tree.
func (s SkillFile) Path() string { return SkillDir + "/" + s.Name + "/SKILL.md" }

// Format returns the skill's text form.
func (s SkillFile) Format() []byte {
	var b bytes.Buffer
	b.WriteString("---\n")
	fmt.Fprintf(&b, "name: %s\ndescription: %s\n", s.Name, yamlString(s.Description))
	if s.Workflow != "" {
		fmt.Fprintf(&b, "metadata:\n  workflow: %s\n", yamlString(s.Workflow))
	}
	b.WriteString("---\n\n" + trimBlank(s.Body) + "\n")
	return b.Bytes()
}

// yamlString returns a JSON string, which is valid YAML, on one line.
func yamlString(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(oneLine(s)) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}

// ParseSkill parses the skill at path. In the front matter it reads the output of Format and plain
// values by hand; it skips other keys.
func ParseSkill(at string, data []byte) (SkillFile, error) {
	bad := func(line int, field, format string, args ...any) (SkillFile, error) {
		return SkillFile{}, &FormatError{Path: at, Line: line, Field: field, Reason: fmt.Sprintf(format, args...)}
	}
	name, ok := skillOf(at)
	switch {
	case !ok:
		return bad(0, "", "a skill's path is %s/<name>/SKILL.md, a name of lower-case letters, digits and single hyphens", SkillDir)
	case len(data) > MaxSkill:
		return bad(0, "", "is %d bytes long; a skill may have %d", len(data), MaxSkill)
	case !utf8.Valid(data):
		return bad(1+bytes.Count(data[:invalidAt(data)], []byte("\n")), "", "is not UTF-8")
	}
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	if text != readable(text) {
		return bad(0, "", "holds characters that a reader does not see")
	}
	front, found := strings.CutPrefix(text, "---\n")
	if !found {
		return bad(1, "", "does not begin with a line ---")
	}
	front, body, found := cutLine(front, "---")
	if !found {
		return bad(1, "", "has no second line --- after the front matter")
	}
	s := SkillFile{Body: trimBlank(body)}
	for i, l := range strings.Split(front, "\n") {
		key, value, _ := strings.Cut(l, ":")
		to := map[string]*string{"name": &s.Name, "description": &s.Description, "  workflow": &s.Workflow}[key]
		if to == nil {
			continue
		}
		*to = strings.TrimSpace(value)
		if strings.HasPrefix(*to, `"`) && json.Unmarshal([]byte(*to), to) != nil {
			return bad(2+i, strings.TrimSpace(key), "is no string")
		}
	}
	switch {
	case s.Name != name:
		return bad(0, "name", "is %q, and the folder is named %q", s.Name, name)
	case s.Description == "" || len(s.Description) > maxDescription || s.Description != oneLine(s.Description):
		return bad(0, "description", "is not one line of at most %d bytes", maxDescription)
	case s.Body == "":
		return bad(0, "", "says nothing after the front matter")
	}
	return s, nil
}

// skillOf returns the name in a skill's path.
func skillOf(at string) (name string, ok bool) {
	name, ok = strings.CutPrefix(at, SkillDir+"/")
	if ok {
		name, ok = strings.CutSuffix(name, "/SKILL.md")
	}
	ok = ok && name != "" && len(name) <= maxSkillName && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" &&
		!strings.HasPrefix(name, "-") && !strings.HasSuffix(name, "-") && !strings.Contains(name, "--")
	return name, ok
}

// standIn returns the memory that represents a skill in lists of operations. It is never written.
func (s SkillFile) standIn(o Operation) Memory {
	m := Memory{ID: newID("skill:"+s.Name, "", ""), Slug: s.Name, Kind: Workflow, Status: Active,
		Text: oneLine(s.Name + ": " + s.Description), Source: Source{Time: o.Proposed, By: "human", How: o.How}}
	if len(o.Sightings) > 0 {
		m.Source.By = o.Sightings[0].Client + "/" + o.Sightings[0].Session
	}
	return m
}

// SkillOperationID returns the id of the operation that proposes a skill from a workflow,
// regardless of its name.
func SkillOperationID(workflow string) string {
	return newID("op:"+string(Skill)+":"+Normal(workflow), "", "")
}
