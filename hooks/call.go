package hooks

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/internal/pattern"
)

// Call is a call of a tool by an agent.
type Call struct {
	ID      string // the agent's id of the call, or ""
	Tool    string // Bash, Edit, or the agent's own name
	Command string // for Bash: the shell's command line
	Files   []string
	Failed  bool   // once it returned: it failed, or the agent does not tell
	Output  string // at most maxOutput bytes from the end
}

// Tools that all agents have, by the names that triggers use.
const (
	Bash = "Bash"
	Edit = "Edit"
)

// maxOutput bounds a tool's output that is searched for errors, in bytes.
const maxOutput = 32 << 10

// call parses the call in a payload. It returns an empty one if the payload has none, or is
// truncated.
func (a Agent) call(doc []byte) *Call {
	var p struct {
		ID       string          `json:"tool_use_id"`
		Tool     string          `json:"tool_name"`
		Input    json.RawMessage `json:"tool_input"`
		Response json.RawMessage `json:"tool_response"`
		Error    *string         `json:"error"`
		Exit     *int            `json:"exit"`
	}
	if json.Unmarshal(doc, &p) != nil {
		return &Call{}
	}
	c := Call{ID: p.ID, Tool: p.Tool}
	var in struct {
		Command, Cmd json.RawMessage
		FilePath     string `json:"file_path"`
		Path         string `json:"filePath"`
		Notebook     string `json:"notebook_path"`
		Patch        string `json:"patchText"`
	}
	_ = json.Unmarshal(p.Input, &in) // other tools have other inputs
	line := words(cmp.Or(string(in.Command), string(in.Cmd)))
	for _, file := range []string{in.FilePath, in.Path, in.Notebook} {
		if file != "" {
			c.Files = append(c.Files, file)
		}
	}
	switch {
	case slices.Contains(a.Commands, p.Tool):
		c.Tool, c.Command = Bash, line
		c.Files = append(c.Files, patched(line)...)
	case slices.Contains(a.Edits, p.Tool):
		c.Tool = Edit
		c.Files = append(c.Files, patched(cmp.Or(in.Patch, line))...)
	}
	c.Output, c.Failed = result(p.Response)
	if p.Error != nil {
		c.Output, c.Failed = *p.Error, true
	}
	if p.Exit != nil {
		c.Failed = *p.Exit != 0
	}
	c.Output = c.Output[max(0, len(c.Output)-maxOutput):]
	return &c
}

// words returns a command that is a text, or a list of words.
func words(raw string) string {
	var text string
	var list []string
	switch {
	case json.Unmarshal([]byte(raw), &text) == nil:
		return text
	case json.Unmarshal([]byte(raw), &list) == nil:
		return strings.Join(list, " ")
	}
	return ""
}

// patched returns the files that a patch in a text changes.
func patched(text string) (files []string) {
	for line := range strings.Lines(text) {
		for _, head := range []string{"*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "} {
			if file, ok := strings.CutPrefix(line, head); ok {
				files = append(files, strings.TrimSpace(file))
			}
		}
	}
	return files
}

// exitCode matches a client's line about the result of a command.
var exitCode = pattern.New(`(?mi)^(?:exit code|process exited with code):? (\d+)`)

// result returns the output of a tool, and whether it failed as far as the output tells. An output
// without a word about it may be that of a failure.
func result(raw json.RawMessage) (output string, failed bool) {
	if len(raw) == 0 {
		return "", false
	}
	var text string
	var object struct {
		Stdout, Stderr string
		Content        json.RawMessage `json:"llmContent"`
	}
	if json.Unmarshal(raw, &text) != nil && json.Unmarshal(raw, &object) == nil {
		text = object.Stdout + "\n" + object.Stderr
		var content string
		if json.Unmarshal(object.Content, &content) == nil {
			text = content
		}
		failed = exitCode.MatchString(text)
	} else {
		failed = true
	}
	if m := exitCode.FindStringSubmatch(text); m != nil {
		failed = strings.Trim(m[1], "0") != ""
	}
	return text, failed
}
