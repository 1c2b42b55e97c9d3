package reflect

import "testing"

func TestNormsSaidInPassing(t *testing.T) {
	for said, want := range map[string]string{
		"one more thing, we must never log card numbers, not even in debug, that's a PCI thing.":                      "We must never log card numbers, not even in debug (PCI).",
		"oh right. staging deploys from the release branch, not main. so nothing to do":                               "Staging deploys from the release branch, not main.",
		"we cant move the toolchain, the yocto image has 1.74. ok put it back":                                        "We can't move the toolchain, the yocto image has 1.74.",
		"named exports everywhere, like the rest of the repo":                                                         "Named exports everywhere, like the rest of the repo.",
		"timeouts go in config/timeouts.yaml, not in the callers":                                                     "Timeouts go in config/timeouts.yaml, not in the callers.",
		"dates in filenames are yyyymmdd without dashes, the ingest job globs on it":                                  "Dates in filenames are yyyymmdd without dashes, the ingest job globs on it.",
		"For anything under packages/sdk: no breaking changes without a major.":                                       "For anything under packages/sdk: no breaking changes without a major.",
		"great. the REST API has to stay backwards compatible with 2.x, the mobile app pins it. so keep the old code": "The REST API has to stay backwards compatible with 2.x, the mobile app pins it.",
		"whoa no. card numbers never go into a log line, that takes the log cluster into PCI scope":                   "Card numbers never go into a log line, that takes the log cluster into PCI scope.",
		"oh and no new gems without me agreeing first, the deploy box has no compiler and half don't install there":   "No new gems without asking first, the deploy box has no compiler and half don't install there.",
		"and while you're in there, we keep all time zone handling in Schedule::Clock, I've had to fix that twice":    "We keep all time zone handling in Schedule::Clock.",
		"you can't see it btw, the processor's sandbox accepts everything. only the preprod endpoint validates":       "The processor's sandbox accepts everything: only the preprod endpoint validates.",
		"update that rule to specify to always create new tasks in the main workspace":                                "Always create new tasks in the main workspace.",
		"we must never ignore errors, see @dont-ignore-errors.mdc":                                                    "We must never ignore errors, see @dont-ignore-errors.mdc.",
		"prod config never goes in the repo, it lives in vault":                                                       "Prod config never goes in the repo, it lives in vault.",
		"ok but do it with sqlc, we don't write scan code by hand in this repo":                                       "Use sqlc, we don't write scan code by hand.",
	} {
		wants(t, script{user(said)}, want)
	}
}

func TestRulesInOtherLanguages(t *testing.T) {
	for said, want := range map[string]string{
		"a partir de ahora los mensajes de commit en inglés por favor": "A partir de ahora los mensajes de commit en inglés por favor.",
		"Bitte nie wieder direkt auf der Produktivdatenbank testen.":   "Bitte nie wieder direkt auf der Produktivdatenbank testen.",
		"las migraciones llevan siempre nombre, las auto_ no pasan":    "Las migraciones llevan siempre nombre, las auto_ no pasan.",
		"y acá se corren con docker, no con el python local":           "Acá se corren con docker, no con el python local.",
		"die migrationen laufen immer über ./dev migrate":              "Die migrationen laufen immer über ./dev migrate.",
		"雪花 id 返回给前端一律转成字符串，JS 存不下 64 位整数，别的接口你也照这个来":                  "雪花 id 返回给前端一律转成字符串，JS 存不下 64 位整数。",
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
		"los tests van siempre en rojo", "acá se rompe con axios", "las tarjetas van siempre arriba en la pantalla",
		"登录页加一个“记住我”的勾选框，勾了 token 存 30 天", "用户列表一律返回 20 条", "ボタンは必ず右上に API で表示してください",
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
		"buttons never go in the header, that takes the focus away", "users never leave the page, that makes it confusing",
		"the request never reaches the server, that makes no sense", "the modal must stay open, users want to retry",
		"only the first row validates", "don't touch main.go, I'm editing it", "we never call close on the client",
	} {
		wants(t, script{user(said)})
	}
}
