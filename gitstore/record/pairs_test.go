package record

import "testing"

// Pairs that say the same in other words or another form, and pairs that differ in one word that
// carries the meaning.
func TestOneWordMakesAnotherStatement(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		// English
		{"Never push to main.", "Don't push to main", true},
		{"Always run `make lint` before committing.", "Run `make lint` before you commit.", true},
		{"Use pnpm, not npm.", "We use pnpm instead of npm.", true},
		{"In web/, use pnpm, never npm.", "Use pnpm, never npm, in web/.", true},
		{"Before each release, bump `VERSION`.", "Bump `VERSION` before every release.", true},
		{"Every PR needs a changelog entry.", "Each PR needs a changelog entry.", true},
		{"Please keep the generated files out of git from now on.", "Keep generated files out of git.", true},
		{"Commits must be signed.", "Commits are signed.", true},
		{"Start branch names with `fix/`.", "Begin our branch names with `fix/`.", true},
		{"Run eslint and prettier in web/.", "Run prettier and eslint in web/.", true},
		{"Log the request header with every error that the API returns.", "Log request headers with each error the API returns", true},
		{"The tests live next to the code.", "Tests live next to the code", true},
		{"It is `make vet` that you must run before a push.", "It's `make vet` you run before a push", true},
		{"Run the database with `docker compose up -d db`.", "Run the database with docker compose up -d db", true},
		{"Commits must be signed.", "Commits may be signed.", false},
		{"Commits should be signed.", "Commits can be signed.", false},
		{"Requests time out after 30 seconds.", "Requests time out after 30 minutes.", false},
		{"Keep every backup of the production database for 30 days before the cleanup job of the storage cluster is allowed to remove it.", "Keep every backup of the production database for 30 weeks before the cleanup job of the storage cluster is allowed to remove it.", false},
		{"Edit the templates in `web/`.", "Edit only the templates in `web/`.", false},
		{"Only run the linter on files that changed in the last commit.", "Also run the linter on files that changed in the last commit.", false},
		{"Run the linter before the tests.", "Run the linter after the tests.", false},
		{"Review all migrations.", "Review some migrations.", false},
		{"Every test may use the network.", "Any test may use the network.", false},
		{"Always rebase feature branches.", "Sometimes rebase feature branches.", false},
		{"The cache is not always fresh.", "The cache is not fresh.", false},
		{"Reset the staging database at night with the job in `ops/reset`.", "Reset the production database at night with the job in `ops/reset`.", false},
		{"Keep at most five backups.", "Keep at least five backups.", false},
		{"Approve releases with one reviewer.", "Approve releases with two reviewers.", false},
		{"Run the unit tests before the database migration in every pipeline of the API.", "Run the database migration before the unit tests in every pipeline of the API.", false},
		{"The upload limit is five megabytes.", "The upload limit is five gigabytes.", false},
		{"Use `git branch --list`.", "Use `git branch --lists`.", false},
		{"Avoid `this` in callbacks.", "Avoid `that` in callbacks.", false},
		{"Do not edit generated files, edit templates.", "Edit generated files, do not edit templates.", false},
		{"Tests need not call the network.", "Tests must not call the network.", false},
		{"The client uploads reports to the server.", "The client downloads reports to the server.", false},
		{"Run the linter every night.", "Run the linter all night.", false},
		{"All guards are memories.", "All memories are guards.", false},
		{"The tests of the server are slow.", "The server of the tests is slow.", false},
		{"Rotate the error log.", "Rotate the log error.", false},
		{"I deploy to production.", "You deploy to production.", false},
		{"The queue is Redis.", "The queue was Redis.", false},
		{"Keep the coverage > 80.", "Keep the coverage < 80.", false},
		{"Write the parser in C++.", "Write the parser in C.", false},
		{"Allow 100s for a request.", "Allow 100 for a request.", false},
		{"Private methods begin with `_`.", "Private methods begin with `__`.", false},
		{"Name helpers with `a_`.", "Name helpers with `_a`.", false},
		{"Run the tests with `--race`.", "Run the tests with --race.", true},
		{"Keep tests in `web/`.", "Keep tests in web/.", true},
		{"Run the linter in CI and the tests.", "Run the linter and the tests in CI.", false},
		// German
		{"Vor dem Push immer `make lint` ausführen.", "Vor dem Push `make lint` ausführen.", true},
		{"Bitte nie direkt auf `main` pushen.", "Nie direkt auf `main` pushen", true},
		{"Vor jedem Commit `make lint` ausführen.", "`make lint` ausführen vor jedem Commit.", true},
		{"Die Migrationen liegen in `db/migrate`.", "Migrationen liegen in `db/migrate`", true},
		{"Die Tests müssen vor dem Merge grün sein.", "Die Tests können vor dem Merge grün sein.", false},
		{"Vor dem Push `make lint` ausführen.", "Nach dem Push `make lint` ausführen.", false},
		{"Alle Migrationen im Review prüfen.", "Einige Migrationen im Review prüfen.", false},
		{"Sicherungen 30 Tage aufbewahren.", "Sicherungen 30 Wochen aufbewahren.", false},
		{"In `web/` nur die Vorlagen ändern.", "In `web/` auch die Vorlagen ändern.", false},
		{"Den Cache auf Staging jede Nacht mit dem Skript in `ops/` leeren und danach den Dienst neu starten.", "Den Cache auf Produktion jede Nacht mit dem Skript in `ops/` leeren und danach den Dienst neu starten.", false},
		// French
		{"Toujours lancer `make lint` avant chaque commit.", "Lancer `make lint` avant chaque commit", true},
		{"Ne jamais modifier les fichiers de `vendor/`.", "Ne jamais modifier fichiers de `vendor/`.", true},
		{"Avant chaque commit, lancer `make lint`.", "Lancer `make lint` avant chaque commit.", true},
		{"Lancer `make lint` avant le commit.", "Lancer `make lint` après le commit.", false},
		{"Les tests doivent utiliser le réseau.", "Les tests peuvent utiliser le réseau.", false},
		{"Relire toutes les migrations.", "Relire certaines migrations.", false},
		{"Les requêtes expirent après 30 secondes.", "Les requêtes expirent après 30 minutes.", false},
		{"Modifier les modèles dans `web/`.", "Modifier seulement les modèles dans `web/`.", false},
		// Spanish
		{"Ejecuta siempre `make lint` antes de subir.", "Ejecuta `make lint` antes de subir", true},
		{"Las migraciones viven en `db/migrate`.", "Migraciones viven en `db/migrate`.", true},
		{"Antes de subir, ejecuta `make lint`.", "Ejecuta `make lint` antes de subir.", true},
		{"Antes de subir, ejecuta `make lint`.", "Después de subir, ejecuta `make lint`.", false},
		{"Las pruebas deben usar la red.", "Las pruebas pueden usar la red.", false},
		{"Revisa todas las migraciones.", "Revisa algunas migraciones.", false},
		{"Las copias se guardan 30 días.", "Las copias se guardan 30 semanas.", false},
		{"Edita las plantillas en `web/`.", "Edita solo las plantillas en `web/`.", false},
		// Chinese
		{"以后都用 pnpm，不要用 npm。", "以后都用`pnpm`，不要用`npm`", true},
		{"请在提交之前运行 make lint 并且修复所有的警告。", "在提交之前运行 make lint 并且修复所有的警告", true},
		{"提交前运行 `make lint`。", "提交前运行make lint", true},
		{"数据库的迁移文件放在 db/migrate 目录里，不要手动修改生成的代码。", "数据库迁移文件放在 db/migrate 目录里，不要手动修改生成的代码。", true},
		{"在提交之前运行 make lint 并且修复所有的警告。", "在提交之后运行 make lint 并且修复所有的警告。", false},
		{"每次发布必须由两名维护者审核并且在测试环境验证之后才能部署到线上集群。", "每次发布可以由两名维护者审核并且在测试环境验证之后才能部署到线上集群。", false},
		{"请求在三十秒之后超时，客户端应当重试并且记录错误日志。", "请求在三十分之后超时，客户端应当重试并且记录错误日志。", false},
		{"修改 web 目录里的模板。", "只修改 web 目录里的模板。", false},
		{"每天晚上用脚本重置测试环境的数据库，然后重新启动所有的服务和后台任务。", "每天晚上用脚本重置生产环境的数据库，然后重新启动所有的服务和后台任务。", false},
		// Japanese
		{"コミットの前に `make lint` を実行する。", "コミットの前にmake lintを実行する", true},
		{"ＡＰＩ のエラーは必ずログに残す", "API のエラーは必ずログに残す。", true},
		{"マイグレーションは、`db/migrate` に置く。", "マイグレーションは `db/migrate` に置く", true},
		{"Node.js のバージョンは **.nvmrc** に書く。", "node.jsのバージョンは `.nvmrc` に書く", true},
		{"コミットの前に make lint を実行する。", "コミットの後に make lint を実行する。", false},
		{"テンプレートだけを編集する。", "テンプレートも編集する。", false},
		{"すべてのマイグレーションをレビューする。", "一部のマイグレーションをレビューする。", false},
		{"リクエストは三十秒でタイムアウトし、クライアントは再試行してエラーをログに残す。", "リクエストは三十分でタイムアウトし、クライアントは再試行してエラーをログに残す。", false},
		{"ステージング環境のデータベースは毎晩スクリプトで初期化し、そのあとですべてのサービスを再起動する。", "本番環境のデータベースは毎晩スクリプトで初期化し、そのあとですべてのサービスを再起動する。", false},
	} {
		for _, p := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
			if got := Print(p[0]).Same(Print(p[1])); got != c.same {
				t.Errorf("%q and %q: same %t", p[0], p[1], got)
			}
		}
	}
}
