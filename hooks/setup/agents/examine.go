package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/pattern"
	"github.com/tailscale/hujson"
)

// Status describes our entries in a file.
type Status struct {
	Target
	Installed bool
	entries   []entry
	Programs  []string // called by it, each once
	Missing   []string // events and calls without an entry
	Twice     []string // and those with several
	Needless  []string // entries that nothing needs
	Other     bool     // a file that is entirely ours is of another version
	Serves    bool     // it names our server
}

// Examine reads a target's file and compares it with the needs of its clones. A missing file is no
// error.
func (in Installer) Examine(t Target) (Status, error) {
	j, err := in.read()
	if err != nil {
		return Status{Target: t}, err
	}
	var f hooks.Filter
	if a := j.find(t.File); a != nil {
		f = in.filter(*a)
	}
	return examine(t, f)
}

func examine(t Target, f hooks.Filter) (Status, error) {
	s := Status{Target: t}
	text, err := readSettings(t.File)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, &RefusedError{t.File, 0, reason(err)}
	}
	if t.whole() {
		program, _ := pluginProgram(text)
		if s.Installed = t.wrote(text); s.Installed {
			if t.plugin() {
				s.Programs = []string{program}
			}
			s.Serves = pluginServes(text)
			s.Other = !bytes.Equal(text, t.text(program, s.Serves))
		}
		return s, nil
	}
	if t.serves() {
		var is server
		is, s.Serves, err = t.serverIn(text)
		if s.Serves {
			s.Installed, s.Programs = true, []string{is.Command}
		}
		if err != nil || !t.Hooks() {
			// A file with errors is judged by its text.
			s.Installed = s.Serves || err != nil && bytes.Contains(text, []byte(serverName)) && bytes.Contains(text, []byte(`"mcp"`))
			return s, t.refusal(err)
		}
	}
	if s.entries, err = entriesOf(text, t.Agent); err != nil {
		s.Installed = bytes.Contains(text, []byte(" hook "+t.Agent.Name)) // as far as one can tell
		return s, t.refusal(err)
	}
	s.Installed = len(s.entries) > 0 || s.Serves
	times := map[key]int{}
	for _, e := range s.entries {
		times[e.key]++
		if !slices.Contains(s.Programs, e.Program) {
			s.Programs = append(s.Programs, e.Program)
		}
	}
	for _, w := range slices.Concat(eventWants(t.Agent), callWants(t.Agent, f)) {
		switch n := times[w.key]; {
		case n == 0:
			s.Missing = append(s.Missing, w.key.String())
		case n > 1:
			s.Twice = append(s.Twice, w.key.String())
		}
		delete(times, w.key)
	}
	for k := range times {
		s.Needless = append(s.Needless, k.String())
	}
	slices.Sort(s.Needless)
	return s, nil
}

// Hindrance is a reason that an agent does not run the hooks in its settings, with a remedy.
type Hindrance struct {
	Why, Do  string
	Possible bool // no fault for sure: not approved yet, or seen otherwise by another version
}

// Hindrances finds the reasons, which agents do not report, for hooks that do not run. top is the
// work tree, or "".
func (m Machine) Hindrances(s Status, top string) []Hindrance {
	folder := m.Folder(s.Agent.Name)
	project := func(name string) []string {
		if top == "" {
			return nil
		}
		return []string{filepath.Join(top, "."+s.Agent.Name, name)}
	}
	switch s.Agent.Name {
	case "claude", "copilot", "qwen":
		files := append([]string{filepath.Join(folder, "settings.json")}, append(project("settings.json"), project("settings.local.json")...)...)
		if s.Agent.Name == "claude" {
			files = append(files, "/etc/claude-code/managed-settings.json", "/Library/Application Support/ClaudeCode/managed-settings.json")
		}
		return claudeHindrances(files)
	case "gemini":
		return geminiHindrances(append([]string{filepath.Join(folder, "settings.json"), "/etc/gemini-cli/settings.json"}, project("settings.json")...))
	case "codex":
		return codexHindrances(filepath.Join(folder, "config.toml"), s)
	}
	return nil
}

func claudeHindrances(files []string) (found []Hindrance) {
	for _, file := range files {
		v := values(file)
		if v["disableAllHooks"] == true {
			found = append(found, Hindrance{Why: "disableAllHooks in " + file + " turns all hooks off", Do: "take it out"})
		}
		if v["allowManagedHooksOnly"] == true {
			found = append(found, Hindrance{Why: "allowManagedHooksOnly in " + file + " turns all hooks of yours off", Do: "ask who set it"})
		}
	}
	return found
}

func geminiHindrances(files []string) (found []Hindrance) {
	for _, file := range files {
		v := values(file)
		config, _ := v["hooksConfig"].(map[string]any)
		tools, _ := v["tools"].(map[string]any)
		if config["enabled"] == false || tools["enableHooks"] == false {
			found = append(found, Hindrance{Why: "hooks are turned off in " + file, Do: "set hooksConfig.enabled to true"})
		}
		if off, _ := config["disabled"].([]any); slices.Contains(off, any("reverie")) {
			found = append(found, Hindrance{Why: "the hook reverie is turned off in " + file, Do: "in gemini: /hooks enable reverie"})
		}
	}
	return found
}

// codexHindrances finds hooks without an approval, which Codex skips in silence. An approval names
// the position of the hook in its file.
func codexHindrances(config string, s Status) (found []Hindrance) {
	var v struct {
		Features map[string]any
		Hooks    struct {
			State map[string]struct {
				Enabled *bool  `toml:"enabled"`
				Trusted string `toml:"trusted_hash"`
			} `toml:"state"`
		}
	}
	text, err := readSettings(config)
	if err == nil {
		err = toml.Unmarshal(text, &v)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return []Hindrance{{Why: fmt.Sprintf("%s: %v", config, err), Do: "mend it: what it says of hooks cannot be read"}}
	}
	if v.Features["hooks"] == false {
		found = append(found, Hindrance{Why: "features.hooks = false in " + config + " turns all hooks off", Do: "take it out"})
	}
	var unapproved, changed, off []string
	for _, e := range s.entries {
		approved := false
		for _, file := range names(s.File) {
			state, ok := v.Hooks.State[fmt.Sprintf("%s:%s:%d:%d", file, snake(e.Event), e.Group, e.Index)]
			approved = approved || ok && state.Trusted != ""
			if ok && state.Trusted != "" && state.Trusted != codexHash(e) {
				changed = append(changed, e.Event)
			}
			if ok && state.Enabled != nil && !*state.Enabled {
				off = append(off, e.Event)
			}
		}
		if !approved {
			unapproved = append(unapproved, e.Event)
		}
	}
	if len(unapproved) > 0 {
		h := Hindrance{"installed, but Codex skips hooks that were not approved: " + strings.Join(unapproved, ", "), "open codex, and approve them in /hooks", false}
		if len(unapproved) == len(s.entries) {
			h.Why, h.Possible = "installed; Codex runs its hooks once you approve them", true
		}
		found = append(found, h)
	}
	if len(changed) > 0 {
		found = append(found, Hindrance{"changed since they were approved, so Codex may skip them: " + strings.Join(changed, ", "), "open codex, and look at /hooks", true})
	}
	if len(off) > 0 {
		found = append(found, Hindrance{Why: "turned off in Codex: " + strings.Join(off, ", "), Do: "open codex, and turn them on in /hooks"})
	}
	return found
}

// codexHash returns the hash that Codex 0.169 records for an approved entry that is alone in its
// group.
func codexHash(e entry) string {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	group := map[string]any{"event_name": snake(e.Event), "hooks": []any{
		map[string]any{"async": false, "command": e.Command, "timeout": int(e.Timeout.Seconds()), "type": "command"}}}
	if e.Matcher != "" {
		group["matcher"] = e.Matcher
	}
	_ = enc.Encode(group)
	return "sha256:" + hash(bytes.TrimSuffix(text.Bytes(), []byte("\n")))
}

// names returns the possible names of a file for an agent: as given, and without links.
func names(file string) []string {
	if real, err := filepath.EvalSymlinks(file); err == nil && real != file {
		return []string{file, real}
	}
	return []string{file}
}

var wordStart = pattern.New(`([a-z])([A-Z])`)

// snake writes SessionStart as session_start.
func snake(name string) string {
	return strings.ToLower(wordStart.ReplaceAllString(name, "${1}_${2}"))
}

// values parses a settings file, comments included; an unreadable one has no values.
func values(file string) (v map[string]any) {
	text, err := readSettings(file)
	if err != nil {
		return nil
	}
	if text, err = hujson.Standardize(bytes.TrimPrefix(text, byteOrderMark)); err != nil {
		return nil
	}
	_ = json.Unmarshal(text, &v)
	return v
}

// readSettings returns the text of a file of an agent's settings, which may be a link.
func readSettings(path string) ([]byte, error) { return file.ReadLinked(path, maxSettings) }
