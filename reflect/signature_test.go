package reflect

import (
	"fmt"
	"testing"

	"github.com/reverie-memory/reverie/reflect/transcript"
)

func TestSignature(t *testing.T) {
	for _, test := range []struct {
		output, want string
		env          bool
	}{
		{"Exit code 1\n[lint] ERROR task failed\nmake: *** [lint] Error 1\nnpm ERR! code ELIFECYCLE", "", false},
		{"--- FAIL: TestX (0.01s)\n    x_test.go:41: got error: 1 mismatch\nFAIL", "got error: 1 mismatch", false},
		{"npm ERR! code ENOENT\nnpm ERR! Error: Cannot find module 'x'", "Cannot find module 'x'", true},
		{"\x1b[31mError: \x1b[0mconnect ECONNREFUSED 127.0.0.1:5432", "connect ECONNREFUSED 127.0.0.1:5432", true},
		{"2026-11-20T10:00:00.123Z error: no such table: users", "no such table: users", true},
		{"src/a.ts(3,4): error TS2304: Cannot find name 'process'.", "error TS2304: Cannot find name 'process'", false},
		{"a.go:3:4: undefined: foo", "undefined: foo", false},
		{"E   ModuleNotFoundError: No module named 'yaml'", "No module named 'yaml'", true},
		{"open /home/dev/project/conf/app.toml: no such file or directory", "open app.toml: no such file or directory", true},
		{"npm error Lifecycle script `build` failed with error:\nnpm error code 2\nnpm error workspace web@0.1.0\nnpm error location /w/web", "", false},
		{"(eval):3: command not found: protoc", "protoc: command not found", true},
		{"zsh: command not found: #\n1 is built\n2 is built\n3 is built", "", false},
		{"protoc : The term 'protoc' is not recognized as the name of a cmdlet, function, script file, or\noperable program.", "protoc: command not found", true},
		{"protoc : Die Benennung \"protoc\" wurde nicht als Name eines Cmdlet erkannt.\n    + CategoryInfo          : ObjectNotFound: (protoc:String) [], CommandNotFoundException\n" +
			"    + FullyQualifiedErrorId : CommandNotFoundException", "protoc: command not found", true},
		{"'protoc' is not recognized as an internal or external command,\noperable program or batch file.", "protoc: command not found", true},
		{"1\n2\n3\n    + CategoryInfo          : NotSpecified: (error: x:String) [], RemoteException", "", false},
		{"progress 10%\rprogress 99%\rfatal: bad revision", "bad revision", false},
		{"│ Error: Backend initialization required, please run \"terraform init\"", "Backend initialization required, please run \"terraform init\"", true},
		{"Migrations are pending. To resolve this issue, run:\n  bin/rails db:migrate", "Migrations are pending", true},
		{"5 passed, 0 failed\nok", "", false},
		{"$ lint --all\nerror: an old warning\n$ tsc\na.ts(1,2): error TS1: bad thing here", "error TS1: bad thing here", false},
		{"accepts at most 1 arg(s), received 3", "accepts at most 1 arg(s), received 3", false},
		{"one plain line\nanother line\nand a third line\nand a fourth one", "", false},
	} {
		got := sign(test.output, nil)
		if got.text != test.want || got.env != test.env {
			t.Errorf("sign(%q) = %q, %v, want %q, %v", test.output, got.text, got.env, test.want, test.env)
		}
	}
}

func TestVerdict(t *testing.T) {
	for output, want := range map[string]int{
		"ok  \texample/a\t0.1s":                        1,
		"ok  \texample/a\t0.1s\nFAIL\texample/b\t0.1s": -1,
		"0 issues.":                 1,
		"1 issues:\n* errcheck: 1":  -1,
		"Tests: 2 failed, 5 passed": -1,
		"Tests: 5 passed":           1,
		" 12 pass\n 0 fail":         1,
		" 12 pass\n 2 fail":         -1,
		"exit: 1":                   -1,
		"exit code 0":               1,
		"[lint] ERROR task failed":  -1,
		"ERROR: a log line of a test\n3 passed in 0.12s":  1,
		"error: could not open file":                      -1,
		"✓ Compiled successfully\n> Build error occurred": -1,
		"total 48":                            0,
		"zsh: command not found: #\ntotal 48": 0,
		"sh : The term 'sh' is not recognized as the name of a cmdlet": -1,
		"    + FullyQualifiedErrorId : CommandNotFoundException":       -1,
		"The command 'x' could not be found in this WSL 2 distro.":     -1,
		"a bean of type 'x' that could not be found.":                  0,
		"":                               0,
		"\x1b[32m✓\x1b[0m a.test.ts (2)": 1,
	} {
		if got := verdict(output); got != want {
			t.Errorf("verdict(%q) = %d, want %d", output, got, want)
		}
	}
}

func TestClipCutsAtWords(t *testing.T) {
	for _, test := range []struct {
		text string
		n    int
		want string
	}{
		{"short", 10, "short"}, {"one two three four", 15, "one two three…"}, {"first part, second part", 18, "first part"}, {"日本語日本語", 8, "日本…"},
	} {
		if got := clip(test.text, test.n); got != test.want {
			t.Errorf("clip(%q, %d) = %q, want %q", test.text, test.n, got, test.want)
		}
	}
}

func TestErrorThatAPassingRunPrintsIsNone(t *testing.T) {
	chatter := "12:00:0%d worker: error: queue is unavailable, took 1%d ms\n"
	v := digest(transcript.Session{}, script{
		run("make check", 0, fmt.Sprintf(chatter, 1, 2)+"ok"),
		run("make test", 1, fmt.Sprintf(chatter, 3, 4)+"error: want 3 rows, got 4 of them"),
		run("cat log", 0, "error: want 3 rows, got 4 of them"),
	}.events())
	if got := v.sign(1).text; got != "want 3 rows, got 4 of them" {
		t.Errorf("the error is %q", got)
	}
}

func TestCaretPointsAtAWord(t *testing.T) {
	s := sign("error: 1 problem\n  tool run a.txt --colour red\n                 ^ Unknown arguments\nthe end of it\n", nil)
	if s.text != "Unknown arguments" || !mentions(s.names, "--colour") || mentions(s.names, "--col") || mentions(s.names, "red") {
		t.Errorf("%+v", s)
	}
}
