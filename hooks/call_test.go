package hooks

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// The payloads have the shape that the clients were seen to send. Cursor's follow its
// documentation.
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
		{"codex", `{"session_id":"s","turn_id":"1","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":["bash","-lc","npm i"]},"tool_use_id":"t7"}`,
			`calling t7 Bash "bash -lc 'npm i'" [] false ""`},
		{"codex", `{"session_id":"s","turn_id":"1","hook_event_name":"PreToolUse","tool_name":"apply_patch","tool_input":{"command":["apply_patch","*** Begin Patch\n*** Update File: it's\n*** End Patch"]},"tool_use_id":"t8"}`,
			`calling t8 Edit "" [it's] false ""`},
		{"gemini", `{"session_id":"s","hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{"command":"npm i"}}`,
			`calling  Bash "npm i" [] false ""`},
		{"gemini", `{"session_id":"s","hook_event_name":"AfterTool","tool_name":"run_shell_command","tool_input":{"command":"a"},"tool_response":{"llmContent":"Output: x\nExit Code: 1\n","returnDisplay":"x"}}`,
			`called  Bash "a" [] true "Output: x\nExit Code: 1\n"`},
		{"gemini", `{"session_id":"s","hook_event_name":"AfterTool","tool_name":"run_shell_command","tool_input":{"command":"a"},"tool_response":{"llmContent":"Output: x\n","returnDisplay":"x"}}`,
			`called  Bash "a" [] false "Output: x\n"`},
		{"copilot", `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"path":"/p/new.txt","file_text":"hi"}}`,
			`calling  Edit "" [/p/new.txt] false ""`},
		{"copilot", `{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"a"},"tool_result":{"result_type":"success","text_result_for_llm":"FAIL\n<shellId: 0 completed with exit code 1>"}}`,
			`called  Bash "a" [] true "FAIL\n<shellId: 0 completed with exit code 1>"`},
		{"copilot", `{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"a"},"tool_result":{"result_type":"success","text_result_for_llm":"<shellId: 0 completed with exit code 0>"}}`,
			`called  Bash "a" [] false "<shellId: 0 completed with exit code 0>"`},
		{"qwen", `{"session_id":"s","hook_event_name":"PostToolUseFailure","tool_name":"run_shell_command","tool_input":{"command":"a"},"tool_use_id":"t","error":"Output: x\nExit Code: 1\n"}`,
			`called t Bash "a" [] true "Output: x\nExit Code: 1\n"`},
		{"opencode", `{"session_id":"s","event":"tool.execute.after","tool_name":"bash","tool_input":{"command":"a"},"tool_use_id":"c1","tool_response":"x","exit":1}`,
			`called c1 Bash "a" [] true "x"`},
		{"opencode", `{"session_id":"s","event":"tool.execute.before","tool_name":"edit","tool_input":{"filePath":"/p/x"},"tool_use_id":"c2"}`,
			`calling c2 Edit "" [/p/x] false ""`},
		{"cursor", `{"conversation_id":"s","generation_id":"g","model":"m","hook_event_name":"beforeShellExecution","cursor_version":"2.4.0","workspace_roots":["/p","/q"],"user_email":null,"transcript_path":"/t.jsonl","command":"npm i","cwd":"/p/web","sandbox":false}`,
			`calling  Bash "npm i" [] false ""`},
		{"cursor", `{"conversation_id":"s","generation_id":"g","model":"m","hook_event_name":"preToolUse","cursor_version":"2.4.0","workspace_roots":["/p","/q"],"user_email":null,"transcript_path":"/t.jsonl","tool_name":"Write","tool_input":{"file_path":"/p/a.go"},"tool_use_id":"t","cwd":"/p"}`,
			`calling t Edit "" [/p/a.go] false ""`},
		{"cursor", `{"conversation_id":"s","generation_id":"g","model":"m","hook_event_name":"postToolUse","cursor_version":"2.4.0","workspace_roots":["/p","/q"],"user_email":null,"transcript_path":"/t.jsonl","tool_name":"Shell","tool_input":{"command":"npm test"},"tool_output":"{\"exitCode\":1,\"stdout\":\"1 failed\"}","tool_use_id":"t","cwd":"/p","duration":5}`,
			`called t Bash "npm test" [] true "1 failed"`},
		{"cursor", `{"conversation_id":"s","generation_id":"g","model":"m","hook_event_name":"postToolUse","cursor_version":"2.4.0","workspace_roots":["/p","/q"],"user_email":null,"transcript_path":"/t.jsonl","tool_name":"Shell","tool_input":{"command":"npm test"},"tool_output":"{\"exitCode\":0,\"stdout\":\"ok\"}","tool_use_id":"t"}`,
			`called t Bash "npm test" [] false "ok"`},
		{"cursor", `{"conversation_id":"s","generation_id":"g","model":"m","hook_event_name":"postToolUseFailure","cursor_version":"2.4.0","workspace_roots":["/p","/q"],"user_email":null,"transcript_path":"/t.jsonl","tool_name":"Shell","tool_input":{"command":"npm test"},"tool_use_id":"t","error_message":"Command timed out after 30s","failure_type":"timeout","is_interrupt":false}`,
			`called t Bash "npm test" [] true "Command timed out after 30s"`},
		{"cursor", `{"conversation_id":"s","generation_id":"g","model":"m","hook_event_name":"afterFileEdit","cursor_version":"2.4.0","workspace_roots":["/p","/q"],"user_email":null,"transcript_path":"/t.jsonl","file_path":"/p/a.go","edits":[{"old_string":"a","new_string":"b"}]}`,
			`called  Edit "" [/p/a.go] false ""`},
		{"claude", `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"mcp__db__query","tool_input":{"command":7}}`,
			`calling  mcp__db__query "" [] false ""`},
		{"claude", `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"/p/a.go"},"tool_use_id":"t"}`,
			`calling t Read "" [] false ""`},
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
		{"copilot", "PreToolUse", Reply{Ruling: Deny, Reason: "R", Text: "C"}, `{"additionalContext":"C","permissionDecision":"deny","permissionDecisionReason":"R"}`},
		{"copilot", "PostToolUse", Reply{Ruling: Deny, Text: "C"}, `{"additionalContext":"C"}`},
		{"qwen", "PreToolUse", Reply{Ruling: Deny, Reason: "R", Text: "not read"}, `{"decision":"deny","reason":"R"}`},
		{"claude", "PostToolUseFailure", Reply{Ruling: Deny, Text: "C"}, `{"hookSpecificOutput":{"additionalContext":"C","hookEventName":"PostToolUseFailure"}}`},
		{"opencode", "tool.execute.after", Reply{Text: "C"}, "C"},
		{"cursor", "beforeShellExecution", Reply{Ruling: Ask, Reason: "R", Text: "not read"}, `{"agent_message":"R","permission":"ask","user_message":"R"}`},
		{"cursor", "preToolUse", Reply{Ruling: Ask, Reason: "R"}, `{"agent_message":"R; a person may run it, so ask them to","permission":"deny","user_message":"R; a person may run it, so ask them to"}`},
		{"cursor", "beforeShellExecution", Reply{Text: "not read"}, ""},
		{"cursor", "postToolUse", Reply{Text: "C"}, `{"additional_context":"C"}`},
		{"cursor", "sessionStart", Reply{Text: "C", Notice: "not read"}, `{"additional_context":"C"}`},
		{"cursor", "beforeSubmitPrompt", Reply{Text: "not read"}, ""},
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

// Some agents run hooks that were written for others, and set their variables too.
func TestCallerIsTheAgentThatRunsTheHook(t *testing.T) {
	for _, c := range []struct{ hook, variables, want string }{
		{"claude", "", "claude"},
		{"claude", "CLAUDE_PROJECT_DIR", "claude"},
		{"claude", "CLAUDE_PROJECT_DIR COPILOT_PROJECT_DIR", "copilot"},
		{"claude", "CLAUDE_PROJECT_DIR GEMINI_PROJECT_DIR QWEN_PROJECT_DIR", "qwen"},
		{"gemini", "GEMINI_PROJECT_DIR CLAUDE_PROJECT_DIR", "gemini"},
		{"qwen", "CLAUDE_PROJECT_DIR GEMINI_PROJECT_DIR", "qwen"},
		{"codex", "CLAUDE_PROJECT_DIR", "codex"},
		{"claude", "CLAUDE_PROJECT_DIR CURSOR_PROJECT_DIR", "cursor"},
		{"cursor", "CLAUDE_PROJECT_DIR CURSOR_PROJECT_DIR", "cursor"},
	} {
		a, _ := Find(c.hook)
		got := a.Caller(func(name string) string {
			if slices.Contains(strings.Fields(c.variables), name) {
				return "/p"
			}
			return ""
		})
		if got.Name != c.want {
			t.Errorf("hook %s with %q: %s calls, want %s", c.hook, c.variables, got.Name, c.want)
		}
	}
}
