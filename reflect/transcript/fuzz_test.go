package transcript

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fuzzFormat feeds Decode with mutations of a format's samples and of the given records. The checks
// of decodeAll must hold for all, and no input may be inflated.
func fuzzFormat(f *testing.F, format Format, pattern string, records ...string) {
	names, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(names) == 0 {
		f.Fatal("no samples: ", pattern, err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for i, line := range bytes.Split(b, []byte("\n")) {
			if i%5 == 0 && len(line) > 2 && len(line) < 2<<10 {
				f.Add(line)
			}
		}
	}
	f.Add([]byte(strings.Join(records, "\n")))
	for _, r := range records {
		f.Add([]byte(r))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		for _, format := range []Format{format, Auto} {
			got := decodeAll(t, bytes.NewReader(input), format)
			size := 0
			for _, s := range got.sessions {
				for _, e := range s.events {
					size += len(e.Text) + len(e.Command) + len(e.Old) + len(e.New)
				}
			}
			if size > 16*len(input)+1024 {
				t.Errorf("%d bytes of text from %d of input", size, len(input))
			}
		}
	})
}

func FuzzClaude(f *testing.F) {
	fuzzFormat(f, Claude, "claude-*", claudeUser("hi", `"uuid":"u1","isSidechain":true,"agentId":"a"`),
		claudeCall("t1", "Bash", `{"command":"make"}`), claudeResult("t1", "Exit code 1\nno", true, ""),
		claudeQueue("enqueue", "and test it"), claudeQueue("remove", ""), claudeQueue("popAll", ""),
		claudeUser("<bash-input>ls</bash-input>", ""), claudeUser("<command-name>/x</command-name>", ""), claudeUser("a <reverie-x>b", ""),
		`{"type":"system","subtype":"compact_boundary","sessionId":"s1"}`)
}

func FuzzCodex(f *testing.F) {
	fuzzFormat(f, Codex, "codex-*", codexMetaLine, codexItemLine(codexMessage("user", "hi")),
		codexItemLine(`{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"ls\"]}","call_id":"c1"}`),
		codexItemLine(`{"type":"function_call_output","call_id":"c1","output":"Process running with session ID 7\nOutput:\nx"}`),
		codexItemLine(`{"type":"function_call","name":"write_stdin","arguments":"{\"session_id\":7}","call_id":"c2"}`),
		codexItemLine(`{"type":"function_call_output","call_id":"c2","output":"Exit code: 0\nOutput:\nx"}`),
		codexProgramLine("c4"), codexPrintedLine("c4", "Script completed", "y"),
		completedLine(`{"type":"FileChange","id":"c3","changes":{"a":{"type":"update","unified_diff":"@@\n-x\n+y"}}}`))
}

func FuzzGemini(f *testing.F) {
	fuzzFormat(f, Gemini, "gemini-*", geminiHeaderLine, geminiDocument, geminiLine("m1", "user", `"hi"`, ""), `{"$rewindTo":"m1"}`,
		geminiLine("m2", "gemini", `""`, geminiShell("success", "Output: x\nExit Code: 3\nSignal: 9")))
}

func FuzzCopilot(f *testing.F) {
	fuzzFormat(f, Copilot, "copilot-*", copilotStart, copilotUser("hi", `,"source":"x","transformedContent":"a hi b"`), copilotCall("c", "bash", `{"command":"x"}`),
		copilotResult("c", `"success":true,"result":{"content":"x\n<shellId: 0 completed with exit code 1>"}`), copilotCall("d", "ask_user", `{}`),
		copilotResult("d", `"success":true,"result":{"content":"User selected: x"}`))
}

func FuzzOpenCode(f *testing.F) {
	fuzzFormat(f, OpenCode, "opencode-*", ocMessageLine("a", "assistant", ""), ocToolLine("p", "bash", `{"status":"completed","input":{"command":"x"},"metadata":{"exit":null}}`),
		busEvent("message.part.delta", `{"sessionID":"s","messageID":"a","partID":"p","field":"text","delta":"x"}`),
		`[{"info":{"id":"m","role":"user","sessionID":"s"},"parts":[{"id":"p","type":"text","text":"\"a b\""}]}]`)
}

func FuzzGeneric(f *testing.F) {
	fuzzFormat(f, JSONL, "opencode-run*", strings.ReplaceAll(genericExample, "\n", ""))
}
