package agent

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// short shortens nothing that a test has.
func short(text string, cells int) string {
	text = strings.Join(strings.Fields(text), " ")
	return text[:min(len(text), cells)]
}

func TestEventsAreReadable(t *testing.T) {
	for _, c := range []struct{ name, printed, want string }{
		{"no events", "building\n\tok\nlast", "building\n\tok\nlast"},
		{"an object that is no event", `{"findings":[]}` + "\n{ not JSON\n", `{"findings":[]}` + "\n{ not JSON\n"},
		{"claude", `{"type":"system","subtype":"init","tools":["Bash"]}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"I look first.\n\nThen I write."},{"type":"tool_use","name":"Bash","input":{"command":"go test ./...\ngo vet","description":"Test"}}]}}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","is_error":true,"content":"Exit code 1\nFAIL"}]}}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","name":"Edit","input":{"file_path":"/x/.git/reverie/loops/one/tree/lib/parse.go","old_string":"a"}}]}}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"done"}]}]}}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"It works."}]}}
{"type":"result","subtype":"success","is_error":false,"result":"It works."}
`, "I look first.\n\nThen I write.\n$ go test ./...\n  go vet\n! Exit code 1 FAIL\n* Edit lib/parse.go\nIt works.\n"},
		{"claude, a result of its own", `{"type":"result","is_error":true,"result":"no credit"}` + "\n", "! no credit\n"},
		{"codex", `{"type":"thread.started","thread_id":"1"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"0","type":"reasoning","text":"hm"}}
{"type":"item.started","item":{"id":"1","type":"command_execution","command":"/bin/bash -lc 'cat answer.txt | wc'","aggregated_output":"","exit_code":null,"status":"in_progress"}}
{"type":"item.completed","item":{"id":"1","type":"command_execution","command":"/bin/bash -lc 'cat answer.txt | wc'","aggregated_output":"no\n","exit_code":2,"status":"failed"}}
{"type":"item.completed","item":{"id":"2","type":"file_change","changes":[{"path":"/x/answer.txt","kind":"add"}],"status":"completed"}}
{"type":"item.completed","item":{"id":"3","type":"agent_message","text":"It is 42."}}
{"type":"turn.completed","usage":{"input_tokens":1}}
{"type":"turn.failed","error":{"message":"stream ended"}}
`, "$ cat answer.txt | wc\n! exit code 2\n* add /x/answer.txt\nIt is 42.\n! stream ended\n"},
		{"gemini, a text in parts", `{"type":"init","session_id":"1"}
{"type":"message","role":"user","content":"the prompt"}
{"type":"message","role":"assistant","content":"It is ","delta":true}
{"type":"message","role":"assistant","content":"42.","delta":true}
{"type":"tool_use","tool_name":"run_shell_command","tool_id":"1","parameters":{"command":"ls"}}
{"type":"tool_result","tool_id":"1","status":"success","output":"a\nb"}
{"type":"tool_use","tool_name":"write_file","tool_id":"2","parameters":{"file_path":"a.txt","content":"x"}}
{"type":"tool_result","tool_id":"2","status":"error","error":{"type":"x","message":"no space"}}
{"type":"message","role":"assistant","content":"The end","delta":true}
{"type":"result","status":"success","stats":{}}
`, "It is 42.\n$ ls\n* write_file a.txt\n! no space\nThe end\n"},
		{"opencode", `{"type":"step_start","part":{"type":"step-start"}}
{"type":"text","part":{"type":"text","text":"It is 42."}}
{"type":"tool_use","part":{"type":"tool","tool":"bash","state":{"status":"completed","input":{"command":"ls"},"output":"a"}}}
{"type":"tool_use","part":{"type":"tool","tool":"read","state":{"status":"error","input":{"filePath":"/x/a"},"error":"File not found"}}}
{"type":"error","error":{"name":"APIError","data":{"message":"no credit"}}}
`, "It is 42.\n$ ls\n* read /x/a\n! File not found\n! no credit\n"},
		{"events of another agent", `{"type":"log","message":"starting"}` + "\n" + `{"type":"metric","value":3}` + "\n", "starting\n" + `{"type":"metric","value":3}` + "\n"},
		{"fields of another form", `{"type":"assistant","message":7}` + "\n" + `{"type":"tool_use","tool_name":"x","parameters":[1]}` + "\n", "* x\n"},
		{"warnings between events", "warning: no git\n" + `{"type":"text","part":{"type":"text","text":"hello"}}` + "\nbye\n", "warning: no git\nhello\nbye\n"},
	} {
		if d := cmp.Diff(c.want, Readable(c.printed, short)); d != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, d)
		}
		for _, size := range []int{1, 10, 1 << 20} { // however the output is split
			var b strings.Builder
			w := NewWriter(&b, short)
			for rest := c.printed; rest != ""; {
				n := min(size, len(rest))
				w.Write([]byte(rest[:n]))
				rest = rest[n:]
			}
			if d := cmp.Diff(c.want, b.String()); d != "" {
				t.Errorf("%s in pieces of %d (-want +got)\n%s", c.name, size, d)
			}
		}
	}
}

func TestLongEventsAreCut(t *testing.T) {
	long := `{"type":"text","part":{"type":"text","text":"` + strings.Repeat("x", 100000) + `"}}` + "\n"
	if got := Readable(long+"after\n", short); len(got) > 5000 || !strings.HasSuffix(got, "x [… a line of 100000 bytes]\nafter\n") {
		t.Errorf("%d bytes: %.80q", len(got), got)
	}
	var b strings.Builder
	w := NewWriter(&b, short)
	for range 6 << 20 / 1000 {
		w.Write([]byte("{" + strings.Repeat(" ", 999)))
	}
	w.Write([]byte("}\nafter\n"))
	if want := "[… an event of 6291002 bytes]\nafter\n"; b.String() != want {
		t.Errorf("%.80q", b.String())
	}
}
