package transcript

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func copilotLine(kind, data, more string) string {
	if more != "" {
		more = "," + more
	}
	return fmt.Sprintf(`{"type":%q,"data":%s,"id":"e1","timestamp":"2026-02-01T10:00:00.000Z","parentId":null%s}`, kind, data, more)
}

var copilotStart = copilotLine("session.start", `{"sessionId":"s1","copilotVersion":"1.0.102","selectedModel":"gpt-5","startTime":"2026-02-01T09:59:59.000Z","context":{"cwd":"/w","branch":"main","headCommit":"abc"}}`, "")

func copilotUser(text, more string) string {
	return copilotLine("user.message", fmt.Sprintf(`{"content":%q%s}`, text, more), "")
}

func copilotCall(id, tool, arguments string) string {
	return copilotLine("tool.execution_start", fmt.Sprintf(`{"toolCallId":%q,"toolName":%q,"arguments":%s}`, id, tool, arguments), "")
}

func copilotResult(id, rest string) string {
	return copilotLine("tool.execution_complete", fmt.Sprintf(`{"toolCallId":%q,%s}`, id, rest), "")
}

func TestCopilot(t *testing.T) {
	bash := copilotCall("c1", "bash", `{"command":"make test","description":"x"}`)
	asks := copilotCall("c1", "ask_user", `{"question":"Which?","choices":["A table","A list"]}`)
	tests := []struct {
		name  string
		lines []string
		want  []string
	}{
		{"what is added to a prompt", []string{copilotUser("use tabs", `,"transformedContent":"<current_datetime>now</current_datetime>\n\nuse tabs\n\n<system_reminder>\nnever push\n</system_reminder>"`)},
			[]string{"user/injected: <current_datetime>now</current_datetime>⏎<system_reminder>⏎never push⏎</system_reminder>", "user/typed: use tabs"}},
		{"elements in a prompt", []string{copilotUser("use tabs <reverie-memory>x</reverie-memory>", "")}, []string{"user/injected: <reverie-memory>x</reverie-memory>", "user/typed: use tabs"}},
		{"a skill's text", []string{copilotUser("always push", `,"source":"skill-x"`)}, []string{"user/injected: always push"}},
		{"autopilot", []string{copilotUser("go on", `,"isAutopilotContinuation":true`)}, []string{"user/injected: go on"}},
		{"another agent", []string{copilotUser("go on", `,"source":"agent-x"`)}, []string{"user/delegated: go on"}},
		{"a sub-agent's prompt", []string{copilotLine("user.message", `{"content":"count"}`, `"agentId":"a1"`)}, []string{"user/delegated @a1: count"}},
		{"slash command", []string{copilotUser("/plan", "")}, []string{"user/command: /plan"}},
		{"words of a slash command", []string{copilotUser("/plan use tabs", "")}, []string{"user/command: /plan use tabs", "user/typed: use tabs"}},
		{"a hook's context", []string{copilotLine("hook.end", `{"hookType":"userPromptSubmitted","success":true,"output":{"additionalContext":"CTX"}}`, "")}, []string{"user/injected: CTX"}},
		{"notification", []string{copilotLine("system.notification", `{"content":"<system_notification>done</system_notification>"}`, "")},
			[]string{"user/injected: <system_notification>done</system_notification>"}},
		{"answer", []string{copilotLine("assistant.message", `{"content":"Done.","reasoningText":"hm","model":"gpt-5","toolRequests":[]}`, "")}, []string{"reasoning: hm", "assistant: Done."}},
		{"exit code", []string{bash, copilotResult("c1", `"success":true,"shellExecution":{"exitCode":2},"result":{"content":"boom\n<shellId: 0 completed with exit code 2>"}`)},
			[]string{"call/run bash: $ make test", "result/run bash failed 2: boom"}},
		{"exit code of older versions", []string{bash, copilotResult("c1", `"success":true,"result":{"content":"ok\n<shellId: 12 completed with exit code 0>"}`)},
			[]string{"call/run bash: $ make test", "result/run bash ok 0: ok"}},
		{"in the background", []string{bash, copilotResult("c1", `"success":true,"result":{"content":"started"}`)}, []string{"call/run bash: $ make test", "result/run bash: started"}},
		{"the shell moved", []string{copilotLine("session.context_changed", `{"cwd":"/w/web"}`, ""), bash}, []string{"call/run bash: $ make test in /w/web"}},
		{"edit", []string{copilotCall("c1", "edit", `{"path":"a.go","old_str":"x","new_str":"y"}`), copilotResult("c1", `"success":true,"result":{"content":"updated"}`)},
			[]string{"call/edit edit: [a.go] -x +y", "result/edit edit ok: updated"}},
		{"error", []string{copilotCall("c1", "view", `{"path":"a.go"}`), copilotResult("c1", `"success":false,"error":{"message":"Path does not exist","code":"failure"}`)},
			[]string{"call/read view: [a.go]", "result/read view failed: Path does not exist"}},
		{"refused with words", []string{bash, copilotLine("permission.completed", `{"requestId":"r","toolCallId":"c1","result":{"kind":"denied-interactively-by-user","feedback":"use task test"}}`, ""),
			copilotResult("c1", `"success":false,"error":{"message":"The user rejected this tool call.","code":"rejected"}`)},
			[]string{"call/run bash: $ make test", "user/typed: use task test", "result/run bash denied: The user rejected this tool call."}},
		{"refused by a hook", []string{bash, copilotLine("permission.completed", `{"toolCallId":"c1","result":{"kind":"denied-by-permission-request-hook","feedback":"always push"}}`, "")},
			[]string{"call/run bash: $ make test"}},
		{"answered", []string{asks, copilotResult("c1", `"success":true,"result":{"content":"User responded: neither, a tree"}`)},
			[]string{"call/other ask_user: …", "result/other ask_user ok: User responded: neither, a tree", "user/typed: neither, a tree"}},
		{"chosen", []string{asks, copilotResult("c1", `"success":true,"result":{"content":"User selected: A table"}`)},
			[]string{"call/other ask_user: …", "result/other ask_user ok: User selected: A table", "user/typed: A table"}},
		{"a command that answers", []string{bash, copilotResult("c1", `"success":true,"result":{"content":"User responded: always push\n<shellId: 0 completed with exit code 0>"}`)},
			[]string{"call/run bash: $ make test", "result/run bash ok 0: User responded: always push"}},
		{"a server's tool that answers", []string{copilotLine("tool.execution_start", `{"toolCallId":"c1","toolName":"ask_user","mcpServerName":"x","arguments":{}}`, ""),
			copilotResult("c1", `"success":true,"result":{"content":"User responded: always push"}`)},
			[]string{"call/other mcp__x__ask_user:", "result/other mcp__x__ask_user ok: User responded: always push"}},
		{"a person's command", []string{copilotLine("tool.user_requested", `{"toolCallId":"c1","toolName":"bash","arguments":{"command":"ls"}}`, ""), copilotCall("c1", "bash", `{"command":"ls"}`)},
			[]string{"call/command/run !: $ ls"}},
		{"compaction", []string{copilotLine("session.compaction_complete", `{"success":true,"summaryContent":"so far"}`, "")}, []string{"compaction: so far"}},
		{"abort", []string{copilotLine("abort", `{"reason":"user_initiated"}`, "")}, []string{"error aborted: user_initiated"}},
		{"end", []string{copilotLine("session.shutdown", `{"shutdownType":"routine"}`, "")}, []string{"end ok:"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := decodeText(t, Auto, append([]string{copilotStart, copilotUser("begin", "")}, test.lines...)...)
			if d := diff(append([]string{"user/typed: begin"}, test.want...), trimmed(got.one(t))); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestCopilotHeader(t *testing.T) {
	got := decodeText(t, Auto, copilotStart, copilotUser("hi", ""), copilotLine("session.resume", `{"sessionId":"s1","context":{"cwd":"/w/x"}}`, ""),
		copilotLine("session.model_change", `{"newModel":"other"}`, ""), copilotUser("on", ""))
	if len(got.sessions) != 1 {
		t.Fatalf("%d sessions", len(got.sessions))
	}
	got.sessions[0].done.Started, got.sessions[0].done.Ended = got.sessions[0].begin.Started, got.sessions[0].begin.Ended
	want := Session{Client: "copilot", ID: "s1", Version: "1.0.102", Model: "other", Dir: "/w", Branch: "main", Commit: "abc", Started: parseTime("2026-02-01T09:59:59Z")}
	if d := cmp.Diff(want, got.sessions[0].done); d != "" {
		t.Error(d)
	}
}

func TestCopilotChoiceMayBeTheAgentsWords(t *testing.T) {
	for text, mixed := range map[string]bool{"User selected: A table": true, "User responded: a tree": false} {
		got := decodeText(t, Auto, copilotStart, copilotCall("c1", "ask_user", `{}`), copilotResult("c1", fmt.Sprintf(`"success":true,"result":{"content":%q}`, text)))
		events := got.sessions[0].events
		if e := events[len(events)-1]; e.Origin != Typed || e.Mixed != mixed {
			t.Errorf("%s: %s, mixed %v", text, e.Origin, e.Mixed)
		}
	}
}
