package reflect

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

const refusedDial = "--- FAIL: TestStore (0.00s)\n    store_test.go:41: open store: dial tcp 127.0.0.1:5433: connect: connection refused\nFAIL\n"

func TestCommandThatRepairsAnother(t *testing.T) {
	for _, test := range []struct {
		name string
		s    script
		want string
	}{
		{"service", script{
			run("cd /home/dev/project && go test -v ./internal/store/... 2>&1 | tail -20", 0, refusedDial+"FAIL\texample/store\t0.1s\n"),
			run("docker compose up -d db", 0, "Container db Started"),
			run("go test ./internal/store/...", 0, "ok  \texample/store\t0.3s"),
		}, "Before `go test ./internal/store/...`, run `docker compose up -d db`: else it fails with \"dial tcp 127.0.0.1:5433: connect: connection refused\"."},
		{"generator in one line with the command", script{
			run("npm test", 1, "Error: Cannot find module '.prisma/client'\n    at Object.<anonymous> (/x/y.js:1:1)"),
			run("npx prisma generate && npm test", 0, "5 passed"),
		}, "Before `npm test`, run `npx prisma generate`: else it fails with \"Cannot find module '.prisma/client'\"."},
		{"declared dependencies", script{
			run("uv run pytest -q", 2, "E   ModuleNotFoundError: No module named 'freezegun'"),
			run("uv sync --group test", 0, ""),
			run("uv run pytest -x", 1, "1 failed"),
			run("uv run pytest -q", 0, "12 passed"),
		}, "Before `uv run pytest`, run `uv sync --group test`: else it fails with \"No module named 'freezegun'\"."},
		{"missing file from its example", script{
			run("make test", 2, "config: SLUICE_UPSTREAM is not set\nmake: *** [test] Error 1"),
			run("cp .env.example .env", 0, ""),
			run("make test", 0, ""),
		}, "Before `make test`, run `cp .env.example .env`: else it fails with \"config: SLUICE_UPSTREAM is not set\"."},
		{"formatter", script{
			run("make lint", 1, "main.go:3:1: File is not properly formatted (gofmt)\n1 issues:"),
			run("make fmt", 0, ""),
			run("make lint", 0, ""),
		}, "When `make lint` fails with \"File is not properly formatted (gofmt)\", run `make fmt`."},
		{"variable", script{
			run("npm run e2e", 1, "Error: BASE_URL is not set"),
			run("BASE_URL=http://localhost:3000 npm run e2e", 0, "3 passed"),
		}, "Run `npm run e2e` with `BASE_URL` set: else it fails with \"BASE_URL is not set\"."},
		{"the value that stood when it passed", script{
			run("pytest tests", 4, "E   KeyError: 'APP_PROFILE'"),
			run("APP_PROFILE=local pytest tests", 1, "E   FileNotFoundError: [Errno 2] No such file or directory: 'warehouse.key'"),
			run("APP_PROFILE=ci pytest tests", 0, "23 passed"),
		}, "Run `pytest tests` with `APP_PROFILE=ci` set: else it fails with \"KeyError: 'APP_PROFILE'\"."},
		{"what the checkout only points at, after a wrong guess", script{
			run("cmake -S . -B build", 1, "CMake Error at CMakeLists.txt:38 (add_subdirectory):\n  does not contain a CMakeLists.txt file."),
			run("cmake -S . -B build -DFETCH=ON", 1, "CMake Error at CMakeLists.txt:38 (add_subdirectory):\n  does not contain a CMakeLists.txt file."),
			run("git submodule update --init --recursive", 0, ""),
			run("rm -rf build && cmake -S . -B build", 0, "-- Configuring done"),
		}, "Before `cmake -S . -B build`, run `git submodule update --init --recursive`: else it fails with \"CMake Error at CMakeLists.txt:38 (add_subdirectory)\"."},
		{"the version of a language, in the line that passed", script{
			run("npm run build:prod", 1, "Error: error:0308010C:digital envelope routines::unsupported"),
			run("source ~/.nvm/nvm.sh && nvm use && node -v", 0, "v16.20.2"),
			run("source ~/.nvm/nvm.sh && nvm use 16 >/dev/null && npm run build:prod", 0, "DONE"),
		}, "Before `npm run build:prod`, run `nvm use 16`: else it fails with \"error:0308010C:digital envelope routines::unsupported\"."},
		{"a tag that only looks like the selection of a test", script{
			run("make e2e", 2, "error: image lid is missing"), run("docker build -t lid .", 0, ""), run("make e2e", 0, ""),
		}, "Before `make e2e`, run `docker build -t lid .`: else it fails with \"image lid is missing\"."},
		{"two steps", script{
			run("make test", 2, "pq: relation \"users\" does not exist"),
			run("docker compose up -d db", 0, ""),
			run("make migrate", 0, ""),
			run("make test", 0, ""),
		}, "Before `make test`, run `docker compose up -d db`, then `make migrate`: else it fails with \"relation 'users' does not exist\"."},
		{"edits beside, the error names the helper's work", script{
			run("make test", 2, "dial tcp 127.0.0.1:5433: connect: connection refused"),
			edit("a.go", "x", "y"),
			run("docker compose up -d db", 0, ""),
			run("make test", 0, ""),
		}, "Before `make test`, run `docker compose up -d db`: else it fails with \"dial tcp 127.0.0.1:5433: connect: connection refused\"."},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := wants(t, test.s, test.want)
			for _, c := range r.Candidates {
				if !c.Weak && (c.Kind != record.Failure || c.How != record.Seen || c.Detector != "fix" || len(c.Evidence) < 2) {
					t.Errorf("%+v", c)
				}
			}
		})
	}
}

func TestFixThatTeachesNothing(t *testing.T) {
	zero := 0
	for _, test := range []struct {
		name string
		s    script
	}{
		{"code was edited", script{run("go test ./...", 1, "a_test.go:3: got 1, want 2"), edit("a.go", "1", "2"), run("go test ./...", 0, "ok")}},
		{"code was edited by the shell", script{run("go test ./...", 1, "a_test.go:3: got 1, want 2"), run("cat > a.go <<'EOF'\npackage a\nEOF", 0, ""), run("make generate", 0, ""), run("go test ./...", 0, "ok")}},
		{"sed in place", script{run("make test", 1, "error: got 1, want 2"), run("sed -i s/1/2/ a.go && make build", 0, ""), run("make test", 0, "")}},
		{"nothing changed: it is flaky", script{run("go test ./...", 1, "a_test.go:3: got 1, want 2"), run("ls", 0, ""), run("go test ./...", 0, "ok")}},
		{"timeouts pass by themselves", script{run("make test", 1, "error: context deadline exceeded: request timed out"), run("make generate", 0, ""), run("make test", 0, "")}},
		{"a new dependency is ordinary work", script{run("npm test", 1, "Error: Cannot find module 'zod'"), run("npm install zod", 0, ""), run("npm test", 0, "")}},
		{"the other command failed", script{run("make test", 1, "connection refused"), run("docker compose up -d", 1, "no such service"), run("make test", 0, "")}},
		{"another directory", script{run("cd a && make test", 1, "connection refused"), run("docker compose up -d", 0, ""), run("cd b && make test", 0, "")}},
		{"never repaired", script{run("make test", 1, "connection refused"), run("docker compose up -d", 0, "")}},
		{"a look around failed", script{run("ls dist", 1, "ls: dist: No such file or directory"), run("make build", 0, ""), run("ls dist", 0, "")}},
		{"a branch was changed", script{run("make test", 1, "error: missing migration"), run("git checkout main", 0, ""), run("make migrate", 0, ""), run("git pull", 0, ""), run("make test", 0, "")}},
		{"no error to name", script{run("make test", 1, ""), run("make generate", 0, ""), run("make test", 0, "")}},
		{"secrets in the error", script{run("make test", 1, "connect [redacted:url] connection refused"), run("docker compose up -d", 0, ""), run("make test", 0, "")}},
		{"machine paths", script{run("/home/dev/bin/check", 1, "connection refused"), run("docker compose up -d", 0, ""), run("/home/dev/bin/check", 0, "")}},
		{"no exit code is not success", script{
			run("make test", 1, "connection refused"), run("docker compose up -d", 0, ""),
			ran(transcript.Event{Command: "make test"}, nil, "", "some words")}},
		{"a pipe hides the exit code and the output says nothing", script{
			run("make test", 1, "connection refused"), run("docker compose up -d", 0, ""), run("make test | tail -1", 0, "some words")}},
		{"go mod tidy is committed", script{run("go build ./...", 1, "go: updates to go.mod needed"), run("go mod tidy", 0, ""), run("go build ./...", 0, "")}},
		{"a variable of this machine", script{run("make test", 1, "panic: HOME is not set"), run("HOME=/tmp/x make test", 0, "ok")}},
		{"a variable beside an error of the code", script{run("make test", 1, "x_test.go:3: error: got 1, want 2"), run("FAST=1 make test", 0, "ok")}},
		{"the port is taken", script{run("npm run dev", 1, "Error: listen EADDRINUSE: address already in use :::3000"), run("docker compose up -d", 0, ""), run("npm run dev", 0, "ready")}},
		{"one file was formatted", script{run("make lint", 1, "a.go:1:1: File is not properly formatted (gofmt)"), run("gofmt -w a.go", 0, ""), run("make lint", 0, "")}},
		{"pulled before pushing", script{run("git push origin x", 1, "error: failed to push some refs"), run("git pull --rebase", 0, ""), run("git push origin x", 0, "")}},
		{"a rule was written into the Makefile", script{run("make test", 2, "make: *** No rule to make target 'test'.  Stop."), edit("Makefile", "x", "test:"), run("make test", 0, "ok")}},
		{"another agent's command", script{
			run("make test", 1, "connection refused"),
			ran(transcript.Event{Command: "docker compose up -d", Agent: "sub"}, &zero, "", ""),
			run("make test", 0, "")}},
	} {
		t.Run(test.name, func(t *testing.T) { wants(t, test.s) })
	}
}

func TestEachErrorHasItsFix(t *testing.T) {
	wants(t, script{
		run("make test", 2, "dial tcp 127.0.0.1:5432: connect: connection refused"),
		run("docker compose up -d db", 0, ""),
		run("make test", 2, "ERROR: relation \"users\" does not exist"),
		run("make migrate", 0, ""),
		run("make test", 0, ""),
	},
		"Before `make test`, run `docker compose up -d db`: else it fails with \"dial tcp 127.0.0.1:5432: connect: connection refused\".",
		"Before `make test`, run `make migrate`: else it fails with \"relation 'users' does not exist\".")
}

func TestSameLessonSameStatement(t *testing.T) {
	a := study(t, script{
		run("cd /home/dev/project && go test ./store/ 2>&1 | tail -20", 0, "12:01:02 ledger.go:41: open: dial tcp 127.0.0.1:5432: connect: connection refused\nFAIL\n"),
		run("docker compose up -d db >/dev/null", 0, ""),
		run("go test ./store/ -v", 0, "PASS"),
	})
	b := study(t, script{
		run("time go test -count=1 ./store/", 1, "\x1b[31mmigrate.go:7: dial tcp 127.0.0.1:5432: connect: connection refused\x1b[0m"),
		run("docker compose up -d db", 0, ""),
		run("go test ./store/", 0, "ok  \tstore\t1.2s"),
	})
	if len(a.Candidates) != 1 {
		t.Fatalf("found %v", texts(a))
	}
	if diff := cmp.Diff(texts(a), texts(b)); diff != "" {
		t.Error(diff)
	}
}

func TestCommandThatTheFailingOnePrints(t *testing.T) {
	wants(t, script{
		run("frob test", 1, "error: the lock is stale\nRun 'frob relock --all' and try it"),
		run("frob relock --all", 0, ""), edit("a.go", "1", "2"),
		run("frob test", 0, ""),
	}, "Before `frob test`, run `frob relock --all`: else it fails with \"the lock is stale\".")
	wants(t, script{
		run("frob test", 1, "error: the lock is stale\nRun 'frob relock --force' and try it"),
		run("frob relock --force", 0, ""),
		run("frob test", 0, ""),
	})
}

// A step that passed before the one that failed has the same output.
func TestErrorOfAChainsLastStep(t *testing.T) {
	const stale = "The stubs are stale: schema file missing.\nRun:\n    make stubs\nhook failed"
	for _, show := range []string{"make stubs", "make stubs 2>&1 | tail -3"} {
		r := wants(t, script{
			run("git add api.yaml && git commit -m 'a field'", 1, stale), run(show, 0, "wrote 4 files"), run("git add . && git commit -m 'a field'", 0, "1 file changed"),
		}, "Before `git commit`, run `make stubs`: else it fails with \"The stubs are stale: schema file missing\".")
		if len(r.Candidates) == 1 && r.Candidates[0].Evidence[0].Quote != "The stubs are stale: schema file missing." {
			t.Errorf("%+v", r.Candidates[0].Evidence)
		}
	}
}

func TestHooksTestIsNoRemedy(t *testing.T) {
	wants(t, script{
		run("git add . && git commit -m x", 1, "$ bun test lib/\nerror: Cannot find module 'lid/box' from 'lid.test.ts'\nhook failed"),
		run("bun test lib/", 0, "9 pass"), run("git add . && git commit -m x", 0, ""),
	})
}

func TestTaskThatAHookRunsToo(t *testing.T) {
	const want = "Before `git commit`, run `bun run kinds`: its hook runs the same, and stops where that fails."
	wants(t, script{
		run("git commit -m x", 1, "$ lint .\nfine\n$ kinds --all\na.ts(1,2): error TS1: a thing is wrong\nhook failed"),
		edit("a.ts", "1", "2"),
		run("bun run lint", 0, "$ lint .\nfine"),
		run("bun run kinds", 0, "$ kinds --all"),
		run("git commit -m x", 0, ""),
	}, want)
	wants(t, script{
		run("git commit -m x", 1, "a.ts(1,2): error TS1: a thing is wrong\nhook failed"),
		run("bun run kinds", 1, "a.ts(1,2): error TS1: a thing is wrong"),
		edit("a.ts", "1", "2"),
		run("bun run kinds", 0, ""),
	}, want)
	wants(t, script{
		run("git push", 1, "error: connection refused by the host"),
		run("bun run kinds", 1, "error: connection refused by the host"),
		run("bun run kinds", 0, "ok"),
	})
	wants(t, script{
		run("git commit -m x", 1, "$ kinds --all\nerror: a thing is wrong"),
		run("bun run kinds", 0, "$ others"),
	})
}
