package reflect

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/pattern"
	"github.com/reverie-memory/reverie/internal/shell"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// Routine: a project's own command that repeatedly succeeds is the way to do that job here. A
// command that ran less often becomes a weak candidate, because other sessions may show the habit.

const (
	routineRuns  = 3 // successes that make a routine
	routineEdits = 2 // sufficient successes, if files were edited between them
)

// purposes maps words in a task's name to its job. The first match counts.
var purposes = []struct {
	word *pattern.Pattern
	job  string
}{
	{taskNamed("type-?check|tsc|types|mypy|pyright"), "check types"},
	{taskNamed("lint-?fix|fmt|format|prettier|gofumpt|black"), "format"},
	{taskNamed("lint|golangci-lint|eslint|clippy|ruff|vet|biome|flake8|rubocop"), "lint"},
	{taskNamed("e2e|end-to-end|playwright|cypress"), "run the end-to-end tests"},
	{taskNamed("integration|test-?int"), "run the integration tests"},
	{taskNamed("test|tests|unit|spec|pytest|vitest|jest|rspec"), runTests},
	{taskNamed("generate|gen|codegen|proto|protos|sqlc"), "generate code"},
	{taskNamed("migrate|migrations?"), "migrate the database"},
	{taskNamed("bench|benchmark"), "run the benchmarks"},
	{taskNamed("docs|doc"), "build the documentation"},
	{taskNamed("build|compile|dist|bundle"), "build"},
	{taskNamed("check|ci|verify|validate|pre-?commit|pre-?submit|pre-?push|preflight"), "check a change"},
}

func taskNamed(words string) *pattern.Pattern {
	return lazy(`(?i)(?:^|[-_:./ ])(?:` + words + `)(?:$|[-_:./ ])`)
}

// findRoutines counts the successes of each command over the whole session.
func findRoutines(v *view) []finding {
	type tally struct {
		acts  []act
		edits int // successes after an edit since the previous one
		since int // v's edits at the last success
	}
	tallies := map[string]*tally{}
	var order []string
	edits := 0
	for _, a := range v.acts {
		if a.edit {
			edits++
			continue
		}
		if a.outcome != transcript.OK || a.agent != "" || !routine(a.step) {
			continue
		}
		if a.stood && a.step.part() != "" {
			a.step.dir = "" // the package tells where
		}
		key := a.step.dir + "\x00" + a.step.key
		t := tallies[key]
		if t == nil {
			t = &tally{since: -1}
			tallies[key] = t
			order = append(order, key)
		}
		if edits > t.since && t.since >= 0 {
			t.edits++
		}
		t.since = edits
		t.acts = append(t.acts, a)
	}
	// The same command in the shell's chance folder is no second workflow.
	happened := func(t *tally) bool { return !slices.ContainsFunc(t.acts, func(a act) bool { return !a.stood }) }
	order = slices.DeleteFunc(order, func(key string) bool {
		t := tallies[key]
		root := tallies["\x00"+t.acts[0].step.key]
		if root == nil || root == t || !happened(t) {
			return false
		}
		root.acts, root.edits = append(root.acts, t.acts...), root.edits+t.edits
		return true
	})
	var out []finding
	for _, key := range order {
		t := tallies[key]
		a := t.acts[0]
		job := purpose(a.step)
		if part := a.step.part(); part != "" && strings.Contains(job, " ") {
			job += " of " + part
		} else if part != "" {
			job += " " + part
		}
		c := record.Candidate{
			Kind:  record.Workflow,
			Text:  "Run `" + show(a.step, "") + "` to " + job + ".",
			Topic: job,
			How:   record.Seen,
			Weak:  len(t.acts) < routineRuns && (len(t.acts) < routineEdits || t.edits == 0) || happened(t),
		}
		for _, b := range t.acts[:min(3, len(t.acts))] {
			c.Evidence = append(c.Evidence, v.quoteCommand(b))
		}
		if a.step.dir != "" {
			c.Paths = []string{a.step.dir + "/**"}
		}
		out = append(out, finding{Candidate: c})
	}
	return out
}

// routine reports whether a command is defined by the project, covers the whole of it, and names
// its job.
func routine(s step) bool {
	return projectRunner(s) && !narrow(s) && s.portable() && purpose(s) != ""
}

// purpose returns the job of a command, or "" if its name does not tell. The name is the task's, or
// else the script's.
func purpose(s step) string {
	if job := jobNamed(s.tool()); job != "" || !strings.Contains(s.words[0], "/") {
		return job
	}
	return jobNamed(path.Base(s.words[0]))
}

// jobNamed returns the job that a name tells. In a compound name, a verb other than that of testing
// makes it an unknown job: `migrate-test`, `db:test:prepare`.
func jobNamed(name string) string {
	for _, p := range purposes {
		if p.word.MatchString(name) {
			if strings.HasSuffix(p.job, "tests") && otherVerb.MatchString(name) {
				return ""
			}
			if which := testsOf(name); which != "" && p.job == runTests {
				return "run the " + which + " tests"
			}
			return p.job
		}
	}
	return ""
}

const runTests = "run the tests"

// testsOf returns which tests a task runs by its name, or how: ci of test:ci, unit of test-unit. It
// is empty for other names.
func testsOf(name string) string {
	begins, which, _ := strings.Cut(strings.ReplaceAll(name, "-", ":"), ":")
	other := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	switch {
	case begins != "test" && begins != "tests", strings.ContainsFunc(which, other):
		return ""
	case which == "all", which == "run", which == "once", which == "only", which == "coverage", which == "cov", which == "fix":
		return ""
	}
	return which
}

var otherVerb = taskNamed("migrate|seed|reset|deploy|start|stop|build|generate|gen|setup|set-up|prepare|clean|install|update|create|" +
	"drop|publish|release|push|watch|serve|up|down|init|load|dump|wait|kill|restore|sync|debug")

// projectRunner reports whether a command is a task or a script of the project, not a tool with the
// same effect in every project.
func projectRunner(s step) bool {
	w := s.words
	switch w[0] {
	case "make", "just", "task", "rake", "gmake", "nox", "tox", "invoke", "inv", "poe", "turbo", "nx", "bazel", "buck2", "pants", "earthly", "dagger", "moon", "lerna", "ant", "sbt", "./gradlew", "gradle", "./mvnw":
		return len(w) > 1
	case "mise", "bun", "hatch", "pdm", "composer", "rye", "pixi", "uv", "poetry", "pipenv", "deno", "bundle":
		return len(w) > 2 && (w[1] == "run" || w[1] == "exec" || w[1] == "task" || w[1] == "run-script")
	case "npm":
		return len(w) > 1 && (len(w) > 2 && w[1] == "run" || strings.HasPrefix(w[1], "-") && s.tool() != "install" && s.tool() != "")
	case "yarn", "pnpm":
		return len(w) > 1 && s.tool() != "" && !packageManager.Has(s.tool())
	case "cargo":
		return len(w) > 2 && w[1] == "xtask"
	case "bash", "sh", "python", "python3", "node", "tsx", "ruby":
		return len(w) > 1 && strings.Contains(w[1], "/") && !strings.HasPrefix(w[1], "/") && !strings.HasPrefix(w[1], "-")
	}
	if strings.HasPrefix(w[0], "./") || strings.HasPrefix(w[0], "scripts/") || strings.HasPrefix(w[0], "bin/") || strings.HasPrefix(w[0], "script/") || strings.HasPrefix(w[0], "tools/") {
		return !strings.Contains(w[0], "node_modules")
	}
	return false
}

var packageManager = set("install add remove init create dlx why list ls outdated update upgrade up config cache link unlink " +
	"import publish pack audit store env patch exec run node import info view login logout ci")

// narrow reports whether a command is aimed at a part: one file, one test, one package.
func narrow(s step) bool {
	if strings.HasSuffix(purpose(s), "tests") && givesTarget(s) {
		return true
	}
	for i, w := range s.words[1:] {
		w = shell.Unquote(w)
		name, _, _ := strings.Cut(w, "=")
		switch before := s.words[i]; {
		case selects.Has(name), name == "-bench", name == "--test", name == "TEST", name == "RUN", name == "ARGS", name == "PKG":
			return true
		case strings.Contains(w, "::"), strings.Contains(w, "#"):
			return true
		case w == "--":
			if before == "exec" || before == "x" || before == "run" {
				continue // the command itself follows
			}
			return len(s.words) > i+2
		case sourceFile.MatchString(w) && !(i == 0 && scriptHost.Has(s.words[0])):
			return true
		case i > 0 && isFolder(w) && !takesFolder.Has(before) && s.words[0] != "bazel":
			return true
		}
	}
	return false
}

// taskRunner lists programs that pass the words after a task on to its command.
var taskRunner = set("npm yarn pnpm bun just task mise")

// givesTarget reports whether a word other than a flag follows the task or the script that runs
// tests: `yarn test Badge`, `./run-tests.sh billing`.
func givesTarget(s step) bool {
	after := 1
	switch {
	case taskRunner.Has(s.words[0]):
		after += slices.Index(s.words, s.tool())
	case !strings.HasSuffix(jobNamed(path.Base(s.words[0])), "tests"):
		return false
	}
	return after < len(s.words) && !strings.HasPrefix(s.words[after], "-") && s.words[after] != "run"
}

// isFolder reports whether a word looks like a folder of the project: no flag, no package scope, no
// target, no extension (which ./... has, as far as path can tell).
func isFolder(w string) bool {
	return strings.Contains(w, "/") && !strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "@") && !strings.Contains(w, ":") && path.Ext(w) == ""
}

var (
	sourceFile  = lazy(`\.(?:go|ts|tsx|js|jsx|mjs|cjs|py|rs|rb|java|kt|swift|c|cc|cpp|h|cs|php|ex|exs|vue|svelte|mdx?|css|html|sql|snap)(?::\d+)?$`)
	takesFolder = set("--filter -F --prefix -C -f --dir -c")
	scriptHost  = set("bash sh python python3 node tsx ruby")
)
