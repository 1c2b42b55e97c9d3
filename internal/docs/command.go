package docs

import (
	"path"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/internal/pattern"
)

// maxWords bounds the words of a command, and maxParts the commands of a line.
const (
	maxWords = 30
	maxParts = 20
)

var (
	prompt     = pattern.New(`^(?:[$%❯>]|PS>)\s+`)
	parts      = pattern.New(`\s*(?:&&|\|\||;|\|)\s*`)
	assignment = pattern.New(`^[A-Za-z_][A-Za-z0-9_]*=`)
	remark     = pattern.New(`(?:^|\s)#\s.*$`)
	span       = pattern.New("`+([^`]+)`+")
)

// verbosity lists words that change a command's output but not its effect.
var verbosity = pattern.NewWords("-v --verbose -q --quiet --silent -s --no-color")

// spans returns the texts between backticks.
func spans(text string) []string {
	var out []string
	for _, m := range span.FindAllStringSubmatchIndex(text, -1) {
		out = append(out, text[m[2]:m[3]])
	}
	return out
}

// commandsOf returns the commands of a shell line, each as its words in canonical spelling.
func commandsOf(line string) [][]string {
	line = remark.ReplaceAllString(prompt.ReplaceAllString(strings.TrimSpace(line), ""), "")
	var out [][]string
	for _, part := range parts.Split(line, maxParts) {
		words := strings.Fields(part)
		for len(words) > 1 && (assignment.MatchString(words[0]) || words[0] == "sudo" || words[0] == "time" || words[0] == "exec") {
			words = words[1:]
		}
		if words = canonical(words); len(words) > 0 && len(words) <= maxWords {
			out = append(out, words)
		}
	}
	return out
}

// canonical unifies commands that have two spellings.
func canonical(words []string) []string {
	out := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return verbosity.Has(w) || w == `\` })
	for i, w := range out {
		out[i] = strings.Trim(w, `"'`)
	}
	for len(out) > 1 && out[len(out)-1] == "--" {
		out = out[:len(out)-1]
	}
	if len(out) < 2 {
		return out
	}
	switch out[0] {
	case "npm", "yarn", "pnpm":
		if (out[1] == "run" || out[1] == "run-script") && len(out) > 2 {
			out = slices.Delete(out, 1, 2)
		} else if out[0] == "npm" && out[1] == "t" {
			out[1] = "test"
		} else if out[1] == "i" {
			out[1] = "install"
		}
	case "mise":
		if out[1] == "r" {
			out[1] = "run"
		}
	case "bash", "sh", "python", "python3", "node":
		if !strings.HasPrefix(out[1], "-") {
			out[1] = strings.TrimPrefix(out[1], "./")
		}
	}
	return out
}

// commandKey returns the key by which equal commands are found.
func commandKey(words []string) string { return strings.Join(words, " ") }

// cd returns the folder that a command changes to.
func cd(words []string) (dir string, ok bool) {
	if len(words) == 2 && (words[0] == "cd" || words[0] == "pushd") {
		return words[1], true
	}
	return "", false
}

// join returns a folder below another. A path out of the work tree gives a name that no other
// folder has.
func join(dir, to string) string {
	to = path.Join(dir, strings.TrimSuffix(to, "/"))
	if to == "." {
		return ""
	}
	return to
}
