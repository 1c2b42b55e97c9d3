package guard

import (
	"strings"
	"testing"
)

func TestPropose(t *testing.T) {
	for statement, want := range map[string]string{
		"Use pnpm, never npm":                              "Bash(npm *)",
		"Use pnpm in web/, not npm or yarn":                "Bash(npm *) Bash(yarn *)",
		"use uv instead of pip":                            "Bash(pip *)",
		"Never run `git push --force` on main":             "Bash(git push --force *)",
		"Don't use npm.":                                   "Bash(npm *)",
		"Never edit generated/ by hand":                    "Edit(generated/**)",
		"never edit files in `api/gen/*.go`":               "Edit(api/gen/*.go)",
		"Do not touch vendor/**":                           "Edit(vendor/**)",
		"Before committing, run `make lint`":               "Bash(git commit *)",
		"run make test before `git push`":                  "Bash(git push *)",
		"Use tabs, never spaces":                           "",
		"Never use global variables":                       "",
		"We never use the old API":                         "",
		"Before you start, read the plan":                  "",
		"Keep functions short, not clever":                 "",
		"Never edit it":                                    "",
		"Don't change the public API":                      "",
		"Tests live beside the code":                       "",
		"never call `os.Exit` outside main":                "",
		"Never edit ../other/file":                         "",
		strings.Repeat("never use ", 5000) + "npm":         "",
		"Never make assumptions":                           "",
		"Use task, never make":                             "Bash(make *)",
		"We use npm, not just for web/":                    "",
		"Don't use `find()`":                               "",
		"use the API, not `fetch`, for requests":           "",
		"Never use `any` in TypeScript":                    "",
		"Do not use `import *`":                            "",
		"Do not call `ls` from Go":                         "",
		"Don't use npm link":                               "",
		"Don't use docker compose v1":                      "",
		"Never use terraform apply outside CI":             "",
		"Never use black boxes in tests":                   "",
		"Never run docker as root":                         "",
		"Don't use poetry's shell command":                 "",
		"Use make test, not just lint":                     "",
		"Use pytest and not unittest style classes":        "",
		"We never use npm. Tests need pnpm":                "Bash(npm *)",
		"Never use npm - it breaks the lock file":          "Bash(npm *)",
		"Never use npm in web/":                            "Bash(npm *)",
		"Don't use make for builds; run `task build`":      "Bash(make *)",
		"Never run `docker compose` or npm":                "Bash(docker compose *) Bash(npm *)",
		"Avoid using npm (use pnpm)":                       "Bash(npm *)",
		"Never run migrations before commits are reviewed": "",
		"Run the linter before each commit":                "Bash(git commit *)",
		"Never change and/or remove tests":                 "",
		"Do not edit n/a fields":                           "",
		"never edit src/main.go":                           "Edit(src/main.go)",
		"Don't change `src/api`":                           "Edit(src/api)",
		"Never change " + strings.Repeat("a/", 300) + "b/": "",
	} {
		if got := strings.Join(Propose(statement), " "); got != want {
			t.Errorf("%.60q: %q, want %q", statement, got, want)
		}
	}
}
