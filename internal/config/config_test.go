package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func written(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestLaterFileWins(t *testing.T) {
	user := written(t, "sightings = 3\naccept = [\"said\"]\n")
	clone := written(t, "sightings = 4\n[sessions]\nkeep-days = 7\n")
	got, err := Load(user, filepath.Join(t.TempDir(), "none.toml"), clone)
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Sightings, want.Accept, want.KeepDays = 4, []string{"said"}, 7
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Config{})); diff != "" {
		t.Error(diff)
	}
	for _, s := range got.Settings() {
		want := map[string]string{"accept": user, "sightings": clone, "sessions.keep-days": clone}[s.Key]
		if want == "" {
			want = "default"
		}
		if s.Origin != want {
			t.Errorf("%s comes from %s, want %s", s.Key, s.Origin, want)
		}
	}
}

// A clone's state folder may have come with the clone, so it cannot choose who reads the sessions.
func TestSomeSettingsAreTheUsersOwn(t *testing.T) {
	for _, text := range []string{"[model]\nhost = \"10.0.0.1:11434\"\n", "[model]\nremote = true\n", "[model]\nprompts = \"/tmp\"\n",
		"model.name = \"agent:claude\"\n", "[model]\nreflect = 'agent:codex'\n", "model.dream = \"agent:gemini\"\n"} {
		if _, err := Load(written(t, text)); err != nil {
			t.Errorf("the user may not: %v", err)
		}
		if _, err := Load(written(t, ""), written(t, text)); err == nil || !strings.Contains(err.Error(), "only your own settings") {
			t.Errorf("a clone may set %q: %v", text, err)
		}
	}
}

func TestBadSettingIsNamedByLineAndKey(t *testing.T) {
	for text, want := range map[string]string{
		"\nsightings = 0\n":                  ":2: sightings: 0 is not a whole number from 2",
		"sightings = 2.5\n":                  ":1: sightings: 2.5 is not",
		"accept = [\"model\"]\n":             ":1: accept: model is not one of said, seen",
		"accept = \"said\"\n":                ":1: accept: said is not a list",
		"private = [\"secret\"]\n":           ":1: private: secret is not one of",
		"[sessions]\nkeep-days = -1\n":       ":2: sessions.keep-days: -1 is not",
		"nosuch = 1\n":                       ":1: nosuch: it is not a setting",
		"a = \n":                             ":1:",
		"[memory]\nref = \"memory\"\n":       ":2: memory.ref: memory is not a whole ref name",
		"memory.ref = \"refs/heads/../x\"\n": ":1: memory.ref:",
		"agents.file = \".git/hooks/x\"\n":   ":1: agents.file: .git/hooks/x is in a git directory",
		"agents.file = \"a/.GIT./x\"\n":      ":1: agents.file: a/.GIT./x is in a git directory",
		"agents.file = \"git~1/x\"\n":        ":1: agents.file: git~1/x is in a git directory",
		"agents.file = \"../x\"\n":           ":1: agents.file: ../x is not a path inside",
	} {
		if _, err := Load(written(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

func TestTeamCanOnlyRestrict(t *testing.T) {
	c := Default()
	c.Accept, c.Sightings = []string{"said"}, 3
	if err := c.Restrict("reverie.toml", []byte("format = 1\naccept = [\"seen\", \"said\"]\nsightings = 2\nprivate = [\"note\"]\nfuture = true\n")); err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Accept, want.Sightings, want.Private = []string{"said"}, 3, []string{"preference", "note"}
	if diff := cmp.Diff(want, c, cmpopts.IgnoreUnexported(Config{})); diff != "" {
		t.Error(diff)
	}
	if err := c.Restrict("reverie.toml", []byte("format = 1\naccept = []\n")); err != nil || len(c.Accept) != 0 {
		t.Errorf("review only: accept %v, error %v", c.Accept, err)
	}
	if err := c.Restrict("reverie.toml", []byte("format = 1\n[memory]\nref = \"refs/heads/main\"\n")); err == nil || !strings.Contains(err.Error(), "reverie.toml:3: memory.ref") {
		t.Errorf("a team moved the ref: %v", err)
	}
	if err := c.Restrict("reverie.toml", []byte("format = 2\n")); !errors.Is(err, ErrNewer) {
		t.Errorf("error %v, want ErrNewer", err)
	}
	if err := c.Restrict("reverie.toml", []byte("")); err == nil {
		t.Error("a store without format was taken")
	}
}

func TestMemoryRefIsForMemoryAlone(t *testing.T) {
	for ref, ok := range map[string]bool{
		"refs/heads/reverie/memory": true, "refs/heads/memory": true, "refs/reverie/memory": true, "refs/heads/team/main": true,
		"refs/heads/main": false, "refs/heads/master": false, "refs/heads/Main": false, "refs/heads/HEAD": false, "HEAD": false, "refs/remotes/origin/reverie/memory": false,
		"refs/tags/v1": false, "refs/reverie/journal": false, "refs/reverie/inbox": false, "refs/stash": false, "refs/notes/commits": false,
	} {
		if _, err := Load(written(t, "memory.ref = \""+ref+"\"\n")); (err == nil) != ok {
			t.Errorf("%s: %v", ref, err)
		}
	}
}

// A Config is a plain value: changing one copy leaves the others alone.
func TestRestrictLeavesCopiesAlone(t *testing.T) {
	user := written(t, "sightings = 5\n")
	c, err := Load(user)
	if err != nil {
		t.Fatal(err)
	}
	team := c
	if err := team.Restrict("reverie.toml", []byte("format = 1\nsightings = 2\nsessions.keep-days = 7\n")); err != nil {
		t.Fatal(err)
	}
	origins := func(c Config) map[string]string {
		out := map[string]string{}
		for _, s := range c.Settings() {
			out[s.Key] = s.Origin
		}
		return out
	}
	if got := origins(c)["sessions.keep-days"]; got != "default" {
		t.Errorf("the copy's keep-days come from %s", got)
	}
	if got := origins(team); got["sessions.keep-days"] != "reverie.toml" || got["sightings"] != user {
		t.Errorf("origins %v: only a value that the team changed is the team's", got)
	}
}

func TestSetKeepsOtherLines(t *testing.T) {
	name := written(t, "# mine\nsightings = 3 # three\n\n[sessions]\nkeep-days = 9\n")
	for _, kv := range [][2]string{{"sessions.keep-days", "10"}, {"sightings", "4"}, {"agents.file", "docs/AGENTS.md"}} {
		if err := Set(name, kv[0], kv[1]); err != nil {
			t.Fatal(err)
		}
	}
	want := "# mine\nsightings = 4\n\nagents.file = \"docs/AGENTS.md\"\n[sessions]\nkeep-days = 10\n"
	got, _ := os.ReadFile(name)
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	if err := Set(name, "sightings", "many"); err == nil {
		t.Error("a bad value was written")
	}
	if after, _ := os.ReadFile(name); string(after) != want {
		t.Errorf("a refused value changed the file:\n%s", after)
	}
	if err := Set(name, "nosuch", "1"); err == nil {
		t.Error("an unknown key was written")
	}
}

func TestTeamMayWithholdWhatIsStale(t *testing.T) {
	c := Default()
	if err := c.Restrict("reverie.toml", []byte("format = 1\ncontext.stale = \"withhold\"\n")); err != nil || c.Stale != "withhold" {
		t.Errorf("%q, %v", c.Stale, err)
	}
	if err := c.Restrict("reverie.toml", []byte("format = 1\ncontext.stale = \"label\"\n")); err != nil || c.Stale != "withhold" {
		t.Errorf("a team gave back what was narrowed: %q, %v", c.Stale, err)
	}
	if err := c.Restrict("reverie.toml", []byte("format = 1\ncode.default-branch = \"x\"\n")); err == nil {
		t.Error("a team named the default branch")
	}
	for _, bad := range []string{"context.stale = \"hide\"", "context.stale = true", "code.default-branch = \"-x\"", "code.default-branch = \"refs/heads/x\"", "code.default-branch = \"a..b\""} {
		if _, err := Load(written(t, bad)); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

// An age is written as users type it, reads back the same, and a team can only lower it.
func TestAges(t *testing.T) {
	for text, want := range map[string]string{
		`"7d"`: "7d", `"2w"`: "14d", `"36h"`: "36h0m0s", `"90m"`: "1h30m0s", `"off"`: "off", `0`: "off", `"0d"`: "off",
		`"soon"`: "", `7`: "", `"-1h"`: "", `true`: "", `"d"`: "",
	} {
		c := Default()
		err := c.apply("config.toml", []byte("context.handover = "+text+"\n"), theUsers)
		if got := age(c.Handover); (err == nil) != (want != "") || err == nil && got != want {
			t.Errorf("%s: %s, %v", text, got, err)
		}
		again, err2 := parseAge(age(c.Handover))
		if err2 != nil || again != c.Handover {
			t.Errorf("%s: read back as %v, %v", text, again, err2)
		}
	}
	for text, want := range map[string]string{"1d": "1d", "30d": "7d", "off": "off"} {
		c := Default()
		if err := c.Restrict("reverie.toml", []byte("format = 1\ncontext.handover = \""+text+"\"\ncontext.compaction = 9000\n")); err != nil {
			t.Fatal(err)
		}
		if age(c.Handover) != want || c.Compaction != 500 {
			t.Errorf("a team's %s: %v, %d", text, c.Handover, c.Compaction)
		}
	}
}

// A model has a name for each of its two tasks, and a team's off holds for both.
func TestModelsOfTheTasks(t *testing.T) {
	for text, want := range map[string][2]string{
		"":                        {"off", "off"},
		"model.name = \"auto\"\n": {"auto", "auto"},
		"model.name = \"a\"\nmodel.dream = \"b\"\n":                         {"a", "b"},
		"model.reflect = \"agent:claude\"\n":                                {"agent:claude", "off"},
		"model.name = \"a\"\nmodel.reflect = \"off\"\nmodel.dream = \"\"\n": {"off", "a"},
	} {
		c, err := Load(written(t, text))
		if got := [2]string{c.Model.Reads(), c.Model.Dreams()}; err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
		if err := c.Restrict("reverie.toml", []byte("format = 1\nmodel.name = \"off\"\n")); err != nil || c.Model.Reads() != Off || c.Model.Dreams() != Off {
			t.Errorf("%q: a team's off leaves %q and %q, %v", text, c.Model.Reads(), c.Model.Dreams(), err)
		}
	}
	for _, text := range []string{"model.reflect = \"off\"\n", "model.dream = \"off\"\n", "model.reflect = \"agent:claude\"\n", "model.name = \"agent:claude\"\n"} {
		c := Default()
		if err := c.Restrict("reverie.toml", []byte("format = 1\n"+text)); err == nil || c.Model != Default().Model {
			t.Errorf("a team said %q: %+v", text, c.Model)
		}
	}
	for _, text := range []string{"model.name = \"agent:cursor\"\n", "model.name = \"agent:\"\n", "model.embed = \"agent:claude\"\n"} {
		if _, err := Load(written(t, text)); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

// Variables name models for a person's commands, and never an agent.
func TestEnvironment(t *testing.T) {
	set := map[string]string{"REVERIE_MODEL": "one", "REVERIE_MODEL_DREAM": "two", "REVERIE_MODEL_EMBED": "three", "REVERIE_ACCEPT": "said", "REVERIE_MODEL_REMOTE": "true"}
	c, err := Load(written(t, "model.name = \"zero\"\n"))
	if err == nil {
		err = c.Environment(func(name string) string { return set[name] })
	}
	if err != nil {
		t.Fatal(err)
	}
	want := Default().Model
	want.Name, want.Dream, want.Embed = "one", "two", "three"
	if diff := cmp.Diff(want, c.Model); diff != "" {
		t.Error(diff)
	}
	origins := map[string]string{}
	for _, s := range c.Settings() {
		origins[s.Key] = s.Origin
	}
	if origins["model.name"] != "REVERIE_MODEL" || origins["model.dream"] != "REVERIE_MODEL_DREAM" || origins["model.reflect"] != "default" {
		t.Errorf("origins: %q", origins)
	}
	for variable, value := range map[string]string{"REVERIE_MODEL": "agent:claude", "REVERIE_MODEL_REFLECT": "agent:codex", "REVERIE_MODEL_DREAM": "a b"} {
		c := Default()
		err := c.Environment(func(name string) string { return map[string]string{variable: value}[name] })
		if err == nil || !strings.HasPrefix(err.Error(), variable+": ") || c.Model != Default().Model {
			t.Errorf("%s=%s: %v", variable, value, err)
		}
	}
}

func TestOwn(t *testing.T) {
	for _, c := range []struct {
		key, value string
		own        bool
	}{{"model.host", "x", true}, {"model.name", "qwen3", false}, {"model.name", "agent:claude", true}, {"model.dream", `"agent:codex"`, true}, {"agents.file", "agent:x", false}} {
		if got := Own(c.key, c.value); got != c.own {
			t.Errorf("%s = %s: %v", c.key, c.value, got)
		}
	}
}
