package agent

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPromiseIsALineOfItsOwn(t *testing.T) {
	for text, want := range map[string]bool{
		"done\n  <promise>abc</promise>\n":       true,
		"<promise>abc</promise>":                 true,
		"print <promise>abc</promise> when done": false,
		"<promise>other</promise>":               false,
		"<promise></promise>":                    false,
	} {
		if got := Promised(text, "abc"); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if Promised("<promise></promise>", "") {
		t.Error("a promise that was not asked for is given")
	}
}

// The lines come from the real agents, with other ids and times.
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
			if d := cmp.Diff(c.want, Said(of, c.output)); d != "" {
				t.Errorf("%s, agent %q (-want +got)\n%s", name, of, d)
			}
		}
	}
	// malformed fields hide no others
	odd := `{"type":"text","part":{"type":"text","text":"Done."},"parameters":[1],"message":7}` + "\n"
	if got := Said("opencode", odd) + "\n"; got != "Done.\n" || got != Readable(odd, short) {
		t.Errorf("%q is said, and read %q", got, Readable(odd, short))
	}
	if got := Said("codex", said["codex"].output+said["claude"].output+said["gemini"].output+said["opencode"].output); got != said["codex"].want {
		t.Errorf("events of another agent said %q", got)
	}
	if got := Said("aider", said["claude"].output); got != said["claude"].output {
		t.Errorf("events of an agent that prints none said %q", got)
	}
}
