package agents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/hooks"
)

// hook is an entry as a client reads it.
type hook struct {
	Event, Matcher, If, Command string
	Timeout                     int
}

// hooksIn returns the entries for calls in a settings file, as the JSON library reads them.
func hooksIn(t *testing.T, text []byte) (found []hook) {
	t.Helper()
	var settings struct {
		Hooks map[string][]struct {
			hook  // without groups
			Hooks []hook
		}
	}
	if err := json.Unmarshal(text, &settings); err != nil {
		t.Fatal(err)
	}
	for _, event := range []string{"PreToolUse", "PostToolUse", "PostToolUseFailure", "BeforeTool", "AfterTool", "beforeShellExecution", "preToolUse"} {
		for _, group := range settings.Hooks[event] {
			if group.Command != "" {
				group.Hooks = []hook{group.hook}
			}
			for _, h := range group.Hooks {
				h.Event, h.Matcher = event, group.Matcher
				found = append(found, h)
			}
		}
	}
	return found
}

// rulesOf returns the event, tools and rule of each entry.
func rulesOf(t *testing.T, text []byte) (all []string) {
	t.Helper()
	for _, h := range hooksIn(t, text) {
		all = append(all, strings.TrimSpace(h.Event+" "+h.Matcher+" "+h.If))
	}
	return all
}

func TestEntriesForCalls(t *testing.T) {
	run := hooks.Filter{Commands: []string{"npm *"}}
	fail := hooks.Filter{Failing: []string{"go test *"}}
	edit := hooks.Filter{Files: []string{"generated/**"}}
	other := hooks.Filter{Tools: []string{"mcp__db__drop"}}
	for _, c := range []struct {
		agent  string
		filter hooks.Filter
		want   []string
	}{
		{"claude", hooks.Filter{}, nil},
		{"claude", run, []string{"PreToolUse Bash Bash(*npm*)"}},
		{"claude", fail, []string{"PostToolUseFailure Bash Bash(*go*test*)"}},
		{"claude", edit, []string{"PreToolUse Edit Edit(//**/generated/**)", "PreToolUse Write Write(//**/generated/**)", "PreToolUse NotebookEdit NotebookEdit(//**/generated/**)"}},
		{"claude", other, []string{"PreToolUse mcp__db__drop"}},
		{"codex", other, []string{"PreToolUse mcp__db__drop"}},
		{"gemini", other, []string{"BeforeTool mcp__db__drop", "AfterTool mcp__db__drop"}},
		{"codex", hooks.Filter{}, nil},
		{"codex", run, []string{"PreToolUse Bash|apply_patch"}},
		{"codex", fail, []string{"PostToolUse Bash"}},
		{"codex", edit, []string{"PreToolUse Bash|apply_patch"}},
		{"gemini", hooks.Filter{}, nil},
		{"gemini", run, []string{"BeforeTool run_shell_command|write_file|replace", "AfterTool run_shell_command|write_file|replace"}},
		{"gemini", fail, []string{"AfterTool run_shell_command|write_file|replace"}},
		{"copilot", run, []string{"PreToolUse Bash|Edit|Write"}},
		{"copilot", fail, []string{"PostToolUse Bash"}},
		{"cursor", run, []string{"beforeShellExecution"}},
		{"cursor", fail, nil},
		{"cursor", edit, []string{"preToolUse Write|Delete"}},
		{"cursor", other, []string{"preToolUse mcp__db__drop"}},
		{"qwen", fail, []string{"PostToolUse run_shell_command|edit|write_file", "PostToolUseFailure run_shell_command"}},
		{"gemini", edit, []string{"BeforeTool run_shell_command|write_file|replace", "AfterTool run_shell_command|write_file|replace"}},
	} {
		text, _, err := addEntries(nil, agent(t, c.agent), Command("/opt/reverie", c.agent), c.filter, nil)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, rulesOf(t, text)); d != "" {
			t.Errorf("%s for %+v: %s", c.agent, c.filter, d)
		}
		for _, h := range hooksIn(t, text) {
			if h.Command != Command("/opt/reverie", c.agent) || h.Timeout != int(5*time.Second/agent(t, c.agent).Unit) {
				t.Errorf("%+v", h)
			}
		}
	}
}

// No pattern yields a rule that a client cannot parse, and each rule still matches the words of its
// pattern.
func TestRulesOfOddPatterns(t *testing.T) {
	for pattern, want := range map[string]string{
		"npm *":                      "Bash(*npm*)",
		"npm run":                    "Bash(*npm*run*)",
		"git push * main":            "Bash(*git*push*main*)",
		"*lint *":                    "Bash(*lint*)",
		"./build.sh --all=1":         "Bash(*./build.sh*--all=1*)",
		"docker run a:b":             "Bash(*docker*run*a*b*)",
		"npm run test:*":             "Bash(*npm*run*test*)",
		"echo ) (":                   "Bash(*echo*)",
		`a\b "c" 'd' $e`:             "Bash(*a*b*c*d*e*)",
		"größer als":                 "Bash(*gr*er*als*)",
		"a\nb":                       "Bash(*a*b*)",
		"*":                          "",
		"(…)":                        "",
		strings.Repeat("x ", 3) + "": "Bash(*x*x*x*)",
	} {
		if got := commandRules("Bash", []string{pattern}); !slices.Equal(got, []string{want}) {
			t.Errorf("%q: %q, want %q", pattern, got, want)
		}
	}
	for glob, want := range map[string]string{
		"generated/**":   "Edit(//**/generated/**)",
		"generated/":     "Edit(//**/generated)",
		"*.sh":           "Edit(//**/*.sh)",
		"**/*.go":        "Edit(//**/**/*.go)",
		"a/[bc]/d?.go":   "Edit(//**/a/*/d?.go)",
		"my dir/x":       "Edit(//**/*/x)",
		"a)/!b/#c/{d,e}": "Edit(//**/*/*/*/*)",
		`a\*b`:           "Edit(//**/*)",
		"/a":             "Edit(//**/a)",
		"../a":           "Edit(//**/*/a)",
		"ü/x":            "Edit(//**/*/x)",
	} {
		if got := fileRules("Edit", []string{glob}); !slices.Equal(got, []string{want}) {
			t.Errorf("%q: %q, want %q", glob, got, want)
		}
	}
	if got := commandRules("Bash", []string{"npm *", "npm", "", "a b"}); !slices.Equal(got, []string{"Bash(*a*b*)", "Bash(*npm*)"}) {
		t.Errorf("%q", got)
	}
	if got := commandRules("Bash", []string{"npm *", "*"}); !slices.Equal(got, []string{""}) {
		t.Errorf("with a pattern that limits nothing: %q", got)
	}
	if got := commandRules("Bash", []string{""}); got != nil {
		t.Errorf("for no pattern: %q", got)
	}
}

func TestManyRulesBecomeOneEntry(t *testing.T) {
	var f hooks.Filter
	for i := range maxRules {
		f.Commands = append(f.Commands, fmt.Sprintf("tool%d *", i))
	}
	a := agent(t, "claude")
	if n := len(callWants(a, f)); n != maxRules {
		t.Errorf("%d entries for %d rules", n, maxRules)
	}
	f.Commands = append(f.Commands, "one more")
	f.Files = []string{"a"}
	var got []string
	for _, w := range callWants(a, f) {
		got = append(got, w.key.String())
	}
	if d := cmp.Diff([]string{"PreToolUse Bash", "PreToolUse Edit(//**/a)", "PreToolUse Write(//**/a)", "PreToolUse NotebookEdit(//**/a)"}, got); d != "" {
		t.Error(d)
	}
}

// guarded is a place whose clones have filters.
type guarded struct {
	*place
	filters map[string]hooks.Filter
}

func newGuarded(t *testing.T) guarded {
	g := guarded{newPlace(t), map[string]hooks.Filter{}}
	g.in.FilterOf = func(clone string) hooks.Filter { return g.filters[clone] }
	return g
}

func (g guarded) refresh(clone string) (files []string) {
	g.t.Helper()
	changed, err := g.in.Refresh(g.t.Context(), clone)
	if err != nil {
		g.t.Fatal(err)
	}
	for _, c := range changed {
		files = append(files, c.File)
	}
	return files
}

func (g guarded) read(file string) []byte {
	g.t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		g.t.Fatal(err)
	}
	return text
}

// A file gets entries for calls, others, and none, and is the same as without them at each return.
func TestGuardsComeAndGoWithoutTrace(t *testing.T) {
	some := hooks.Filter{Commands: []string{"npm *", "git push *"}, Failing: []string{"go test *"}, Files: []string{"generated/**"}, Tools: []string{"mcp__db__drop"}}
	other := hooks.Filter{Commands: []string{"git push *", "make *"}, Files: []string{"*.lock"}}
	own := map[string]string{
		"own calls":  "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"if\": \"Bash(*npm*)\", \"command\": \"mine\"}]}\n    ],\n    \"BeforeTool\": [{\"matcher\": \"x\", \"hooks\": []}]\n  }\n}\n",
		"no calls":   "{\"hooks\": {\"PreToolUse\": [], \"PostToolUse\": [], \"AfterTool\": []}, \"theme\": 1}",
		"no groups":  "{\"version\": 1, \"hooks\": {\"stop\": [{\"command\": \"./mine.sh\", \"loop_limit\": 10}], \"preToolUse\": [{\"command\": \"mine\", \"matcher\": \"Shell\"}], \"beforeShellExecution\": []}}\n",
		"tab indent": "{\n\t\"hooks\": {\n\t\t\"PreToolUse\": []\n\t}\n}",
	}
	for _, name := range []string{"claude", "codex", "gemini", "copilot", "qwen", "cursor"} {
		texts := map[string]string{"nothing": "{}"}
		for _, all := range []map[string]string{priors, own} {
			for n, text := range all {
				if name != "codex" || n != "byte order mark" {
					texts[n] = text
				}
			}
		}
		for n, text := range texts {
			t.Run(name+"/"+n, func(t *testing.T) {
				t.Parallel()
				g := newGuarded(t)
				target := g.user(name)
				target.Bare = true
				if n != "nothing" {
					g.write(target.File, text, 0o604)
				}
				before := g.tree()
				clone := g.clone("clone1")
				g.install(target, clone)
				bare := g.tree()
				if got := g.refresh(clone); got != nil {
					t.Errorf("without a filter %q changed", got)
				}
				for _, f := range []hooks.Filter{some, other, some} {
					g.filters[clone] = f
					if got := g.refresh(clone); !slices.Equal(got, []string{target.File}) {
						t.Errorf("changed %q", got)
					}
					now := g.read(target.File)
					if s, err := g.in.Examine(target); err != nil || len(s.Missing)+len(s.Twice)+len(s.Needless) > 0 || len(s.entries) != len(eventWants(target.Agent))+len(callWants(target.Agent, f)) {
						t.Errorf("%+v: %v in\n%s", s, err, now)
					}
					sameBut(t, texts[n], now)
					if got := g.refresh(clone); got != nil || !bytes.Equal(now, g.read(target.File)) {
						t.Errorf("the second time changed %q", got)
					}
					g.install(target, clone)
					if !bytes.Equal(now, g.read(target.File)) {
						t.Errorf("installing again changed:\n%s", cmp.Diff(string(now), string(g.read(target.File))))
					}
				}
				g.filters[clone] = hooks.Filter{}
				g.refresh(clone)
				if d := cmp.Diff(bare, g.tree()); d != "" {
					t.Errorf("after the last guard:\n%s", d)
				}
				g.filters[clone] = some
				g.install(target, clone)
				if len(hooksIn(t, bytes.TrimPrefix(g.read(target.File), byteOrderMark))) < 2 {
					t.Error("installing added none")
				}
				if fate := g.remove(target, clone); fate != Returns && fate != Goes {
					t.Errorf("fate %s", fate)
				}
				if d := cmp.Diff(before, g.tree()); d != "" {
					t.Errorf("left behind:\n%s", d)
				}
				g.stateless()
			})
		}
	}
}

func TestFileServesTheGuardsOfAllItsClones(t *testing.T) {
	g := newGuarded(t)
	target, a, b := g.user("claude"), g.clone("clone1"), g.clone("clone2")
	g.install(target, a)
	if err := g.in.Claim(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	const npm, push = "PreToolUse Bash Bash(*npm*)", "PreToolUse Bash Bash(*git*push*)"
	g.filters[a] = hooks.Filter{Commands: []string{"npm *"}}
	g.filters[b] = hooks.Filter{Commands: []string{"npm *", "git push *"}}
	g.refresh(b)
	if d := cmp.Diff([]string{push, npm}, rulesOf(t, g.read(target.File))); d != "" {
		t.Error(d)
	}
	if got := g.refresh(a); got != nil {
		t.Errorf("the other clone changed %q", got)
	}
	if got := g.refresh(g.clone("clone3")); got != nil {
		t.Errorf("a clone without a claim changed %q", got)
	}
	if fate := g.remove(target, b); fate != Stays {
		t.Errorf("fate %s", fate)
	}
	if d := cmp.Diff([]string{npm}, rulesOf(t, g.read(target.File))); d != "" {
		t.Errorf("after the second left: %s", d)
	}
	os.RemoveAll(filepath.Dir(a))
	c := g.clone("clone4")
	g.install(target, c)
	if got := rulesOf(t, g.read(target.File)); got != nil {
		t.Errorf("a clone that is gone needs %q", got)
	}
}

// Refresh leaves entries for sessions alone, and files that the user rid of us.
func TestRefreshTouchesOnlyCalls(t *testing.T) {
	g := newGuarded(t)
	target, clone := g.user("claude"), g.clone("clone1")
	g.install(target, clone)
	g.filters[clone] = hooks.Filter{Commands: []string{"npm *"}}
	text := strings.Replace(string(g.read(target.File)), `"Stop"`, `"Stopped"`, 1)
	text = strings.Replace(text, "\"timeout\": 5\n", "\"timeout\": 9\n", 1)
	g.write(target.File, text, 0o600)
	g.refresh(clone)
	got := string(g.read(target.File))
	if !strings.Contains(got, `"timeout": 9`) || strings.Contains(got, `"Stop":`) || !strings.Contains(got, "Bash(*npm*)") {
		t.Errorf("now %s", got)
	}
	for name, spoil := range map[string]func(){
		"emptied": func() { g.write(target.File, "{}\n", 0o600) },
		"removed": func() { os.Remove(target.File) },
	} {
		spoil()
		was := g.tree()
		g.filters[clone] = hooks.Filter{Commands: []string{name}}
		if got := g.refresh(clone); got != nil {
			t.Errorf("%s: changed %q", name, got)
		}
		if d := cmp.Diff(was, g.tree()); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	g.write(target.File, "{", 0o600)
	g.filters[clone] = hooks.Filter{}
	if _, err := g.in.Refresh(t.Context(), clone); err == nil || !strings.Contains(err.Error(), target.File) {
		t.Errorf("a damaged file: %v", err)
	}
}

// A change by the user between two refreshes belongs to the file that an uninstall gives back.
func TestUserEditBetweenRefreshesSurvives(t *testing.T) {
	g := newGuarded(t)
	target, clone := g.user("claude"), g.clone("clone1")
	g.write(target.File, "{\n  \"theme\": \"dark\"\n}\n", 0o600)
	g.filters[clone] = hooks.Filter{Commands: []string{"npm *"}}
	g.install(target, clone)
	g.write(target.File, strings.Replace(string(g.read(target.File)), "dark", "light", 1), 0o600)
	g.filters[clone] = hooks.Filter{Failing: []string{"make *"}}
	g.refresh(clone)
	if fate := g.remove(target, clone); fate != Returns {
		t.Errorf("fate %s", fate)
	}
	if got := string(g.read(target.File)); got != "{\n  \"theme\": \"light\"\n}\n" {
		t.Errorf("left %q", got)
	}
}

func TestExamineComparesWithTheGuards(t *testing.T) {
	g := newGuarded(t)
	target, clone := g.user("claude"), g.clone("clone1")
	g.install(target, clone)
	look := func() string {
		s, err := g.in.Examine(target)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(s.Missing, s.Twice, s.Needless)
	}
	if got := look(); got != "[] [] []" {
		t.Errorf("without guards: %s", got)
	}
	g.filters[clone] = hooks.Filter{Commands: []string{"npm *"}}
	if got := look(); got != "[PreToolUse Bash(*npm*)] [] []" {
		t.Errorf("before the refresh: %s", got)
	}
	g.refresh(clone)
	text := string(g.read(target.File))
	group := text[strings.Index(text, `"PreToolUse": [`)+len(`"PreToolUse": [`):]
	group = group[:strings.Index(group, "\n    ]")]
	g.write(target.File, strings.Replace(text, group, group+","+group, 1), 0o600)
	if got := look(); got != "[] [PreToolUse Bash(*npm*)] []" {
		t.Errorf("doubled: %s", got)
	}
	g.filters[clone] = hooks.Filter{Commands: []string{"make *"}}
	if got := look(); got != "[PreToolUse Bash(*make*)] [] [PreToolUse Bash(*npm*)]" {
		t.Errorf("with another guard: %s", got)
	}
	g.install(target, clone)
	if got := look(); got != "[] [] []" {
		t.Errorf("installed: %s", got)
	}
}

// The call of a tool goes on whatever the program does: it ends with 0 and says nothing.
func TestBrokenProgramStopsNoCall(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no POSIX shell here")
	}
	for _, name := range []string{"claude", "codex", "gemini", "copilot", "qwen", "cursor"} {
		for what, program := range map[string]string{
			"missing":  "/nowhere/reverie",
			"crashing": fake(t, "echo 'panic: x' >&2; echo 'goroutine 1' >&2; exit 2"),
			"killed":   fake(t, "kill -SEGV $$"),
			"failing":  fake(t, "exit 1"),
		} {
			cmd := exec.Command("sh", "-c", Command(program, name))
			cmd.Stdin = strings.NewReader("{}")
			if out, err := cmd.Output(); err != nil || len(out) > 0 {
				t.Errorf("%s, %s: %v, said %q", name, what, err, out)
			}
		}
	}
	// One client waits until all writers have closed the pipe.
	cmd := exec.Command("sh", "-c", Command(fake(t, "exec sleep 5"), "gemini"))
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond)
	began := time.Now()
	cmd.Process.Kill()
	cmd.Wait()
	if took := time.Since(began); took > 3*time.Second || out.Len() > 0 {
		t.Errorf("a killed shell left the pipe open for %s, said %q", took, &out)
	}
}
