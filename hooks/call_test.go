package hooks

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// The payloads have the shape that the clients were seen to send.
func TestDecodeReadsCalls(t *testing.T) {
	for _, c := range []struct{ agent, payload, want string }{
		{"claude", `{"session_id":"s","cwd":"/p","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"npm i","description":"x"},"tool_use_id":"t1"}`,
			`calling t1 Bash "npm i" [] false ""`},
		{"claude", `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"/p/a.go","content":"x"},"tool_use_id":"t2"}`,
			`calling t2 Edit "" [/p/a.go] false ""`},
		{"claude", `{"session_id":"s","hook_event_name":"PostToolUseFailure","tool_name":"Bash","tool_input":{"command":"make"},"tool_use_id":"t3","error":"Exit code 2\nno rule"}`,
			`called t3 Bash "make" [] true "Exit code 2\nno rule"`},
		{"codex", `{"session_id":"s","turn_id":"1","hook_event_name":"PreToolUse","tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Update File: a/b.md\n@@\n-x\n+y\n*** Move to: c.md\n*** End Patch\n"},"tool_use_id":"t4"}`,
			`calling t4 Edit "" [a/b.md c.md] false ""`},
		{"codex", `{"session_id":"s","turn_id":"1","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"sh t"},"tool_response":"FAIL\n","tool_use_id":"t5"}`,
			`called t5 Bash "sh t" [] true "FAIL\n"`},
		{"codex", `{"session_id":"s","turn_id":"1","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"sh t"},"tool_response":"Exit code: 0\nok\n","tool_use_id":"t6"}`,
			`called t6 Bash "sh t" [] false "Exit code: 0\nok\n"`},
		{"gemini", `{"session_id":"s","hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{"command":"npm i"}}`,
			`calling  Bash "npm i" [] false ""`},
		{"gemini", `{"session_id":"s","hook_event_name":"AfterTool","tool_name":"run_shell_command","tool_input":{"command":"a"},"tool_response":{"llmContent":"Output: x\nExit Code: 1\n","returnDisplay":"x"}}`,
			`called  Bash "a" [] true "Output: x\nExit Code: 1\n"`},
		{"gemini", `{"session_id":"s","hook_event_name":"AfterTool","tool_name":"run_shell_command","tool_input":{"command":"a"},"tool_response":{"llmContent":"Output: x\n","returnDisplay":"x"}}`,
			`called  Bash "a" [] false "Output: x\n"`},
		{"opencode", `{"session_id":"s","event":"tool.execute.after","tool_name":"bash","tool_input":{"command":"a"},"tool_use_id":"c1","tool_response":"x","exit":1}`,
			`called c1 Bash "a" [] true "x"`},
		{"opencode", `{"session_id":"s","event":"tool.execute.before","tool_name":"edit","tool_input":{"filePath":"/p/x"},"tool_use_id":"c2"}`,
			`calling c2 Edit "" [/p/x] false ""`},
		{"claude", `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"mcp__db__query","tool_input":{"command":7}}`,
			`calling  mcp__db__query "" [] false ""`},
		{"claude", `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":"odd"}`, `calling  Bash "" [] false ""`},
	} {
		a, _ := Find(c.agent)
		e, err := a.Decode("", strings.NewReader(c.payload), time.Now())
		if err != nil {
			t.Fatalf("%s: %v", c.payload, err)
		}
		got := fmt.Sprintf("%s %s %s %q %v %t %q", e.Kind, e.Call.ID, e.Call.Tool, e.Call.Command, e.Call.Files, e.Call.Failed, e.Call.Output)
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.agent, got, c.want)
		}
	}
}

func TestEncodeRulings(t *testing.T) {
	for _, c := range []struct {
		agent, event string
		reply        Reply
		want         string
	}{
		{"claude", "PreToolUse", Reply{Ruling: Deny, Reason: "R", Text: "C"}, `{"hookSpecificOutput":{"additionalContext":"C","hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"R"}}`},
		{"claude", "PreToolUse", Reply{Ruling: Ask, Reason: "R"}, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"R"}}`},
		{"codex", "PreToolUse", Reply{Ruling: Ask, Reason: "R"}, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"R; a person may run it, so ask them to"}}`},
		{"gemini", "BeforeTool", Reply{Ruling: Deny, Reason: "R", Text: "not read"}, `{"decision":"deny","reason":"R"}`},
		{"gemini", "BeforeTool", Reply{Text: "not read"}, ""},
		{"claude", "PostToolUseFailure", Reply{Ruling: Deny, Text: "C"}, `{"hookSpecificOutput":{"additionalContext":"C","hookEventName":"PostToolUseFailure"}}`},
		{"opencode", "tool.execute.after", Reply{Text: "C"}, "C"},
	} {
		a, _ := Find(c.agent)
		e, err := a.Decode(c.event, strings.NewReader(`{"session_id":"s"}`), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimRight(string(a.Encode(e, c.reply)), "\n"); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.agent, c.event, got, c.want)
		}
	}
}
