package hooks

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/internal/pattern"
	"github.com/reverie-memory/reverie/internal/shell"
)

// Call is a call of a tool by an agent.
type Call struct {
	ID      string // the agent's id of the call, or ""
	Tool    string // Bash, Edit, or the agent's own name
	Command string // for Bash: the shell's command line
	Files   []string
	Input   json.RawMessage // of a tool with another name
	Failed  bool            // once it returned: it failed, or the agent does not tell
	Output  string          // at most maxOutput bytes from the end
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
		Result   json.RawMessage `json:"tool_result"`
		Error    *string         `json:"error"`
		Exit     *int            `json:"exit"`
	}
	if json.Unmarshal(doc, &p) != nil {
		return &Call{}
	}
	var cursor struct { // has events about commands and files alone
		Command string
		File    string  `json:"file_path"`
		Output  string  `json:"tool_output"` // JSON
		Error   *string `json:"error_message"`
	}
	if a.Spooled {
		_ = json.Unmarshal(doc, &cursor) // what is left out has no call
	}
	switch {
	case p.Tool != "":
	case cursor.Command != "":
		return &Call{Tool: Bash, Command: cursor.Command}
	case cursor.File != "":
		return &Call{Tool: Edit, Files: []string{cursor.File}}
	}
	c := Call{ID: p.ID, Tool: p.Tool}
	var in struct {
		Command, Cmd json.RawMessage
		FilePath     string `json:"file_path"`
		Path         string `json:"filePath"`
		Plain        string `json:"path"`
		Notebook     string `json:"notebook_path"`
		Patch        string `json:"patchText"`
	}
	_ = json.Unmarshal(p.Input, &in) // other tools have other inputs
	command := words(cmp.Or(string(in.Command), string(in.Cmd)))
	patch := strings.Join(command, "\n")
	switch {
	case slices.Contains(a.Commands, p.Tool):
		c.Tool, c.Command, c.Files = Bash, CommandLine(command), patched(patch)
	case slices.Contains(a.Edits, p.Tool):
		c.Tool = Edit
		for _, file := range []string{in.FilePath, in.Path, in.Plain, in.Notebook} {
			if file != "" {
				c.Files = append(c.Files, file)
			}
		}
		c.Files = append(c.Files, patched(cmp.Or(in.Patch, patch))...)
	default:
		c.Input = p.Input
	}
	c.Output, c.Failed = result(cmp.Or(string(p.Response), string(p.Result)))
	var inside struct {
		Output, Stdout, Stderr string
		Exit                   *int `json:"exitCode"`
	}
	if cursor.Output != "" {
		c.Output, c.Failed = cursor.Output, true
	}
	if json.Unmarshal([]byte(cursor.Output), &inside) == nil && inside.Exit != nil {
		c.Output, p.Exit = cmp.Or(inside.Output, strings.TrimSpace(inside.Stdout+"\n"+inside.Stderr)), inside.Exit
	}
	if p.Error = cmp.Or(p.Error, cursor.Error); p.Error != nil {
		c.Output, c.Failed = *p.Error, true
	}
	if p.Exit != nil {
		c.Failed = *p.Exit != 0
	}
	c.Output = c.Output[max(0, len(c.Output)-maxOutput):]
	return &c
}

// words returns the words of a command that is a list, or a command line as the only one.
func words(raw string) (list []string) {
	var text string
	if json.Unmarshal([]byte(raw), &text) == nil {
		return []string{text}
	}
	_ = json.Unmarshal([]byte(raw), &list) // other tools have other commands
	return list
}

// CommandLine returns the line of a command: its only word, or else its words, quoted.
func CommandLine(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return shell.Join(words)
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
var exitCode = pattern.New(`(?mi)^(?:exit code|process exited with code|<shellId: \S+ completed with exit code):? (\d+)`)

// result returns the output of a tool, and whether it failed as far as the output tells. An output
// without a word about it may be that of a failure.
func result(raw string) (output string, failed bool) {
	if len(raw) == 0 {
		return "", false
	}
	var text string
	var object struct {
		Stdout, Stderr string
		Content        json.RawMessage `json:"llmContent"`
		Told           json.RawMessage `json:"text_result_for_llm"`
	}
	if json.Unmarshal([]byte(raw), &text) != nil && json.Unmarshal([]byte(raw), &object) == nil {
		text = object.Stdout + "\n" + object.Stderr
		var content string
		if json.Unmarshal([]byte(cmp.Or(string(object.Content), string(object.Told))), &content) == nil {
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
