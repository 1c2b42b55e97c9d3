package reflect

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

func TestRoutine(t *testing.T) {
	wants(t, script{
		run("mise run lint", 0, "0 issues."), run("ls", 0, ""),
		run("mise run fmt && mise run lint", 0, ""), run("mise run lint 2>&1 | tail -5", 0, "0 issues."),
	}, "Run `mise run lint` to lint.")
	wants(t, script{
		run("npm run test -s", 0, ""), edit("a.js", "1", "2"), run("cd /home/dev/project && CI=1 npm test", 0, ""),
	})
	wants(t, script{
		run("npm run typecheck", 0, ""), edit("a.ts", "1", "2"), run("cd /home/dev/project && CI=1 npm run typecheck", 0, ""),
	}, "Run `npm run typecheck` to check types.")
	wants(t, script{
		run("./tools/presubmit.sh billing", 0, ""), run("./tools/presubmit.sh billing", 0, ""), run("./tools/presubmit.sh billing", 0, ""),
	}, "Run `./tools/presubmit.sh billing` to check a change.")
	r := wants(t, script{
		run("cd web && pnpm run test", 0, ""), edit("a.ts", "1", "2"), run("cd web && pnpm test", 0, ""),
	}, "Run `cd web && pnpm test` to run the tests.")
	if len(r.Candidates) == 1 && (len(r.Candidates[0].Paths) != 1 || r.Candidates[0].Paths[0] != "web/**") {
		t.Errorf("paths %v", r.Candidates[0].Paths)
	}
}

// Two tasks that test are two workflows, and their statements tell them apart.
func TestRoutineNamesWhichTests(t *testing.T) {
	again := func(command string) script {
		return script{run(command, 0, "ok"), edit("a", "1", "2"), run(command, 0, "ok"), edit("a", "2", "3"), run(command, 0, "ok")}
	}
	wants(t, append(again("mise run test"), again("mise run test:ci")...), "Run `mise run test` to run the tests.", "Run `mise run test:ci` to run the ci tests.")
	wants(t, again("npm run test:e2e"), "Run `npm run test:e2e` to run the end-to-end tests.")
	wants(t, again("make test-all_of_it"), "Run `make test-all_of_it` to run the tests.")
	wants(t, again("npm run test:watch"))
	wants(t, again("npm run test:jest"), "Run `npm run test:jest` to run the jest tests.")
	wants(t, again("npm run test:all"), "Run `npm run test:all` to run the tests.")
}

// A task of one package is no task of the repository, whichever folder the shell stands in.
func TestRoutineOfAPackage(t *testing.T) {
	again := func(commands ...string) (s script) {
		for i, command := range commands {
			s = append(s, run(command, 0, "ok"), edit("a", "1", strings.Repeat("2", i+2)))
		}
		return s
	}
	wants(t, again("pnpm --filter shop build", "pnpm --filter shop build", "pnpm --filter shop build"), "Run `pnpm --filter shop build` to build shop.")
	wants(t, again("cd fe && pnpm --filter ui build", "cd fe && pnpm --filter ui build", "cd fe && pnpm --filter ui build"), "Run `cd fe && pnpm --filter ui build` to build ui.")
	wants(t, again("pnpm --filter a --filter b build", "pnpm --filter a --filter b build", "pnpm --filter a --filter b build"), "Run `pnpm --filter a --filter b build` to build.")
	wants(t, again("npm run test -w @box/lid", "npm run test --workspace=@box/lid", "npm -w @box/lid test"))
	wants(t, again("yarn workspace lid lint", "yarn workspace lid lint", "yarn workspace lid lint"), "Run `yarn workspace lid lint` to lint lid.")
	wants(t, again("turbo run test --filter=lid", "turbo run test --filter=lid", "turbo run test --filter=lid"), "Run `turbo run test --filter=lid` to run the tests of lid.")
	wants(t, again("pnpm -C web test", "cd web && pnpm test", "pnpm --dir web run test"), "Run `cd web && pnpm test` to run the tests.")
}

// A command that ran in the shell's chance folder and also at the root is one workflow.
func TestFolderTheShellStoodIn(t *testing.T) {
	zero := 0
	in := func(dir string) func(*[]transcript.Event) {
		return ran(transcript.Event{Command: "mise run lint", Dir: dir}, &zero, "", "0 issues.")
	}
	root, web := in(""), in("/home/dev/project/web")
	wants(t, script{web, root, edit("a", "1", "2"), web, web}, "Run `mise run lint` to lint.")
	wants(t, script{web, web, web}) // weak: nothing shows that it belongs there
	wants(t, script{run("cd web && mise run lint", 0, ""), root, run("cd web && mise run lint", 0, ""), root, run("cd web && mise run lint", 0, ""), root},
		"Run `cd web && mise run lint` to lint.", "Run `mise run lint` to lint.")
}

// A history of SpecStory does not tell the folder in which Claude Code's shell stands.
func TestFolderThatAHistoryLeavesOut(t *testing.T) {
	for first, want := range map[string][]string{"cd web && ls": nil, "ls web": {"Run `mise run lint` to lint."}} {
		s := script{run(first, 0, ""), run("mise run lint", 0, ""), edit("a", "1", "2"), run("mise run lint", 0, ""), run("mise run lint", 0, "")}
		got := texts(Study(transcript.Session{Client: string(transcript.SpecStory), ID: "s1"}, s.events()))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("after %s:\n%s", first, diff)
		}
	}
}

func TestNoRoutine(t *testing.T) {
	zero := 0
	thrice := func(command string, exit int, output string) script {
		return script{run(command, exit, output), edit("a", "1", "2"), run(command, exit, output), edit("a", "2", "3"), run(command, exit, output)}
	}
	for _, test := range []struct {
		name string
		s    script
	}{
		{"a look around", thrice("ls -la", 0, "")},
		{"git", thrice("git status", 0, "")},
		{"a tool's own default", thrice("go test ./...", 0, "ok")},
		{"one test", thrice("mise run test -- -run TestStore ./store/...", 0, "ok")},
		{"one file", thrice("npm test src/a.test.ts", 0, "ok")},
		{"it failed", thrice("make lint", 1, "bad")},
		{"nobody knows how it ended", script{
			ran(transcript.Event{Command: "make lint"}, nil, "", "x"), ran(transcript.Event{Command: "make lint"}, nil, "", "x"), ran(transcript.Event{Command: "make lint"}, nil, "", "x")}},
		{"hidden by a pipe", thrice("make lint | tail -1", 0, "some words")},
		{"hidden by || true", thrice("make lint || true", 0, "some words")},
		{"no job in its name", thrice("make foo", 0, "")},
		{"one target", thrice("yarn test StatusBadge", 0, "")},
		{"one target of a script", thrice("./run-tests.sh billing", 0, "")},
		{"another verb than testing", thrice("make migrate-test", 0, "")},
		{"another verb at the end", thrice("bin/rails db:test:prepare", 0, "")},
		{"a path of this machine", thrice("make lint -f /tmp/x/Makefile", 0, "")},
		{"a sub-agent's", script{
			ran(transcript.Event{Command: "make lint", Agent: "sub"}, &zero, "", ""), ran(transcript.Event{Command: "make lint", Agent: "sub"}, &zero, "", ""), ran(transcript.Event{Command: "make lint", Agent: "sub"}, &zero, "", "")}},
		{"twice with nothing edited between", script{run("make lint", 0, ""), run("make lint", 0, "")}},
		{"told by a memory", append(script{given(transcript.Injected, "- Run `make lint` to lint.")}, thrice("make lint", 0, "")...)},
	} {
		t.Run(test.name, func(t *testing.T) { wants(t, test.s) })
	}
}

func TestOneSuccessIsWeak(t *testing.T) {
	for runs, weak := range map[int]bool{1: true, 2: true, 3: false} {
		var s script
		for range runs {
			s = append(s, run("make lint", 0, "ok"))
		}
		r := study(t, s)
		if len(r.Candidates) != 1 || r.Candidates[0].Weak != weak || len(r.Candidates[0].Evidence) != runs {
			t.Errorf("%d runs: %+v", runs, r.Candidates)
		}
	}
	if r := study(t, script{run("make lint", 1, "error: boom happened")}); len(r.Candidates) > 0 {
		t.Errorf("a command that never passed: %v", r.Candidates)
	}
}
