package cmd

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/pattern"
)

// folders are those in which an agent may have been started for this repository: its work tree, as it is named and
// without links.
func folders(w *workspace) []string {
	if w.repo.WorkTree == "" {
		return nil
	}
	dirs := []string{w.repo.WorkTree}
	if real, err := filepath.EvalSymlinks(w.repo.WorkTree); err == nil && real != w.repo.WorkTree {
		dirs = append(dirs, real)
	}
	return dirs
}

// begun counts the sessions in any of dirs that an agent's own records say began after a time. An agent whose records
// are no text files has none.
func begun(m hooks.Machine, agent string, dirs []string, after time.Time) (n int) {
	for _, file := range records(m, agent, dirs) {
		info, err := os.Stat(file)
		if err != nil || info.ModTime().Before(after) { // it was last written before
			continue
		}
		if began, dir := head(file); began.After(after) && (dir == "" || slices.Contains(dirs, dir)) {
			n++
		}
	}
	return n
}

var notInNames = pattern.New(`[^A-Za-z0-9]`)

// records are the files in which an agent keeps sessions that may be of dirs.
func records(m hooks.Machine, agent string, dirs []string) (files []string) {
	glob := func(parts ...string) {
		found, _ := filepath.Glob(filepath.Join(append([]string{m.Folder(agent)}, parts...)...))
		files = append(files, found...)
	}
	switch agent {
	case "claude":
		for _, dir := range dirs {
			glob("projects", notInNames.ReplaceAllString(dir, "-"), "*.jsonl")
		}
	case "codex":
		glob("sessions", "*", "*", "*", "rollout-*.jsonl")
	case "gemini":
		var known struct{ Projects map[string]string }
		text, err := os.ReadFile(filepath.Join(m.Folder(agent), "projects.json"))
		if err == nil && json.Unmarshal(text, &known) == nil {
			for _, dir := range dirs {
				if slug := known.Projects[dir]; slug != "" {
					glob("tmp", slug, "chats", "session-*.jsonl")
				}
			}
		}
	}
	return files
}

// head reads from the first lines of a record when its session began and, where they say it, in which folder.
func head(file string) (began time.Time, dir string) {
	f, err := os.Open(file)
	if err != nil {
		return time.Time{}, ""
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, 1<<20))
	lines.Buffer(nil, 1<<20)
	for range 20 {
		if !lines.Scan() {
			break
		}
		var line struct {
			Timestamp, StartTime time.Time
			CWD                  string
			Payload              struct{ CWD string }
		}
		if json.Unmarshal(lines.Bytes(), &line) != nil {
			continue
		}
		for _, t := range []time.Time{line.StartTime, line.Timestamp} {
			if began.IsZero() {
				began = t
			}
		}
		for _, d := range []string{line.CWD, line.Payload.CWD} {
			if dir == "" {
				dir = d
			}
		}
		if !began.IsZero() && dir != "" {
			break
		}
	}
	return began, dir
}
