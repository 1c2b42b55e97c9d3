package reflect

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

func TestVariantThatWorks(t *testing.T) {
	for _, test := range []struct {
		name string
		s    script
		want string
	}{
		{"a flag", script{
			run("go test ./e2e/...", 1, "package example/e2e: build constraints exclude all Go files in /home/dev/project/e2e"),
			run("go test -tags integration ./e2e/...", 0, "ok"),
		}, "Run `go test -tags integration ./e2e/...`, not `go test ./e2e/...`: that fails with \"package example/e2e: build constraints exclude all Go files in e2e\"."},
		{"a flag, whichever test runs", script{
			run("go test -run TestOne ./e2e", 1, "package example/e2e: build constraints exclude all Go files in /home/dev/project/e2e"),
			run("go test -tags integration -run TestOne ./e2e", 0, "ok"),
		}, "Run `go test -tags integration -run … ./e2e`, not `go test -run … ./e2e`: that fails with \"package example/e2e: build constraints exclude all Go files in e2e\"."},
		{"a runner in front", script{
			run("pytest", 127, "bash: pytest: command not found"),
			run("ls", 0, ""),
			run("poetry run pytest", 0, "3 passed"),
		}, "Run `poetry run pytest`, not `pytest`: that fails with \"pytest: command not found\"."},
		{"a task runner's environment", script{
			run("golangci-lint run ./...", 127, "zsh: command not found: golangci-lint"),
			run("mise exec -- golangci-lint run ./...", 0, "0 issues."),
		}, "Run `mise exec -- golangci-lint run ./...`, not `golangci-lint run ./...`: that fails with \"golangci-lint: command not found\"."},
		{"the other way has an error of its own first", script{
			run("pytest", 127, "bash: pytest: command not found"),
			run("poetry run pytest", 1, "E   assert 1 == 2"),
			edit("a.py", "1", "2"),
			run("poetry run pytest", 0, "3 passed"),
		}, "Run `poetry run pytest`, not `pytest`: that fails with \"pytest: command not found\"."},
		{"without a wrapper that does not know it, though it fails in another way", script{
			run("wrap yarn run unit", 2, "error: unrecognized subcommand 'yarn'\n\nUsage: wrap <COMMAND>"),
			run("yarn run unit", 1, "want 3, got 4 of them"),
		}, "Run `yarn …`, not `wrap yarn …`: that fails with \"unrecognized subcommand 'yarn'\"."},
		{"an option that is not there", script{
			run("tool run conf/a.txt --pick red-green-blue", 2, "error: found 1 error\n\n  tool run conf/a.txt --pick red-green-blue\n                      ^ Unknown arguments\n"),
			run("tool run --help", 0, "--id"),
			run("tool run conf/a.txt --id red-green-blue", 0, "done"),
		}, "Run `tool run conf/a.txt --id …`, not `tool run conf/a.txt --pick …`: that fails with \"Unknown arguments\"."},
		{"another way to the same thing, after a second try", script{
			run("tool item edit 15 --text /tmp/x", 1, "Boards are retired, see the news"),
			run("tool item edit 15 --text /tmp/x", 1, "Boards are retired, see the news"),
			run("tool raw items/15 -X PATCH", 0, "{}"),
		}, "Run `tool raw items/N -X PATCH`, not `tool item edit N --text …`: that fails with exit code 1."},
		{"a directory", script{
			run("cd web && yarn lint", 1, "error: Script not found \"lint\""),
			run("yarn lint", 0, "ok"),
		}, "Run `yarn lint` in the root of the repository, not in `web`: that fails with \"Script not found 'lint'\"."},
		{"an interpreter", script{
			run("node src/main.ts", 1, "TypeError: Unknown file extension \".ts\" in node"),
			run("tsx src/main.ts", 0, "ok"),
		}, "Run `tsx src/main.ts`, not `node src/main.ts`: that fails with \"TypeError: Unknown file extension '.ts' in node\"."},
		{"a program that became a subcommand", script{
			run("ship-it up -d", 127, "zsh: command not found: ship-it"),
			run("ship it up -d", 0, "up"),
		}, "Run `ship it …`, not `ship-it …`: that fails with \"ship-it: command not found\"."},
		{"a program that became a subcommand, without exit codes", script{
			ran(transcript.Event{Command: "cd web && ship-it build && ship-it up -d"}, nil, "", "zsh: command not found: ship-it"),
			ran(transcript.Event{Command: "cd web && ship it build && ship it up -d"}, nil, "", "a\nb\nc\nd"),
		}, "Run `ship it …`, not `ship-it …`: that fails with \"ship-it: command not found\"."},
		{"a missing program in PowerShell, without exit codes", script{
			ran(transcript.Event{Command: "pytest"}, nil, "", "pytest : The term 'pytest' is not recognized as the name of a cmdlet"),
			ran(transcript.Event{Command: "poetry run pytest"}, nil, "", "3 passed"),
		}, "Run `poetry run pytest`, not `pytest`: that fails with \"pytest: command not found\"."},
		{"a variable unset", script{
			run("AGENT_NEST=1 nest run", 1, "error: cannot be started inside another session\nunset AGENT_NEST"),
			run("env -u AGENT_NEST nest run", 0, "ok"),
		}, "Run `nest run` with `AGENT_NEST` unset, not set: that fails with \"cannot be started inside another session\"."},
	} {
		t.Run(test.name, func(t *testing.T) { wants(t, test.s, test.want) })
	}
}

func TestVariantThatTeachesNothing(t *testing.T) {
	for _, test := range []struct {
		name string
		s    script
	}{
		{"no subcommand either", script{
			ran(transcript.Event{Command: "ship-it up -d"}, nil, "", "zsh: command not found: ship-it"),
			ran(transcript.Event{Command: "ship it up -d"}, nil, "", "ship: 'it' is not a ship command."),
		}},
		{"a program asked for in vain, with another behind it", script{run("ship ps || podship ps", 0, "bash: ship: command not found\nNAME"), run("podship ps", 0, "NAME")}},
		{"a service of Windows that was not started", script{run("ship up", 1, "\nThe command 'ship' could not be found in this WSL 2 distro.\nWe recommend to activate the WSL integration.")}},
		{"a name of this machine", script{run("python app/main.py", 127, "bash: python: command not found"), run("python3 app/main.py", 0, "")}},
		{"an error of the code", script{run("go test ./...", 1, "a_test.go:3: got 1, want 2"), run("go test -race ./...", 0, "ok")}},
		{"a narrower aim", script{run("pytest", 1, "ModuleNotFoundError: No module named 'x'"), run("pytest -k y", 0, "1 passed")}},
		{"edited between", script{run("pytest", 127, "pytest: command not found"), edit("a.py", "1", "2"), run("poetry run pytest", 0, "")}},
		{"installed between", script{run("pytest", 127, "pytest: command not found"), run("pip install pytest", 0, ""), run("poetry run pytest", 0, "")}},
		{"it passed, and the error explains nothing", script{run("tool build --all", 1, "error: want 3, got 4"), run("tool build --some", 0, "ok")}},
		{"a check switched off", script{
			run("git commit -m x", 1, "unknown option: hook failed"), run("git commit --no-verify -m x", 0, "ok"),
			run("tool check", 1, "error: unexpected --strict"), run("tool check --skip-all", 0, "ok"),
			run("yarn lint", 1, "error: command not found: lint"), run("yarn lint --ignore-missing", 0, "ok")}},
		{"the same in another directory is other work", script{run("cd a && make test", 1, "connection refused by the daemon"), run("cd b && make test", 0, "ok")}},
		{"a state that passes by itself", script{
			run("tool run watch 15", 1, "error: run 15 failed"), run("tool run watch 15", 1, "error: run 15 failed"), run("tool raw runs/15", 0, "{}")}},
		{"another subcommand is other work", script{run("tool item diff 15 --stat", 1, "unknown flag: --stat"), run("tool item view 15", 0, "ok")}},
		{"another task is other work", script{run("yarn unit", 1, "Cannot find module 'x' from 'a.unit.ts'"), run("yarn lint", 0, "ok")}},
		{"asked for help", script{run("make deploy", 2, "error: REGION is not set"), run("make deploy --dry-run", 0, "")}},
	} {
		t.Run(test.name, func(t *testing.T) { wants(t, test.s) })
	}
}

// A flag that git does not know says nothing about a repository, however often it is tried.
func TestFlagThatGitNeverHad(t *testing.T) {
	r := wants(t, script{run("git show 1a2b3c --no-stat", 128, "fatal: unrecognized argument: --no-stat"), run("git show 1a2b3c", 0, "ok")})
	if len(r.Candidates) > 0 {
		t.Errorf("%+v", r.Candidates)
	}
}

func TestErrorWithoutARemedyIsWeak(t *testing.T) {
	for _, test := range []struct {
		name, command, output, want string
	}{
		{"an option", "tool send box-of-mine --mark x", "error: unexpected argument '--mark' found", "`tool send --mark` fails with \"unexpected argument '--mark' found\" here."},
		{"a subcommand", "tool drop x", "Error: unknown command \"drop\" for \"tool\"", "`tool drop` fails with \"unknown command 'drop' for 'tool'\" here."},
		{"a filter behind it", "tool list | sieve x", "zsh:1: command not found: sieve", "`sieve` fails with \"sieve: command not found\" here."},
		{"the surroundings", "make up", "Cannot connect to the daemon", "`make up` fails with \"Cannot connect to the daemon\" here."},
	} {
		r := study(t, script{run(test.command, 1, test.output)})
		if len(r.Candidates) != 1 || r.Candidates[0].Text != test.want || !r.Candidates[0].Weak {
			t.Errorf("%s: %+v", test.name, r.Candidates)
		}
	}
	for _, quiet := range []script{
		{run("make test", 1, "a_test.go:3: got 1, want 2")},
		{run("make test", 1, strings.Repeat("a line of a long output\n", 9)+"connection refused")},
		{run("tool wait", 1, "error: unknown session: timed out")},
	} {
		if r := study(t, quiet); len(r.Candidates) > 0 {
			t.Errorf("%q", texts(r))
		}
	}
}

func TestLessonKeepsItsTrigger(t *testing.T) {
	r := study(t, script{
		run("wrap yarn run unit", 2, "error: unrecognized subcommand 'yarn'"), run("yarn run unit", 0, "ok"),
		run("go test ./store", 1, "open: dial tcp 127.0.0.1:5432: connect: connection refused"), run("docker compose up -d db", 0, ""), run("go test ./store", 0, "ok"),
	})
	lessons := slices.DeleteFunc(r.Candidates, func(c record.Candidate) bool { return c.Weak })
	if len(lessons) != 2 {
		t.Fatalf("%q", texts(r))
	}
	for i, want := range []record.Candidate{
		{Command: "wrap yarn run", Errors: []string{"unrecognized subcommand 'yarn'"}},
		{Command: "go test", Errors: []string{"dial tcp 127.0.0.1:5432: connect: connection refused"}},
	} {
		if c := lessons[i]; c.Command != want.Command || !cmp.Equal(c.Errors, want.Errors) {
			t.Errorf("%s: command %q, errors %q", c.Text, c.Command, c.Errors)
		}
	}
}
