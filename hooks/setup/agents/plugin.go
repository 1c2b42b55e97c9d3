package agents

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/hooks/slash"
)

// pluginText is the plugin for OpenCode; the words in capitals stand for values.
//
//go:embed opencode.js
var pluginText string

// pluginHeader begins the files that are entirely ours.
const pluginHeader = "// managed by reverie"

// whole reports whether the target's file is entirely ours.
func (t Target) whole() bool { return t.plugin() || t.Command() }

// plugin reports whether the file is a plugin.
func (t Target) plugin() bool { return t.Agent.Name == "opencode" }

// Command reports whether the file holds slash commands.
func (t Target) Command() bool {
	ext := filepath.Ext(t.File)
	return ext == ".md" || ext == ".toml" && !t.table()
}

// commands returns the files of an agent's slash commands, in the folder of its settings. Claude
// Code and Gemini CLI put our folder into a command's name, so that none hides one of theirs or of
// the user's. The plugin for OpenCode brings its own.
func commands(a hooks.Agent, folder string) (targets []Target) {
	switch a.Name {
	case "claude", "gemini", "qwen":
		ext := ".md"
		if a.Name == "gemini" {
			ext = ".toml"
		}
		for _, c := range slash.Commands() {
			targets = append(targets, Target{Agent: a, File: filepath.Join(folder, "commands", "reverie", c.Short()+ext)})
		}
	case "codex", "copilot", "cursor":
		targets = []Target{{Agent: a, File: filepath.Join(folder, "skills", "reverie", "SKILL.md")}}
	}
	return targets
}

// text returns the content of a file that is entirely ours. A plugin calls program, and adds our
// server if serves is true.
func (t Target) text(program string, serves bool) []byte {
	switch {
	case t.plugin():
		return plugin(t.Agent, program, serves)
	case t.Agent.Name == "codex":
		return []byte(slash.Skill("$"))
	case t.Agent.Name == "copilot", t.Agent.Name == "cursor":
		return []byte(slash.Skill("/"))
	}
	for _, c := range slash.Commands() {
		switch filepath.Base(t.File) {
		case c.Short() + ".md":
			text := c.Claude()
			if t.Agent.Name == "qwen" {
				text = strings.Replace(text, "$ARGUMENTS", "{{args}}", 1)
			}
			return []byte(text)
		case c.Short() + ".toml":
			return []byte(c.Gemini())
		}
	}
	return nil // another version's command
}

// wrote reports whether a text is a file that is entirely ours, of any version.
func (t Target) wrote(text []byte) bool {
	if t.Command() {
		return slash.Ours(text)
	}
	_, ours := pluginProgram(text)
	return ours
}

// plugin returns the text of an agent's plugin that calls program, and adds our server if serves is
// true.
func plugin(a hooks.Agent, program string, serves bool) []byte {
	deadlines := map[string]int64{}
	for _, d := range slices.Concat(a.Deliveries, a.Calls) {
		deadlines[d.Name] = d.Timeout.Milliseconds()
	}
	return []byte(strings.NewReplacer(`"PROGRAM"`, inJSON(program), `"DEADLINES"`, inJSON(deadlines), `"SERVES"`, inJSON(serves),
		`"COMMANDS"`, inJSON(a.Commands), `"EDITS"`, inJSON(a.Edits), `"SLASH"`, inJSON(slash.Templates())).Replace(pluginText))
}

// Module returns the plugin for OpenCode as the main file of a package with a folder of skills.
func Module(program string) []byte {
	a, _ := hooks.Find("opencode")
	_, text, _ := strings.Cut(string(plugin(a, program, true)), "\n//\n")
	return []byte(strings.NewReplacer(`const hook = ["hook"`, `const hook = ["hook", "`+hooks.PluginFlag+`"`,
		`const skills = ""`, `const skills = join(import.meta.dirname, "skills")`).Replace(text))
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
