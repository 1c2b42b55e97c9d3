package agents

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/reverie-memory/reverie/hooks"
	"github.com/tailscale/hujson"
)

// An agent starts our server of tools for a session, and calls it at the model's request. Settings
// name the server as a member of an object, those of Codex as a TOML table. The plugin for OpenCode
// adds it to the settings in force, and to no file.

// serverName is the agents' name for our server, and a part of their names for its tools.
const serverName = "reverie"

// serversKey is the member of the settings with the servers.
const serversKey = "mcpServers"

// server is our entry in an agent's settings.
type server struct {
	Type    string   `json:"type,omitempty"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
	Tools   []string `json:"tools,omitempty"`
	Timeout int      `json:"timeout,omitempty"` // of each request, in milliseconds
}

func serverOf(a hooks.Agent, program string) server {
	s := server{Command: program, Args: []string{"mcp", "--agent", a.Name}}
	switch a.Name {
	case "claude", "cursor":
		s.Type = "stdio"
	case "copilot":
		s.Type, s.Tools = "local", []string{"*"}
	case "gemini", "qwen":
		s.Timeout = 5000 // without it, a hanging program delays the start by ten minutes
	}
	return s
}

// readOnly is the option of the server that a user may add to our entry.
const readOnly = "--read-only"

// like returns the entry with the user's additions to the existing one, so that an update never
// gives an agent more tools.
func (s server) like(was server) server {
	if slices.Contains(was.Args, readOnly) {
		s.Args = append(slices.Clip(s.Args), readOnly)
	}
	return s
}

// ours reports whether a server is our program.
func (s server) ours() bool {
	return ourProgram(s.Command) && len(s.Args) > 0 && s.Args[0] == "mcp"
}

// Hooks reports whether hooks in a target's file can call us.
func (t Target) Hooks() bool {
	switch filepath.Base(t.File) {
	case claudeServersOld, filepath.Base(t.Agent.Servers), filepath.Base(t.Agent.Shared):
		return false
	}
	return !t.Command()
}

// claudeServersOld is Claude Code's former file of servers, in its folder. If present, it alone
// counts.
const claudeServersOld = ".config.json"

// serves reports whether a target's file can name our server.
func (t Target) serves() bool { return !t.Command() && (!t.Hooks() || t.Agent.Servers == "") }

// table reports whether the file is TOML.
func (t Target) table() bool { return filepath.Base(t.File) == "config.toml" }

// Users returns the targets in the user's own settings, that of the hooks first.
func (m Machine) Users(a hooks.Agent) []Target {
	t, ok := m.User(a)
	if !ok {
		return nil
	}
	folder := m.Folder(a.Name)
	targets, file := []Target{t}, filepath.Join(folder, a.Servers)
	if a.Name == "claude" {
		old := filepath.Join(folder, claudeServersOld)
		if _, err := os.Stat(old); err == nil {
			file = old
		} else {
			file = filepath.Join(m.dir(a.Home), a.Servers)
		}
	}
	if a.Servers != "" {
		targets = append(targets, Target{Agent: a, File: file})
	}
	return append(targets, commands(a, folder)...)
}

// Projects returns the targets in a work tree, that of the hooks first.
func Projects(a hooks.Agent, top string) []Target {
	t, ok := Project(a, top)
	if !ok {
		return nil
	}
	targets := []Target{t}
	if a.Shared != "" {
		targets = append(targets, Target{Agent: a, File: filepath.Join(top, filepath.FromSlash(a.Shared)), Top: top})
	}
	return targets
}

// add inserts our entries into the text of a target's file. now extends made by the new containers.
func (t Target) add(text []byte, program string, f hooks.Filter, made []string) (out []byte, now []string, err error) {
	var more []string
	switch out = text; {
	case t.table():
		out, more, err = addTable(text, serverOf(t.Agent, program))
		return out, slices.Concat(made, more), err
	case t.Hooks():
		out, made, err = addEntries(text, t.Agent, Command(program, t.Agent.Name), f, made)
	}
	if err != nil || !t.serves() || t.Hooks() && t.Bare {
		return out, made, err
	}
	out, more, err = addServer(out, t.Agent, program)
	return out, slices.Concat(made, more), err
}

// cut removes the entries that add inserted, and the containers that become empty: those in made,
// or all if known is false.
func (t Target) cut(text []byte, made []string, known bool) (out []byte, err error) {
	if t.table() {
		return cutTable(text, made)
	}
	if out = text; t.Hooks() {
		if out, err = cutEntries(text, t.Agent, made, known); err != nil {
			return nil, err
		}
	}
	if t.serves() {
		out, err = cutServer(out, t.Agent, made, known)
	}
	return out, err
}

// serverIn returns our server in the text of a target's file, if found is true.
func (t Target) serverIn(text []byte) (s server, found bool, err error) {
	if t.table() {
		return tableIn(text)
	}
	parsed, err := parseObject(text, t.Agent)
	if err != nil {
		return s, false, err
	}
	s, found, _, err = parsed.server()
	return s, found, err
}

// server returns our entry. other reports that a foreign entry has its name. Case counts in names,
// as for agents. A name that occurs twice is an error, because only the agent knows which one
// counts.
func (s *settings) server() (found server, ours, other bool, err error) {
	all, err := s.object(serversKey)
	if all == nil || err != nil {
		return found, false, false, err
	}
	entry, err := s.only(all, serverName)
	if entry == nil || err != nil {
		return found, false, false, err
	}
	o, ok := entry.(*hujson.Object)
	if !ok {
		return found, false, true, nil
	}
	for _, key := range []string{"command", "args"} {
		v, err := s.only(o, key)
		if err != nil {
			return found, false, false, err
		}
		switch v := v.(type) {
		case hujson.Literal:
			if key == "command" {
				found.Command = literal(v)
			}
		case *hujson.Array:
			for _, e := range v.Elements {
				if arg, _ := e.Value.(hujson.Literal); key == "args" {
					found.Args = append(found.Args, literal(arg))
				}
			}
		}
	}
	return found, found.ours(), !found.ours(), nil
}

// addServer inserts our server into the text of an agent's settings, or updates it.
func addServer(text []byte, a hooks.Agent, program string) (out []byte, made []string, err error) {
	s, err := parseObject(text, a)
	if err != nil {
		return nil, nil, err
	}
	was, ours, other, err := s.server()
	want := serverOf(a, program)
	switch {
	case err != nil:
		return nil, nil, err
	case other:
		v, err := s.find(serversKey, serverName)
		if err != nil {
			return nil, nil, err
		}
		return nil, nil, s.fault(v.StartOffset, "%s.%s is another server; reverie init --no-mcp leaves ours out", serversKey, serverName)
	case ours:
		want = want.like(was)
		if was.Command != want.Command {
			err = s.replaceAt(want.Command, serversKey, serverName, "command")
		}
		if err == nil && !slices.Equal(was.Args, want.Args) {
			err = s.replaceAt(want.Args, serversKey, serverName, "args")
		}
		return s.bytes(), nil, err
	}
	if all, _ := s.object(serversKey); all == nil {
		err = s.insert(s.root, serversKey, map[string]server{serverName: want})
		return s.bytes(), []string{serversKey}, err
	}
	all, err := s.find(serversKey)
	if err == nil {
		err = s.insert(all, serverName, want)
	}
	return s.bytes(), nil, err
}

// cutServer removes our server, and an object that becomes empty unless it is known to be the
// user's.
func cutServer(text []byte, a hooks.Agent, made []string, known bool) ([]byte, error) {
	s, err := parseObject(text, a)
	if err != nil {
		return nil, err
	}
	_, ours, _, err := s.server()
	if err != nil || !ours {
		return text, err
	}
	all, err := s.find(serversKey)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all.Value.(*hujson.Object).Members, func(m hujson.ObjectMember) bool { return name(m) == serverName })
	if err := s.remove(all, at); err != nil {
		return nil, err
	}
	err = s.dropEmpty(func(container string) bool { return !known || slices.Contains(made, container) }, serversKey)
	return s.bytes(), err
}
