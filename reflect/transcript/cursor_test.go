package transcript

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// The payloads have the shape of Cursor's documentation.
func TestHookedCallsOfCursor(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	for _, c := range []struct{ payload, want string }{
		{`{"tool_name":"Shell","tool_input":{"command":"make"},"cwd":"/p","tool_use_id":"t","tool_output":"{\"exitCode\":2,\"stdout\":\"no rule\"}"}`,
			`t run "make" /p [] "" "": failed "no rule"`},
		{`{"tool_name":"Shell","tool_input":{"command":"make","working_directory":"/q"},"cwd":"/p","tool_use_id":"t","tool_output":"done"}`,
			`t run "make" /q [] "" "":  "done"`},
		{`{"tool_name":"Shell","tool_input":{"command":"make"},"tool_use_id":"t","error_message":"timed out","failure_type":"timeout"}`,
			`t run "make"  [] "" "": failed "timed out"`},
		{`{"tool_name":"Shell","tool_input":{"command":"make"},"tool_use_id":"t","error_message":"no","failure_type":"permission_denied"}`,
			`t run "make"  [] "" "": denied "no"`},
		{`{"tool_name":"Shell","tool_input":{"command":"make"},"tool_use_id":"t","error_message":"` + HeldUp + `x","failure_type":"permission_denied"}`,
			`t run "make"  [] "" "": aborted "` + HeldUp + `x"`},
		{`{"tool_name":"Shell","tool_input":{"command":"make"},"tool_use_id":"t","error_message":"stopped","is_interrupt":true}`,
			`t run "make"  [] "" "": aborted "stopped"`},
		{`{"file_path":"/p/a.go","edits":[{"old_string":"a","new_string":"b"},{"old_string":"c","new_string":"d"}]}`,
			`2026-01-02T03:04:05.000000006Z edit ""  [/p/a.go] "a\nc" "b\nd": ok ""`},
		{`{"generation_id":"g","file_path":"/p/a.go","edits":[{"old_string":"a","new_string":"b"}]}`,
			`g-79bb1c4703af6faf edit ""  [/p/a.go] "a" "b": ok ""`},
		{`{"prompt":"x"}`, ""},
		{``, ""},
	} {
		got := ""
		if all := Hooked([]byte(c.payload), at); len(all) == 2 {
			e, r := all[0], all[1]
			got = fmt.Sprintf("%s %s %q %s %v %q %q: %s %q", e.CallID, e.Action, e.Command, e.Dir, e.Paths, e.Old, e.New, r.Outcome, r.Text)
			if e.Kind != Call || r.Kind != Result || r.CallID != e.CallID || r.Action != e.Action || r.Command != e.Command || !e.Time.Equal(at) || !r.Time.Equal(at) {
				t.Errorf("%+v, %+v", e, r)
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.payload, got, c.want)
		}
	}
	long := strings.Repeat("long line\n", MaxText)
	if all := Hooked(fmt.Appendf(nil, `{"tool_name":"Shell","tool_input":{"command":"x"},"tool_output":%q}`, long), at); len(all) != 2 || len(all[1].Text) > MaxText {
		t.Error("the output of a command has no bound")
	}
}
