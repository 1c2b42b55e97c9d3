package reflect

import "testing"

func TestNormsSaidInPassing(t *testing.T) {
	for said, want := range map[string]string{
		"one more thing, we must never log card numbers, not even in debug, that's a PCI thing.": "We must never log card numbers, not even in debug (PCI).",
		"oh right. staging deploys from the release branch, not main. so nothing to do":          "Staging deploys from the release branch, not main.",
		"we cant move the toolchain, the yocto image has 1.74. ok put it back":                   "We can't move the toolchain, the yocto image has 1.74.",
		"named exports everywhere, like the rest of the repo":                                    "Named exports everywhere, like the rest of the repo.",
		"timeouts go in config/timeouts.yaml, not in the callers":                                "Timeouts go in config/timeouts.yaml, not in the callers.",
		"dates in filenames are yyyymmdd without dashes, the ingest job globs on it":             "Dates in filenames are yyyymmdd without dashes, the ingest job globs on it.",
		"For anything under packages/sdk: no breaking changes without a major.":                  "For anything under packages/sdk: no breaking changes without a major.",
		"ok but do it with sqlc, we don't write scan code by hand in this repo":                  "Use sqlc, we don't write scan code by hand.",
	} {
		wants(t, script{user(said)}, want)
	}
}

func TestRulesInOtherLanguages(t *testing.T) {
	for said, want := range map[string]string{
		"a partir de ahora los mensajes de commit en inglés por favor": "A partir de ahora los mensajes de commit en inglés por favor.",
		"Bitte nie wieder direkt auf der Produktivdatenbank testen.":   "Bitte nie wieder direkt auf der Produktivdatenbank testen.",
		"toujours utiliser pnpm, jamais npm":                           "Toujours utiliser pnpm, jamais npm.",
		"测试环境是从 develop 分支自动部署的":                                       "测试环境是从 develop 分支自动部署的。",
		"不要直接改 dist 目录，那是构建产物":                                         "不要直接改 dist 目录，那是构建产物。",
		"这里不要用 moment，我们项目统一用 dayjs":                                   "不要用 moment，我们项目统一用 dayjs。",
		"本番は MySQL 5.7 なのでウィンドウ関数は使えません":                               "本番は MySQL 5.7 なのでウィンドウ関数は使えません。",
	} {
		wants(t, script{user(said)}, want)
	}
	for _, said := range []string{
		"la columna tiene que estar siempre visible", "je testerai toujours en mode Web", "das schlägt immer fehl",
		"测试环境的部署失败了", "为什么接口从昨天开始报错", "本番でエラーが出ます",
	} {
		wants(t, script{user(said)})
	}
}

func TestClaimsThatAreNoNorms(t *testing.T) {
	for _, said := range []string{
		"the save button must never be enabled while a required field is empty",
		"we are building the full return flow and the runtime config",
		"things have moved quite a bit since the PR was raised",
		"the tests on main are failing since the upgrade to node 20",
		"let's not do the refactor because i have a demo in 20 minutes",
		"we should make it more complete (just add, no need to remove the old things)",
		"use the API in this repo to fetch data",
		"before you finish run the tests and update the changelog",
		"no no no, not the prod bucket!!",
		"types are wrong in api.ts", "CI uses node 16, that is why it fails", "package.json has both jest and vitest",
		"let's use a queue because requests are slow", "rename the package to core because utils is too generic",
		"don't touch main.go, I'm editing it", "we never call close on the client",
	} {
		wants(t, script{user(said)})
	}
}
