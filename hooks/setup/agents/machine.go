package agents

import (
	"os"
	"os/exec"
	"path/filepath"

	"github.com/reverie-memory/reverie/hooks"
)

// Machine locates the user's own files, so that a test can use others.
type Machine struct {
	Home string
	Env  func(string) string
}

// ThisMachine returns the Machine of this process.
func ThisMachine() (Machine, error) {
	home, err := os.UserHomeDir()
	return Machine{home, os.Getenv}, err
}

// dir returns the folder in a variable, or one in the home folder.
func (m Machine) dir(variable string, below ...string) string {
	if dir := m.Env(variable); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(append([]string{m.Home}, below...)...)
}

// StateDir returns the user's own state folder, outside of any repository.
func (m Machine) StateDir() string {
	return filepath.Join(m.dir("XDG_STATE_HOME", ".local", "state"), "reverie")
}

// Folder returns the folder of an agent's settings, "" for an agent without settings.
func (m Machine) Folder(agent string) string {
	switch agent {
	case "claude":
		return m.dir("CLAUDE_CONFIG_DIR", ".claude")
	case "codex":
		return m.dir("CODEX_HOME", ".codex")
	case "gemini":
		return filepath.Join(m.dir("GEMINI_CLI_HOME"), ".gemini")
	case "copilot":
		return m.dir("COPILOT_HOME", ".copilot")
	case "opencode":
		if dir := m.Env("OPENCODE_CONFIG_DIR"); filepath.IsAbs(dir) {
			return dir
		}
		return filepath.Join(m.dir("XDG_CONFIG_HOME", ".config"), "opencode")
	}
	return ""
}

// Has reports whether an agent was ever set up here: its folder exists, or its program is in PATH.
func (m Machine) Has(a hooks.Agent) bool {
	folder := m.Folder(a.Name)
	if folder == "" {
		return false
	}
	if info, err := os.Stat(folder); err == nil && info.IsDir() {
		return true
	}
	_, err := exec.LookPath(a.Name) // the programs have the names that we use
	return err == nil
}

// settingsFiles returns the names of the files in an agent's folders, for the user and in a
// project. ok is false for an agent without settings.
func settingsFiles(agent string) (user, project string, ok bool) {
	switch agent {
	case "claude":
		return "settings.json", ".claude/settings.local.json", true
	case "codex":
		return "hooks.json", ".codex/hooks.json", true
	case "gemini":
		return "settings.json", ".gemini/settings.json", true
	case "opencode":
		return "plugin/reverie.js", ".opencode/plugin/reverie.js", true
	}
	return "", "", false
}

// Target is a file that can make an agent call us.
type Target struct {
	Agent hooks.Agent
	File  string
	Top   string // work tree that must contain a project's file; "" for the user's own
	Bare  bool   // our server is not added; an existing one stays
}

// User returns the target in the user's own settings; ok is false for an agent that has no
// settings.
func (m Machine) User(a hooks.Agent) (t Target, ok bool) {
	name, _, ok := settingsFiles(a.Name)
	return Target{Agent: a, File: filepath.Join(m.Folder(a.Name), filepath.FromSlash(name))}, ok
}

// Project returns the target in a work tree; ok is false for an agent that has no settings.
func Project(a hooks.Agent, top string) (t Target, ok bool) {
	_, name, ok := settingsFiles(a.Name)
	return Target{Agent: a, File: filepath.Join(top, filepath.FromSlash(name)), Top: top}, ok
}
