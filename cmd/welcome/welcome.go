// Package welcome writes the questions with which init sets up a clone. Each question names the
// change that its answer makes; an empty one means that there is nothing to ask. The package prints
// nothing.
package welcome

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/hooks/githook"
	"github.com/reverie-memory/reverie/hooks/setup/agents"
	"github.com/reverie-memory/reverie/internal/intake"
	"github.com/reverie-memory/reverie/internal/learn/ingest"
	"github.com/reverie-memory/reverie/internal/plural"
)

// maxNamed bounds the files that one question names.
const maxNamed = 4

// Agents asks whether to write planned changes of agents' settings.
func Agents(changes []agents.Change) string {
	var titles, files []string
	for _, c := range changes {
		if !c.Changed() {
			continue
		}
		file := c.File
		if c.Command() {
			file = filepath.Dir(file)
		}
		titles, files = append(titles, c.Agent.Title), append(files, inHome(file))
	}
	if len(files) == 0 {
		return ""
	}
	return fmt.Sprintf("Connect %s (changes %s)?", listed(slices.Compact(titles)), listed(slices.Compact(files)))
}

// GitHooks asks whether to write planned sections of git's hooks.
func GitHooks(d *githook.Installed) string {
	if d == nil || len(d.Changed) == 0 {
		return ""
	}
	return fmt.Sprintf("Add git hooks, which link commits to sessions (a section in %s in %s)?", listed(d.Changed), inHome(d.Dir))
}

// Written asks whether to import statements that files or agents' notes make.
func Written(w intake.Written) string {
	return fmt.Sprintf("Import %s from %s, for your review?", plural.Count(w.Items, "statement", "statements"), listed(w.Files))
}

// Past asks whether to learn from sessions that agents kept.
func Past(found []ingest.Found) string {
	var titles []string
	n := 0
	for _, f := range found {
		if f.New == 0 {
			continue
		}
		n += f.New
		a, known := hooks.Find(f.Agent)
		if !known {
			a.Title = f.Agent
		}
		titles = append(titles, a.Title)
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("Learn from %s of %s (keeps what you stated as lasting)?", plural.Count(n, "past session", "past sessions"), listed(titles))
}

// listed joins at most maxNamed names.
func listed(names []string) string {
	if len(names) > maxNamed {
		names = append(slices.Clone(names[:maxNamed]), "…")
	}
	return strings.Join(names, ", ")
}

// inHome shortens a path below the home folder.
func inHome(path string) string {
	home, err := os.UserHomeDir()
	if rest, below := strings.CutPrefix(path, home+string(filepath.Separator)); err == nil && below {
		return filepath.Join("~", rest)
	}
	return path
}
