package reflect

import (
	"path"
	"strings"

	"github.com/reverie-memory/reverie/internal/shell"
)

// Effects of commands on the ground for others: install declared dependencies, start a service,
// generate, migrate, build; or change something else.

var (
	serviceError = lazy(`(?i)econnrefused|connection refused|could not connect|can't connect|cannot connect|failed to connect|no such host|enotfound|daemon|connect: `)
	moduleError  = lazy(`(?i)module|package|import|command not found|: not found|no such file|executable|gem |library`)

	// preparing matches names of tasks and scripts that prepare the ground rather than test it.
	preparing = lazy(`(?i)(?:^|[-_:./ ])(?:setup|set-up|install|deps|dependencies|bootstrap|init|prepare|prebuild|provision|` +
		`configure|generate|gen|codegen|proto|protos|buf|graphql-codegen|sqlc|wire|mockgen|mocks|stringer|` +
		`migrate|migrations?|migration|upgrade|seed|db|database|schema|prisma|drizzle-kit|alembic|up|start|` +
		`serve|services?|dev-?env|env|compose|build|compile|assets|vendor|download|fetch-\w+|sync|pull|` +
		`certs?|fixtures?|link|tidy|restore|ensure)(?:$|[-_:./ ])`)
	formatting = lazy(`(?i)(?:^|[-_:./ ])(?:fmt|format|fix|lint-fix|prettier|gofmt|gofumpt|black|ruff|tidy|generate|` +
		`gen|codegen|update-\w+)(?:$|[-_:./ ])|--fix\b|--write\b`)
)

// oneTime lists programs that run once, for a momentary effect.
var oneTime = set(`
	rm mv cp mkdir rmdir chmod chown ln touch kill pkill killall curl wget ssh scp rsync apply_patch
	source . tar unzip zip brew apt apt-get patch cmd set ulimit reverie`)

// worthFixing reports whether a failing command is one that a colleague would run again: the
// project's own, neither an inspection nor a one-time act.
func worthFixing(s step) bool {
	if oneTime.Has(s.words[0]) {
		return false
	}
	switch s.words[0] {
	case "git":
		return len(s.words) > 1 && (s.words[1] == "commit" || s.words[1] == "push")
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

// gitLooks lists git commands that leave the work tree unchanged.
var gitLooks = set(`
	status diff log show add commit branch rev-parse blame ls-files remote fetch describe grep push
	config check-ignore cat-file tag shortlog reflog worktree`)

// looks reports whether a command only shows something.
func looks(s step) bool {
	return readOnly.Has(s.words[0]) || len(s.words) == 2 && showsVersion.Has(s.words[1])
}

var showsVersion = set("-v -V --version version")

// cleans reports whether a command removes files that a build makes again.
func cleans(s step) bool {
	if s.words[0] != "rm" || len(s.words) < 2 {
		return false
	}
	for _, w := range s.words[1:] {
		if !strings.HasPrefix(w, "-") && !made.MatchString(shell.Unquote(w)) {
			return false
		}
	}
	return true
}

var made = lazy(`(?i)^(?:\./)?(?:[\w.-]+/)*(?:build\w*|dist|out|target|node_modules|\.cache|__pycache__|\.next|CMakeCache\.txt|CMakeFiles)(?:/[\w.*-]+)?/?$`)

// outfitting matches commands that fetch referenced parts of the checkout, or select the project's
// version of a language: after any error, they prepare the ground.
var outfitting = lazy(`\b(?:git (?:submodule (?:update|init|sync)|lfs (?:pull|fetch|checkout|install)|fetch (?:origin )?--(?:tags|unshallow))|` +
	`(?:nvm|fnm|n|volta|pyenv|rbenv|sdk|asdf|jenv|mise|conda|corepack|rustup|nix|direnv) ` +
	`(?:use|pin|auto|local|shell|env|install|activate|enable|prepare|override|default|develop|allow))\b`)

// outfits reports whether a command matches outfitting.
func outfits(s step) bool { return outfitting.MatchString(s.key) }

// ofShell lists programs that change only their own shell.
var ofShell = set("nvm fnm source . conda pyenv rbenv sdk asdf")

// changers lists programs that change files or the machine.
var changers = set(`
	rm mv cp ln chmod kill pkill killall apply_patch patch sed perl tee touch docker systemctl python
	python3 node pip pip3`)

// changes reports whether a command that prepares nothing may still have repaired something.
func changes(s step) bool {
	if len(s.words) > 2 && s.words[0] == "go" && s.words[1] == "mod" {
		return s.words[2] != "download" // its repair is committed and lasts
	}
	if s.words[0] == "git" {
		return len(s.words) > 1 && !gitLooks.Has(s.words[1])
	}
	return changers.Has(s.words[0]) || installsNew(s)
}

// installsNew reports whether a command adds a dependency by name, which is ordinary development.
func installsNew(s step) bool {
	added, removed := packages(s)
	return len(added)+len(removed) > 0
}

// installing matches commands that install the project's declared dependencies, or a tool of the
// system.
var installing = lazy(`^(?:bunx |npx |sudo |uv |-m )?(?:[np]*npm|yarn|bun|pip3?|python3? -m pip|poetry|uv|pipenv|pdm|bundle|composer|mix|go|go mod|cargo|dotnet|rustup \w+|` +
	`playwright|apt(?:-get)?|apk|dnf|yum|brew|pre-commit|flutter pub|dart pub|pod|terraform|tofu|conda env|mise|helm)(?: -\S+)* ` +
	`(?:install|ci|sync|get|deps\.get|download|vendor|fetch|restore|add|init|create|update|trust|rebuild|dependency)\b|^(?:yarn|bundle)$|\b(?:husky|playwright install|pip install|xcode-select)\b`)

// installs reports whether a command installs declared dependencies, or a system package.
func installs(s step) bool { return !installsNew(s) && installing.MatchString(s.key) }

// namesSource reports whether a command is aimed at a source file, like `gofmt -w a.go`.
func namesSource(s step) bool {
	for i, w := range s.words[1:] {
		if sourceFile.MatchString(shell.Unquote(w)) && !elsewhere(w) && !(i == 0 && scriptHost.Has(s.words[0])) {
			return true
		}
	}
	return false
}

// starting matches commands that start a service.
var starting = lazy(`\b(?:docker|podman)(?:[ -]compose)?\b.* (?:up|start|run)\b|\b(?:docker|podman) (?:start|run)\b|\bsystemctl start|^service \S+ start|` +
	`\bpg_ctl|\bredis-server|\bdockerd|\bkind create|\b(?:brew services|minikube|colima|supabase|localstack|emulators?:?) ?start|\b(?:tilt|vagrant) up`)

// starts reports whether a command starts a service.
func starts(s step) bool { return starting.MatchString(s.key) }

// prepares reports whether a command prepares the ground for others: installs, generates, migrates,
// builds, starts.
func prepares(s step, sig signature) bool {
	if len(s.words) > 1 && inspecting.Has(s.words[1]) {
		return false
	}
	if starts(s) || outfits(s) {
		return true
	}
	if installs(s) {
		return sig.env
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
		last := shell.Unquote(s.words[len(s.words)-1])
		return len(s.words) < 4 && strings.Contains(sig.text, path.Base(last))
	case "go":
		return len(s.words) > 1 && (s.words[1] == "generate" || s.words[1] == "clean")
	case "cargo", "dotnet":
		return sig.env && len(s.words) > 1 && s.words[1] == "build"
	case "npx", "bunx", "python", "python3", "node", "tsx", "bash", "sh", "ruby", "php":
		return preparing.MatchString(s.key) || strings.Contains(strings.Join(s.words[min(1, len(s.words)):], " "), "/")
	case "pytest", "jest", "vitest", "tsc":
		return false
	}
	if testTask.MatchString(s.tool()) || purpose(s) == "build" && !sig.env {
		return false
	}
	return preparing.MatchString(s.key) || projectRunner(s) || formatting.MatchString(s.key)
}

// inspecting lists subcommands that only show a state.
var inspecting = set(`
	current heads status history list ls ps show info version --version help --help logs log
	inspect which doctor describe outdated tree why`)

var (
	exampleFile = lazy(`(?i)(?:\.|-|_)(?:example|sample|dist|template|defaults?)\b`)
	testTask    = lazy(`(?i)(?:^|[-_:. /])(?:tests?|lint|check|vet|e2e|spec|typecheck|type-check|tsc|ci|coverage|bench|verify)(?:$|[-_:. /])`)
)

// configEdit reports whether an edit touched only configuration files of tools.
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

var configFile = lazy(`(?i)(?:^|/)(?:makefile|justfile|taskfile\.ya?ml|go\.mod|go\.work|package\.json|tsconfig[\w.]*\.json|` +
	`jsconfig\.json|\.env[\w.]*|dockerfile[\w.]*|(?:docker-)?compose[\w.]*\.ya?ml|\.?mise\.toml|\.tool-versions|` +
	`\.nvmrc|pyproject\.toml|setup\.cfg|tox\.ini|pytest\.ini|conftest\.py|requirements[\w-]*\.txt|` +
	`cargo\.toml|\.cargo/config\.toml|rust-toolchain(?:\.toml)?|\.golangci\.ya?ml|\.eslintrc[\w.]*|` +
	`eslint\.config\.\w+|\.prettierrc[\w.]*|(?:vite|vitest|jest|webpack|next|rollup|babel|tailwind|` +
	`playwright|drizzle)\.config\.\w+|\.npmrc|\.pre-commit-config\.yaml|\.editorconfig|build\.gradle(?:\.kts)?|` +
	`pom\.xml|\.gitlab-ci\.yml|\.github/workflows/[\w.-]+)$`)
