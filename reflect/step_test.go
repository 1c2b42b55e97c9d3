package reflect

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reverie-memory/reverie/reflect/transcript"
)

func TestStepsAreNormalised(t *testing.T) {
	const root = "/home/dev/project"
	for _, test := range []struct{ line, want, dir string }{
		{"cd /home/dev/project && npm run test --silent 2>&1 | tail -5", "npm test", ""},
		{"cd web && pnpm run lint", "pnpm lint", "web"},
		{"cd /home/dev/project/web; yarn run lint", "yarn lint", "web"},
		{"timeout 60 go test -v -count=1 ./...", "go test ./...", ""},
		{"time sudo -E env A=1 make -j4 test", "make -j4 test", ""},
		{"FOO=bar npm t", "npm test", ""},
		{"/home/dev/project/scripts/check.sh", "scripts/check.sh", ""},
		{"mise r lint", "mise run lint", ""},
		{"npm i", "npm install", ""},
		{"cd /elsewhere && make", "make", "/elsewhere"},
		{"docker run -v a:b x", "docker run -v a:b x", ""},
	} {
		list := steps(test.line, root)
		if len(list) != 1 || list[0].key != test.want || list[0].dir != test.dir {
			t.Errorf("steps(%q) = %+v, want %q in %q", test.line, list, test.want, test.dir)
		}
	}
}

func TestStepsKeepTheirVariables(t *testing.T) {
	list := steps("export A=1; B=2 make test && make lint", "")
	if len(list) != 2 {
		t.Fatalf("%d steps", len(list))
	}
	if diff := cmp.Diff([]string{"A=1", "B=2"}, list[0].env); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"A=1"}, list[1].env); diff != "" {
		t.Error(diff)
	}
}

func TestStepThatHidesItsExitCode(t *testing.T) {
	for line, want := range map[string]bool{
		"make test": false, "make test | tail": true, "make test || true": true, "make test; echo $?": true,
		"make test && echo ok": false, "make test > log 2>&1": false,
	} {
		if got := steps(line, "")[0].masked; got != want {
			t.Errorf("%s: masked %v", line, got)
		}
	}
}

func TestStepThatWrites(t *testing.T) {
	for line, want := range map[string]bool{
		"cat a": false, "cat > a <<EOF\nx\nEOF": true, "echo x >> a": true, "echo x 2>/dev/null": false, "sed -n 1p a": false,
		"sed -i s/a/b/ a": true, "echo x | tee a": true, "make test > log": false, "echo x >&2": false,
	} {
		list := steps(line, "")
		if got := list[len(list)-1].writes; got != want {
			t.Errorf("%s: writes %v", line, got)
		}
	}
}

func TestPortable(t *testing.T) {
	for line, want := range map[string]bool{
		"make test": true, "/usr/bin/x": false, "x --out=/tmp/y": false, "echo $HOME": false, "node -e 'console.log(1); x()'": false,
		"python -c 'import os; print(os.getcwd(), 1, 2, 3, 4, 5, 6)'": false, "cd /elsewhere && make": false, "cat ~/x": false,
		"deploy --token [redacted:github]": false,
	} {
		if got := steps(line, "")[0].portable(); got != want {
			t.Errorf("%s: portable %v", line, got)
		}
	}
}

func TestStepsFollowTheFolder(t *testing.T) {
	const root, windows = "/home/dev/project", `D:\work\shop`
	for _, test := range []struct{ line, start, root, want, end string }{
		{"cd /home/dev/project && make", "web", root, "make", ""},
		{"cd /home/dev/project/api && make", "web", root, "make in api", "api"},
		{"cd .. && make", "web", root, "make", ""},
		{"cd src && make", "web", root, "make in web/src", "web/src"},
		{"cd . && make", "web", root, "make in web", "web"},
		{"cd web && make && cd - && make lint", "", root, "make in web, make lint", ""},
		{"pushd web && make; popd; make lint", "", root, "make in web, make lint", ""},
		{"(cd web && make) && make lint", "", root, "make in web, make lint", ""},
		{"( cd web; make ); make lint", "api", root, "make in api/web, make lint in api", "api"},
		{`cd "$(git rev-parse --show-toplevel)" && make`, "web", root, "make", ""},
		{"cd $SOMEWHERE && make", "", root, "make in $SOMEWHERE", "$SOMEWHERE"},
		{"cd && make", "", root, "make in ~", "~"},
		{"cd /d/work/shop && npm test", "web", windows, "npm test", ""},
		{"cd /d/work/shop/web && npm test", "", windows, "npm test in web", "web"},
		{"cd /mnt/d/work/shop/web && npm test", "", windows, "npm test in web", "web"},
		{`cd "D:\work\shop\web\src" && npm test`, "", windows, "npm test in web/src", "web/src"},
		{`cd D:/Work/Shop && npm test`, "web", windows, "npm test", ""},
		{`cd /d D:\work\shop\web && npm test`, "", windows, "npm test in web", "web"},
		{`cd web\src && npm test`, "", windows, "npm test in web/src", "web/src"},
		{`node "D:\work\shop\scripts\x.js" --root=/d/work/shop`, "", windows, `node "scripts/x.js" --root=.`, ""},
		{"cd /d/work/shopping && npm test", "", windows, "npm test in /d/work/shopping", "/d/work/shopping"},
		{`cd "D:\work\shop" && npm test`, "", "/mnt/d/work/shop", "npm test", ""},
		{"cd /work/shop && make", "", windows, "make in /work/shop", "/work/shop"},
	} {
		list, end := stepsFrom(test.line, test.start, test.root)
		var got []string
		for _, s := range list {
			if s.dir != "" {
				s.key += " in " + s.dir
			}
			got = append(got, s.key)
		}
		if text := strings.Join(got, ", "); text != test.want || end != test.end {
			t.Errorf("%s: %s, ends in %q; want %s, %q", test.line, text, end, test.want, test.end)
		}
	}
}

func TestVariablesThatAreUnset(t *testing.T) {
	for _, line := range []string{"env -u A make test", "unset A; make test", "A= make test", "env A= make test"} {
		list := steps(line, "")
		if len(list) != 1 || list[0].key != "make test" || !cmp.Equal(list[0].env, []string{"A="}) {
			t.Errorf("%s: %+v", line, list)
		}
	}
}

func TestDirectoryOfTheCall(t *testing.T) {
	const root = "/home/dev/project"
	for line, want := range map[string]string{
		"make": "web", "cd /home/dev/project && make": "", "cd ui && make": "web/ui", "cd .. && make": "", "cd . && make": "web",
	} {
		if list, _ := stepsFrom(line, "web", root); len(list) != 1 || list[0].dir != want {
			t.Errorf("%s: %+v, want %q", line, list, want)
		}
	}
}

func TestStepsElsewhereAreNotPortable(t *testing.T) {
	for _, line := range []string{`cd E:\x && make`, "cd $X && make", "cd ~ && make", `D:\tools\make.exe all`, "cd .. && make"} {
		if list := steps(line, `D:\work`); list[0].portable() {
			t.Errorf("%s: portable", line)
		}
	}
}

func TestFailedChainIsBlamedOnItsLastStepThatRan(t *testing.T) {
	for _, test := range []struct{ line, output, failed, passed string }{
		{"mise run fmt && mise run lint", "[fmt] $ gofmt\n[lint] $ check\n[lint] ERROR task failed", "mise run lint", "mise run fmt"},
		{"mise run fmt && mise run lint && mise run test | tail", "[fmt] $ gofmt\n[lint] ERROR task failed", "mise run lint", "mise run fmt"},
		{"npm run build && npm run lint", "> build\nerror: script \"build\" exited with code 1", "npm run build", ""},
		{"rm -rf out && make site", "boom", "make site", "rm -rf out"},
		{"git add a.go && git commit -m x", "check…\nhusky - pre-commit script failed (code 1)", "git commit", "git add a.go"},
		{"make a && make b", "boom", "", ""},
		{"make a; make b && make c", "make: *** no rule for 'b'", "make b", ""},
	} {
		v := digest(transcript.Session{}, script{run(test.line, 1, test.output)}.events())
		failed, passed := "", ""
		for _, a := range v.acts {
			switch a.outcome {
			case transcript.Failed:
				failed += a.step.key
			case transcript.OK:
				passed += a.step.key
			}
		}
		if failed != test.failed || passed != test.passed {
			t.Errorf("%s: failed %q, passed %q", test.line, failed, passed)
		}
	}
}

func TestCallThatNeverRanHasNoOutcome(t *testing.T) {
	v := digest(transcript.Session{}, script{run("make a", 1, "<tool_use_error>Sibling tool call errored</tool_use_error>")}.events())
	if len(v.acts) != 0 {
		t.Errorf("%+v", v.acts)
	}
}

func FuzzSteps(f *testing.F) {
	f.Add("a && b | c <<'EOF'\nx\nEOF\n", "")
	f.Add("env -u A -i; unset; env -u", "web")
	f.Fuzz(func(t *testing.T, line, dir string) {
		list, _ := stepsFrom(line, dir, "/home/dev")
		for _, s := range list {
			if len(s.words) == 0 {
				t.Errorf("an empty step in %q", line)
			}
			spell(s)
			head(s)
		}
	})
}
