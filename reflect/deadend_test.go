package reflect

import "testing"

func TestTriedAndTakenBack(t *testing.T) {
	for _, test := range []struct {
		name string
		s    script
		want string
	}{
		{"another version", script{
			run("pnpm --filter web add -D vitest@3", 0, ""),
			run("pnpm --filter web test", 1, "Error: the pool requires vitest 2.0.x"),
			run("pnpm --filter web add -D pool@0.6.0", 0, ""),
			run("pnpm --filter web test", 1, "Error: the pool requires vitest 2.0.x"),
			run("pnpm --filter web add -D vitest@2.1.8 pool@0.5.41", 0, ""),
			run("pnpm --filter web test", 0, "214 passed"),
		}, "`vitest@3` does not work here: `pnpm --filter web test` fails with \"the pool requires vitest 2.0.x\"; stay on `vitest@2.1.8`."},
		{"taken out, the command was spelled with it", script{
			run("uv add --group test pytest-xdist", 0, ""),
			run("uv run pytest -n auto", 1, "E   IntegrityError: duplicate key value"),
			run("uv remove --group test pytest-xdist && git checkout conftest.py", 0, ""),
			run("uv run pytest", 0, "648 passed"),
		}, "`pytest-xdist` does not work here: `uv run pytest -n auto` fails with \"IntegrityError: duplicate key value\"; it was taken out again."},
		{"restored by git", script{
			run("go get example.com/sonic@latest", 0, ""),
			edit("codec.go", "encoding/json", "example.com/sonic"),
			run("go test ./proxy/", 1, "    sign_test.go:44: signature mismatch: keys are not sorted"),
			run("git checkout codec.go go.mod go.sum && go test ./proxy/", 0, "ok"),
		}, "`example.com/sonic@latest` does not work here: `go test ./proxy/` fails with \"signature mismatch: keys are not sorted\"; it was taken out again."},
		{"a line of configuration", script{
			edit("/home/dev/project/Dockerfile", "FROM python:3.12-slim", "FROM python:3.12-alpine"),
			run("docker compose build ingest", 17, "#8 44.91   RuntimeError: Cannot find the ecCodes library"),
			edit("/home/dev/project/Dockerfile", "FROM python:3.12-alpine", "FROM python:3.12-slim"),
			run("docker compose build ingest", 0, "DONE"),
		}, "`FROM python:3.12-alpine` in Dockerfile does not work: `docker compose build ingest` fails with \"RuntimeError: Cannot find the ecCodes library\"; it went back to `FROM python:3.12-slim`."},
		{"a dependency in a manifest, and what did not save it", script{
			edit("/home/dev/project/Cargo.toml", `axum = { version = "0.6", features = ["ws"] }`, `axum = { version = "0.7", features = ["ws"] }`),
			run("cargo check", 101, "error[E0308]: mismatched types\nnote: two different versions of crate `http` are being used by `axum`"),
			edit("/home/dev/project/Cargo.toml", `tower = "0.4"`, `tower = "0.5"`),
			run("cargo check", 101, "error: package `tower v0.5.0` requires rustc 1.81.0 or newer"),
			run("git checkout Cargo.toml && cargo check", 0, ""),
		}, "`axum 0.7` does not work here: `cargo check` fails with \"two different versions of crate 'http' are being used by 'axum'\"; it went back to `axum 0.6`."},
		{"a line that was added", script{
			edit("/home/dev/project/vite.config.ts", "  plugins: [],", "  plugins: [],\n  build: { minify: 'terser' },"),
			run("pnpm build", 1, "Error: terser not found"),
			edit("/home/dev/project/vite.config.ts", "  plugins: [],\n  build: { minify: 'terser' },", "  plugins: [],"),
			run("pnpm build", 0, ""),
		}, "`build: { minify: 'terser' }` in vite.config.ts does not work: `pnpm build` fails with \"terser not found\"; it was taken out again."},
	} {
		t.Run(test.name, func(t *testing.T) { wants(t, test.s, test.want) })
	}
}

func TestTrialWithoutAnOutcome(t *testing.T) {
	for _, test := range []struct {
		name string
		s    script
	}{
		{"it worked", script{run("npm install left@2", 0, ""), run("npm test", 1, "error: boom happened"), edit("a.js", "1", "2"), run("npm test", 0, "")}},
		{"never failed", script{run("npm install left@2", 0, ""), run("npm uninstall left", 0, ""), run("npm test", 0, "")}},
		{"did not pass after", script{run("npm install left@2", 0, ""), run("npm test", 1, "error: boom happened"), run("npm uninstall left", 0, ""), run("npm test", 1, "error: boom happened")}},
		{"code tried and taken back is debugging", script{edit("a.go", "x := 1", "x := 2"), run("make test", 1, "error: boom happened"), edit("a.go", "x := 2", "x := 1"), run("make test", 0, "")}},
	} {
		t.Run(test.name, func(t *testing.T) { wants(t, test.s) })
	}
}

func TestRemedyThatIsDisproved(t *testing.T) {
	const conf = "/home/dev/project/vite.config.ts"
	fail := run("pnpm build", 1, "Error: the worker is missing its entry")
	put, back := edit(conf, "  plugins: [],", "  plugins: [],\n  worker: { format: 'es' },"), edit(conf, "  plugins: [],\n  worker: { format: 'es' },", "  plugins: [],")
	const want = "`worker: { format: 'es' }` in vite.config.ts does not help: `pnpm build` fails with \"the worker is missing its entry\" with it and without; it was taken out again."
	wants(t, script{fail, put, fail, back}, want)
	wants(t, script{fail, put, fail, back, fail}, want)
	wants(t, script{fail, put, fail, back, edit("a.ts", "1", "2"), run("pnpm build", 0, "")}, want)
	wants(t, script{fail, put, fail})
	wants(t, script{fail, put, run("pnpm build", 1, "Error: another entry is missing"), back})
}
