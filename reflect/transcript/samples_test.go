package transcript

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The samples were made with the real clients against a scripted model; what a session holds was
// worked out by reading them. Texts that begin LAB are context that hooks injected.
func TestSamplesGiveTheirEvents(t *testing.T) {
	fixAdd := []string{
		"user/typed: The test fails. Fix it.",
		"assistant: I'll run the test first.",
		"call/run bash: $ sh test.sh",
		"result/run bash failed 1: FAIL: add 2 2: want 4, got 5",
		"call/read read: [/home/dev/project/calc.sh]",
		"result/read read ok: <path>/home/dev/project/calc.sh</path>⏎<type>file</type>⏎<content>⏎1: #!/bin/sh⏎2: # add …",
		"call/edit edit: [/home/dev/project/calc.sh] -$(($1 + $2 + 1)) +$(($1 + $2))",
		"result/edit edit ok: Edit applied successfully.",
		"call/run bash: $ sh test.sh && git commit -qam 'Fix add' && git log --oneline -1 && echo LAB=$LAB_SESSION",
		"result/run bash ok 0: ok⏎47c0f6a Fix add⏎LAB=ses_e0681dc50ffeVdO2QIhISxFNPd",
		"assistant: Fixed: add no longer adds 1. The test passes.",
	}
	compaction := []string{
		"user/typed: Check the memory, then run the test.",
		"user/injected: LABMEM-USERPART: injected",
		`call/other labmem_memory_search: {"query":"add"}`,
		"result/other labmem_memory_search ok: LABMCP: hit for add",
		"call/run bash: $ sh test.sh",
		"result/run bash failed 1: FAIL: add 2 2: want 4, got 5",
		"compaction: ## Goal⏎SUMMARY-FROM-MOCK: add was fixed; test add 2 2 passes.",
		"user/injected: <stripped: synthetic continue prompt>",
		"assistant: After compaction: continuing.",
	}
	delegates := []string{
		"call/task task: Run sh test.sh and report.",
		`result/task task ok: <task id="ses_e0676ff66ffeb0rewgXoGMJYb6" state="completed">⏎<task_result>⏎Subagent: the t…`,
		`call/other todowrite: {"todos":[{"content":"Fix add","status":"in_progress","priority":"high"}]}`,
		`result/other todowrite ok: [⏎  {⏎    "content": "Fix add",⏎    "status": "in_progress",⏎    "priority": "high"⏎  }⏎]`,
		"assistant: The helper saw the failure.",
	}
	parent := append([]string{"user/typed: Delegate the check.", "user/injected: LABMEM-USERPART: injected"}, delegates...)
	child := []string{
		"user/delegated: Run sh test.sh and report.",
		"user/injected: LABMEM-USERPART: injected",
		"call/run bash: $ sh test.sh",
		"result/run bash failed 1: FAIL: add 2 2: want 4, got 5",
		"assistant: Subagent: the test fails, got 5.",
	}
	tests := []struct {
		file   string
		format Format
		want   [][]string // per session
	}{
		{"opencode-export-fix-add.json", OpenCode, [][]string{fixAdd}},
		{"opencode-export-compaction.json", OpenCode, [][]string{compaction}},
		{"opencode-export-subagent.json", OpenCode, [][]string{parent}},
		{"opencode-export-child.json", OpenCode, [][]string{child}},
		{"opencode-events-fix-add.jsonl", OpenCode, [][]string{fixAdd}},
		{"opencode-events-compaction.jsonl", OpenCode, [][]string{compaction}},
		{"opencode-events-subagent.jsonl", OpenCode, [][]string{parent, child}},
		{"opencode-run-subagent.jsonl", OpenCode, [][]string{delegates}},
		{"claude-session.jsonl", Claude, [][]string{{
			"user/injected: LABCTX-SESSIONSTART from claude",
			"user/typed: The test fails. Fix it.",
			"user/injected: LABCTX-PROMPT from claude",
			"assistant: I'll run the test first.",
			"call/run Bash: $ sh test.sh",
			"user/injected: LABCTX-PRETOOL from claude",
			"result/run Bash failed 1: FAIL: add 2 2: want 4, got 5",
			"user/injected: LABCTX-FAIL from claude",
			"call/read Read: [/home/dev/project/calc.sh]",
			"user/injected: LABCTX-PRETOOL from claude",
			"result/read Read ok: 1\t#!/bin/sh⏎2\t# add two numbers⏎3\tadd() {⏎4\t  echo $(($1 + $2 + 1))⏎5\t}⏎6",
			"user/injected: LABCTX-POSTTOOL from claude",
			"call/edit Edit: [/home/dev/project/calc.sh] -$(($1 + $2 + 1)) +$(($1 + $2))",
			"user/injected: LABCTX-PRETOOL from claude",
			"result/edit Edit ok: The file /home/dev/project/calc.sh has been updated successfully. (file state is current i…",
			"user/injected: LABCTX-POSTTOOL from claude",
			"call/run Bash: $ sh test.sh && git commit -qam 'Fix add' && git log --oneline -1",
			"user/injected: LABCTX-PRETOOL from claude",
			"result/run Bash ok 0: ok⏎ffebb5f Fix add",
			"user/injected: LABCTX-POSTTOOL from claude",
			"assistant: Fixed: add no longer adds 1. The test passes.",
			"user/typed: Delegate the check.",
			"user/injected: LABCTX-PROMPT from claude",
			"call/task Agent: SUBPROMPT: run sh test.sh and report.",
			"user/injected: LABCTX-PRETOOL from claude",
			"result/task Agent ok: <stripped 705 chars>",
			"user/injected: LABCTX-POSTTOOL from claude",
			`call/other mcp__labmem__memory_search: {"query":"add"}`,
			"user/injected: LABCTX-PRETOOL from claude",
			"result/other mcp__labmem__memory_search ok: LABMCP: hit for add",
			"user/injected: LABCTX-POSTTOOL from claude",
			"assistant: The helper saw ok.",
			"compaction: <stripped>⏎SUMMARY-FROM-MOCK: add was fixed.",
			"user/command: <stripped>",
			"user/command: /compact keep the test name",
			"user/typed: keep the test name",
			"user/command: Compacted (ctrl+o to see full summary)⏎PreCompact [/usr/local/bin/hooklog claude PreCompac…",
			"user/injected: LABCTX-SESSIONSTART from claude",
			"user/typed: Go on.",
			"user/injected: LABCTX-PROMPT from claude",
			"assistant: ok",
		}}},
		{"claude-subagent.jsonl", Claude, [][]string{{
			"user/delegated: SUBPROMPT: run sh test.sh and report.",
			"user/injected: LABCTX-SUBSTART from claude",
			"call/run Bash: $ sh test.sh",
			"user/injected: LABCTX-PRETOOL from claude",
			"result/run Bash ok 0: ok",
			"user/injected: LABCTX-POSTTOOL from claude",
			"assistant: Subagent report: the test passes.",
		}}},
		{"copilot-session.jsonl", Copilot, [][]string{{
			"user/injected: <current_datetime>2026-11-22T23:10:10.234+00:00</current_datetime>",
			"user/typed: go",
			"call/run bash: $ sh test.sh",
			"result/run bash failed 1: FAIL: add 2 2: want 4, got 5",
			"assistant: Done.",
			"end ok: ",
		}}},
		{"qwen-session.jsonl", Qwen, [][]string{{
			"user/injected: <qwen:user-prompt-submit-context>⏎CTX-UserPromptSubmit⏎</qwen:user-prompt-submit-context>",
			"user/typed: go",
			"call/run run_shell_command: $ sh test.sh",
			"result/run run_shell_command failed 1: FAIL: add 2 2: want 4, got 5",
			"call/run run_shell_command: $ echo hi",
			"result/run run_shell_command ok 0: hi",
			"assistant: Done.",
		}}},
		{"codex-fix-add.jsonl", Codex, [][]string{{
			"user/injected: <stripped: host_skills.instructions>⏎<stripped: permissions.instructions>",
			"user/injected: <stripped: agents_md.instructions>",
			"user/injected: <stripped: environments.environment_context>",
			"user/injected: LABCTX-SESSIONSTART from codex",
			"user/typed: The test fails. Fix it.",
			"user/injected: LABCTX-PROMPT from codex",
			"assistant: I'll run the test first.",
			"call/run exec_command: $ sh test.sh",
			"user/injected: LABCTX-PRETOOL from codex",
			"result/run exec_command failed 1: FAIL: add 2 2: want 4, got 5",
			"user/injected: LABCTX-POSTTOOL from codex",
			"call/edit exec_command: [calc.sh] -  echo $(($1 + $2 + 1)) +  echo $(($1 + $2))",
			"user/injected: LABCTX-PRETOOL from codex",
			"result/edit exec_command ok: Success. Updated the following files:⏎M calc.sh",
			"call/run exec_command: $ sh test.sh && git commit -qam 'Fix add' && git log --oneline -1",
			"user/injected: LABCTX-PRETOOL from codex",
			"result/run exec_command ok 0: ok⏎c40d389 Fix add",
			"user/injected: LABCTX-POSTTOOL from codex",
			`call/other mcp__labmem__memory_search: {"query":"add"}`,
			"user/injected: LABCTX-PRETOOL from codex",
			"result/other mcp__labmem__memory_search ok: LABMCP: hit for add",
			"user/injected: LABCTX-POSTTOOL from codex",
			"assistant: Fixed: add no longer adds 1. The test passes.",
		}}},
		{"codex-programs.jsonl", Codex, [][]string{{
			"user/injected: <stripped: model.base_instructions>",
			"user/injected: <stripped: host_skills.instructions>⏎<stripped: permissions.instructions>⏎<stripped: collaboration_mode.instructions>",
			"user/injected: <stripped: multi_agent.role_instructions>",
			"user/injected: <stripped: multi_agent.mode_instructions>",
			"user/injected: <stripped: environments.environment_context>",
			"user/typed: The test fails. Fix it.",
			"assistant: I'll run the test first.",
			"call/run exec_command: $ sh test.sh",
			"result/run exec_command failed 1: FAIL: add 2 2: want 4, got 5",
			"call/edit apply_patch: [/home/dev/project/calc.sh] -  echo $(($1 + $2 + 1)) +  echo $(($1 + $2))",
			"result/edit apply_patch ok: Success. Updated the following files:⏎M calc.sh",
			"call/run exec_command: $ wc -l calc.sh",
			"result/run exec_command ok 0: 5 calc.sh",
			"call/run exec_command: $ wc -l test.sh",
			"result/run exec_command ok 0: 8 test.sh",
			"call/run exec_command: $ sh test.sh",
			"result/run exec_command ok 0: ok",
			"call/run exec_command: $ git commit -qam 'Fix add'",
			"result/run exec_command ok 0: ",
			`call/other exec: text("nothing called");`,
			"result/other exec ok: Script completed⏎Wall time 0.0 seconds⏎Output:⏎⏎nothing called",
			"assistant: Fixed.",
		}}},
		{"codex-compaction.jsonl", Codex, [][]string{{
			"user/injected: <stripped: host_skills.instructions>⏎<stripped: permissions.instructions>",
			"user/injected: <stripped: agents_md.instructions>",
			"user/injected: <stripped: environments.environment_context>",
			"user/typed: hi",
			"assistant: probe ok",
			"user/injected: LABCTX-SESSIONSTART from codexuser",
			"user/injected: LABCTX-SESSIONSTART from codex",
			"user/typed: Run the test again.",
			"user/injected: LABCTX-PROMPT from codex",
			"call/run exec_command: $ sh test.sh",
			"user/injected: LABCTX-PRETOOL from codex",
			"result/run exec_command ok 0: ok",
			"user/injected: LABCTX-POSTTOOL from codex",
			"compaction: <stripped>⏎SUMMARY-FROM-MOCK: add fixed.",
			"user/injected: LABCTX-SESSIONSTART from codexuser",
			"user/injected: LABCTX-SESSIONSTART from codex",
			"assistant: after compaction",
		}}},
		{"gemini-fix-add.jsonl", Gemini, [][]string{{
			"user/injected: <session_context>stripped</session_context>",
			"user/injected: <hook_context>LABCTX-SESSIONSTART from gemini</hook_context>⏎<hook_context>LABCTX-BEFOREAG…",
			"user/typed: The test fails. Fix it.",
			"assistant: I'll run the test first.",
			"call/run run_shell_command: $ sh test.sh",
			"result/run run_shell_command failed 1: FAIL: add 2 2: want 4, got 5",
			"call/edit replace: [/home/dev/project/calc.sh] -$(($1 + $2 + 1)) +$(($1 + $2))",
			"result/edit replace ok: Successfully modified file: /home/dev/project/calc.sh (1 replacements). Here is the update…",
			"call/run run_shell_command: $ sh test.sh && git commit -qam 'Fix add' && git log --oneline -1",
			"result/run run_shell_command ok 0: ok⏎d2b7d01 Fix add",
			`call/other mcp_labmem_memory_search: {"query":"add"}`,
			"result/other mcp_labmem_memory_search ok: LABMCP: hit for add",
			"assistant: Fixed: add no longer adds 1. The test passes.",
		}}},
	}
	for _, test := range tests {
		t.Run(test.file, func(t *testing.T) {
			got := sample(t, test.file)
			if got.stats.Format != test.format {
				t.Errorf("recognised as %s", got.stats.Format)
			}
			if len(got.sessions) != len(test.want) {
				t.Fatalf("%d sessions, want %d", len(got.sessions), len(test.want))
			}
			for i, s := range got.sessions {
				if d := diff(test.want[i], s.brief()); d != "" {
					t.Error(d)
				}
			}
		})
	}
}

func TestSamplesGiveTheirHeaders(t *testing.T) {
	at := func(s string) time.Time {
		t.Helper()
		v, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	const dir = "/home/dev/project"
	tests := []struct {
		file string
		want []Session
	}{
		{"claude-session.jsonl", []Session{{
			Client: "claude", ID: "5ad1b7e6-f3fc-49f0-8a00-566954750048", Version: "2.1.329", Model: "claude-sonnet-4-5", Dir: dir,
			Branch: "main", Started: at("2026-11-20T15:20:20.249Z"), Ended: at("2026-11-20T15:20:42.351Z"),
		}}},
		{"claude-subagent.jsonl", []Session{{
			Client: "claude", ID: "agent-a53f684908a8bcee4", Parent: "5ad1b7e6-f3fc-49f0-8a00-566954750048", Version: "2.1.329",
			Model: "claude-sonnet-4-5", Dir: dir, Branch: "main", Started: at("2026-11-20T15:20:28.802Z"), Ended: at("2026-11-20T15:20:30.048Z"),
		}}},
		{"codex-fix-add.jsonl", []Session{{
			Client: "codex", ID: "01a1f98f-3d81-7822-8b3f-19c5b7f10e04", Version: "0.169.0", Model: "mock-1", Dir: dir, Branch: "main",
			Commit: "30771930f7b6002230c431af57a68cd2694cc417", Started: at("2026-11-20T15:24:36.619Z"), Ended: at("2026-11-20T15:24:40Z"),
		}}},
		{"gemini-fix-add.jsonl", []Session{{
			Client: "gemini", ID: "585341d5-cfe8-4b78-acaa-6ac3615248d1", Model: "gemini-2.5-pro",
			Started: at("2026-11-20T15:27:09.623Z"), Ended: at("2026-11-20T15:27:16.529Z"),
		}}},
		{"qwen-session.jsonl", []Session{{
			Client: "qwen", ID: "5b94c415-a353-4ff4-b774-0421a377b046", Version: "0.24.4", Model: "mock-1", Dir: dir, Branch: "main",
			Started: at("2026-11-22T23:07:55.442Z"), Ended: at("2026-11-22T23:07:55.953Z"),
		}}},
		{"opencode-events-subagent.jsonl", []Session{
			{
				Client: "opencode", ID: "ses_e067744edffe4L0OiLEuBXHs7X", Version: "1.18.33", Model: "mock-1", Dir: dir,
				Title: "Delegate the check", Started: at("2026-11-20T15:17:30.002Z"), Ended: at("2026-11-20T15:17:57.471Z"),
			},
			{
				Client: "opencode", ID: "ses_e0676ff66ffeb0rewgXoGMJYb6", Parent: "ses_e067744edffe4L0OiLEuBXHs7X", Version: "1.18.33", Model: "mock-1",
				Dir: dir, Title: "Check add (@general subagent)", Started: at("2026-11-20T15:17:47.801Z"), Ended: at("2026-11-20T15:17:53.143Z"),
			},
		}},
	}
	for _, test := range tests {
		t.Run(test.file, func(t *testing.T) {
			var got []Session
			for _, s := range sample(t, test.file).sessions {
				got = append(got, s.done)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A transcript is read again when its session was resumed: what it told before stays as it was.
func TestResumedSessionKeepsEarlierEvents(t *testing.T) {
	whole := sample(t, "claude-session.jsonl").sessions[0].events
	if len(whole) != 41 {
		t.Fatalf("%d events, want 41", len(whole))
	}
	lines := sampleLines(t, "claude-session.jsonl")
	got := decodeText(t, Claude, lines[:73]...) // the first run
	if diff := cmp.Diff(whole[:21], got.sessions[0].events); diff != "" {
		t.Error(diff)
	}
}
