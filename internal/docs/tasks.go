package docs

import (
	"encoding/json"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/reverie-memory/reverie/internal/pattern"
)

// tasks returns the reader of a task runner's file, by its name, or nil for another file. The
// reader calls put with a line, from 1, and the command that runs the task.
func tasks(file string) func(text string, put func(line int, command string)) {
	switch strings.ToLower(file) {
	case "package.json":
		return packageScripts
	case "makefile", "gnumakefile":
		return makeTargets
	case "justfile", ".justfile":
		return justRecipes
	case "mise.toml", ".mise.toml":
		return miseTasks
	case "taskfile.yml", "taskfile.yaml":
		return taskfileTasks
	}
	return nil
}

// packageScripts reads the scripts of package.json, which any of its package managers runs.
func packageScripts(text string, put func(int, string)) {
	var p struct {
		Scripts map[string]string `json:"scripts"`
	}
	if json.Unmarshal([]byte(text), &p) != nil {
		return
	}
	for name := range p.Scripts {
		at := lineOf(text, `"`+name+`"`)
		for _, runner := range []string{"npm ", "yarn ", "pnpm ", "bun run "} {
			put(at, runner+name)
		}
	}
}

// lineOf returns the line, from 1, on which what first occurs.
func lineOf(text, what string) int {
	before, _, found := strings.Cut(text, what)
	if !found {
		return 1
	}
	return strings.Count(before, "\n") + 1
}

var (
	makeRule   = pattern.New(`^([A-Za-z0-9_./%-][A-Za-z0-9_./% -]*?)\s*::?(?:[^=]|$)`)
	justRecipe = pattern.New(`^@?([A-Za-z_][\w-]*)(?:\s+[^=:\s][^:]*)?:(?:[^=]|$)`)
	yamlKey    = pattern.New(`^(\s+)["']?([A-Za-z_][\w:.-]*)["']?:(?:\s|$)`)
)

func makeTargets(text string, put func(int, string)) {
	for n, line := range strings.Split(text, "\n") {
		if m := makeRule.FindStringSubmatch(strings.TrimRight(line, "\r")); m != nil && !strings.HasPrefix(m[1], ".") {
			for name := range strings.FieldsSeq(m[1]) {
				put(n+1, "make "+name)
			}
		}
	}
}

func justRecipes(text string, put func(int, string)) {
	for n, line := range strings.Split(text, "\n") {
		if m := justRecipe.FindStringSubmatch(strings.TrimRight(line, "\r")); m != nil {
			put(n+1, "just "+m[1])
		}
	}
}

func miseTasks(text string, put func(int, string)) {
	var f struct {
		Tasks map[string]any `toml:"tasks"`
	}
	if toml.Unmarshal([]byte(text), &f) != nil {
		return
	}
	first := map[string]int{} // line of a name, from 1
	for n, line := range strings.Split(text, "\n") {
		line = strings.ReplaceAll(strings.TrimSpace(line), `"`, "")
		name, head := strings.CutPrefix(line, "[tasks.")
		if head {
			name = strings.TrimSuffix(name, "]")
		} else if at := strings.IndexAny(line, " ="); at > 0 {
			name = line[:at]
		}
		if first[name] == 0 {
			first[name] = n + 1
		}
	}
	for name := range f.Tasks {
		put(max(1, first[name]), "mise run "+name)
	}
}

// taskfileTasks reads the keys directly below the key of the tasks.
func taskfileTasks(text string, put func(int, string)) {
	inside, depth := false, ""
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimRight(line, "\r")
		if line != "" && line[0] != ' ' && line[0] != '\t' && line[0] != '#' {
			inside, depth = strings.HasPrefix(line, "tasks:"), ""
			continue
		}
		m := yamlKey.FindStringSubmatch(line)
		if !inside || m == nil {
			continue
		}
		if depth == "" {
			depth = m[1]
		}
		if m[1] == depth {
			put(n+1, "task "+m[2])
		}
	}
}
