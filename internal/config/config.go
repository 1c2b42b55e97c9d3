// Package config reads Reverie's settings: the user's file, this clone's file, and the restrictions
// that a team keeps in reverie.toml on the memory branch.
//
// Begin with Load. Files that come with a repository can only restrict. Settings that name a
// command, a model, a URL or a path come only from the user's own files. A Config is a plain value.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/reverie-memory/reverie/internal/file"
)

// Format is the newest store format that this version reads and writes.
const Format = 1

// ErrNewer is returned when a store's format is newer than Format.
var ErrNewer = errors.New("the store was written by a newer Reverie")

// Config holds the value of every setting.
type Config struct {
	Accept       []string // evidence accepted without review: said, seen
	Sightings    int      // distinct sessions that a seen statement needs, at least 2
	Private      []string // kinds of memory that stay in this clone
	KeepDays     int      // days a session is kept after it was last read, at least 1
	Ref          string   // the memory branch, whole name
	AgentsDecide bool     // agents' shells may call deciding commands
	AgentsLoop   bool     // agents' tools may start loops
	AgentNotes   bool     // an agent is given its own unreviewed notes
	Shorten      int      // OpenCode is given outputs of so many bytes or more shortened; 0: none
	Background   string   // when hooks start learning: idle or off
	Every        int      // new sessions that learning in the background waits for, at least 1
	Agents       string   // file of the managed block, relative to the top of the work tree
	Trust        Trust
	Stale        string // treatment of stale memories for agents: label or withhold
	Budget       int    // tokens given when a session starts; 0 gives nothing
	Prompt       int    // tokens given with a prompt, likewise
	Compaction   int    // tokens given before a compaction, likewise
	// Handover is the age up to which a new session is told where the last one on its branch
	// stopped. Zero tells nothing.
	Handover time.Duration
	// the agent's client shows a person one line about the memories given to a session
	Notice bool
	Guards bool   // memories with a trigger act at calls of tools
	Main   string // the code's default branch; empty: origin's, or that of git's configuration

	WithPush   bool // a push of the code takes the memory along
	UserMemory bool // the person's own memory is read in every repository
	Model      Model
	Sandbox    Sandbox
	Loop       Loop

	origins map[string]string // key → where its value comes from
}

// Trust names the people whose memories agents get without a person's approval: those of the user's
// settings and of the clone's. This clone's own identity always belongs to them.
type Trust struct {
	Authors []string // addresses of commits' authors; * stands for any letters
	// keys of signatures: SHA256:…, an OpenPGP fingerprint, or a principal of the user's allowed
	// signers
	Signers  []string
	Signed   bool // an author's address alone does not count
	Everyone bool // nothing is withheld for its author
}

// Model selects the models and bounds their use. Off means no model.
type Model struct {
	Name     string // off, auto, a model's name on the server, or agent:NAME
	Reflect  string // likewise, to read sessions; empty: Name
	Dream    string // likewise, to dream; empty: Name
	Embed    string // likewise, for vectors
	Host     string // of the server; empty: OLLAMA_HOST, or this machine's usual one
	Remote   bool   // the server may be on another machine
	Context  int    // tokens of a question and its answer
	Patience int    // seconds that one question may take
	Calls    int    // questions a day
	Tokens   int    // of questions and answers a day
	Seconds  int    // of a model's work a day
	// by the team: no model reads the sessions of this repository, at anyone's request
	Forbidden bool
	Local     bool // by the team: no model on another machine does
	// folder of prompts that replace the built-in ones; empty: beside the user's settings
	Prompts string
}

// Sandbox configures the sandbox of a loop's commands. Off means no sandbox.
type Sandbox struct {
	Mode      string   // off, docker or podman
	Image     string   // a name, or the id that 'reverie sandbox build' set
	Network   []string // reachable host:port; empty: no network
	Env       []string // names of host variables that are passed in
	Caches    []string // absolute paths readable inside
	Runtime   string   // of the engine, such as runsc; empty: its default
	Memory    int      // MiB
	CPUs      int
	Processes int
	Seconds   int // of one command
	Output    int // MiB of one command
	Disk      int // MiB that the workspace may grow by
}

// Reads returns the name of the model that reads sessions.
func (m Model) Reads() string { return m.use(m.Reflect) }

// Dreams returns the name of the model that dreams.
func (m Model) Dreams() string { return m.use(m.Dream) }

func (m Model) use(name string) string {
	if m.Forbidden {
		return Off
	}
	return cmp.Or(name, m.Name)
}

// Off is the model name that disables models, and the mode that disables the sandbox.
const Off = "off"

// Agents lists the agents that can be a model, as in agent:claude.
func Agents() []string { return []string{"claude", "codex", "gemini", "opencode"} }

// Agent returns the agent that a model's name of the form agent:NAME means, or "".
func Agent(name string) string {
	agent, is := strings.CutPrefix(name, "agent:")
	if !is {
		return ""
	}
	return agent
}

// LeastContext is the smallest context, in tokens, that holds a question and its answer.
const LeastContext = 4096

// Setting is one key of the settings.
type Setting struct {
	Key    string
	Value  string // as TOML
	Origin string // "default" or a file; several for a list to which each adds
	Help   string
	Plain  bool // it has its default value, wherever that comes from
}

// Group names the settings that belong together: the part of the key before the dot.
func (s Setting) Group() string {
	group, _, ok := strings.Cut(s.Key, ".")
	if !ok {
		return "accepting"
	}
	return group
}

// Default returns the settings that apply without any file.
func Default() Config {
	return Config{
		Accept: []string{"said", "seen"}, Sightings: 2, Private: []string{"preference"},
		Trust:    Trust{Authors: []string{}, Signers: []string{}},
		KeepDays: 30, Background: "idle", Every: 1, Ref: "refs/heads/reverie/memory", Agents: "AGENTS.md", Stale: "label", Budget: 1500, Prompt: 400, Compaction: 500, Handover: 7 * 24 * time.Hour, Notice: true, Guards: true, UserMemory: true,
		Model:   Model{Name: Off, Embed: Off, Context: 8192, Patience: 300, Calls: 200, Tokens: 1_000_000, Seconds: 3600},
		Sandbox: Sandbox{Mode: Off, Image: "reverie-sandbox", Network: []string{}, Env: []string{}, Caches: []string{}, Memory: 2048, CPUs: 2, Processes: 256, Seconds: 600, Output: 16, Disk: 4096},
		Loop:    Loop{MaxIterations: 15, MinAudits: 1, MaxErrors: 3, Stall: 60, MaxStalls: 5, MaxRepeats: 3, BlockOn: []string{"bug"}, MaxFile: 5 << 20, StartOn: []string{}},
		origins: map[string]string{},
	}
}

// Load reads the files in order; later values win, save that lists of trusted people add up. Some
// keys count only in the first, the user's own. It skips missing files. An unknown key or a bad
// value gives an error with file, line and key.
func Load(files ...string) (Config, error) {
	c := Default()
	for i, path := range files {
		data, err := file.ReadLinked(path, maxRead)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return c, fmt.Errorf("read settings: %w", err)
		}
		from := theUsers
		if i > 0 {
			from = theClones
		}
		if err := c.apply(path, data, from); err != nil {
			return c, err
		}
	}
	return c, nil
}

// whose is the owner of a settings file, which decides what it may set.
type whose int

const (
	theUsers whose = iota
	theClones
	theTeams
)

// Own reports whether a value of a key counts only in the user's own file.
func Own(name, value string) bool {
	return slices.ContainsFunc(keys(), func(k key) bool { return k.name == name && (k.own || k.sends(value)) })
}

// sends reports whether a value sends sessions to a provider, so that only the user may choose it.
func (k key) sends(v any) bool {
	name, _ := v.(string)
	return strings.HasPrefix(k.name, "model.") && Agent(strings.Trim(name, `"' `)) != ""
}

// Environment applies the variables that name models. It is for commands that a person types: a
// repository's settings for an agent can set variables for hooks and for the agent's shells. No
// variable can name an agent.
func (c *Config) Environment(get func(variable string) string) error {
	for _, k := range keys() {
		variable := "REVERIE_" + strings.ToUpper(strings.ReplaceAll(strings.TrimSuffix(k.name, ".name"), ".", "_"))
		switch k.name {
		case "model.name", "model.reflect", "model.dream", "model.embed":
		default:
			continue
		}
		value := get(variable)
		if value == "" {
			continue
		}
		if k.sends(value) {
			return fmt.Errorf("%s: %s: %w", variable, value, onlyUsers(k.name))
		}
		if err := k.set(c, value); err != nil {
			return fmt.Errorf("%s: %w", variable, err)
		}
		c.origins = maps.Clone(c.origins)
		c.origins[k.name] = variable
	}
	return nil
}

// onlyUsers is the error about a value that counts only in the user's own file.
func onlyUsers(key string) error {
	return fmt.Errorf("only your own settings may say this: reverie config --user %s VALUE", key)
}

// Restrict applies a team's reverie.toml, which can only narrow the user's settings. A key that a
// team may not set is an error. Unknown keys are skipped, because a newer version may know them. It
// returns an error wrapping ErrNewer if the store's format is newer than Format. Copies of the
// Config stay unchanged.
func (c *Config) Restrict(name string, data []byte) error { return c.apply(name, data, theTeams) }

// maxFile bounds a settings file, in bytes. A team's file comes from outside, and parsing a key
// costs the square of its parts.
const maxFile = 16 << 10

// maxRead bounds the bytes read of an oversized file to report its length.
const maxRead = 1 << 20

func (c *Config) apply(name string, data []byte, from whose) error {
	team := from == theTeams
	if len(data) > maxFile {
		return fmt.Errorf("%s: is %d bytes long; settings may have %d", name, len(data), maxFile)
	}
	values := map[string]any{}
	if err := toml.Unmarshal(data, &values); err != nil {
		var at *toml.DecodeError
		if errors.As(err, &at) {
			row, _ := at.Position()
			return fmt.Errorf("%s:%d: %s", name, row, strings.TrimPrefix(at.Error(), "toml: "))
		}
		return fmt.Errorf("%s: %w", name, err)
	}
	flat := map[string]any{}
	flatten("", values, flat)
	if team {
		format, ok := flat["format"].(int64)
		switch {
		case !ok:
			return fmt.Errorf("%s: format: there is no line such as format = %d", name, Format)
		case format > Format:
			return fmt.Errorf("%w: its format is %d, this one knows %d; install a newer one", ErrNewer, format, Format)
		}
		delete(flat, "format")
	}
	c.origins = maps.Clone(c.origins)
	for _, k := range keys() {
		v, ok := flat[k.name]
		if !ok {
			continue
		}
		before := tomlText(k.get(c))
		delete(flat, k.name)
		set := k.set
		if team {
			if set = k.team; set == nil {
				return fmt.Errorf("%s:%d: %s: only a user's own settings may say this", name, line(data, k.name), k.name)
			}
		}
		if from == theClones && (k.own || k.sends(v)) {
			return fmt.Errorf("%s:%d: %s: %w", name, line(data, k.name), k.name, onlyUsers(k.name))
		}
		if err := set(c, v); err != nil {
			return fmt.Errorf("%s:%d: %s: %w", name, line(data, k.name), k.name, err)
		}
		switch first := c.origins[k.name]; {
		case k.adds && first != "":
			c.origins[k.name] = first + ", " + name
		case !team || tomlText(k.get(c)) != before:
			c.origins[k.name] = name
		}
	}
	if !team {
		for unknown := range flat {
			return fmt.Errorf("%s:%d: %s: it is not a setting; 'reverie config' lists them", name, line(data, unknown), unknown)
		}
	}
	return nil
}

// Settings lists every setting, in the order of the documentation.
func (c Config) Settings() []Setting {
	plain, out := Default(), []Setting(nil)
	for _, k := range keys() {
		origin := cmp.Or(c.origins[k.name], "default")
		value := tomlText(k.get(&c))
		out = append(out, Setting{k.name, value, origin, k.help, value == tomlText(k.get(&plain))})
	}
	return out
}

func flatten(prefix string, in, out map[string]any) {
	for k, v := range in {
		if table, ok := v.(map[string]any); ok {
			flatten(prefix+k+".", table, out)
			continue
		}
		out[prefix+k] = v
	}
}

// line returns the line, from 1, that first sets the last part of a key, or 0 if it is unknown.
func line(data []byte, name string) int {
	last := name[strings.LastIndexByte(name, '.')+1:]
	n := 0
	for l := range strings.Lines(string(data)) {
		n++
		key, _, ok := strings.Cut(l, "=")
		key = strings.TrimSpace(key)
		if ok && (key == name || key == last) {
			return n
		}
	}
	return 0
}
