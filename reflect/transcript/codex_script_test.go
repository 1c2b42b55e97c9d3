package transcript

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

func codexScript(id, code string) string {
	input, _ := json.Marshal(code)
	return codexItemLine(fmt.Sprintf(`{"type":"custom_tool_call","name":"exec","call_id":%q,"status":"completed","input":%s}`, id, input))
}

// codexPrinted returns the output of a program, one text per text().
func codexPrinted(id, header string, printed ...string) string {
	parts := []map[string]string{{"type": "input_text", "text": header + "\nWall time 0.2 seconds\nOutput:\n"}}
	for _, text := range printed {
		parts = append(parts, map[string]string{"type": "input_text", "text": text})
	}
	output, _ := json.Marshal(parts)
	return codexItemLine(fmt.Sprintf(`{"type":"custom_tool_call_output","call_id":%q,"output":%s}`, id, output))
}

func TestCodexProgramsTellTheirCommands(t *testing.T) {
	const (
		ok     = `{"chunk_id":"c1","wall_time_seconds":0.1,"exit_code":0,"output":"ok\n"}`
		failed = `{"chunk_id":"c2","wall_time_seconds":0.1,"exit_code":2,"output":"boom\n"}`
	)
	tests := []struct {
		name, code string
		printed    []string
		want       []string
	}{
		{"the object", `const r = await tools.exec_command({cmd: "make test", workdir: "/w/api", yield_time_ms: 1000}); text(r);`, []string{failed},
			[]string{"call/run exec_command: $ make test in /w/api", "result/run exec_command failed 2: boom"}},
		{"only its output", `const r = await tools.exec_command({"cmd":"make"});` + "\ntext(r.output)", []string{"ok"},
			[]string{"call/run exec_command: $ make", "result/run exec_command: ok"}},
		{"another shell tool", `text(JSON.stringify(await tools.shell_command({ command: 'echo "a\tb"' })))`, []string{ok},
			[]string{"call/run shell_command: $ echo \"a\tb\"", "result/run shell_command ok 0: ok"}},
		{"two in order", "const a = await tools.exec_command({cmd:`go vet`});\nconst b = await tools.exec_command({cmd:'go test'});\ntext(b); text(a);", []string{failed, ok},
			[]string{"call/run exec_command: $ go vet", "result/run exec_command ok 0: ok", "call/run exec_command: $ go test", "result/run exec_command failed 2: boom"}},
		{"at once", "const [a, b] = await Promise.all([\n tools.exec_command({cmd:'go vet'}), // first\n tools.exec_command({cmd:'go test'}),\n]);\ntext(a.output); text(JSON.stringify(b));", []string{"fine", failed},
			[]string{"call/run exec_command: $ go vet", "result/run exec_command: fine", "call/run exec_command: $ go test", "result/run exec_command failed 2: boom"}},
		{"a list", `const all = await Promise.all([tools.exec_command({cmd:"a"}), tools.exec_command({cmd:"b"})]); text(JSON.stringify(all))`, []string{"[" + ok + "," + failed + "]"},
			[]string{"call/run exec_command: $ a", "result/run exec_command ok 0: ok", "call/run exec_command: $ b", "result/run exec_command failed 2: boom"}},
		{"a named command", `const cmd = "cd web && " + "npm test"; const dir = '/w'; text(await tools.exec_command({cmd, workdir: dir}))`, []string{ok},
			[]string{"call/run exec_command: $ cd web && npm test", "result/run exec_command ok 0: ok"}},
		{"a patch", "await tools.apply_patch(`*** Begin Patch\n*** Update File: a.go\n@@\n-x\n+y\n*** End Patch`);", nil,
			[]string{"call/edit apply_patch: [a.go] -x +y", "result/edit apply_patch ok:"}},
		{"in try", `try { text(await tools.exec_command({cmd:"make"})) } catch (e) { text(String(e)) }`, []string{ok},
			[]string{"call/run exec_command: $ make", "result/run exec_command ok 0: ok"}},
		{"printed together", `const a = await tools.exec_command({cmd:"a"}); const b = await tools.exec_command({cmd:"b"}); text(a.output + b.output)`, []string{"xy"},
			[]string{"call/run exec_command: $ a", "result/run exec_command:", "call/run exec_command: $ b", "result/run exec_command:", "call/other exec: const a…", "result/other exec ok: xy"}},
		{"in a branch", `const a = await tools.exec_command({cmd:"a"}); if (a.exit_code) { text(await tools.exec_command({cmd:"rm -r x"})) }`, nil,
			[]string{"call/run exec_command: $ a", "result/run exec_command:", "call/other exec: const a…", "result/other exec ok:"}},
		{"in a branch without braces", `const a = 1; if (a > 2) await tools.exec_command({cmd:"rm -r x"}); text(await tools.exec_command({cmd:"b"}))`, []string{ok},
			[]string{"call/run exec_command: $ b", "result/run exec_command:", "call/other exec: const a…", "result/other exec ok: …"}},
		{"after an exit", `const a = await tools.exec_command({cmd:"a"}); if (a.exit_code) exit(); await tools.exec_command({cmd:"b"})`, nil,
			[]string{"call/run exec_command: $ a", "result/run exec_command:", "call/other exec: const a…", "result/other exec ok:"}},
		{"in a loop", `for (const c of ["a", "b"]) { text(await tools.exec_command({cmd: c})) }`, []string{ok, ok}, []string{"call/other exec: for…", "result/other exec ok: …"}},
		{"in a function", `const run = async (cmd) => tools.exec_command({cmd}); text(await run("make"))`, []string{ok}, []string{"call/other exec: const run…", "result/other exec ok: …"}},
		{"filled in", "const v = load('v'); text(await tools.exec_command({cmd: `make ${v}`}))", []string{ok}, []string{"call/other exec: const v…", "result/other exec ok: …"}},
		{"talked about", `text('await tools.exec_command({cmd:"rm"})') // tools.exec_command({cmd:"rm"})`, []string{"x"}, []string{"call/other exec: text…", "result/other exec ok: x"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := decodeText(t, Codex, codexMetaLine, codexItemLine(codexMessage("user", "go")), codexScript("c1", test.code), codexPrinted("c1", "Script completed", test.printed...))
			if d := diff(append([]string{"user/typed: go"}, test.want...), trimmed(got.one(t))); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestCodexProgramsThatGoOnOrFail(t *testing.T) {
	code := `const r = await tools.exec_command({cmd:"make"}); text(r)`
	result := `{"exit_code":0,"output":"ok"}`
	wait := codexItemLine(`{"type":"function_call","name":"wait","call_id":"c2","arguments":"{\"cell_id\":\"7\",\"yield_time_ms\":1000}"}`)
	want := []string{"call/run exec_command: $ make", "result/run exec_command ok 0: ok"}
	tests := []struct {
		name  string
		lines []string
		want  []string
	}{
		{"waited for", []string{codexScript("c1", code), codexPrinted("c1", "Script running with cell ID 7"), wait, codexPrinted("c2", "Script completed", result)}, want},
		{"output as one text", []string{codexScript("c1", code), codexItemLine(`{"type":"custom_tool_call_output","call_id":"c1","output":"Script completed\nWall time 0.1 seconds\nOutput:\n{\"exit_code\":0,\"output\":\"ok\"}"}`)}, want},
		{"failed", []string{codexScript("c1", code), codexPrinted("c1", "Script failed", "Script error: no")},
			[]string{"call/other exec: const r…", "result/other exec failed: Script error: no"}},
		{"without an end", []string{codexScript("c1", code)}, []string{"call/other exec: const r…"}},
		{"told by the client too", []string{codexScript("c1", code),
			completedLine(`{"type":"CommandExecution","id":"exec-1","command":["/bin/bash","-lc","make"],"cwd":"/w","status":"completed","aggregated_output":"ok","exit_code":0}`),
			codexPrinted("c1", "Script completed", result)}, want},
		{"a patch told too", []string{codexScript("c1", "await tools.apply_patch(`*** Begin Patch\n*** Add File: a\n+y\n*** End Patch`)"),
			codexEventLine(`{"type":"patch_apply_end","call_id":"exec-2","success":true,"changes":{"a":{"type":"add","content":"y"}}}`), codexPrinted("c1", "Script completed", "{}")},
			[]string{"call/edit apply_patch: [a] - +y", "result/edit apply_patch ok:"}},
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

func FuzzScript(f *testing.F) {
	f.Add("const [a, b] = await Promise.all([tools.exec_command({cmd:`x${y}`}), tools.exec_command({cmd:'\\u0041'})]); text(a)")
	f.Add("tools.exec_command({...x, cmd: /a[/]/.test(b) ? 'c' : \"d\"})")
	f.Fuzz(func(t *testing.T, code string) {
		s := readScript(code)
		for _, calls := range s.prints {
			for _, n := range calls {
				if n >= len(s.calls) {
					t.Errorf("print of call %d of %d", n, len(s.calls))
				}
			}
		}
	})
}

// Each of these took minutes when values were searched repeatedly.
func TestScriptsAreReadInLinearTime(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	for _, part := range []string{"tools.x({a:{b:", "const a={b:f(1),", "const a=[1,"} {
		began := time.Now()
		readScript(strings.Repeat(part, 50_000))
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s: %v", part, took)
		}
	}
}
