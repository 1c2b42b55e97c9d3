package cmd

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/worktree"
)

// The fields that docs/commands.md and docs/loops.md name. Fields may be added here, never taken away.
func TestLoopJSONIsAPromise(t *testing.T) {
	all := func(v any) string {
		t.Helper()
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(text, &fields); err != nil {
			t.Fatal(err)
		}
		return strings.Join(slices.Sorted(maps.Keys(fields)), " ")
	}
	var j loopJSON
	j.State = worktree.State{Reason: "x", Detail: "x", At: "x", InPlace: "x", Given: "x", Nonce: "x", Trees: []string{"x"}}
	want := "at audits base blocking branch changed commits detail dir errors findings foreign format given holder in_place iteration live name nonce phase promised reason repeats run runs settings spent stalls started tip title trees verified"
	if d := cmp.Diff(want, all(j)); d != "" {
		t.Error(d)
	}
	f := worktree.Finding{Rule: "x", Scenario: "x", Context: "x", Reason: "x", Touched: true}
	if d := cmp.Diff("at by context file first id last line reason recurrences rule scenario severity state text touched", all(f)); d != "" {
		t.Error(d)
	}
}

func TestPromiseIsALineOfItsOwn(t *testing.T) {
	for text, want := range map[string]bool{
		"done\n  <promise>abc</promise>\n":       true,
		"<promise>abc</promise>":                 true,
		"print <promise>abc</promise> when done": false,
		"<promise>other</promise>":               false,
		"<promise></promise>":                    false,
	} {
		if got := promised(text, "abc"); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if promised("<promise></promise>", "") {
		t.Error("a promise that was not asked for is given")
	}
}

// Wherever the text is cut, no part of a secret stays.
func TestFailureKeepsNoPartOfASecret(t *testing.T) {
	token := "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	for before := 250; before < 300; before++ {
		err := failedRun(nil, "aider", worktree.Result{Code: 1, Output: "first\n" + strings.Repeat("x", before) + " " + token + " and more\n"}, 0)
		if strings.Contains(err.Error(), token[:7]) {
			t.Fatalf("behind %d bytes: %v", before, err)
		}
		if !strings.HasPrefix(err.Error(), "aider ended with exit code 1: xxx") {
			t.Fatal(err)
		}
	}
}

func TestLoopAgentCommands(t *testing.T) {
	for _, name := range loopAgentNames() {
		for _, phase := range []worktree.Phase{worktree.Coding, worktree.Auditing} {
			for _, inside := range []bool{false, true} {
				argv, _, err := loopAgentCommand(name, "m1", phase, inside)
				i := slices.Index(argv, "m1")
				if err != nil || argv[0] != name || i < 1 || argv[i-1] != "--model" {
					t.Errorf("%s %s: %q, %v", name, phase, argv, err)
				}
				if slices.Contains(argv[:len(argv)-1], "-") {
					t.Errorf("%s %s: something follows the prompt: %q", name, phase, argv)
				}
			}
		}
	}
}

// In a container an agent needs no sandbox of its own, and outside it keeps it.
func TestLoopAgentsInAContainer(t *testing.T) {
	for _, test := range []struct {
		name   string
		phase  worktree.Phase
		inside bool
		want   string
	}{
		{"codex", worktree.Coding, false, "codex exec --json --sandbox workspace-write -"},
		{"codex", worktree.Auditing, false, "codex exec --json --sandbox read-only -"},
		{"codex", worktree.Coding, true, "codex exec --json --sandbox danger-full-access --skip-git-repo-check -"},
		{"codex", worktree.Auditing, true, "codex exec --json --sandbox danger-full-access --skip-git-repo-check -"},
	} {
		argv, _, err := loopAgentCommand(test.name, "", test.phase, test.inside)
		if got := strings.Join(argv, " "); err != nil || got != test.want {
			t.Errorf("%s %s, inside %v: %q, %v", test.name, test.phase, test.inside, got, err)
		}
	}
	for _, inside := range []bool{false, true} {
		_, env, err := loopAgentCommand("claude", "", worktree.Coding, inside)
		if err != nil || slices.Contains(env, "IS_SANDBOX=1") != inside {
			t.Errorf("claude, inside %v: %q, %v", inside, env, err)
		}
	}
}

// The lines are those of the real agents, but for their ids and times.
func TestWhatAnAgentSaid(t *testing.T) {
	said := map[string]struct{ output, want string }{
		"claude": {`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"a\nb"}]}}
{"type":"assistant","message":{"content":[{"text":"Done.\n<promise>abc</promise>","type":"text"}],"role":"assistant"}}
{"type":"result","subtype":"success","is_error":false,"result":"Done.\n<promise>abc</promise>"}
`, "Done.\n<promise>abc</promise>"},
		"codex": {`WARNING: proceeding
{"type":"thread.started","thread_id":"1"}
{"type":"item.completed","item":{"id":"item_4","type":"command_execution","aggregated_output":"<promise>abc</promise>"}}
{"type":"item.completed","item":{"id":"item_5","type":"agent_message","text":"First."}}
{"type":"item.completed","item":{"id":"item_6","type":"agent_message","text":"Done."}}
`, "First.\nDone."},
		"gemini": {`YOLO mode is enabled.
{"type":"message","role":"user","content":"print <promise>abc</promise>"}
{"type":"message","role":"assistant","content":"Do","delta":true}
{"type":"message","role":"assistant","content":"ne.","delta":true}
{"type":"tool_result","tool_id":"1","status":"success","output":"x"}
{"type":"message","role":"assistant","content":"More.","delta":true}
{"type":"result","status":"success","stats":{"total_tokens":1}}
`, "Done.\nMore."},
		"opencode": {`{"type":"tool_use","part":{"type":"tool","tool":"write","state":{"output":"x"}}}
{"type":"text","part":{"type":"text","text":"Done."}}
{"type":"step_finish","part":{"type":"step-finish"}}
`, "Done."},
		"nothing said": {`{"type":"turn.started"}` + "\n", ""},
		"plain":        {"Done.\n<promise>abc</promise>\n", "Done.\n<promise>abc</promise>\n"},
		"an audit":     {`{"findings":[]}` + "\n", `{"findings":[]}` + "\n"},
	}
	for name, c := range said {
		agent := name
		if strings.Contains(name, " ") || name == "plain" {
			agent = ""
		}
		for _, of := range []string{agent, ""} {
			if d := cmp.Diff(c.want, agentSaid(of, c.output)); d != "" {
				t.Errorf("%s, agent %q (-want +got)\n%s", name, of, d)
			}
		}
	}
	if got := agentSaid("codex", said["codex"].output+said["claude"].output+said["gemini"].output+said["opencode"].output); got != said["codex"].want {
		t.Errorf("events of another agent said %q", got)
	}
	if got := agentSaid("aider", said["claude"].output); got != said["claude"].output {
		t.Errorf("events of an agent that prints none said %q", got)
	}
}
