package sandbox

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Scrub removes entries of a folder that are dangerous for git on the host, even ignored ones. It
// removes anything called .git and the HEAD of a folder that git would take for a repository, which
// git would obey. It removes pipes, sockets and devices, which would block git, and the folders of
// other version controls. It clears set-user-ID and similar bits of files.
//
// keep, if not nil, reports whether a folder with a HEAD, or of another version control, may stay;
// "." is the top. Scrub follows no link, makes unreadable folders readable for their owner, and
// returns the removed paths in order. Nothing else may write there meanwhile.
func Scrub(dir string, keep func(bare string) (bool, error)) ([]Change, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("scrub: %w", err)
	}
	defer root.Close()
	var gone []Change
	var heads []string
	bare := bareDirs{}
	err = look(root, func(p string, info fs.FileInfo, why error) (bool, error) {
		special := fs.ModeNamedPipe | fs.ModeSocket | fs.ModeDevice | fs.ModeCharDevice | fs.ModeIrregular
		switch {
		case why != nil:
			return false, nil // Collect reports it
		case path.Base(p) == ".git":
			gone = append(gone, Change{p, "git would obey it"})
			return false, nil
		case info.Mode()&special != 0:
			gone = append(gone, Change{p, kind(info.Mode())})
			return false, nil
		case isOther(path.Base(p)): // the folder as a whole, without a look inside
			if keep != nil {
				if stays, err := keep(p); err != nil || stays {
					return false, err
				}
			}
			gone = append(gone, Change{p, OtherRepository})
			return false, nil
		case info.IsDir() && info.Mode()&0o700 != 0o700: // git can enter a folder that cannot be listed
			// If it is not ours, Collect reports it.
			_ = root.Chmod(filepath.FromSlash(p), info.Mode().Perm()|0o700)
		}
		disarm(dir, root, p, info)
		bare.see(p, info)
		if isHead(p) && !info.IsDir() {
			heads = append(heads, p)
		}
		return true, nil
	})
	if err != nil {
		return nil, fmt.Errorf("scrub: %w", err)
	}
	for _, p := range heads {
		if bare.runs(p) == "" {
			continue
		}
		if keep != nil {
			if stays, err := keep(path.Dir(p)); err != nil {
				return nil, fmt.Errorf("scrub: %w", err)
			} else if stays {
				continue
			}
		}
		gone = append(gone, Change{p, BareRepository})
	}
	slices.SortFunc(gone, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	for _, c := range gone {
		if err := root.RemoveAll(filepath.FromSlash(c.Path)); err != nil {
			return nil, fmt.Errorf("scrub: %w", err)
		}
	}
	return gone, nil
}

// Runs returns the reason that the host may execute or obey a file when a person opens, builds or
// commits the project, or "". It compares the name as the most lenient file system would.
func Runs(p string) string {
	parts := strings.Split(p, "/")
	for i := range parts {
		parts[i] = plainName(parts[i])
	}
	name, whole := parts[len(parts)-1], strings.Join(parts, "/")
	for _, rule := range runners() {
		for _, pattern := range rule.patterns {
			if runs(pattern, name, whole) {
				return rule.why
			}
		}
	}
	return ""
}

// runs reports whether a pattern matches a file. It is a name in any folder, a path below any
// folder if it has slashes, and a whole folder if it ends with one.
func runs(pattern, name, whole string) bool {
	if dir, ok := strings.CutSuffix(pattern, "/"); ok {
		return strings.HasPrefix(whole, dir+"/") || strings.Contains(whole, "/"+dir+"/") || whole == dir || strings.HasSuffix(whole, "/"+dir)
	}
	if dir, last := path.Split(pattern); dir != "" {
		ok, _ := path.Match(last, name)
		return ok && strings.HasSuffix("/"+path.Dir(whole)+"/", "/"+dir)
	}
	ok, _ := path.Match(pattern, name)
	return ok
}

// runner is a host program with the files that it obeys.
type runner struct {
	why      string
	patterns []string // in lower case
}

// GitObeys is the answer of Runs for files that git itself obeys in a work tree. BareRepository is
// that of Collect for files that make git take their folder for a repository. OtherRepository is
// the answer of Runs for files of another version control, whose settings name commands too.
const (
	GitObeys        = "git obeys it"
	BareRepository  = "git takes its folder for a repository"
	OtherRepository = "Mercurial, Jujutsu or Sapling obeys it"
)

// runners returns the programs known to execute project files with little or no confirmation.
func runners() []runner {
	return []runner{
		{OtherRepository, []string{".hg/", ".jj/", ".sl/"}},
		{GitObeys, []string{".gitattributes", ".gitmodules", ".gitconfig", ".git-blame-ignore-revs", ".githooks/", "githooks/", ".git-hooks/", "git-hooks/", ".hooks/", "hooks/pre-*", "hooks/post-*",
			"hooks/commit-msg", "hooks/prepare-commit-msg", "hooks/applypatch-msg", "hooks/reference-transaction", "hooks/push-to-checkout", "hooks/fsmonitor-watchman", "hooks/sendemail-validate", "hooks/update"}},
		{"hooks of git are made of it", []string{".husky/", ".pre-commit-config.yaml", ".pre-commit-hooks.yaml", "lefthook.yml", "lefthook.yaml", "lefthook.toml", "lefthook.json",
			".lefthook.yml", ".lefthook/", ".overcommit.yml", ".lintstagedrc*", "lint-staged.config.*", "commitlint.config.*", ".commitlintrc*"}},
		{"an agent obeys it", []string{".claude/", ".opencode/", "opencode.json", "opencode.jsonc", ".codex/", ".gemini/", ".cursor/", ".cursorrules", ".windsurf/", ".windsurfrules", ".aider*",
			".continue/", ".roo/", ".roorules*", ".clinerules", ".clinerules/", ".kiro/", ".amazonq/", ".junie/", ".zed/", ".mcp.json", "mcp.json", "agents.md", "agents.override.md", "claude.md", "claude.local.md", "gemini.md",
			"copilot-instructions.md", "skill.md", ".goosehints", ".crush.json", "crush.json"}},
		{"a shell obeys it when somebody enters the folder", []string{".envrc", ".env", ".env.*", ".mise.toml", "mise.toml", ".mise.*.toml", "mise.*.toml", ".mise/", ".config/mise.toml", ".config/mise/", ".rtx.toml", ".tool-versions", ".autoenv*", ".in", ".out",
			".bashrc", ".bash_profile", ".profile", ".zshrc", ".zshenv", ".ssh/", ".inputrc"}},
		{"an editor obeys it", []string{".vscode/", "*.code-workspace", ".idea/", ".fleet/", ".vim/", ".vimrc", ".nvim.lua", ".nvimrc", ".exrc", ".dir-locals.el", ".dir-locals-2.el", ".sublime-project", "*.sublime-project", ".nova/", ".vs/", "*.suo", ".helix/", ".editorconfig"}},
		{"a container is made of it", []string{".devcontainer/", ".devcontainer.json", "dockerfile", "dockerfile.*", "*.dockerfile", "containerfile", "docker-compose*.yml", "docker-compose*.yaml", "compose.yml", "compose.yaml", "compose.*.yml", "compose.*.yaml", "vagrantfile", ".gitpod.yml", ".ona/"}},
		{"a server for continuous integration runs it", []string{".github/", ".gitlab-ci.yml", ".gitlab/", ".circleci/", ".travis.yml", "jenkinsfile", "azure-pipelines.yml", ".azure-pipelines/", "bitbucket-pipelines.yml", ".drone.yml", ".woodpecker.yml", ".woodpecker/",
			".buildkite/", ".forgejo/", ".gitea/", "appveyor.yml", ".appveyor.yml", ".cirrus.yml", ".semaphore/", "cloudbuild.yaml", ".teamcity/", "codemagic.yaml", "buildspec.yml", ".ci/", "renovate.json", "renovate.json5", ".renovaterc*"}},
		{"a package manager runs scripts of it", []string{"package.json", ".npmrc", ".yarnrc", ".yarnrc.yml", ".yarn/", ".pnpmfile.cjs", "pnpm-workspace.yaml", "bunfig.toml", "deno.json", "deno.jsonc", "binding.gyp",
			"setup.py", "setup.cfg", "pyproject.toml", "conftest.py", "sitecustomize.py", "usercustomize.py", "*.pth", "tox.ini", "noxfile.py", "pip.conf", "uv.toml", "pytest.ini", ".pythonrc*",
			"composer.json", "gemfile", "*.gemspec", "rakefile", ".irbrc", ".pryrc", ".bundle/", "build.rs", ".cargo/", "cargo.toml", "rust-toolchain", "rust-toolchain.toml", "mix.exs", "rebar.config", "*.cabal", "stack.yaml", "package.swift", "go.work", "gradle.properties"}},
		{"building the project runs it", []string{"makefile", "gnumakefile", "bsdmakefile", "*.mk", "makefile.*", "justfile", ".justfile", "taskfile.yml", "taskfile.yaml", "taskfile.dist.y*ml", "magefile.go", "cmakelists.txt", "*.cmake", "meson.build", "build.ninja", "sconstruct", "wscript",
			"build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts", "gradlew", "gradlew.bat", "gradle/", "pom.xml", ".mvn/", "mvnw", "mvnw.cmd", "build.xml", "build.sbt", "project/*.sbt", "build.bazel", "module.bazel", "workspace.bazel", "workspace", "build", ".bazelrc", ".bazelversion", ".bazeliskrc", ".buckconfig", "*.bzl", "build.zig", "flake.nix", "shell.nix", "default.nix", "configure", "autogen.sh", "configure.ac",
			"directory.build.props", "directory.build.targets", "*.csproj", "*.fsproj", "*.vbproj", "*.vcxproj", "nuget.config", "gruntfile.*", "gulpfile.*", "*.config.js", "*.config.cjs", "*.config.mjs", "*.config.ts", "*.config.mts", ".eslintrc*", ".babelrc*", ".prettierrc*", "procfile", "tiltfile", "earthfile", "dagger.json"}},
		{"a tool that checks or runs the project obeys it, and loads what it names", []string{".pylintrc*", "pylintrc*", "mypy.ini", ".mypy.ini", ".flake8", ".pdbrc", "tsconfig.json", "tsconfig.*.json", "jsconfig.json", ".*rc.js", ".*rc.cjs", ".*rc.mjs", ".*rc.ts",
			".mocharc*", ".nycrc*", ".stylelintrc*", ".markdownlint*", ".textlintrc*", ".remarkrc*", ".releaserc*", ".rubocop*.yml", ".rspec", ".simplecov", ".golangci.*", ".clangd", ".luarc.json", ".luacheckrc", ".busted", ".scalafix.conf", ".proverc",
			"phpunit.xml*", "phpstan*.neon*", "psalm.xml*", "phpcs.xml*", ".phpcs.xml*", ".php-cs-fixer*.php", ".php_cs*", "rector.php", "ecs.php", ".formatter.exs", ".credo.exs", ".iex.exs", ".rprofile", ".renviron", ".ghci", ".ocamlinit",
			".gdbinit", ".gdbearlyinit", "*-gdb.py", "*-gdb.gdb", ".lldbinit", "ansible.cfg", "reverie.toml"}},
		{"a desktop runs it when it is opened", []string{"*.desktop", ".directory", "desktop.ini", "autorun.inf", "*.lnk", "*.url", "*.webloc", "*.command", "*.scf"}},
	}
}
