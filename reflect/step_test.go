package reflect

import (
	"testing"

	"github.com/google/go-cmp/cmp"
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
