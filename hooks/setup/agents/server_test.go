package agents

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/hooks"
)

// tables are realistic files of Codex.
var tables = map[string]string{
	"empty":            "",
	"keys":             "# mine\nmodel = \"gpt\" # the best\napproval_policy = 'never'\n",
	"no final newline": "model = \"gpt\"",
	"crlf":             "model = \"gpt\"\r\n\r\n[features]\r\nhooks = true\r\n",
	"own servers":      "[mcp_servers.files]\ncommand = \"npx\"\nargs = [\n  \"files\",\n]\n\n[mcp_servers.files.env]\nA = \"1\"\n\n\n",
	"arrays of tables": "[[profiles]]\nname = \"a\"\n[[profiles]]\nname = \"b\"\n# end\n",
	"text like ours":   "note = '''\n[mcp_servers.reverie]\ncommand = \"x\"\n'''\n",
	"a list of lists":  "x = [\n  [\"mcp_servers.reverie\"],\n]\n",
	"a name like ours": "[mcp_servers.\"reverie.dev\"]\ncommand = \"npx\"\nargs = [\"mcp\"]\n\n[\"mcp_servers.reverie\"]\ncommand = \"npx\"\n",
	"dotted":           "mcp_servers.files.command = \"npx\"\n",
}

// targetsOf returns every target with our server, and possible earlier contents of its file.
func targetsOf(t testing.TB) (found []served) {
	m := Machine{t.TempDir(), func(string) string { return "" }}
	for _, a := range hooks.Agents {
		for _, target := range m.Users(a) {
			if !target.serves() || target.plugin() {
				continue
			}
			texts := map[string]string{}
			for n, text := range priors {
				texts[n] = text
			}
			if a.Name == "gemini" {
				for n, text := range commented {
					texts[n] = text
				}
			}
			if target.table() {
				texts = tables
			}
			found = append(found, served{target, texts})
		}
	}
	return found
}

type served struct {
	Target
	texts map[string]string
}

func TestServerComesAndGoesWithoutTrace(t *testing.T) {
	for _, target := range targetsOf(t) {
		for n, text := range target.texts {
			t.Run(target.Agent.Name+"/"+n, func(t *testing.T) {
				const program, next = `/opt/my "tools"/reverie`, "/opt/next/reverie"
				added, made, err := target.add([]byte(text), program, hooks.Filter{}, nil)
				if err != nil {
					t.Fatal(err)
				}
				s, found, err := target.serverIn(added)
				if want := serverOf(target.Agent, program); !found || err != nil || s.Command != want.Command || cmp.Diff(want.Args, s.Args) != "" {
					t.Errorf("%+v, %t, %v in\n%s", s, found, err, added)
				}
				again, now, err := target.add(added, program, hooks.Filter{}, made)
				if err != nil || !slices.Equal(now, made) || string(again) != string(added) {
					t.Errorf("the second time: %v, made %q: %s", err, now, cmp.Diff(string(added), string(again)))
				}
				if strings.Contains(text, "\r\n") && strings.Count(string(added), "\n") != strings.Count(string(added), "\r\n") {
					t.Errorf("line ends are mixed: %q", added)
				}
				renewed, now, err := target.add(added, next, hooks.Filter{}, made)
				if err != nil {
					t.Fatal(err)
				}
				if s, found, err := target.serverIn(renewed); !found || err != nil || s.Command != next || !slices.Equal(now, made) {
					t.Errorf("renewed: %+v, %t, %v, made %q", s, found, err, now)
				}
				if strings.Count(string(renewed), "\n") != strings.Count(string(added), "\n") {
					t.Errorf("renewed elsewhere:\n%s", renewed)
				}
				for _, from := range [][]byte{added, renewed} {
					left, err := target.cut(from, made, true)
					if err != nil {
						t.Fatal(err)
					}
					if d := cmp.Diff(text, string(left)); d != "" && !(text == "" && strings.TrimSpace(string(left)) == "{}") {
						t.Errorf("not what it was:\n%s", d)
					}
				}
			})
		}
	}
}

// A server is ours only if agents would start it as ours: names must match exactly, and duplicates
// are refused. Refused and foreign entries keep their bytes.
func TestServerIsReadToTheLetter(t *testing.T) {
	a := agent(t, "gemini")
	const args = `"args": ["mcp", "--agent", "gemini"]`
	for text, c := range map[string]struct{ add, cut string }{
		`{"Command": "/old/reverie", "Args": ["mcp"]}`:                {add: "line 1: mcpServers.reverie is another server; reverie init --no-mcp leaves ours out"},
		`{"command": "/old/reverie", "ARGS": ["mcp"]}`:                {add: "line 1: mcpServers.reverie is another server; reverie init --no-mcp leaves ours out"},
		`{"command": "npx", "Command": "/old/reverie", ` + args + `}`: {add: "line 1: mcpServers.reverie is another server; reverie init --no-mcp leaves ours out"},
		`["/old/reverie", "mcp"]`:                                     {add: "line 1: mcpServers.reverie is another server; reverie init --no-mcp leaves ours out"},
		`{"command": "npx", "command": "/old/reverie", ` + args + `}`: {`line 1: "command" stands here twice`, `line 1: "command" stands here twice`},
		`{"command": "/old/reverie", ` + args + `, "args": []}`:       {`line 1: "args" stands here twice`, `line 1: "args" stands here twice`},
	} {
		text = `{"mcpServers": {"reverie": ` + text + `}}`
		if _, _, err := addServer([]byte(text), a, "/opt/reverie"); fmt.Sprint(err) != c.add {
			t.Errorf("add to %s: %v, want %s", text, err, c.add)
		}
		switch left, err := cutServer([]byte(text), a, nil, false); {
		case c.cut != "" && fmt.Sprint(err) != c.cut:
			t.Errorf("cut from %s: %v, want %s", text, err, c.cut)
		case c.cut == "" && (err != nil || string(left) != text):
			t.Errorf("cut from %s: %s %v", text, left, err)
		}
	}
	for text, next := range map[string]string{ // our entry next to a name that differs in case
		`{"Command": "npx", "command": "/old/reverie", ` + args + `}`: `{"Command": "npx", "command": "/opt/reverie", ` + args + `}`,
	} {
		got, _, err := addServer([]byte(`{"mcpServers": {"reverie": `+text+`}}`), a, "/opt/reverie")
		if want := `{"mcpServers": {"reverie": ` + next + `}}`; err != nil || string(got) != want {
			t.Errorf("%s\n%v, want\n%s", got, err, want)
		}
	}
}

// A server that its user made read-only stays so after an update of its entry.
func TestServerStaysReadOnly(t *testing.T) {
	for _, target := range targetsOf(t) {
		args := fmt.Sprintf(`["mcp", "--read-only", "--agent", %q]`, target.Agent.Name)
		text := `{"mcpServers": {"reverie": {"command": "/opt/reverie", "args": ` + args + `}}}`
		if target.table() {
			text = "[mcp_servers.reverie]\ncommand = \"/opt/reverie\"\nargs = " + args + "\n"
		}
		once, _, err := target.add([]byte(text), "/opt/next/reverie", hooks.Filter{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		s, found, err := target.serverIn(once)
		if !found || err != nil || s.Command != "/opt/next/reverie" || !slices.Equal(s.Args, []string{"mcp", "--agent", target.Agent.Name, "--read-only"}) {
			t.Errorf("%s: %+v %v", target.File, s, err)
		}
		if twice, _, err := target.add(once, "/opt/next/reverie", hooks.Filter{}, nil); err != nil || string(twice) != string(once) {
			t.Errorf("%s: the second time: %v\n%s", target.File, err, twice)
		}
		if left, err := target.cut(once, nil, false); err != nil || strings.Contains(string(left), "reverie") {
			t.Errorf("%s: cut: %v\n%s", target.File, err, left)
		}
	}
}

// A foreign entry with our name is reported and stays unchanged.
func TestOthersServerIsRefused(t *testing.T) {
	for _, target := range targetsOf(t) {
		text := `{"mcpServers": {"reverie": {"command": "/opt/elsewhere/diary", "args": ["mcp"]}}}`
		if target.table() {
			text = "[mcp_servers.reverie]\ncommand = \"/opt/elsewhere/diary\"\nargs = [\"mcp\"]\n"
		}
		if _, _, err := target.add([]byte(text), "/opt/reverie", hooks.Filter{}, nil); err == nil || !strings.Contains(err.Error(), "--no-mcp") {
			t.Errorf("%s: %v", target.File, err)
		}
		if left, err := target.cut([]byte(text), nil, false); err != nil || string(left) != text {
			t.Errorf("%s: cut: %v\n%s", target.File, err, left)
		}
	}
}

// Codex edits the file too. Its additions to our server are removed with it, and its other entries
// stay.
func TestWhatCodexWroteSince(t *testing.T) {
	for name, c := range map[string]struct{ now, want string }{
		"a tool that was approved, and a table behind": {
			"model = \"gpt\"\n\n" + tableComment + "\n[mcp_servers.reverie]\ncommand = \"/opt/reverie\"\nargs = [\"mcp\"]\nenabled = true\n\n[mcp_servers.reverie.tools.recall]\napproval_mode = \"approve\"\n\n[projects.\"/x\"]\ntrust_level = \"trusted\"\n",
			"model = \"gpt\"\n\n\n[projects.\"/x\"]\ntrust_level = \"trusted\"\n",
		},
		"a comment behind": {
			tableComment + "\n[mcp_servers.reverie]\ncommand = \"/opt/reverie\"\nargs = [\"mcp\"]\n# the end\n",
			"# the end\n",
		},
		"a list on several lines": {
			"[x]\n[mcp_servers.reverie]\ncommand = \"/opt/reverie\"\nargs = [\n\n\"mcp\"]\n[a]\nb = 1\n",
			"[x]\n[a]\nb = 1\n",
		},
		"quoted names": {
			"[ \"mcp_servers\" . 'reverie' ] # here\ncommand = \"/opt/reverie\"\nargs = [\"mcp\"]\n[a]\n",
			"[a]\n",
		},
	} {
		left, err := cutTable([]byte(c.now), nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if d := cmp.Diff(c.want, string(left)); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
	for name, text := range map[string]string{ // no line of its own
		"inline":         "mcp_servers = {reverie = {command = \"/opt/reverie\", args = [\"mcp\"]}, files = {command = \"npx\"}}\n",
		"inside a table": "[mcp_servers]\nreverie.command = \"/opt/reverie\"\nreverie.args = [\"mcp\"]\n",
	} {
		if left, err := cutTable([]byte(text), nil); err == nil {
			t.Errorf("%s was cut:\n%s", name, left)
		}
		if out, _, err := addTable([]byte(text), server{Command: "/opt/next/reverie", Args: []string{"mcp"}}); err == nil {
			t.Errorf("%s was changed:\n%s", name, out)
		}
	}
}

// Without the server a file gets only the hooks, and an existing server stays.
func TestBareAddsNoServer(t *testing.T) {
	p := newPlace(t)
	for _, name := range []string{"gemini", "opencode"} {
		target := p.user(name)
		target.Bare = true
		clone := p.clone("clone")
		serves := func() bool {
			s, err := p.in.Examine(target)
			if err != nil || !s.Installed || len(s.Missing) > 0 || s.Other {
				t.Errorf("%s: %+v, %v", name, s, err)
			}
			return s.Serves
		}
		if p.install(target, clone); serves() {
			t.Errorf("%s: a server was added", name)
		}
		target.Bare = false
		if p.install(target, clone); !serves() {
			t.Errorf("%s: no server was added", name)
		}
		target.Bare = true
		if p.install(target, clone); !serves() {
			t.Errorf("%s: the server went", name)
		}
		p.remove(target, clone)
		if _, err := os.Stat(target.File); err == nil {
			t.Errorf("%s is left", target.File)
		}
	}
}

func FuzzTableComesAndGoes(f *testing.F) {
	for _, text := range tables {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want := server{Command: "/opt/reverie", Args: []string{"mcp", "--agent", "codex"}}
		added, made, err := addTable([]byte(text), want)
		if err != nil || string(added) == text || made == nil && strings.TrimSpace(text) != "" {
			return // refused, or there before
		}
		left, err := cutTable(added, made)
		if err != nil || string(left) != text {
			t.Errorf("%q → %q → %q, %v", text, added, left, err)
		}
	})
}
