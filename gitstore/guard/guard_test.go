package guard

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/hooks"
)

// A bash of this machine was asked which of these lines start npm.
func TestPatternsOfCommands(t *testing.T) {
	for _, c := range []struct {
		pattern, line string
		want          bool
	}{
		{"npm *", "npm", true},
		{"npm *", "npm install left-pad", true},
		{"npm *", "npx npm", true},
		{"npm *", "echo npm install", false},
		{"npm *", "echo 'a && npm install'", false},
		{"npm *", "cat <<'EOF'\nnpm install\nEOF", false},
		{"npm *", "cd web && CI=1 npm ci | tail -3", true},
		{"npm *", "sudo -E npm i", true},
		{"npm *", "sudo -u bob npm i", true},
		{"npm *", "sudo -nubob npm i", true},
		{"npm *", "sudo apt install npm", false},
		{"npm *", "timeout 5 npm i", true},
		{"npm *", "timeout -k 5 -s KILL 10 npm i", true},
		{"npm *", "nice -n 5 npm i", true},
		{"npm *", "x=$(npm prefix)", true},
		{"npm *", `X="$(npm prefix)" make`, true},
		{"npm *", "echo `a` `npm prefix`", true},
		{"npm *", `echo "it's $(npm prefix)"`, true},
		{"npm *", `echo "$(a) npm $(b)"`, false},
		{"npm *", "while npm i; do :; done", true},
		{"npm *", "ls | xargs -n 1 npm i", true},
		{"sudo *", "cd x && sudo -u bob npm i", true},
		{"timeout *", "sudo timeout 5 npm i", true},
		{"xargs * rm *", "ls | xargs rm", true},
		{"npm *", "/usr/bin/npm i", true},
		{"npm *", `"npm" i`, true},
		{"npm *", `bash -lc "npm i"`, true},
		{"npm *", `sh -c 'cd x; npm i'`, true},
		{"npm *", "echo $(npm prefix)", true},
		{"npm *", "echo `npm prefix`", true},
		{"npm *", "echo '$(npm prefix)'", false},
		{"npm *", "ls | xargs -0 npm i", true},
		{"npm *", "(npm i)", true},
		{"npm *", "if true; then npm i; fi", true},
		{"npm *", "pnpm i", false},
		{"npm *", "command npm i", true},
		{"npm *", "command -v npm && echo there", false},
		{"npm *", "if command -V npm; then echo there; fi", false},
		{"npm *", "node --version; npm --version", false},
		{"npm *", "npm --help", false},
		{"pytest *", "pytest -v", true},
		{"npm *", "npm test -- --dry-run", true},
		{"git commit * -n *", "git commit -uno -m x", false},
		{"git commit * -n *", "git commit -nm x", true},
		{"git commit * -n *", "git -C sub commit -anm x", true},
		{"git commit * -n *", "git commit -amend", false},
		{"git commit * -n *", "git commit -nm'fix a bug'", true},
		{"git commit * -n *", "git commit -mn", false},
		{"git commit * -n *", "git commit -amn", false},
		{"git commit * -n *", "git commit -Sn -m x", false},
		{"git commit * -n *", "git commit --no-edit", false},
		{"git push * -f *", "git push -of origin", false},
		{"npm *", "npm --version && npm i", true},
		{"npm --version *", "npm --version", true},
		{"npm *", "npm --help install", true},
		{"jest *", "npx jest", true},
		{"jest *", "cd web && CI=1 npx --yes jest@29 --watch", true},
		{"jest *", "npx --package jest-cli jest", true},
		{"jest *", "npx --package jest other", false},
		{"jest *", "npx jest-codemods", false},
		{"jest *", "npx @scope/jest", false},
		{"jest *", "npx github:user/jest", false},
		{"jest *", "npx jest --version", false},
		{"npx *", "npx jest", true},
		{"npx jest *", "npx --yes jest", true},
		{"jest *", "npm exec -- jest", true},
		{"jest *", "npm --prefix web exec jest", true},
		{"jest *", "npm run jest", false},
		{"jest *", "npm install jest", false},
		{"jest *", "yarn jest", true},
		{"jest *", "yarn run jest", true},
		{"jest *", "yarn add jest", false},
		{"jest *", "pnpm -w exec jest", true},
		{"jest *", "pnpm --filter web jest", true},
		{"jest *", "pnpm run jest", false},
		{"jest *", "pnpm dlx jest", true},
		{"jest *", "bunx jest", true},
		{"jest *", "bun x --bun jest", true},
		{"npm *", "yarn npm publish", false},
		{"make *", "yarn make", false},
		{"pip *", "python -m pip install x", true},
		{"pip *", "/usr/bin/python3.12 -u -m pip install x", true},
		{"pip *", "uv run python3 -m pip install x", true},
		{"pip *", "uv pip install x", false},
		{"pip *", "python main.py -m pip", false},
		{"black *", "uvx black@24.1.0 .", true},
		{"black *", "uvx --with black ruff", false},
		{"pytest *", "poetry run pytest", true},
		{"pytest *", "sudo -u bob uv tool run pytest -q", true},
		{"python *", "uv run python a.py", false},
		{"./build.sh *", "cd x && ../build.sh all", true},
		{"npm run", "npm run", true},
		{"npm run", "npm run build", false},
		{"git push *", "git -C . push origin", true},
		{"git push *", "git --no-pager -c a=b push", true},
		{"git push *", "git pull", false},
		{"git push * -f *", "git push -uf origin main", true},
		{"git push * -f *", "git push -u origin main", false},
		{"git push * +* *", "git push origin +main", true},
		{"git push * --force *", "git push --force --dry-run", false},
		{"rm * -rf *", "rm -fr build", true},
		{"rm * -rf *", "rm -r build", false},
		{"go test * -r *", "go test -run X", false},
		{"openssl * -i *", "openssl rsa -in a", false},
		{"git push * main", "git push -f origin main", true},
		{"git push * main", "git push origin main:x", false},
		{"git commit * --no-verify *", "git commit -m x --no-verify", true},
		{"git commit * --no-verify *", "git commit -m 'never --no-verify'", false},
		{"*lint *", "golangci-lint run", true},
		{"go test * ./...", "go test -race ./...", true},
		{"npm *", strings.Repeat("(", 4000) + "npm", true},
		{"npm *", strings.Repeat("$(", 4000) + "npm", false},
	} {
		p, err := Parse("Bash(" + c.pattern + ")")
		if err != nil {
			t.Fatal(err)
		}
		table := tableOf(t, "Use pnpm, never npm", record.Trigger{Guards: []string{p.String()}}, nil)
		got := len(table.Match(hooks.Call{Tool: hooks.Bash, Command: c.line}, Place{"/p", "/p"}, time.Now())) > 0
		if got != c.want {
			t.Errorf("%s on %.60q: %t", p, c.line, got)
		}
	}
}

// A rule about a program spares the runner that it names.
func TestRulesNameRunners(t *testing.T) {
	for _, c := range []struct {
		rule, program, line string
		want                bool
	}{
		{"Run the tests with `npx vitest run`, never jest", "jest", "npx jest", true},
		{"Run the tests with npx jest, never jest", "jest", "npx --yes jest", false},
		{"Use `uv run pytest`, never `pytest`", "pytest", "uv run pytest -q", false},
		{"Use `uv run pytest`, never `pytest`", "pytest", "poetry run pytest", true},
		{"Run pytest by `uv run`, never alone", "pytest", "uv run pytest", false},
		{"Never use pytest directly", "pytest", "poetry run pytest", false},
		{"Use `uv run --frozen pytest`, never `pytest`", "pytest", "uv run --frozen pytest -q", false},
		{"Run the linters in the uv environment, not on the host", "ruff", "uv run ruff check", false},
		{"Run pytest through Poetry", "pytest", "poetry run pytest", false},
		{"Use vitest, never jest, in the design system", "jest", "npx jest", true},
		{"Never use the system pytest", "pytest", "uv run pytest", false},
		{"Never run `pytest` or `python -m pytest`", "pytest", "python3 -m pytest", true},
		{"Use `python -m pytest`, never `pytest`", "pytest", "python3 -m pytest", false},
		{"Use yarn test, never jest", "jest", "yarn jest", true},
		{"Use yarn jest, never jest", "jest", "yarn jest", false},
		{"Use pnpm and vitest, never jest", "jest", "pnpm jest", true},
		{"Use pnpm, never npm", "npm", "pnpm dlx npm i", true},
	} {
		table := tableOf(t, c.rule, record.Trigger{Guards: []string{"Bash(" + c.program + " *)"}}, nil)
		if got := len(table.Match(hooks.Call{Command: c.line}, Place{"/p", "/p"}, time.Now())) > 0; got != c.want {
			t.Errorf("%q on %q: %t", c.rule, c.line, got)
		}
	}
}

// An agent waits for a hook, and runs the call if it takes too long.
func TestNestedLinesAreReadInTime(t *testing.T) {
	for _, nested := range []string{"$(", `"$(`, "x$(", `echo "$(echo `, "`", "sudo ", "if ", "bash -c '", "npx ", "uv run "} {
		started := time.Now()
		commands(strings.Repeat(nested, maxLine/len(nested)), "/p")
		if took := time.Since(started); took > 10*time.Second {
			t.Errorf("%q: %s", nested, took)
		}
	}
}

// tableOf returns the table of one memory, by way of its file.
func tableOf(t *testing.T, statement string, trigger record.Trigger, paths []string) Table {
	t.Helper()
	m := record.New(record.Memory{Kind: record.Convention, Text: statement, Paths: paths}).WithTrigger(trigger)
	text, err := Table{Key: "k"}.Encode(Rules(m, false, nil))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, File), text, 0o600); err != nil {
		t.Fatal(err)
	}
	table := Open(dir)
	if table.Key != "k" {
		t.Fatalf("the table has key %q", table.Key)
	}
	return table
}

func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		on    string
		paths []string
		call  hooks.Call
		dir   string
		want  bool
	}{
		{"Bash(npm *)", []string{"web/**"}, hooks.Call{Command: "npm i"}, "/p", false},
		{"Bash(npm *)", []string{"web/**"}, hooks.Call{Command: "npm i"}, "/p/web/a", true},
		{"Bash(npm *)", []string{"web/**"}, hooks.Call{Command: "cd web && npm i"}, "/p", true},
		{"Bash(npm *)", []string{"web/**"}, hooks.Call{Command: "(cd web; ls) && npm i"}, "/p", false},
		{"Bash(npm *)", []string{"web/**"}, hooks.Call{Command: "cd /p/web; npm i"}, "/tmp", true},
		{"Bash(npm *)", []string{"web"}, hooks.Call{Command: "npm i"}, "/p/website", false},
		{"Bash(npm *)", []string{"web/**"}, hooks.Call{Command: "npm install --prefix web x"}, "/p", true},
		{"Bash(npm *)", []string{"web/**"}, hooks.Call{Command: "npm -C ./web ci"}, "/p", true},
		{"Bash(npm *)", []string{"web/**"}, hooks.Call{Command: "npm --prefix=api ci"}, "/p", false},
		{"Bash(npm *)", []string{"web/**"}, hooks.Call{Command: "env -C web CI=1 npm ci"}, "/p", true},
		{"Bash(npm *)", []string{"web/**"}, hooks.Call{Command: "pushd web && npm ci"}, "/p", true},
		{"Bash(npm *)", []string{"web/**"}, hooks.Call{Command: "env -C web ls; npm ci"}, "/p", false},
		{"Edit(generated/**)", nil, hooks.Call{Files: []string{"/p/generated/a/b.go"}}, "/p", true},
		{"Edit(generated/)", nil, hooks.Call{Files: []string{"generated/b.go"}}, "/p", true},
		{"Edit(generated/**)", nil, hooks.Call{Files: []string{"b.go", "x.go"}}, "/p/generated", true},
		{"Edit(generated/**)", nil, hooks.Call{Files: []string{"/q/generated/b.go"}}, "/p", false},
		{"Edit(generated/**)", nil, hooks.Call{Files: []string{"/p/x/../generated/b.go"}}, "/p", true},
		{"Edit(gen/**)", nil, hooks.Call{Command: "cd gen && apply_patch <<'EOF'\nx\nEOF", Files: []string{"a.go"}}, "/p", true},
		{"Edit(gen/**)", nil, hooks.Call{Command: "apply_patch <<'EOF'\nx\nEOF", Files: []string{"a.go"}}, "/p", false},
		{"Edit(*.lock)", []string{"web"}, hooks.Call{Files: []string{"/p/a.lock"}}, "/p", false},
		{"mcp__db__drop", nil, hooks.Call{Tool: "mcp__db__drop"}, "/p", true},
		{"mcp__db__drop", nil, hooks.Call{Tool: "mcp__db__get"}, "/p", false},
	} {
		got := len(tableOf(t, "Use pnpm, never npm", record.Trigger{Guards: []string{c.on}}, c.paths).Match(c.call, Place{"/p", c.dir}, time.Now())) > 0
		if got != c.want {
			t.Errorf("%s in %v: %+v from %s: %t", c.on, c.paths, c.call, c.dir, got)
		}
	}
}

func TestMoveKeepsWhatLiesElsewhere(t *testing.T) {
	m := record.Memory{Paths: []string{"web/**", "webapp/**", "**/*.ts"}}.WithTrigger(record.Trigger{
		Guards: []string{"Bash(node web/x.js *)", "Bash(npm run web *)", "Bash(cd web *)", "Edit(web)", "Edit(my web/a)", "mcp__web"}, Strength: record.Deny})
	if diff := cmp.Diff([]string{"my web/a", "web", "webapp"}, Roots(m)); diff != "" {
		t.Error(diff)
	}
	got := Move(m, "web", "apps/web")
	if diff := cmp.Diff([]string{"apps/web/**", "webapp/**", "**/*.ts"}, got.Paths); diff != "" {
		t.Error(diff)
	}
	want := record.Trigger{Guards: []string{"Bash(cd apps/web *)", "Bash(node apps/web/x.js *)", "Bash(npm run web *)", "Edit(apps/web)", "Edit(my web/a)", "mcp__web"}, Strength: record.Deny}
	if diff := cmp.Diff(want, got.Trigger()); diff != "" {
		t.Error(diff)
	}
	if top := Move(m, "web", ".").Paths[0]; top != "**" || m.Paths[0] != "web/**" {
		t.Errorf("%q, and %q before", top, m.Paths[0])
	}
}

// A line that first runs what a statement asks for obeys it.
func TestPreparedCommands(t *testing.T) {
	for _, c := range []struct {
		text     string
		strength record.Strength
		on, line string
		want     bool
	}{
		{"Always run gofmt before committing", record.Hold, "git commit *", "git commit -am x", true},
		{"Always run gofmt before committing", record.Hold, "git commit *", "gofmt -w . && git commit -am x", false},
		{"Always run gofmt before committing", record.Hold, "git commit *", "git commit -am x && gofmt -w .", true},
		{"Always run gofmt before committing", record.Deny, "git commit *", "gofmt -w . && git commit -am x", true},
		{"Run `make test` before you commit.", record.Say, "git commit *", "make test; git commit -am x", false},
		{"Run `make test` before you commit.", record.Say, "git commit *", "make lint; git commit -am x", true},
		{"Run git pull before git push", record.Hold, "git push *", "git pull --rebase && git push", false},
		{"Run git pull before git push", record.Hold, "git push *", "git status && git push", true},
		{"Never run npm in web/, use pnpm", record.Hold, "npm *", "pnpm i && npm i", true},
		{"`go test` fails until `docker compose up -d db` has run.", record.Say, "go test *", "docker compose up -d db && go test ./...", false},
		{"Never run make test before make lint", record.Hold, "make test *", "make lint && make test", true},
		{"Run make lint and make test before committing", record.Hold, "git commit *", "make lint && git commit -am x", true},
		{"Run npm run lint before you push", record.Hold, "git push *", "npm run build && git push", true},
		{"Run npm run lint before you push", record.Hold, "git push *", "npm run lint && git push", false},
		{"Run make test before you commit", record.Hold, "git commit *", "make -n test && git commit -am x", true},
		{"Use pnpm, never npm. Run pnpm install before anything.", record.Hold, "npm *", "pnpm install && npm run build", true},
	} {
		rules := tableOf(t, c.text, record.Trigger{Guards: []string{"Bash(" + c.on + ")"}, Strength: c.strength}, nil).Match(hooks.Call{Command: c.line}, Place{"/p", "/p"}, time.Now())
		if got := len(rules) > 0; got != c.want {
			t.Errorf("%s: %s: %t", c.text, c.line, got)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{"", "Bash", "Bash()", "npm *", "Bash(npm", "Edit(/etc/passwd)", "Edit(../x)", "Edit()", "Read(x)", "Bash(a\nb)",
		"Bash(" + strings.Repeat("x", 300) + ")", "Bash(" + strings.Repeat("x ", 40) + ")"} {
		if p, err := Parse(text); err == nil {
			t.Errorf("%q is %v", text, p)
		}
	}
	for _, text := range []string{"Bash(npm *)", "Edit(generated/**)", "Edit(**/*.go)", "mcp__srv__tool", "Bash(git push * main)"} {
		if p, err := Parse(text); err != nil || p.String() != text {
			t.Errorf("%q is %v: %v", text, p, err)
		}
	}
}

func TestLessonsMatchOutput(t *testing.T) {
	table := tableOf(t, "Use pnpm, never npm", record.Trigger{Command: "go test", Errors: []string{"no such table"}}, nil)
	rules := table.Match(hooks.Call{Command: "go test ./..."}, Place{"/p", "/p"}, time.Now())
	if len(rules) != 1 || !rules[0].Lesson {
		t.Fatalf("before: %+v", rules)
	}
	if got := Failed(rules, "FAIL\nError: No such table: users"); len(got) != 1 {
		t.Errorf("its output: %+v", got)
	}
	if got := Failed(rules, "FAIL: another one"); len(got) != 0 {
		t.Errorf("another output: %+v", got)
	}
}

func TestDamagedTableHasNoRules(t *testing.T) {
	dir := t.TempDir()
	if got := Open(dir); got.Key != "" || len(got.Rules()) != 0 {
		t.Errorf("a missing one: %+v", got)
	}
	text, err := Table{Key: "k"}.Encode([]Rule{{ID: "a", On: "Bash(npm *)", Strength: record.Deny, Expires: time.Unix(1, 0).UTC()}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range text {
		broken := []byte(string(text))
		broken[i] ^= 4
		if err := os.WriteFile(filepath.Join(dir, File), broken, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := Open(dir).Rules(); len(got) != 0 && !cmp.Equal(got[0].On, "Bash(npm *)") {
			t.Errorf("byte %d changed: %+v", i, got)
		}
	}
}

func TestFilter(t *testing.T) {
	common := t.TempDir()
	state := filepath.Join(common, "reverie")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	rules := []Rule{{ID: "a", On: "Bash(npm *)"}, {ID: "b", On: "Bash(npm *)"}, {ID: "f", On: "Bash(git push * -f *)"}, {ID: "g", On: "Bash(git commit * -n *)"}, {ID: "c", On: "Edit(gen/**)"}, {ID: "d", On: "Bash(go test *)", Lesson: true}, {ID: "e", On: "mcp__db__drop"}}
	text, err := Table{Key: "k"}.Encode(rules)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(state, File), text, 0o600); err != nil {
		t.Fatal(err)
	}
	want := hooks.Filter{Commands: []string{"npm *", "git push * -* *", "git commit * -* *", "go test *"}, Failing: []string{"go test *"}, Files: []string{"gen/**"}, Tools: []string{"mcp__db__drop"}}
	if diff := cmp.Diff(want, FilterOf(common)); diff != "" {
		t.Error(diff)
	}
}

func BenchmarkMiss(b *testing.B) {
	var rules []Rule
	for i := range 500 {
		rules = append(rules, Rule{ID: strings.Repeat("a", 16), Text: strings.Repeat("words of a rule ", 10), On: "Bash(tool" + string(rune('a'+i%26)) + " *)", Strength: record.Say})
	}
	text, err := Table{Key: "k"}.Encode(rules)
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, File), text, 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		Open(dir).Match(hooks.Call{Command: "go test ./... | tail -3"}, Place{"/p", "/p"}, time.Now())
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("npm *", "cd a && npm $(x `y`) 'z")
	f.Fuzz(func(t *testing.T, pattern, line string) {
		p, err := Parse("Bash(" + pattern + ")")
		if err != nil {
			return
		}
		Rule{On: p.String()}.matchesRun(commands(line, "/p"), Place{"/p", "/p"})
	})
}
