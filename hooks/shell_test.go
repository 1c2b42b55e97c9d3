package hooks

import "testing"

func TestShellIsOfTheAgentThatSaysSo(t *testing.T) {
	for _, c := range []struct {
		env            map[string]string
		agent, session string
	}{
		{nil, "", ""},
		{map[string]string{"CLAUDECODE": "1"}, "claude", ""},
		{map[string]string{"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "a"}, "claude", "a"},
		{map[string]string{"CODEX_SESSION_ID": "b"}, "codex", "b"},
		{map[string]string{"CODEX_SESSION_ID": "b", "CODEX_THREAD_ID": "c"}, "codex", "c"},
		{map[string]string{"CODEX_SANDBOX": "seatbelt"}, "codex", ""},
		{map[string]string{"GEMINI_CLI": "1", "CODEX_THREAD_ID": "c"}, "codex", "c"},
		{map[string]string{"OPENCODE": "1"}, "opencode", ""},
		{map[string]string{"OPENCODE": "1", "REVERIE_AGENT": "opencode", "REVERIE_SESSION": "d", "CLAUDE_CODE_SESSION_ID": "a"}, "opencode", "d"},
		{map[string]string{"REVERIE_SESSION": "e"}, "generic", "e"},
		{map[string]string{"REVERIE_AGENT": "mine"}, "mine", ""},
	} {
		if agent, session := InShell(func(v string) string { return c.env[v] }); agent != c.agent || session != c.session {
			t.Errorf("%v: %q %q", c.env, agent, session)
		}
	}
}

func TestServedIsTheClientsFolder(t *testing.T) {
	for _, c := range []struct{ root, pwd, want string }{{"", "/elsewhere", "/here"}, {"/plugin", "/project", "/project"}, {"/plugin", "", "/here"}} {
		t.Setenv("COPILOT_PLUGIN_ROOT", c.root)
		t.Setenv("PWD", c.pwd)
		if got := Served("/here"); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
