package reflect

import "testing"

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
	} {
		t.Run(test.name, func(t *testing.T) { wants(t, test.s, test.want) })
	}
}

func TestVariantThatTeachesNothing(t *testing.T) {
	for _, test := range []struct {
		name string
		s    script
	}{
		{"a name of this machine", script{run("python app/main.py", 127, "bash: python: command not found"), run("python3 app/main.py", 0, "")}},
		{"an error of the code", script{run("go test ./...", 1, "a_test.go:3: got 1, want 2"), run("go test -race ./...", 0, "ok")}},
		{"a narrower aim", script{run("pytest", 1, "ModuleNotFoundError: No module named 'x'"), run("pytest -k y", 0, "1 passed")}},
		{"edited between", script{run("pytest", 127, "pytest: command not found"), edit("a.py", "1", "2"), run("poetry run pytest", 0, "")}},
		{"installed between", script{run("pytest", 127, "pytest: command not found"), run("pip install pytest", 0, ""), run("poetry run pytest", 0, "")}},
		{"asked for help", script{run("make deploy", 2, "error: REGION is not set"), run("make deploy --dry-run", 0, "")}},
	} {
		t.Run(test.name, func(t *testing.T) { wants(t, test.s) })
	}
}
