package reflect

import (
	"path"
	"regexp"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// Failure and repair: the same command fails and later succeeds. What lay between decides.
// One command that prepares the ground is knowledge; edits of code are everyday work.

// maxOpen bounds how many commands with an open failure are followed at once.
const maxOpen = 256

// findFixes looks at each command that failed and later succeeded.
func findFixes(v *view) []finding {
	var out []finding
	type open struct {
		last int       // act of the last failure
		half []finding // what repaired earlier errors of the same command
	}
	failed := map[string]open{}
	for i, a := range v.acts {
		if a.edit || readOnly[a.step.words[0]] {
			continue
		}
		key := a.agent + "\x00" + a.step.dir + "\x00" + a.step.key
		before, found := failed[key]
		switch {
		case a.outcome == transcript.Failed && found && i-before.last < maxActs:
			failed[key] = open{i, append(before.half, v.partial(before.last, i)...)}
		case a.outcome == transcript.Failed && len(failed) < maxOpen:
			failed[key] = open{last: i}
		case a.outcome == transcript.OK && found:
			delete(failed, key)
			if i-before.last < maxActs {
				out = append(out, before.half...)
				out = append(out, v.repaired(before.last, i)...)
			}
		}
	}
	return out
}

// partial looks at two failures of one command with different errors: what lay between
// repaired the first. It counts only if the command succeeds in the end.
func (v *view) partial(from, to int) []finding {
	a, b := sign(v.output(from)), sign(v.output(to))
	if a.text == "" || b.text == "" || a.text == b.text || !a.env {
		return nil
	}
	return v.repaired(from, to)
}

func (v *view) output(i int) string { return v.events[v.acts[i].result].Text }

// repaired makes the candidate of a command that failed at act from and succeeded at act to.
func (v *view) repaired(from, to int) []finding {
	f, ok := v.acts[from], v.acts[to]
	if !worthFixing(f.step) || !f.step.portable() {
		return nil
	}
	sig := sign(v.output(from))
	if sig.text == "" || redacted.MatchString(sig.text) {
		return nil
	}
	var code, config int
	var helpers []act
	for _, a := range v.acts[from+1 : to] {
		if a.agent != f.agent || a.call == f.call {
			continue
		}
		if a.edit {
			if v.configEdit(a) {
				config++
			} else {
				code++
			}
			continue
		}
		if a.step.key == f.step.key || readOnly[a.step.words[0]] || a.outcome == transcript.Failed {
			continue
		}
		if a.outcome == transcript.Unknown && a.call != ok.call && !starts(a.step) {
			continue
		}
		if prepares(a.step, sig) && a.step.portable() {
			helpers = appendHelper(helpers, a)
		} else if changes(a.step) {
			code++ // something else was changed: what repaired it is not certain
		}
	}
	if env := newEnv(f.step, ok.step); env != "" && len(helpers) == 0 && code == 0 {
		return []finding{{Candidate: v.envFix(f, ok, sig, env)}}
	}
	if len(helpers) == 0 || len(helpers) > 2 {
		return nil
	}
	if (code > 0 || config > 0) && !(sig.env && related(helpers, sig, v, from, to)) {
		return nil
	}
	return []finding{{Candidate: v.prepareFix(f, ok, sig, helpers)}}
}

// related tells whether, although files were edited too, it was the helper that repaired
// the error: it came after the last edit or the error speaks of what it does.
func related(helpers []act, sig signature, v *view, from, to int) bool {
	text := strings.ToLower(sig.text)
	for _, h := range helpers {
		for _, w := range h.step.words {
			w = strings.ToLower(strings.Trim(unquote(w), "./-"))
			if len(w) > 3 && strings.Contains(text, w) {
				return true
			}
		}
		if serviceError.MatchString(sig.text) && starts(h.step) {
			return true
		}
		if moduleError.MatchString(sig.text) && installs(h.step) {
			return true
		}
	}
	return false
}

func appendHelper(list []act, a act) []act {
	for _, b := range list {
		if b.step.key == a.step.key {
			return list
		}
	}
	return append(list, a)
}

var (
	serviceError = regexp.MustCompile(`(?i)econnrefused|connection refused|could not connect|can't connect|cannot connect|failed to connect|no such host|enotfound|daemon|connect: `)
	moduleError  = regexp.MustCompile(`(?i)module|package|import|command not found|: not found|no such file|executable|gem |library`)

	// preparing words name tasks and scripts that set the ground rather than test it.
	preparing  = regexp.MustCompile(`(?i)(?:^|[-_:./ ])(?:setup|set-up|install|deps|dependencies|bootstrap|init|prepare|prebuild|provision|configure|generate|gen|codegen|proto|protos|buf|graphql-codegen|sqlc|wire|mockgen|mocks|stringer|migrate|migrations?|migration|upgrade|seed|db|database|schema|prisma|drizzle-kit|alembic|up|start|serve|services?|dev-?env|env|compose|build|compile|assets|vendor|download|fetch-\w+|sync|pull|certs?|fixtures?|link|tidy|restore|ensure)(?:$|[-_:./ ])`)
	formatting = regexp.MustCompile(`(?i)(?:^|[-_:./ ])(?:fmt|format|fix|lint-fix|prettier|gofmt|gofumpt|black|ruff|tidy|generate|gen|codegen|docs?|update-\w+)(?:$|[-_:./ ])|--fix\b|--write\b`)
)

// worthFixing tells whether a failing command is one a colleague would run again: the
// project's own, not a look around or a one-time act.
func worthFixing(s step) bool {
	switch s.words[0] {
	case "git":
		return len(s.words) > 1 && (s.words[1] == "commit" || s.words[1] == "push")
	case "rm", "mv", "cp", "mkdir", "rmdir", "chmod", "chown", "ln", "touch", "kill", "pkill", "killall", "curl", "wget", "ssh", "scp", "rsync", "apply_patch", "source", ".", "tar", "unzip", "zip", "brew", "apt", "apt-get", "patch", "gh", "cmd", "set", "ulimit", "reverie":
		return false
	case "python", "python3", "node", "ruby", "perl", "bash", "sh", "deno", "php":
		for _, w := range s.words[1:] {
			if w == "-c" || w == "-e" || w == "-p" || w == "-" {
				return false
			}
		}
		return len(s.words) > 1
	case "npm", "pnpm", "yarn", "bun", "pip", "pip3", "uv", "poetry", "cargo", "go", "gem":
		return !installsNew(s)
	}
	return true
}

// changes tells whether a command that prepares nothing may still have repaired something.
func changes(s step) bool {
	switch s.words[0] {
	case "git":
		if len(s.words) < 2 {
			return false
		}
		switch s.words[1] {
		case "status", "diff", "log", "show", "add", "commit", "branch", "rev-parse", "blame", "ls-files", "remote", "fetch", "describe", "grep", "push", "config", "check-ignore", "cat-file", "stash list", "tag", "shortlog", "reflog", "worktree":
			return false
		}
		return true
	case "rm", "mv", "cp", "ln", "chmod", "kill", "pkill", "killall", "apply_patch", "patch", "sed", "perl", "tee", "touch", "docker", "systemctl", "python", "python3", "node", "pip", "pip3":
		return true
	}
	return installsNew(s)
}

// installsNew tells whether a command adds a dependency by name: ordinary development.
func installsNew(s step) bool {
	w := s.words
	if len(w) < 3 {
		return false
	}
	named := func(from int) bool {
		for i := from; i < len(w); i++ {
			a := unquote(w[i])
			if a == "-r" || a == "-e" || a == "--requirement" || a == "--group" || a == "--extra" || a == "-c" {
				i++
				continue
			}
			if !strings.HasPrefix(a, "-") && !strings.HasPrefix(a, ".") && !isAssignment(a) && !strings.HasSuffix(a, ".txt") {
				return true
			}
		}
		return false
	}
	switch w[0] + " " + w[1] {
	case "npm install", "pnpm install", "yarn install", "bun install", "npm add", "pnpm add", "yarn add", "bun add", "npm uninstall", "pnpm remove", "yarn remove", "pip install", "pip3 install", "uv add", "uv remove", "poetry add", "cargo add", "go get", "cargo install", "gem install", "composer require":
		return named(2)
	case "uv pip", "python -m", "python3 -m":
		return len(w) > 3 && (w[2] == "install" || w[2] == "pip" && len(w) > 4 && w[3] == "install" && named(4)) && named(3)
	}
	return false
}

// installs tells whether a command brings in what the project already declares, or a system
// package.
func installs(s step) bool {
	if installsNew(s) {
		return false
	}
	key := " " + s.key + " "
	for _, p := range []string{" npm install ", " npm ci ", " pnpm install ", " yarn install ", " bun install ", " pip install ", " pip3 install ", " -m pip install ", " poetry install ", " uv sync ", " uv pip install ", " pipenv install ", " pipenv sync ", " pdm install ", " bundle install ", " composer install ", " mix deps.get ", " go mod download ", " go mod tidy ", " go mod vendor ", " go install ", " cargo fetch ", " dotnet restore ", " mise install ", " asdf install ", " nvm use ", " nvm install ", " fnm use ", " rustup target add ", " rustup component add ", " rustup toolchain install ", " playwright install ", " apt-get install ", " apt install ", " apk add ", " dnf install ", " yum install ", " brew install ", " pre-commit install ", " git submodule update ", " git lfs pull ", " git lfs install ", " flutter pub get ", " dart pub get ", " pod install ", " terraform init ", " tofu init ", " conda env create ", " conda env update ", " corepack enable ", " direnv allow ", " mise trust ", " npm rebuild ", " pnpm rebuild ", " npx husky ", " helm dependency ", " xcode-select "} {
		if strings.Contains(key, p) {
			return true
		}
	}
	return s.key == "yarn" || s.key == "bundle"
}

// starts tells whether a command starts a service.
func starts(s step) bool {
	key := " " + s.key + " "
	for _, p := range []string{" docker compose up ", " docker-compose up ", " podman compose up ", " podman-compose up ", " docker start ", " docker run ", " podman run ", " podman start ", " systemctl start ", " brew services start ", " pg_ctl ", " minikube start ", " colima start ", " kind create cluster ", " supabase start ", " docker compose start ", " redis-server ", " localstack start ", " tilt up ", " vagrant up ", " dockerd ", " firebase emulators:start "} {
		if strings.Contains(key, p) {
			return true
		}
	}
	// docker compose -f x up
	if strings.Contains(key, " docker") && strings.Contains(key, "compose") && strings.Contains(key, " up ") {
		return true
	}
	return s.words[0] == "service" && len(s.words) > 2 && s.words[2] == "start"
}

// prepares tells whether a command sets the ground for others: installs, generates,
// migrates, builds, starts.
func prepares(s step, sig signature) bool {
	if installs(s) || starts(s) {
		return true
	}
	if installsNew(s) {
		return false
	}
	switch s.words[0] {
	case "git", "rm", "mv", "kill", "pkill", "killall", "chmod", "sed", "curl", "wget", "docker", "podman", "apply_patch", "gh":
		return s.words[0] == "docker" && len(s.words) > 1 && (s.words[1] == "build" || s.words[1] == "pull")
	case "cp":
		return len(s.words) == 3 && exampleFile.MatchString(s.words[1])
	case "source", ".":
		return len(s.words) == 2 && !strings.HasPrefix(s.words[1], "/")
	case "mkdir":
		last := unquote(s.words[len(s.words)-1])
		return len(s.words) < 4 && strings.Contains(sig.text, path.Base(last))
	case "go":
		return len(s.words) > 1 && (s.words[1] == "generate" || s.words[1] == "mod" || s.words[1] == "work" || s.words[1] == "clean")
	case "cargo", "dotnet":
		return len(s.words) > 1 && s.words[1] == "build"
	case "npx", "bunx", "python", "python3", "node", "tsx", "bash", "sh", "ruby", "php":
		return preparing.MatchString(s.key) || strings.Contains(strings.Join(s.words[min(1, len(s.words)):], " "), "/")
	case "pytest", "jest", "vitest", "tsc":
		return false
	}
	if testTask.MatchString(s.tool()) {
		return false
	}
	return preparing.MatchString(s.key) || projectRunner(s) || formatting.MatchString(s.key)
}

var (
	exampleFile = regexp.MustCompile(`(?i)(?:\.|-|_)(?:example|sample|dist|template|defaults?)\b`)
	testTask    = regexp.MustCompile(`(?i)(?:^|[-_:. /])(?:tests?|lint|check|vet|e2e|spec|typecheck|type-check|tsc|ci|coverage|bench|verify)(?:$|[-_:. /])`)
)

// newEnv returns the names of variables the command had set when it succeeded and not when
// it failed.
func newEnv(f, ok step) string {
	had := map[string]string{}
	for _, e := range f.env {
		name, value, _ := strings.Cut(e, "=")
		had[name] = value
	}
	var names []string
	for _, e := range ok.env {
		name, value, _ := strings.Cut(e, "=")
		if old, found := had[name]; (!found || old != value) && name != "" {
			switch {
			case redacted.MatchString(value), strings.Contains(value, "/"), strings.Contains(value, "$"), len(value) > 30:
				names = append(names, name)
			default:
				names = append(names, name+"="+value)
			}
		}
	}
	if len(names) == 0 || len(names) > 3 {
		return ""
	}
	return strings.Join(names, " ")
}

// configEdit tells whether an edit touched only files that configure tools.
func (v *view) configEdit(a act) bool {
	paths := v.events[a.call].Paths
	if len(paths) == 0 {
		return false
	}
	for _, p := range paths {
		if !configFile.MatchString(p) {
			return false
		}
	}
	return true
}

var configFile = regexp.MustCompile(`(?i)(?:^|/)(?:makefile|justfile|taskfile\.ya?ml|go\.mod|go\.work|package\.json|tsconfig[\w.]*\.json|jsconfig\.json|\.env[\w.]*|dockerfile[\w.]*|(?:docker-)?compose[\w.]*\.ya?ml|\.?mise\.toml|\.tool-versions|\.nvmrc|pyproject\.toml|setup\.cfg|tox\.ini|pytest\.ini|conftest\.py|requirements[\w-]*\.txt|cargo\.toml|\.cargo/config\.toml|rust-toolchain(?:\.toml)?|\.golangci\.ya?ml|\.eslintrc[\w.]*|eslint\.config\.\w+|\.prettierrc[\w.]*|(?:vite|vitest|jest|webpack|next|rollup|babel|tailwind|playwright|drizzle)\.config\.\w+|\.npmrc|\.pre-commit-config\.yaml|\.editorconfig|build\.gradle(?:\.kts)?|pom\.xml|\.gitlab-ci\.yml|\.github/workflows/[\w.-]+)$`)

// prepareFix says: before this command, run that one.
func (v *view) prepareFix(f, ok act, sig signature, helpers []act) record.Candidate {
	names := make([]string, len(helpers))
	for i, h := range helpers {
		names[i] = show(h.step, f.step.dir)
	}
	does := "`" + strings.Join(names, "`, then `") + "`"
	failing := show(f.step, "")
	why := plain(sig.text)
	text := "Before `" + failing + "`, run " + does + ": else it fails with \"" + why + "\"."
	if len(helpers) == 1 && formatting.MatchString(helpers[0].step.key) && !preparing.MatchString(helpers[0].step.key) {
		text = "When `" + failing + "` fails with \"" + why + "\", run " + does + "."
	}
	c := record.Candidate{
		Kind:  record.Failure,
		Text:  text,
		Body:  "`" + failing + "` failed; after " + does + " the same command succeeded, with nothing else changed between.",
		Topic: "before " + fTopic(f.step),
		How:   record.Seen,
	}
	c.Evidence = append(c.Evidence, v.quoteLine(f, sig.line))
	for _, h := range helpers {
		c.Evidence = append(c.Evidence, v.quoteCommand(h))
	}
	c.Evidence = append(c.Evidence, v.quoteCommand(ok))
	if f.step.dir != "" {
		c.Paths = []string{f.step.dir + "/**"}
	}
	return c
}

// envFix says: this command needs that variable.
func (v *view) envFix(f, ok act, sig signature, env string) record.Candidate {
	why := plain(sig.text)
	failing := show(f.step, "")
	c := record.Candidate{
		Kind:     record.Failure,
		Text:     "Run `" + failing + "` with `" + env + "` set: else it fails with \"" + why + "\".",
		Body:     "The same command failed without it and succeeded with it, with nothing else changed between.",
		Topic:    "environment of " + fTopic(f.step),
		How:      record.Seen,
		Evidence: []record.Evidence{v.quoteLine(f, sig.line), v.quoteCommand(ok)},
	}
	if f.step.dir != "" {
		c.Paths = []string{f.step.dir + "/**"}
	}
	return c
}

// show is a step as a reader would type it from the session's directory, or from dir.
func show(s step, dir string) string {
	if s.dir != "" && s.dir != dir {
		return "cd " + s.dir + " && " + s.key
	}
	return s.key
}

// fTopic is what a command is about, in a word or two.
func fTopic(s step) string {
	return strings.TrimSpace(path.Base(s.words[0]) + " " + s.tool())
}
