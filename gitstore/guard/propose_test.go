package guard

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestPropose(t *testing.T) {
	for statement, want := range map[string]string{
		"Use pnpm, never npm":                                     "Bash(npm *)",
		"Use pnpm in web/, not npm or yarn":                       "Bash(npm *) Bash(yarn *)",
		"use uv instead of pip":                                   "Bash(pip *) Bash(pip3 *)",
		"Use uv, never pip, pip3, poetry, pipenv or conda":        "Bash(pip *) Bash(pip3 *) Bash(poetry *) Bash(pipenv *) Bash(conda *)",
		"Never use `pip install`":                                 "Bash(pip install *) Bash(pip3 install *)",
		"Always use `npx vitest run`, never jest":                 "Bash(jest *)",
		"never run npx jest":                                      "Bash(npx jest *)",
		"Never run npx jest-codemods":                             "",
		"Never run npx jest files":                                "",
		"Use vitest, not yarn jest or npx mocha":                  "Bash(yarn jest *) Bash(npx mocha *)",
		"Never use uv run pytest, use make test":                  "Bash(uv run pytest *)",
		"Use pnpm, not yarn or npm exec":                          "Bash(yarn *)",
		"Never run `git push --force` on main":                    "Bash(git push * --force *) Bash(git push * -f *) Bash(git push * +* *)",
		"Don't use npm.":                                          "Bash(npm *)",
		"Never edit generated/ by hand":                           "Edit(generated/**)",
		"never edit files in `api/gen/*.go`":                      "Edit(api/gen/*.go)",
		"Do not touch vendor/**":                                  "Edit(vendor/**)",
		"Before committing, run `make lint`":                      "Bash(git commit *)",
		"run make test before `git push`":                         "Bash(git push *)",
		"Use tabs, never spaces":                                  "",
		"Never use global variables":                              "",
		"We never use the old API":                                "",
		"Before you start, read the plan":                         "",
		"Keep functions short, not clever":                        "",
		"Never edit it":                                           "",
		"Don't change the public API":                             "",
		"Tests live beside the code":                              "",
		"never call `os.Exit` outside main":                       "",
		"Never edit ../other/file":                                "",
		strings.Repeat("never use ", 5000) + "npm":                "",
		"Never make assumptions":                                  "",
		"Use task, never make":                                    "Bash(make *)",
		"We use npm, not just for web/":                           "",
		"Don't use `find()`":                                      "",
		"use the API, not `fetch`, for requests":                  "",
		"Never use `any` in TypeScript":                           "",
		"Do not use `import *`":                                   "",
		"Do not call `ls` from Go":                                "",
		"Don't use npm link":                                      "",
		"Don't use docker compose v1":                             "",
		"Never use terraform apply outside CI":                    "",
		"Never use black boxes in tests":                          "",
		"Never run docker as root":                                "",
		"Don't use poetry's shell command":                        "",
		"Use make test, not just lint":                            "",
		"Use pytest and not unittest style classes":               "",
		"We never use npm. Tests need pnpm":                       "Bash(npm *)",
		"Never use npm - it breaks the lock file":                 "Bash(npm *)",
		"Never use npm in web/":                                   "Bash(npm *)",
		"Don't use make for builds; run `task build`":             "Bash(make *)",
		"Never run `docker compose` or npm":                       "Bash(docker compose *) Bash(npm *)",
		"Avoid using npm (use pnpm)":                              "Bash(npm *)",
		"Never run migrations before commits are reviewed":        "",
		"Run the linter before each commit":                       "Bash(git commit *)",
		"Never change and/or remove tests":                        "",
		"Do not edit n/a fields":                                  "",
		"never edit src/main.go":                                  "Edit(src/main.go)",
		"Don't change `src/api`":                                  "Edit(src/api)",
		"Never edit go.sum by hand":                               "Edit(**/go.sum)",
		"Don't touch `package-lock.json`":                         "Edit(**/package-lock.json)",
		"Do not change Node.js versions":                          "",
		"Never change v1.2 behaviour":                             "",
		"Don't change `os.Exit`":                                  "",
		"Don't change `find`":                                     "",
		"Never touch **/*.pb.go":                                  "Edit(**/*.pb.go)",
		"Don't edit e.g. tests":                                   "",
		"never use rm -rf":                                        "Bash(rm * -rf *)",
		"Never run git push --force on main":                      "Bash(git push * --force *) Bash(git push * -f *) Bash(git push * +* *)",
		"Don't use npm install -g, use npx":                       "Bash(npm install * -g *)",
		"Use pnpm, not npm --legacy-peer-deps":                    "Bash(npm * --legacy-peer-deps *)",
		"Never use --no-verify":                                   "",
		"Never use the -f flag with git push":                     "",
		"Not all -f flags work on macOS":                          "",
		"Never run tests with -race in CI":                        "",
		"Never run anything with --force":                         "",
		"Never use flags like -v":                                 "",
		"Never use curl without --fail":                           "",
		"Never push --force":                                      "",
		"don't use python -m pytest, use make test":               "",
		"Don't run kubectl -n prod delete":                        "",
		"Never run psql -h prod":                                  "",
		"Don't run docker compose -f docker-compose.prod.yml up":  "",
		"Don't use chmod -R 777":                                  "",
		"Don't use chmod -R.":                                     "Bash(chmod * -R *)",
		"Never run docker system prune -a":                        "Bash(docker system prune * -a *)",
		"Don't use npm run build --if-present in CI":              "Bash(npm run build * --if-present *)",
		"Never run Docker system prune -a":                        "",
		"Never use npm or npx":                                    "Bash(npm *) Bash(npx *)",
		"Use pnpm, never npm or npx":                              "Bash(npm *) Bash(npx *)",
		"Never edit foo.pb.go":                                    "Edit(**/foo.pb.go)",
		"Never edit tsconfig.build.json":                          "Edit(**/tsconfig.build.json)",
		"Never edit next.config.js.":                              "Edit(**/next.config.js)",
		"Never edit .github/workflows/ci.yml":                     "Edit(.github/workflows/ci.yml)",
		"Never edit .github/":                                     "Edit(.github/**)",
		"Never edit .env":                                         "Edit(**/.env)",
		"Never edit `.env.local`":                                 "Edit(**/.env.local)",
		"Never change user.name":                                  "",
		"Never change `user.name`":                                "",
		"Never change obj.id":                                     "",
		"Never modify `req.body`":                                 "",
		"Don't touch window.name":                                 "",
		"Never modify process.env":                                "",
		"Never change `process.env`":                              "",
		"Never modify this.state":                                 "",
		"Do not change Node.js":                                   "",
		"Never edit tsconfig.json or package.json":                "Edit(**/tsconfig.json) Edit(**/package.json)",
		"Never edit gen/, `api/x.go`, or go.sum by hand":          "Edit(gen/**) Edit(api/x.go) Edit(**/go.sum)",
		"Never edit dist/, src/ instead":                          "Edit(dist/**)",
		"Never edit dist/ and src/ is fine":                       "Edit(dist/**)",
		"Never edit package.json's scripts":                       "",
		"Use git push --force-with-lease, never git push --force": "Bash(git push * --force *) Bash(git push * -f *) Bash(git push * +* *)",
		"Use jj, never git":                                       "",
		"Never touch the .env file":                               "Edit(**/.env)",
		"Do not edit generated files in gen/.":                    "Edit(gen/**)",
		"Don't edit the generated code under src/api/":            "Edit(src/api/**)",
		"gen/ is generated; never edit it by hand":                "Edit(gen/**)",
		"The files in gen/ are generated. Do not edit them.":      "Edit(gen/**)",
		"`gen/api.go` is auto-generated, don't touch it":          "Edit(gen/api.go)",
		"Generated files in gen/ must not be edited":              "Edit(gen/**)",
		"src/api/ should never be modified directly":              "Edit(src/api/**)",
		"api/ is generated from proto/; never edit the README":    "",
		"The API must not be changed":                             "",
		"Values in obj.id must not be changed":                    "",
		"Never force-push to main":                                "Bash(git push * --force *) Bash(git push * -f *) Bash(git push * +* *)",
		"We force-push feature branches":                          "",
		"Never use git commit --no-verify":                        "Bash(git commit * --no-verify *) Bash(git commit * -n *)",
		"Never change " + strings.Repeat("a/", 300) + "b/":        "",
	} {
		if got := strings.Join(Propose(statement, nil), " "); got != want {
			t.Errorf("%.60q: %q, want %q", statement, got, want)
		}
	}
}

func TestProposeSeesTheWorkTree(t *testing.T) {
	tree := fstest.MapFS{"server/db/generated/a.go": {}, "scripts/deploy": {}}
	for statement, want := range map[string]string{
		"Never edit server/db/generated by hand":                                               "Edit(server/db/generated/**)",
		"Never edit server/db/generated/ by hand":                                              "Edit(server/db/generated/**)",
		"Never edit `server/db/generated`":                                                     "Edit(server/db/generated/**)",
		"server/db/generated is generated, do not edit it":                                     "Edit(server/db/generated/**)",
		"Please don't edit files in server/db/generated by hand, they come from `npm run gen`": "Edit(server/db/generated/**)",
		"Never edit ./server/db/generated, scripts/deploy or server/db/other":                  "Edit(server/db/generated/**) Edit(scripts/deploy)",
		"Never edit server/db/generated handlers without tests":                                "",
		"Never edit server/db/other by hand":                                                   "",
		"Never edit ../server/db":                                                              "",
	} {
		if got := strings.Join(Propose(statement, tree), " "); got != want {
			t.Errorf("%q: %q, want %q", statement, got, want)
		}
	}
}

func TestPlacesOfStatements(t *testing.T) {
	for statement, want := range map[string]string{
		"Always use pnpm in web/, never npm":         "web/**",
		"Never run npm under the `web/app/` folder":  "web/app/**",
		"Use pnpm, never npm, in web/ and in admin/": "web/** admin/**",
		"Never use npm except in legacy/":            "",
		"Never use docker in CI":                     "",
		"Never edit files in ../x/":                  "",
	} {
		if got := strings.Join(Places(statement), " "); got != want {
			t.Errorf("%q: %q", statement, got)
		}
	}
}
