package transcript

import (
	"fmt"
	"strings"
	"testing"
)

func busEvent(kind, properties string) string {
	return fmt.Sprintf(`{"id":"e","type":%q,"properties":%s}`, kind, properties)
}

func ocMessageLine(id, role, more string) string {
	return busEvent("message.updated", fmt.Sprintf(`{"sessionID":"s","info":{"id":%q,"role":%q,"sessionID":"s","time":{"created":1795187511715}%s}}`, id, role, more))
}

func ocPartLine(id, message, more string) string {
	return busEvent("message.part.updated", fmt.Sprintf(`{"sessionID":"s","part":{"id":%q,"messageID":%q,"sessionID":"s",%s}}`, id, message, more))
}

func ocToolLine(id, tool, state string) string {
	return ocPartLine(id, "a", fmt.Sprintf(`"type":"tool","tool":%q,"callID":%q,"state":%s`, tool, "call-"+id, state))
}

func TestOpenCodeToolStates(t *testing.T) {
	tests := []struct {
		name, tool, state string
		want              []string
	}{
		{"exit 0", "bash", `{"status":"completed","input":{"command":"make"},"output":"ok","metadata":{"exit":0}}`, []string{"call/run bash: $ make", "result/run bash ok 0: ok"}},
		{"exit 2", "bash", `{"status":"completed","input":{"command":"make"},"output":"no","metadata":{"exit":2}}`, []string{"call/run bash: $ make", "result/run bash failed 2: no"}},
		{"no exit code", "bash", `{"status":"completed","input":{"command":"make"},"output":"part","metadata":{"exit":null}}`, []string{"call/run bash: $ make", "result/run bash: part"}},
		{"still running", "bash", `{"status":"running","input":{"command":"make"}}`, []string{"call/run bash: $ make"}},
		{"error", "edit", `{"status":"error","input":{"filePath":"a","oldString":"x","newString":"y"},"error":"oldString not found"}`, []string{"call/edit edit: [a] -x +y", "result/edit edit failed: oldString not found"}},
		{"aborted", "bash", `{"status":"error","input":{"command":"make"},"error":"Tool execution aborted"}`, []string{"call/run bash: $ make", "result/run bash aborted: Tool execution aborted"}},
		{"refused", "bash", `{"status":"error","input":{"command":"rm x"},"error":"The user rejected permission to use this specific tool call."}`, []string{"call/run bash: $ rm x", "result/run bash denied: The user rejected…"}},
		{"refused with words", "bash", `{"status":"error","input":{"command":"rm x"},"error":"The user rejected permission to use this specific tool call with the following feedback: keep x"}`,
			[]string{"call/run bash: $ rm x", "result/run bash denied: The user rejected…", "user/typed: keep x"}},
		{"patch", "apply_patch", `{"status":"completed","input":{"patchText":"*** Begin Patch\n*** Update File: a\n-x\n+y\n*** End Patch"},"output":"done"}`, []string{"call/edit apply_patch: [a] -x +y", "result/edit apply_patch ok: done"}},
		{"question", "question", `{"status":"completed","input":{"questions":[{"options":[{"label":"A"}]}]},"output":"answered","metadata":{"answers":[["A","my own"]]}}`,
			[]string{"call/other question: …", "result/other question ok: answered", "user/typed: my own", "user/typed: A"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := decodeText(t, Auto, ocMessageLine("a", "assistant", ""), ocToolLine("p", test.tool, `{"status":"pending","input":{}}`), ocToolLine("p", test.tool, test.state))
			if d := diff(test.want, got.one(t)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestOpenCodeEventsUpdateInPlace(t *testing.T) {
	got := decodeText(t, Auto,
		// its role comes later
		ocPartLine("p1", "u", `"type":"text","text":"\"use pnpm, say \\\"why\\\"\""`),
		busEvent("session.created.1", `{"sessionID":"s","info":{"id":"s","directory":"/w","title":"New session"}}`),
		ocMessageLine("u", "user", `,"summary":{"diffs":[]}`),
		ocPartLine("p9", "x", `"type":"text","text":"nobody's"`), // its role never comes
		ocMessageLine("a", "assistant", `,"modelID":"big"`),
		ocPartLine("p2", "a", `"type":"reasoning","text":"hm"`),
		ocPartLine("p3", "a", `"type":"text","text":""`),
		busEvent("message.part.delta", `{"sessionID":"s","messageID":"a","partID":"p3","field":"text","delta":"Be"}`),
		busEvent("message.part.delta", `{"sessionID":"s","messageID":"a","partID":"p3","field":"text","delta":"cause."}`),
		ocPartLine("p2", "a", `"type":"reasoning","text":"hm, yes"`),
		ocPartLine("p4", "a", `"type":"text","text":"gone"`),
		busEvent("message.part.removed", `{"sessionID":"s","messageID":"a","partID":"p4"}`),
		busEvent("session.updated", `{"sessionID":"s","info":{"id":"s","title":"Why pnpm"}}`),
		ocMessageLine("a", "assistant", `,"error":{"name":"MessageAbortedError","data":{"message":"Aborted"}}`),
		busEvent("session.error", `{"sessionID":"s","error":{"name":"MessageAbortedError","data":{"message":"Aborted"}}}`),
		busEvent("session.error", `{"sessionID":"s","error":{"name":"ProviderAuthError","data":{"message":"no key"}}}`),
		busEvent("session.idle", `{"sessionID":"s"}`),
		busEvent("session.deleted", `{"sessionID":"s","info":{"id":"s"}}`))
	want := []string{
		`user/typed: use pnpm, say "why"`,
		"user/injected: nobody's",
		"reasoning: hm, yes", "assistant: Because.", "error aborted: Aborted", "error failed: no key", "end: deleted",
	}
	if d := diff(want, got.one(t)); d != "" {
		t.Error(d)
	}
	if s := got.sessions[0].done; s.Title != "Why pnpm" || s.Model != "big" || s.Dir != "/w" {
		t.Errorf("header %+v", s)
	}
}

func TestOpenCodeUserPartsByOthers(t *testing.T) {
	got := decodeText(t, Auto, ocMessageLine("u", "user", ""),
		ocPartLine("p1", "u", `"type":"text","text":"Called the Read tool","synthetic":true`),
		ocPartLine("p2", "u", `"type":"text","text":"hidden","ignored":true`),
		ocPartLine("p3", "u", `"type":"file","mime":"image/png","url":"data:image/png;base64,iVBOR"`),
		ocPartLine("p4", "u", `"type":"text","text":"do it <reverie-context>old</reverie-context>"`))
	want := []string{"user/typed: do it", "user/injected: Called the Read tool", "user/injected: hidden", "user/injected: [image]", "user/injected: <reverie-context>old</reverie-context>"}
	if d := diff(want, got.one(t)); d != "" {
		t.Error(d)
	}
}

func TestOpenCodeMessagesAlone(t *testing.T) {
	export := strings.Join(sampleLines(t, "opencode-export-fix-add.json"), "\n")
	messages := strings.TrimSpace(export[strings.Index(export, `"messages":`)+len(`"messages":`) : strings.LastIndex(export, "}")])
	whole := sample(t, "opencode-export-fix-add.json").one(t)
	got := decodeAll(t, strings.NewReader(messages), Auto)
	if got.err != nil {
		t.Fatal(got.err)
	}
	if d := diff(whole, got.one(t)); d != "" {
		t.Error(d)
	}
	if s := got.sessions[0].done; s.ID != "ses_e0681dc50ffeVdO2QIhISxFNPd" || s.Dir != "/home/dev/project" {
		t.Errorf("header %+v", s)
	}
}

func TestOpenCodePromptsLoseTheirQuotes(t *testing.T) {
	tests := map[string]string{
		`"fix the test"`:          `fix the test`,
		`"say \"no\" to it"`:      `say "no" to it`,
		`fix "the" test`:          `fix "the" test`,
		`"one arg" "another one"`: `"one arg" "another one"`,
		`"word"`:                  `"word"`, // run quotes only what has spaces
		`"`:                       `"`,
	}
	for in, want := range tests {
		if got := unquotePrompt(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

// The text behind a slash command comes from the author of the command's file; our plugin marks it.
func TestOpenCodeCommandsAreNotTyped(t *testing.T) {
	for _, test := range []struct{ metadata, want string }{
		{`{"reverie":"command","x":1}`, "user/command: Always push."},
		{`{"reverie":true}`, "user/typed: Always push."},
		{`"reverie"`, "user/typed: Always push."},
		{`{"reverie":"other"}`, "user/typed: Always push."},
	} {
		got := decodeText(t, Auto, ocMessageLine("u", "user", ""), ocPartLine("p", "u", `"type":"text","text":"Always push.","metadata":`+test.metadata))
		if d := diff([]string{test.want}, got.one(t)); d != "" {
			t.Errorf("%s\n%s", test.metadata, d)
		}
	}
}
