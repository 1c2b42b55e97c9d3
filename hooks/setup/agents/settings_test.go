package agents

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/tailscale/hujson"
)

func agent(t testing.TB, name string) hooks.Agent {
	t.Helper()
	a, ok := hooks.Find(name)
	if !ok {
		t.Fatalf("no agent %s", name)
	}
	return a
}

// priors are realistic settings files.
var priors = map[string]string{
	"empty object":      "{}",
	"empty object line": "{}\n",
	"one line":          `{"theme":"dark","n":[1,2]}`,
	"spaced line":       `{"theme": "dark", "n": [1, 2]}` + "\n",
	"two spaces":        "{\n  \"theme\": \"dark\"\n}\n",
	"no final newline":  "{\n    \"theme\": \"dark\"\n}",
	"tabs and crlf":     "{\r\n\t\"theme\": \"dark\",\r\n\t\"list\": [\r\n\t\t1\r\n\t]\r\n}\r\n",
	"byte order mark":   "\xef\xbb\xbf{\n  \"theme\": \"dark\"\n}\n",
	"empty hooks":       "{\n  \"hooks\": {}\n}\n",
	"empty event":       "{\n  \"hooks\": {\n    \"SessionStart\": []\n  }\n}\n",
	"own hooks":         "{\n  \"hooks\": {\n    \"SessionStart\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"./mine hook gemini\"}]}\n    ],\n    \"Stop\": [{\"matcher\":\"\",\"hooks\":[{\"type\":\"command\",\"command\":\"true\"}]}]\n  },\n  \"theme\": \"dark\"\n}\n",
	"own server":        "{\n  \"mcpServers\": {\n    \"files\": {\"command\": \"npx\", \"args\": [\"files\"]}\n  }\n}\n",
	"empty servers":     "{\"mcpServers\": {}, \"theme\": \"dark\"}",
	"strange layout":    "{\"a\":1\n,\"hooks\" :{ \"SessionStart\":[ {\"hooks\":[]}\n ]} }",
}

// commented are settings of agents that accept comments.
var commented = map[string]string{
	"comments":              "// mine\n{\n  // the look\n  \"theme\": \"dark\" // of the night\n}\n// end\n",
	"trailing commas":       "{\n  \"theme\": \"dark\",\n  \"hooks\": {\n    \"SessionStart\": [\n      {\"hooks\": []}, // one\n    ],\n  },\n}\n",
	"comment in empty":      "{\n  // nothing yet\n}\n",
	"comment behind group":  "{\n  \"hooks\": {\n    \"SessionStart\": [\n      {\"hooks\": []} // one\n      // two\n    ]\n  }\n}\n",
	"comment on one line":   "{ /* a */ \"theme\": 1 /* b */ }",
	"servers with comments": "{\n  \"mcpServers\": {\n    // none yet\n  },\n}\n",
	"comma on its own line": "{\n  \"theme\": 1\n  , // here\n}\n",
}

func TestEntriesComeAndGoWithoutTrace(t *testing.T) {
	for _, a := range hooks.Agents[:3] {
		cases := map[string]string{}
		for n, text := range priors {
			if !a.Unmarked || !strings.HasPrefix(text, "\xef\xbb\xbf") {
				cases[n] = text
			}
		}
		if !a.Strict {
			for n, text := range commented {
				cases[n] = text
			}
		}
		for n, text := range cases {
			t.Run(a.Name+"/"+n, func(t *testing.T) {
				command := Command("/opt/re verie/bin/reverie", a.Name)
				added, made, err := addEntries([]byte(text), a, command, hooks.Filter{}, nil)
				if err != nil {
					t.Fatal(err)
				}
				entries, err := entriesOf(added, a)
				if err != nil {
					t.Fatal(err)
				}
				if len(entries) != len(a.Deliveries) {
					t.Errorf("%d entries for %d events in\n%s", len(entries), len(a.Deliveries), added)
				}
				for _, e := range entries {
					d := a.Deliveries[slices.IndexFunc(a.Deliveries, func(d hooks.Delivery) bool { return d.Name == e.Event })]
					if e.Command != command || e.Program != "/opt/re verie/bin/reverie" || e.Timeout != d.Timeout {
						t.Errorf("entry %+v, want %s within %s", e, command, d.Timeout)
					}
				}
				again, now, err := addEntries(added, a, command, hooks.Filter{}, made)
				if err != nil || !slices.Equal(now, made) {
					t.Fatalf("second time: %v, made %q", err, now)
				}
				if d := cmp.Diff(string(added), string(again)); d != "" {
					t.Errorf("the second time changed it:\n%s", d)
				}
				if strings.Contains(text, "\r\n") && strings.Count(string(added), "\n") != strings.Count(string(added), "\r\n") {
					t.Errorf("line ends are mixed: %q", added)
				}
				sameBut(t, text, added)
				left, err := cutEntries(added, a, made, true)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(text, string(left)); d != "" {
					t.Errorf("not what it was:\n%s", d)
				}
			})
		}
	}
}

// sameBut requires a text's data in another text, in the same order, as the JSON library reads it.
func sameBut(t *testing.T, before string, after []byte) {
	t.Helper()
	value := func(text []byte) (v map[string]any) {
		text, err := hujson.Standardize([]byte(strings.TrimPrefix(string(text), "\xef\xbb\xbf")))
		if err == nil {
			err = json.Unmarshal(text, &v)
		}
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		return v
	}
	was, is := value([]byte(before)), value(after)
	for key, want := range was {
		if key != "hooks" {
			if d := cmp.Diff(want, is[key]); d != "" {
				t.Errorf("%s is another: %s", key, d)
			}
			continue
		}
		for event, groups := range want.(map[string]any) {
			got := is["hooks"].(map[string]any)[event].([]any)
			n := len(groups.([]any))
			if d := cmp.Diff(groups, got[:n]); d != "" {
				t.Errorf("the user's groups of %s are others or elsewhere: %s", event, d)
			}
		}
	}
}

func TestInstalledLooksLikeTheRest(t *testing.T) {
	text := "{\n\t\"theme\": \"dark\"\n}\n"
	a := agent(t, "gemini")
	a.Deliveries = a.Deliveries[:1]
	got, made, err := addEntries([]byte(text), a, "/bin/reverie hook gemini", hooks.Filter{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := "{\n\t\"theme\": \"dark\",\n\t\"hooks\": {\n\t\t\"SessionStart\": [\n\t\t\t{\n\t\t\t\t\"hooks\": [\n\t\t\t\t\t{\n" +
		"\t\t\t\t\t\t\"type\": \"command\",\n\t\t\t\t\t\t\"name\": \"reverie\",\n\t\t\t\t\t\t\"command\": \"/bin/reverie hook gemini\",\n" +
		"\t\t\t\t\t\t\"timeout\": 5000\n\t\t\t\t\t}\n\t\t\t\t]\n\t\t\t}\n\t\t]\n\t}\n}\n"
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"hooks", "hooks.SessionStart"}, made); d != "" {
		t.Error(d)
	}
}

func TestEntryIsRenewedInItsPlace(t *testing.T) {
	a := agent(t, "codex")
	a.Deliveries = a.Deliveries[:1]
	text := `{"hooks": {"SessionStart": [
		{"hooks": [{"type": "command", "command": "mine"}]},
		{"matcher": "x", "hooks": [{"command": "'/old place/reverie' hook codex", "timeout": 9, "note": 1}, {"command": "other"}]},
		{"hooks": [{"type": "command", "command": "/older/reverie hook codex"}]},
		{"hooks": [{"type": "command", "command": "/x/reveries-son hook claude"}]}
	], "PostToolUse": [{"hooks": [{"type": "command", "command": "/older/reverie hook codex"}]}]}}`
	got, _, err := addEntries([]byte(text), a, "/new/reverie hook codex", hooks.Filter{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"hooks": {"SessionStart": [
		{"hooks": [{"type": "command", "command": "mine"}]},
		{"matcher": "x", "hooks": [{"command": "/new/reverie hook codex", "timeout": 5, "note": 1}, {"command": "other"}]},
		{"hooks": [{"type": "command", "command": "/x/reveries-son hook claude"}]}
	], "PostToolUse": []}}`
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Error(d)
	}
}

func TestUserEditsSurviveTheCut(t *testing.T) {
	a := agent(t, "gemini")
	added, made, err := addEntries([]byte("{}\n"), a, "/bin/reverie hook gemini", hooks.Filter{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := parseSettings(added, a)
	if err != nil {
		t.Fatal(err)
	}
	starts, err := s.find("hooks", "SessionStart")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.insert(starts, "", hookGroup{Hooks: []hookCommand{{Command: "mine"}}}); err != nil {
		t.Fatal(err)
	}
	if err := s.insert(s.root, "theme", "dark"); err != nil {
		t.Fatal(err)
	}
	left, err := cutEntries(s.bytes(), a, made, true)
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := json.Unmarshal(left, &got); err != nil {
		t.Fatalf("%v: %s", err, left)
	}
	json.Unmarshal([]byte(`{"hooks":{"SessionStart":[{"hooks":[{"type":"","command":"mine","timeout":0}]}]},"theme":"dark"}`), &want)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestSettingsInDoubtAreRefused(t *testing.T) {
	for _, c := range []struct {
		agent, text string
		line        int
		says        string
	}{
		{"gemini", "{\n  \"a\": 1\n  \"b\": 2\n}\n", 3, "after object value"},
		{"gemini", "{\n  \"a\": 'x'\n}", 2, "invalid character"},
		{"gemini", "{\"a\":", 1, "unexpected EOF"},
		{"gemini", "[]", 1, "not a JSON object"},
		{"gemini", "{\n\"hooks\": []}", 2, "not an object"},
		{"gemini", "{\"hooks\": {\n\"SessionStart\": {}}}", 2, "not a list"},
		{"gemini", "{\"hooks\": {},\n\"hooks\": {}}", 2, "twice"},
		{"gemini", "{\"hooks\": {\"SessionEnd\": [],\n\"SessionEnd\": []}}", 2, "twice"},
		{"claude", "{\n  // mine\n  \"a\": 1\n}\n", 2, "Claude Code ignores the whole file"},
		{"codex", "{\n  \"a\": 1,\n}\n", 3, "Codex CLI ignores the whole file"},
		{"codex", "\xef\xbb\xbf{}\n", 1, "a byte order mark"},
	} {
		_, _, err := addEntries([]byte(c.text), agent(t, c.agent), "/bin/reverie hook "+c.agent, hooks.Filter{}, nil)
		var at *settingsError
		if !errors.As(err, &at) || at.Line != c.line || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v, want line %d, %s", c.text, err, c.line, c.says)
		}
	}
}

func TestOnlyOurCommandsAreOurs(t *testing.T) {
	for line, want := range map[string]string{
		"/usr/bin/reverie hook claude":                 "/usr/bin/reverie",
		`"/usr/local bin/reverie" hook claude`:         "/usr/local bin/reverie",
		`'/it'\''s/reverie' hook claude`:               "/it's/reverie",
		`"C:\Program Files\reverie.exe" hook claude`:   `C:\Program Files\reverie.exe`,
		"/opt/reverie-1.2/bin/git-reverie hook claude": "/opt/reverie-1.2/bin/git-reverie",
		"/usr/bin/reverie hook claude || true":         "/usr/bin/reverie",
		"/usr/bin/reverie hook claude || rm -r x":      "",
		"/usr/bin/reverie hook codex":                  "",
		"/usr/bin/reverie hook claude --x":             "",
		"./mine hook claude":                           "",
		"hook claude":                                  "",
		"":                                             "",
	} {
		got, ours := ourCommand(line, "claude")
		if !ours {
			got = ""
		}
		if got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	for _, path := range []string{"/a/reverie", "/a b/reverie", "/it's/reverie", "/dollar$HOME`x`/reverie", "/ü/reverie"} {
		for _, a := range hooks.Agents {
			if got, ours := ourCommand(Command(path, a.Name), a.Name); !ours || got != path {
				t.Errorf("%s came back from %s as %s", path, a.Name, got)
			}
		}
	}
}

func FuzzEntriesComeAndGo(f *testing.F) {
	for _, text := range priors {
		f.Add(text)
	}
	for _, text := range commented {
		f.Add(text)
	}
	a, _ := hooks.Find("gemini")
	f.Fuzz(func(t *testing.T, text string) {
		added, made, err := addEntries([]byte(text), a, "/bin/reverie hook gemini", hooks.Filter{}, nil)
		if err != nil {
			return
		}
		if entries, err := entriesOf(added, a); err != nil || len(entries) != len(a.Deliveries) {
			t.Fatalf("%d entries, %v in %q", len(entries), err, added)
		}
		again, now, err := addEntries(added, a, "/bin/reverie hook gemini", hooks.Filter{}, made)
		if err != nil || !slices.Equal(now, made) || string(again) != string(added) {
			t.Fatalf("not the same the second time: %v\n%q\n%q", err, added, again)
		}
		left, err := cutEntries(added, a, made, true)
		if err != nil {
			t.Fatal(err)
		}
		if entries, err := entriesOf(left, a); err != nil || len(entries) > 0 {
			t.Fatalf("%d entries left, %v in %q", len(entries), err, left)
		}
		if strings.Count(text, "//")+strings.Count(text, "/*") != strings.Count(string(left), "//")+strings.Count(string(left), "/*") &&
			!slices.Contains([]string{""}, strings.TrimSpace(text)) && !strings.Contains(text, "reverie") {
			t.Fatalf("a comment went: %q, %q", text, left)
		}
	})
}
