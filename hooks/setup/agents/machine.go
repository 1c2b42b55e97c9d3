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
	a, _ := hooks.Find(agent)
	switch {
	case a.Settings == "":
		return ""
	case agent == "gemini": // its variable moves the home
		return filepath.Join(m.dir(a.Home), a.Folder)
	case agent == "opencode" && !filepath.IsAbs(m.Env(a.Home)):
		return filepath.Join(m.dir("XDG_CONFIG_HOME", ".config"), a.Folder)
	}
	return m.dir(a.Home, a.Folder)
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
	return Target{Agent: a, File: filepath.Join(m.Folder(a.Name), filepath.FromSlash(a.Settings))}, a.Settings != ""
}

// Project returns the target in a work tree; ok is false for an agent that has no settings.
func Project(a hooks.Agent, top string) (t Target, ok bool) {
	return Target{Agent: a, File: filepath.Join(top, filepath.FromSlash(a.Project)), Top: top}, a.Project != ""
}
