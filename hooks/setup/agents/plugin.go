package agents

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/hooks"
)

// pluginText is the plugin for OpenCode; the words in capitals stand for values.
//
//go:embed opencode.js
var pluginText string

// pluginHeader begins the files that are entirely ours.
const pluginHeader = "// managed by reverie"

// plugin returns the text of an agent's plugin that calls program, and adds our server if serves is
// true.
func plugin(a hooks.Agent, program string, serves bool) []byte {
	deadlines := map[string]int64{}
	for _, d := range slices.Concat(a.Deliveries, a.Calls) {
		deadlines[d.Name] = d.Timeout.Milliseconds()
	}
	return []byte(strings.NewReplacer(`"PROGRAM"`, inJSON(program), `"DEADLINES"`, inJSON(deadlines), `"SERVES"`, inJSON(serves),
		`"COMMANDS"`, inJSON(a.Commands), `"EDITS"`, inJSON(a.Edits)).Replace(pluginText))
}

// inJSON returns a value as JSON, which is valid JavaScript.
func inJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // only plain values come here
	}
	return string(data)
}

// pluginProgram returns the program that our plugin calls. ours is false for any other file.
func pluginProgram(text []byte) (program string, ours bool) {
	if !bytes.HasPrefix(text, []byte(pluginHeader)) {
		return "", false
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "const program = "); ok {
			_ = json.Unmarshal([]byte(value), &program) // a changed line names none
		}
	}
	return program, true
}

// pluginServes reports whether our plugin adds our server.
func pluginServes(text []byte) bool { return bytes.Contains(text, []byte("\nconst serves = true\n")) }
