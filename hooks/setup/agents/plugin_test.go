package agents

import (
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

// driver loads the plugin as OpenCode does and plays a session to it. It prints the outputs as the
// hooks changed them.
const driver = `
import * as plugin from "./reverie.mjs"
const names = Object.keys(plugin)
if (names.length !== 1) throw new Error("exports " + names)
const client = { session: { get: async ({ path }) => ({ data: { parentID: path.id === "ses_child" ? "ses_top" : undefined } }) } }
const hooks = await plugin[names[0]]({ client, directory: process.cwd(), worktree: process.cwd() }, {})
const began = Date.now()
const out = { hooks: Object.keys(hooks).sort() }
const call = async (name, input, output) => { if (hooks[name]) await hooks[name](input, output); return output }
const event = (type, properties) => hooks.event?.({ event: { type, properties } })
const id = "ses_top"
out.config = await call("config", {}) ?? null
const config = { command: { mine: {}, loop: { template: "the user's own" } } }
await call("config", config); out.commands = Object.keys(config.command); out.loop = config.command.loop; out.server = config.mcp?.reverie
await event("session.created", { sessionID: id, info: { id } })
out.message = await call("chat.message", { sessionID: id }, { message: { id: "msg_1" }, parts: [
  { id: "prt_000000000001aaaaaaaaaaaaaa", type: "text", text: "fix it" }, { type: "text", text: "not typed", synthetic: true }] })
out.system = await call("experimental.chat.system.transform", { sessionID: id, model: {} }, { system: ["big"] })
out.title = await call("experimental.chat.system.transform", { model: {} }, { system: ["big"] })
out.child = await call("experimental.chat.system.transform", { sessionID: "ses_child", model: {} }, { system: ["big"] })
out.compacting = await call("experimental.session.compacting", { sessionID: id }, { context: [] })
await event("session.compacted", { sessionID: id })
out.after = await call("experimental.chat.system.transform", { sessionID: id, model: {} }, { system: ["big"] })
out.env = await call("shell.env", { sessionID: id, cwd: "." }, { env: {} })
await call("chat.message", { sessionID: id }, { message: { id: "msg_2" }, parts: [{ type: "text", text: "<reverie-command>" }] })
await call("command.execute.before", { command: "remember", sessionID: id, arguments: '"say \\"a\\""' }, { parts: [] })
out.command = await call("command.execute.before", { command: "remember", sessionID: id, arguments: "use pnpm; $(touch pwned)" }, { parts: [] })
out.review = await call("command.execute.before", { command: "review", sessionID: id, arguments: "" }, { parts: [{ type: "text", text: "Always push." }] })
await call("chat.message", { sessionID: id }, { message: { id: "msg_3" }, parts: out.review.parts })
await event("session.idle", { sessionID: id })
await event("session.odd", undefined)
await hooks.event?.(undefined)
await hooks.dispose?.()
out.ms = Date.now() - began
console.log(JSON.stringify(out))
`

type played struct {
	Hooks, Commands             []string
	Loop                        struct{ Template string }
	Message                     struct{ Parts []map[string]any }
	System, Title, Child, After struct{ System []string }
	Compacting                  struct{ Context []string }
	Env                         struct{ Env map[string]string }
	Command, Review             struct{ Parts []map[string]any }
	Server                      struct {
		Type    string
		Command []string
		Enabled bool
		Timeout int
	}
	MS int
}

// play runs the plugin with node against a program.
func play(t *testing.T, program string, env ...string) (p played, took time.Duration) {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("no node here; the tests with the real clients run the plugin too")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"reverie.mjs": string(plugin(agent(t, "opencode"), program, true)), "driver.mjs": driver} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("node", "driver.mjs")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	began := time.Now()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	if stderr.Len() > 0 {
		t.Errorf("it said %s", &stderr)
	}
	if err := json.Unmarshal(out, &p); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
		t.Error("a shell ran what the user typed")
	}
	return p, time.Since(began)
}

// fake writes a program that replaces ours.
func fake(t *testing.T, body string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), `re"ve rie\`)
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+body), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestPluginPipesEventsAndGivesAnswers(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	p, _ := play(t, fake(t, `in=$(cat); echo "$*|$in" >>'`+log+`'; case "$1" in remember) echo "mem 1234$OPENCODE";; *) echo "context of $3";; esac`), "OPENCODE=1")
	listed := []string{"mine", "loop", "cancel-loop", "checkpoint", "dream", "recall", "reflect", "remember", "reverie-review"}
	if d := cmp.Diff(listed, p.Commands); d != "" {
		t.Error(d)
	}
	if p.Loop.Template != "the user's own" {
		t.Errorf("the user's own command became %q", p.Loop.Template)
	}
	if s := p.Server; s.Type != "local" || len(s.Command) != 4 || !slices.Equal(s.Command[1:], []string{"mcp", "--agent", "opencode"}) || !s.Enabled || s.Timeout < 1000 {
		t.Errorf("server %+v", s)
	}
	if n := len(p.Message.Parts); n != 3 {
		t.Fatalf("parts %v", p.Message.Parts)
	}
	part := p.Message.Parts[2]
	first, id := p.Message.Parts[0]["id"].(string), part["id"].(string)
	if part["text"] != "context of chat.message\n" || part["synthetic"] != true || part["sessionID"] != "ses_top" || part["messageID"] != "msg_1" || id <= first || len(id) != len(first) {
		t.Errorf("part %v", part)
	}
	for _, c := range []struct{ got, want []string }{
		{p.System.System, []string{"big", "context of session.created\n"}},
		{p.Title.System, []string{"big"}},
		{p.Child.System, []string{"big", "context of session.created\n"}},
		{p.Compacting.Context, []string{"context of session.compacting\n"}},
		{p.After.System, []string{"big", "context of session.compacted\n"}},
	} {
		if d := cmp.Diff(c.want, c.got); d != "" {
			t.Error(d)
		}
	}
	if d := cmp.Diff(map[string]string{hooks.AgentVariable: "opencode", hooks.SessionVariable: "ses_top"}, p.Env.Env); d != "" {
		t.Error(d)
	}
	if text := fmt.Sprint(p.Command.Parts); !strings.Contains(text, "Kept: mem 1234<") {
		// The text is the same as from a person's shell.
		t.Errorf("command %s", text)
	}
	if text := fmt.Sprint(p.Review.Parts); !strings.Contains(text, "metadata:map[reverie:command]") {
		t.Errorf("a command's text is not told from what is typed: %s", text)
	}
	var got []string
	for line := range strings.Lines(await(t, log, 10)) {
		args, in, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "|")
		if args == "remember -" {
			got = append(got, args+" "+in)
			continue
		}
		var e map[string]string
		if err := json.Unmarshal([]byte(in), &e); err != nil {
			t.Fatalf("%v: %s", err, in)
		}
		if args != "hook opencode "+e["hook_event_name"] || e["cwd"] == "" {
			t.Errorf("%s with %s", args, in)
		}
		got = append(got, strings.TrimRight(fmt.Sprint(e["hook_event_name"], " ", e["session_id"], " ", e["parent_id"], " ", e["prompt"]), " "))
	}
	want := []string{
		"session.created ses_top",
		"chat.message ses_top  fix it",
		"session.created ses_child ses_top",
		"session.compacting ses_top",
		"session.compacted ses_top",
		`remember - say "a"`,
		"remember - use pnpm; $(touch pwned)",
	}
	if d := cmp.Diff(want, got[:min(len(want), len(got))]); d != "" {
		t.Error(d)
	}
	rest := strings.Join(got[min(len(want), len(got)):], "\n") // in no order
	for _, line := range []string{"session.idle ses_top", "dispose ses_top", "dispose ses_child ses_top"} {
		if !strings.Contains(rest, line) {
			t.Errorf("%s was not delivered: %s", line, rest)
		}
	}
	if strings.Contains(rest, "Always push.") {
		t.Errorf("a command's text was delivered as a prompt: %s", rest)
	}
	names := map[string]bool{}
	for _, d := range agent(t, "opencode").Deliveries {
		names[d.Name] = true
	}
	for _, line := range got {
		if name, _, _ := strings.Cut(line, " "); name != "remember" && !names[name] {
			t.Errorf("%s is not in the table", name)
		}
	}
}

// await reads a file once it has n lines, because the plugin does not wait for the last call.
func await(t *testing.T, file string, n int) string {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		text, err := os.ReadFile(file)
		if err == nil && strings.Count(string(text), "\n") >= n {
			return string(text)
		}
		if time.Now().After(end) {
			t.Fatalf("%d lines of %d, %v: %s", strings.Count(string(text), "\n"), n, err, text)
		}
	}
}

func TestPluginOutlivesItsProgram(t *testing.T) {
	for name, c := range map[string]struct {
		program string
		atMost  time.Duration
	}{
		"missing":  {"/nowhere/reverie", 10 * time.Second},
		"crashing": {fake(t, "kill -SEGV $$"), 10 * time.Second},
		"failing":  {fake(t, "echo out of place; exit 2"), 10 * time.Second},
		"deaf":     {fake(t, "exec 0<&-; exit 0"), 10 * time.Second},
		"flooding": {fake(t, "yes 'a line of text' | head -c 3000000"), 20 * time.Second},
		"hanging":  {fake(t, "trap '' TERM; exec sleep 60"), 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, took := play(t, c.program)
			for _, system := range [][]string{p.System.System, p.After.System, p.Child.System} {
				if d := cmp.Diff([]string{"big"}, system); d != "" {
					t.Error(d)
				}
			}
			if len(p.Message.Parts) != 2 || len(p.Compacting.Context) != 0 {
				t.Errorf("it gave %v, %v", p.Message.Parts, p.Compacting.Context)
			}
			if took > c.atMost {
				t.Errorf("it took %s", took)
			}
		})
	}
}

func TestPluginIsOffWhereReverieIs(t *testing.T) {
	for _, env := range []string{"REVERIE_DISABLE=1", "REVERIE_HOOK_DEPTH=1"} {
		if p, _ := play(t, fake(t, "echo here"), env); len(p.Hooks) > 0 {
			t.Errorf("%s: hooks %v", env, p.Hooks)
		}
	}
}

func TestPluginNamesItsProgram(t *testing.T) {
	for _, path := range []string{"/opt/reverie", `/a "b" \c/reverie`, "/</script>/\u2028/reverie", "/\"DEADLINES\"/reverie", "/\"EDITS\"/reverie"} {
		text := plugin(agent(t, "opencode"), path, true)
		if got, ours := pluginProgram(text); !ours || got != path {
			t.Errorf("%q came back as %q", path, got)
		}
	}
	if _, ours := pluginProgram([]byte("export const X = 1\n")); ours {
		t.Error("another's plugin is taken for ours")
	}
}

// caller plays calls of tools to the plugin. Each line of its input is a step: a call with its
// result, or a new table.
const caller = `
import * as plugin from "./reverie.mjs"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
const hooks = await plugin.Reverie({ directory: process.env.IN }, {})
const out = []
for (const step of JSON.parse(readFileSync("steps.json", "utf8"))) {
  if (step.table !== undefined) {
    if (step.table) writeFileSync(process.env.TABLE, step.table)
    else rmSync(process.env.TABLE)
    continue
  }
  const input = { tool: step.tool, sessionID: "ses_top", callID: "call_1" }
  let refused = ""
  try { await hooks["tool.execute.before"](input, { args: step.args }) } catch (e) { refused = e.message }
  const output = step.content ? { content: step.content } : { output: step.output ?? "", metadata: step.metadata }
  if (!refused) await hooks["tool.execute.after"]({ ...input, args: step.args }, output)
  out.push({ refused, text: output.content ? output.content.map((p) => p.text).join("|") : output.output })
}
console.log(JSON.stringify(out))
`

type callStep struct {
	Table    *string        `json:"table,omitempty"`
	Tool     string         `json:"tool,omitempty"`
	Args     map[string]any `json:"args,omitempty"`
	Output   string         `json:"output,omitempty"`
	Content  []any          `json:"content,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"`
}

type callResult struct{ Refused, Text string }

// playCalls runs the plugin in a folder of a repository with a common git directory.
func playCalls(t *testing.T, program, in, common string, steps ...callStep) (results []callResult) {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("no node here; the tests with the real clients run the plugin too")
	}
	dir := t.TempDir()
	all, _ := json.Marshal(steps)
	for name, text := range map[string]string{"reverie.mjs": string(plugin(agent(t, "opencode"), program, true)), "caller.mjs": caller, "steps.json": string(all)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("node", "caller.mjs")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "IN="+in, "TABLE="+filepath.Join(common, "reverie", "guards"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := json.Unmarshal(out, &results); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return results
}

// repositories makes a repository with a linked work tree and returns folders in both.
func repositories(t *testing.T) (common, main, linked string) {
	t.Helper()
	top := t.TempDir()
	common, main, linked = filepath.Join(top, "main", ".git"), filepath.Join(top, "main", "web"), filepath.Join(top, "linked", "a", "b")
	own := filepath.Join(common, "worktrees", "linked")
	for _, dir := range []string{filepath.Join(common, "reverie"), own, main, linked} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for file, text := range map[string]string{filepath.Join(top, "linked", ".git"): "gitdir: " + own + "\n", filepath.Join(own, "commondir"): "../..\n"} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return common, main, linked
}

func bash(command string) callStep {
	return callStep{Tool: "bash", Args: map[string]any{"command": command}, Output: "out"}
}

func tableStep(text string) callStep { return callStep{Table: &text} }

const someRules = "{\"format\":1}\nBash\tnpm\t{}\nBash\tgit\t{}\nmcp__db\t\t{}\n"

// A long output is replaced by its shortened form if that was kept, and stays otherwise.
func TestPluginShortensLongOutputs(t *testing.T) {
	common, main, _ := repositories(t)
	long := strings.Repeat("line\n", 40)
	for _, c := range []struct{ answer, out, want string }{
		{`{"text":"a few lines\n","cut":true,"hash":"0123","last":"[reverie expand 0123: 39 of 40 lines left out]"}`, long, "a few lines\n[reverie expand 0123: 39 of 40 lines left out]"},
		{`{"text":"a few lines\n","cut":true,"last":"[not kept]"}`, long, long},
		{`{"text":"all","cut":false}`, long, long},
		{`no JSON`, long, long},
		{`{"text":"","cut":true,"hash":"0123"}`, "short", "short"},
	} {
		step := bash("make")
		step.Output = c.out
		program := fake(t, `[ "$*" = "--json compress --command make -" ] || exit 1; cat >/dev/null; cat <<'E'`+"\n"+c.answer+"\nE\n")
		got := playCalls(t, program, main, common, tableStep("{\"format\":2,\"shorten\":100}\n"), step)
		if got[0].Text != c.want {
			t.Errorf("%s: %q", c.answer, got[0].Text)
		}
		if got := playCalls(t, program, main, common, tableStep("{\"format\":2}\n"), step); got[0].Text != c.out {
			t.Errorf("without the setting: %q", got[0].Text)
		}
	}
}

// The program is started only for calls that a rule may be about.
func TestPluginAsksOnlyAboutCallsInTheTable(t *testing.T) {
	common, main, linked := repositories(t)
	for _, in := range []string{main, linked} {
		log := filepath.Join(t.TempDir(), "log")
		program := fake(t, `in=$(cat); echo "$3|$in" >>'`+log+`'`)
		edit := callStep{Tool: "write", Args: map[string]any{"filePath": "/x"}}
		results := playCalls(t, program, in, common,
			bash("npm i"), edit, // no table
			tableStep(someRules),
			bash("cd web && npm i"), bash("pnpm i; npmx"), bash("/usr/bin/npm"), bash("git -C . push"), bash("ls -la"), edit, callStep{Tool: "read"},
			callStep{Tool: "mcp__db", Args: map[string]any{"q": "x"}, Content: []any{map[string]any{"type": "text", "text": "row"}}},
			tableStep("{\"format\":1}\nEdit\tgenerated/**\t{}\n"), edit, bash("npm i"),
			tableStep("{\"format\":1}\nBash\t*\t{}\n"), bash("ls -la"), edit,
			tableStep("{\"format\":1}\n"), bash("npm i"),
			tableStep(""), bash("npm i"), edit)
		for _, r := range results {
			if r.Refused != "" || !slices.Contains([]string{"out", "row", ""}, r.Text) {
				t.Errorf("%+v", r)
			}
		}
		var got []string
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			event, in, _ := strings.Cut(line, "|")
			var e struct {
				Tool    string         `json:"tool_name"`
				Input   map[string]any `json:"tool_input"`
				ID      string         `json:"tool_use_id"`
				Session string         `json:"session_id"`
				Output  *string        `json:"tool_response"`
			}
			if err := json.Unmarshal([]byte(in), &e); err != nil || e.ID != "call_1" || e.Session != "ses_top" || (e.Output == nil) != (event == "tool.execute.before") {
				t.Errorf("%v: %s", err, line)
			}
			got = append(got, fmt.Sprint(strings.TrimPrefix(event, "tool.execute."), " ", e.Tool, " ", e.Input))
		}
		var want []string
		for _, call := range []string{"bash map[command:cd web && npm i]", "bash map[command:/usr/bin/npm]", "bash map[command:git -C . push]", "mcp__db map[q:x]",
			"write map[filePath:/x]", "bash map[command:ls -la]"} {
			want = append(want, "before "+call, "after "+call)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		os.Remove(filepath.Join(common, "reverie", "guards"))
	}
}

func TestPluginRefusesAndAnnotatesCalls(t *testing.T) {
	common, main, _ := repositories(t)
	log := filepath.Join(t.TempDir(), "log")
	program := fake(t, `in=$(cat); echo "$in" >>'`+log+`'
case "$3 $in" in
*before*forbidden*) echo '{"decision":"deny","reason":"Use pnpm."}';;
*before*asked*) echo '{"decision":"ask","reason":"Use pnpm."}';;
*before*) echo '{}';;
*after*) echo "mem 1234: use pnpm";;
esac`)
	long := bash("npm long")
	long.Output, long.Metadata = strings.Repeat("x", 40000)+"END", map[string]any{"exit": 7}
	served := callStep{Tool: "mcp__db", Content: []any{map[string]any{"type": "text", "text": "row"}}}
	results := playCalls(t, program, main, common, tableStep(someRules), bash("npm forbidden"), bash("npm asked"), bash("npm i"), served, long)
	want := []callResult{{"Use pnpm.", "out"}, {"", "out\n\nmem 1234: use pnpm\n"}, {"", "out\n\nmem 1234: use pnpm\n"}, {"", "row|mem 1234: use pnpm\n"},
		{"", long.Output + "\n\nmem 1234: use pnpm\n"}}
	if d := cmp.Diff(want, results); d != "" {
		t.Error(d)
	}
	text, _ := os.ReadFile(log)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	e, err := agent(t, "opencode").Decode("tool.execute.after", strings.NewReader(lines[len(lines)-1]), time.Now())
	if err != nil || e.Call.Tool != hooks.Bash || e.Call.Command != "npm long" || !e.Call.Failed || len(e.Call.Output) != 32<<10 || !strings.HasSuffix(e.Call.Output, "xEND") {
		t.Errorf("%+v, %v", e.Call, err)
	}
}

// A call runs, and keeps its output, whatever becomes of the program.
func TestPluginLetsCallsRunWithoutItsProgram(t *testing.T) {
	for name, program := range map[string]string{
		"missing":  "/nowhere/reverie",
		"crashing": fake(t, "echo '{\"decision\":\"deny\",\"reason\":\"x\"}'; echo panic >&2; exit 2"),
		"killed":   fake(t, "kill -SEGV $$"),
		"no JSON":  fake(t, `case "$3" in *before) echo "deny {";; esac`),
		"null":     fake(t, `case "$3" in *before) echo null;; esac`),
		"hanging":  fake(t, "trap '' TERM; exec sleep 60"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			common, main, _ := repositories(t)
			for i, r := range playCalls(t, program, main, common, tableStep(someRules), bash("npm i"), bash("npm i"), bash("npm i")) {
				if d := cmp.Diff(callResult{"", "out"}, r); d != "" {
					t.Errorf("call %d: %s", i, d)
				}
			}
		})
	}
	// A folder outside of any repository has no table.
	for _, r := range playCalls(t, fake(t, "echo here"), t.TempDir(), t.TempDir(), bash("npm i")) {
		if r.Text != "out" {
			t.Errorf("without a repository: %+v", r)
		}
	}
}
