package transcript

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const codexMetaLine = `{"timestamp":"2026-02-01T10:00:00.000Z","type":"session_meta","payload":{"id":"t1","timestamp":"2026-02-01T10:00:00.000Z","cwd":"/w","cli_version":"0.50.0","git":{"commit_hash":"abc","branch":"main"}}}`

func codexLine(kind, payload string) string {
	return fmt.Sprintf(`{"timestamp":"2026-02-01T10:00:01.000Z","type":%q,"payload":%s}`, kind, payload)
}

func codexItemLine(payload string) string  { return codexLine("response_item", payload) }
func codexEventLine(payload string) string { return codexLine("event_msg", payload) }
func completedLine(item string) string {
	return codexEventLine(`{"type":"item_completed","item":` + item + `}`)
}

func codexMessage(role, text string) string {
	return fmt.Sprintf(`{"type":"message","role":%q,"content":[{"type":"input_text","text":%q}]}`, role, text)
}

// Each version records the same session differently; the events must be equal.
func TestCodexTellsTheSameInEveryVersion(t *testing.T) {
	call := codexItemLine(`{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"go test ./...\"],\"workdir\":\"/w\"}","call_id":"c1"}`)
	patch := codexItemLine(`{"type":"custom_tool_call","name":"apply_patch","call_id":"c2","input":"*** Begin Patch\n*** Update File: a.go\n@@\n-x := 1\n+x := 2\n*** End Patch"}`)
	oldOutput := codexItemLine(`{"type":"function_call_output","call_id":"c1","output":"{\"output\":\"FAIL a\\n\",\"metadata\":{\"exit_code\":1,\"duration_seconds\":0.2}}"}`)
	output := codexItemLine(`{"type":"function_call_output","call_id":"c1","output":"Exit code: 1\nWall time: 0.2 seconds\nOutput:\nFAIL a\n"}`)
	patchOutput := codexItemLine(`{"type":"custom_tool_call_output","call_id":"c2","output":"{\"output\":\"Success. Updated the following files:\\nM a.go\\n\",\"metadata\":{\"exit_code\":0}}"}`)
	versions := map[string][]string{
		"items only": {
			codexItemLine(codexMessage("user", "fix it")), codexItemLine(codexMessage("assistant", "I will")), call, output, patch, patchOutput,
		},
		"bare items": {
			codexMessage("user", "fix it"), codexMessage("assistant", "I will"),
			`{"record_type":"state"}`,
			`{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"go test ./...\"]}","call_id":"c1"}`,
			`{"type":"function_call_output","call_id":"c1","output":"{\"output\":\"FAIL a\\n\",\"metadata\":{\"exit_code\":1}}"}`,
			`{"type":"custom_tool_call","name":"apply_patch","call_id":"c2","input":"*** Begin Patch\n*** Update File: a.go\n@@\n-x := 1\n+x := 2\n*** End Patch"}`,
			`{"type":"custom_tool_call_output","call_id":"c2","output":"{\"output\":\"Success. Updated the following files:\\nM a.go\\n\",\"metadata\":{\"exit_code\":0}}"}`,
		},
		"with messages as events": {
			codexItemLine(codexMessage("user", "fix it")), codexEventLine(`{"type":"user_message","message":"fix it","kind":"plain"}`),
			codexEventLine(`{"type":"agent_message","message":"I will"}`), codexItemLine(codexMessage("assistant", "I will")), call, oldOutput, patch, patchOutput,
		},
		"with tools as events": {
			codexEventLine(`{"type":"user_message","message":"fix it"}`), codexItemLine(codexMessage("user", "fix it")),
			codexItemLine(codexMessage("assistant", "I will")), codexEventLine(`{"type":"agent_message","message":"I will"}`),
			call, codexEventLine(`{"type":"exec_command_begin","call_id":"c1","command":["bash","-lc","go test ./..."],"cwd":"/w"}`),
			codexEventLine(`{"type":"exec_command_end","call_id":"c1","stdout":"FAIL a\n","stderr":"","exit_code":1}`), output,
			patch, codexEventLine(`{"type":"patch_apply_end","call_id":"c2","stdout":"Success. Updated the following files:\nM a.go\n","stderr":"","success":true}`), patchOutput,
		},
		"with completed items": {
			codexItemLine(codexMessage("user", "fix it")), completedLine(`{"type":"UserMessage","content":[{"type":"text","text":"fix it"}]}`),
			completedLine(`{"type":"AgentMessage","content":[{"type":"Text","text":"I will"}]}`), codexItemLine(codexMessage("assistant", "I will")), call,
			completedLine(`{"type":"CommandExecution","id":"c1","command":["/bin/bash","-lc","go test ./..."],"cwd":"file:///w","status":"failed","aggregated_output":"FAIL a\n","exit_code":1}`), output,
			patch, completedLine(`{"type":"FileChange","id":"c2","status":"completed","stdout":"Success. Updated the following files:\nM a.go\n","changes":{"a.go":{"type":"update","unified_diff":"@@ -1 +1 @@\n-x := 1\n+x := 2\n"}}}`), patchOutput,
		},
		"events of all three kinds": {
			codexItemLine(codexMessage("user", "fix it")), codexEventLine(`{"type":"user_message","message":"fix it"}`), completedLine(`{"type":"UserMessage","content":[{"type":"text","text":"fix it"}]}`),
			codexItemLine(codexMessage("assistant", "I will")), codexEventLine(`{"type":"agent_message","message":"I will"}`), completedLine(`{"type":"AgentMessage","content":[{"type":"Text","text":"I will"}]}`),
			call, output, patch, patchOutput,
		},
	}
	want := []string{
		"user/typed: fix it",
		"assistant: I will",
		"call/run shell: $ go test ./...",
		"result/run shell failed 1: FAIL a",
		"call/edit apply_patch: [a.go] -x := 1 +x := 2",
		"result/edit apply_patch ok: Success. Updated the following files:⏎M a.go",
	}
	for name, lines := range versions {
		t.Run(name, func(t *testing.T) {
			header := codexMetaLine
			if name == "bare items" {
				header = `{"id":"t1","timestamp":"2025-07-01T10:00:00.000Z","instructions":null,"git":{"commit_hash":"abc","branch":"main"}}`
			}
			got := decodeText(t, Auto, append([]string{header}, lines...)...)
			if d := diff(want, got.one(t)); d != "" {
				t.Error(d)
			}
			if s := got.sessions[0].done; s.ID != "t1" || s.Commit != "abc" || s.Branch != "main" {
				t.Errorf("header %+v", s)
			}
		})
	}
}

func TestCodexCallsSeenOnlyByTheClient(t *testing.T) {
	got := decodeText(t, Codex, codexMetaLine,
		codexEventLine(`{"type":"exec_command_end","call_id":"c1","command":["bash","-lc","ls"],"cwd":"/w/sub","stdout":"a\n","stderr":"","exit_code":0}`),
		completedLine(`{"type":"FileChange","id":"c2","status":"declined","changes":{"b":{"type":"add","content":"new"},"a":{"type":"update","unified_diff":"--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y\n","move_path":"c"}}}`),
		codexEventLine(`{"type":"mcp_tool_call_end","call_id":"c3","invocation":{"server":"mem","tool":"find","arguments":{"q":"x"}},"result":{"Err":"no server"}}`),
		codexEventLine(`{"type":"mcp_tool_call_end","call_id":"c4","invocation":{"server":"mem","tool":"find","arguments":{}},"result":{"Ok":{"content":[{"type":"text","text":"hit"}]}}}`),
		completedLine(`{"type":"McpToolCall","id":"c5","server":"mem","tool":"find","arguments":{"q":"y"},"status":"failed","result":{"content":[{"type":"text","text":"bad"}],"isError":true}}`),
		completedLine(`{"type":"WebSearch","id":"c6","query":"go generics"}`))
	want := []string{
		"call/run exec_command: $ ls in /w/sub", "result/run exec_command ok 0: a",
		"call/edit apply_patch: [a b c] -x⏎ +y⏎new", "result/edit apply_patch denied:",
		`call/other mcp__mem__find: {"q":"x"}`, "result/other mcp__mem__find failed: no server",
		"call/other mcp__mem__find:", "result/other mcp__mem__find ok: hit",
		`call/other mcp__mem__find: {"q":"y"}`, "result/other mcp__mem__find failed: bad",
		"call/fetch web_search: go generics",
	}
	if d := diff(want, trimmed(got.one(t))); d != "" {
		t.Error(d)
	}
}

func TestCodexKeepsTheClientsTextApart(t *testing.T) {
	got := decodeText(t, Codex, codexMetaLine,
		codexItemLine(codexMessage("developer", "<permissions instructions>ask</permissions instructions>")),
		codexItemLine(codexMessage("user", "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nuse tabs\n</INSTRUCTIONS>")),
		codexItemLine(codexMessage("user", "<environment_context>\n  <cwd>/w</cwd>\n</environment_context>")),
		codexItemLine(codexMessage("user", "<user_instructions>\nuse tabs\n</user_instructions>")),
		codexItemLine(`{"type":"message","role":"user","content":[{"type":"input_text","text":"hooked"}],"internal_chat_message_metadata_passthrough":{"content_item_kinds":["hooks.additional_context"]}}`),
		codexItemLine(codexMessage("user", "# Context from my IDE setup:\n\n## Open tabs:\n- a.go\n\n## My request for Codex:\nrename x\n")),
		codexEventLine(`{"type":"user_message","message":"# Context from my IDE setup:\n\n## Open tabs:\n- a.go\n\n## My request for Codex:\nrename x\n"}`),
		codexItemLine(`{"type":"message","role":"user","content":[{"type":"input_text","text":"<image name=[Image #1]>"},{"type":"input_image","image_url":"data:image/png;base64,iVBOR"},{"type":"input_text","text":"</image>"},{"type":"input_text","text":"like this"}]}`),
		codexEventLine(`{"type":"user_message","message":"like this","images":["data:image/png;base64,iVBOR"]}`),
		codexItemLine(codexMessage("user", "<user_shell_command>\n<command>\nmake\n</command>\n<result>\nExit code: 2\nDuration: 0.1 seconds\nOutput:\nno rule\n</result>\n</user_shell_command>")),
		codexItemLine(codexMessage("user", "<turn_aborted>\nThe user interrupted\n</turn_aborted>")))
	want := []string{
		"user/injected: <permissions instructions>ask</permissions instructions>",
		"user/injected: # AGENTS.md instructions for /w…",
		"user/injected: <environment_context>…",
		"user/injected: <user_instructions>…",
		"user/injected: hooked",
		"user/injected: # Context from my IDE setup:⏎⏎## Open tabs:⏎- a.go",
		"user/typed: rename x",
		"user/typed: like this",
		"call/command/run !: $ make",
		"result/command/run ! failed 2: no rule",
		"user/injected: <turn_aborted>…",
	}
	if d := diff(want, got.one(t)); d != "" {
		t.Error(d)
	}
}

func TestCodexTurnsThatEndOtherwise(t *testing.T) {
	got := decodeText(t, Codex, codexMetaLine,
		codexLine("turn_context", `{"cwd":"/w","model":"gpt-big"}`),
		codexEventLine(`{"type":"agent_reasoning","text":"**Plan**"}`),
		codexItemLine(`{"type":"reasoning","summary":[{"type":"summary_text","text":"**Plan**"},{"type":"summary_text","text":"**Act**"}],"encrypted_content":"x"}`),
		codexItemLine(`{"type":"function_call","name":"shell_command","arguments":"{\"command\":\"rm -r x\"}","call_id":"c1"}`),
		codexItemLine(`{"type":"function_call_output","call_id":"c1","output":"exec command rejected by user"}`),
		codexItemLine(`{"type":"local_shell_call","call_id":"c2","status":"completed","action":{"type":"exec","command":["ls","my dir"]}}`),
		codexItemLine(`{"type":"function_call_output","call_id":"c2","output":"aborted by user after 2.1s"}`),
		codexEventLine(`{"type":"turn_aborted","reason":"interrupted"}`),
		codexEventLine(`{"type":"error","message":"stream disconnected"}`),
		codexLine("compacted", `{"message":"so far: x"}`),
		codexLine("session_meta", `{"id":"other"}`),
		codexEventLine(`{"type":"token_count"}`))
	want := []string{
		"reasoning: **Plan**", "reasoning: **Act**",
		"call/run shell_command: $ rm -r x", "result/run shell_command denied: exec command rejected by user",
		"call/run local_shell: $ ls 'my dir'", "result/run local_shell aborted: aborted by user after 2.1s",
		"error aborted: interrupted", "error failed: stream disconnected", "compaction: so far: x",
	}
	if d := diff(want, got.one(t)); d != "" {
		t.Error(d)
	}
	if s := got.sessions[0].done; s.ID != "t1" || s.Model != "gpt-big" {
		t.Errorf("header %+v", s)
	}
}

func TestCodexBackgroundCommandsGetOneResult(t *testing.T) {
	start := codexItemLine(`{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"make all\"}","call_id":"c1"}`)
	running := codexItemLine(`{"type":"function_call_output","call_id":"c1","output":"Chunk ID: 1\nWall time: 10 seconds\nProcess running with session ID 77\nOutput:\nbuilding\n"}`)
	poll := codexItemLine(`{"type":"function_call","name":"write_stdin","arguments":"{\"session_id\":77,\"chars\":\"\"}","call_id":"c2"}`)
	ended := codexItemLine(`{"type":"function_call_output","call_id":"c2","output":"Chunk ID: 2\nProcess exited with code 2\nOutput:\nerror\n"}`)
	tests := []struct {
		name  string
		lines []string
		want  []string
	}{
		{"ends in a later call", []string{start, running, poll, ended}, []string{
			"call/run exec_command: $ make all", `call/other write_stdin: {"session_id":77,"chars":""}`,
			"result/run exec_command failed 2: building⏎⏎error", "result/other write_stdin failed: error"}},
		{"the client sees its end", []string{start, running, completedLine(`{"type":"CommandExecution","id":"c1","status":"completed","aggregated_output":"building\ndone\n","exit_code":0}`)}, []string{
			"call/run exec_command: $ make all", "result/run exec_command ok 0: building⏎done"}},
		{"nobody sees its end", []string{start, running}, []string{"call/run exec_command: $ make all", "result/run exec_command: building"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := decodeText(t, Codex, append([]string{codexMetaLine}, test.lines...)...)
			if d := diff(test.want, got.one(t)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestCodexSubAgentsPromptsAreDelegated(t *testing.T) {
	got := decodeText(t, Auto,
		`{"timestamp":"2026-02-01T10:00:00Z","type":"session_meta","payload":{"id":"t2","cwd":"/w","source":{"subagent":{"thread_spawn":{"parent_thread_id":"t1","depth":1}}}}}`,
		codexItemLine(codexMessage("user", "count the files")))
	if d := diff([]string{"user/delegated: count the files"}, got.one(t)); d != "" {
		t.Error(d)
	}
	if parent := got.sessions[0].begin.Parent; parent != "t1" {
		t.Errorf("parent %q", parent)
	}
}

func TestShellWrappersAreTakenOff(t *testing.T) {
	tests := []struct {
		argv []string
		want string
	}{
		{[]string{"bash", "-lc", "make test"}, "make test"},
		{[]string{"/usr/bin/zsh", "-c", "make test"}, "make test"},
		{[]string{"bash", "-l", "-c", "a && b"}, "a && b"},
		{[]string{`C:\Windows\System32\powershell.exe`, "-NoProfile", "-Command", "dir"}, "dir"},
		{[]string{"cmd.exe", "/c", "dir"}, "dir"},
		{[]string{"bash", "run.sh", "arg"}, "bash run.sh arg"},
		{[]string{"grep", "it's", "a b", ""}, `grep 'it'\''s' 'a b' ''`},
		{nil, ""},
	}
	for _, test := range tests {
		if got := unwrap(test.argv); got != test.want {
			t.Errorf("%q: got %q, want %q", test.argv, got, test.want)
		}
	}
}

func TestPatchesTellFilesAndLines(t *testing.T) {
	paths, old, new := parsePatch(strings.Join([]string{
		"*** Begin Patch", "*** Add File: n.txt", "+hello", "*** Update File: a b.go", "*** Move to: c.go", "@@ func x", " keep", "-gone", "+put", "*** Delete File: d.go", "*** End Patch", "-not this",
	}, "\r\n"))
	if d := cmp.Diff([]string{"n.txt", "a b.go", "c.go", "d.go"}, paths); d != "" {
		t.Error(d)
	}
	if old != "gone" || new != "hello\nput" {
		t.Errorf("old %q, new %q", old, new)
	}
}

func codexProgramLine(id string) string {
	return codexItemLine(fmt.Sprintf(`{"type":"custom_tool_call","name":"exec","call_id":%q,"status":"completed","input":"text(await tools.exec_command({cmd: 'make'}))"}`, id))
}

func codexPrintedLine(id, header, text string) string {
	return codexItemLine(fmt.Sprintf(`{"type":"custom_tool_call_output","call_id":%q,"output":[{"type":"input_text","text":%q},{"type":"input_text","text":%q}]}`, id, header, text))
}

// A program is told by the calls that the rollout recorded of it, else by itself.
func TestCodexProgramsAreToldOnce(t *testing.T) {
	made := completedLine(`{"type":"CommandExecution","id":"exec-1","command":["/bin/bash","-lc","make"],"cwd":"/w","status":"completed","aggregated_output":"ok","exit_code":0}`)
	program, printed := codexProgramLine("c1"), codexPrintedLine("c1", "Script completed", "ok")
	call, commands := "call/other exec: text(await tools.exec_command({cmd: 'make'}))", []string{"call/run exec_command: $ make", "result/run exec_command ok 0: ok"}
	tests := []struct {
		name  string
		lines []string
		want  []string
	}{
		{"recorded", []string{program, made, printed}, commands},
		{"recorded, without an end", []string{program, made}, commands},
		{"recorded while it is waited for", []string{program, codexPrintedLine("c1", "Script running with cell ID 7", ""),
			codexItemLine(`{"type":"function_call","name":"wait","call_id":"c2","arguments":"{\"cell_id\":\"7\"}"}`), made, codexPrintedLine("c2", "Script completed", "ok")}, commands},
		{"not recorded, and waited for", []string{program, codexPrintedLine("c1", "Script running with cell ID 7", ""),
			codexItemLine(`{"type":"function_call","name":"wait","call_id":"c2","arguments":"{\"cell_id\":\"7\"}"}`), codexPrintedLine("c2", "Script completed", "ok")},
			[]string{call, "result/other exec ok: Script completed⏎ok"}},
		{"an old version's patch", []string{program, codexEventLine(`{"type":"patch_apply_end","call_id":"exec-2","success":true,"changes":{"a":{"type":"add","content":"y"}}}`), printed},
			[]string{"call/edit apply_patch: [a] - +y", "result/edit apply_patch ok:", call, "result/other exec ok: Script completed⏎ok"}},
		{"a command that prints as a program ends", []string{codexItemLine(`{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"make\"}","call_id":"c1"}`),
			codexItemLine(`{"type":"function_call_output","call_id":"c1","output":"Script completed"}`)}, []string{"call/run exec_command: $ make", "result/run exec_command: Script completed"}},
		{"not recorded", []string{program, printed}, []string{call, "result/other exec ok: Script completed⏎ok"}},
		{"not recorded and failed", []string{program, codexPrintedLine("c1", "Script failed", "no")}, []string{call, "result/other exec failed: Script failed⏎no"}},
		{"not recorded, without an end", []string{program}, []string{call}},
		{"the second one not recorded", []string{program, made, printed, codexProgramLine("c2"), codexPrintedLine("c2", "Script completed", "ok")},
			append(commands[:2:2], call, "result/other exec ok: Script completed⏎ok")},
		{"begun at once", []string{program, codexProgramLine("c2"), printed, made, codexPrintedLine("c2", "Script completed", "ok")},
			append([]string{call, "result/other exec ok: Script completed⏎ok"}, commands...)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := decodeText(t, Codex, append([]string{codexMetaLine}, test.lines...)...)
			if d := diff(test.want, trimmed(got.one(t))); d != "" {
				t.Error(d)
			}
		})
	}
}
