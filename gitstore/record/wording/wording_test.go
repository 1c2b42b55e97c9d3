package wording

import "testing"

func TestOpposes(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		// contrasts
		{"Use pnpm, never npm, in web/.", "use npm, never pnpm, in web/", true},
		{"Run the tests with make check.", "Run the tests with go test, not make check.", true},
		{"Indent with tabs instead of spaces.", "Indent with spaces.", true},
		{"Prefer composition over inheritance.", "Prefer inheritance over composition.", true},
		{"Commit generated files.", "Never commit generated files.", true},
		{"Log with slog, not fmt.", "Log errors with slog.", false},
		{"Answer in English, not German.", "Replies should be in German, not English.", true},
		{"Never use default exports in the codebase.", "React components use default exports.", true},
		{"React components in PascalCase, never snake_case.", "Database columns in snake_case, never PascalCase.", false},
		{"Use pnpm, never npm, in web/.", "Use pnpm in web/, not npm.", false},
		{"Use pnpm, never npm, in web/.", "Use pnpm rather than yarn in web/.", false},
		{"Always use pnpm in web/, never npm.", "use pnpm not npm", false},
		{"use npm not pnpm", "Always use pnpm in web/, never npm.", true},
		{"Never push to main.", "Run make lint before you push to main.", false},
		{"Tests live next to the code, not in tests/.", "Write table-driven tests.", false},
		{"Use Postgres, not SQLite, in production.", "Deploy to Fly.", false},
		// values in one frame
		{"Name topics with a leading 'evt.'", "From now on topic names lead with 'msg.'", true},
		{"Prefix feature flags with `ff_`.", "Going forward, I'd like all feature flags to begin with `flag_`.", true},
		{"Keep functions under 50 lines.", "Keep functions under 80 lines.", true},
		{"Keep functions under 50 lines.", "Keep files under 400 lines.", false},
		{"Suffix test helpers with '_helper'.", "Prefix test helpers with 'h_'.", false},
		{"End interface names with 'er'.", "End class names with 'Base'.", false},
		{"Function names end with '_f'.", "Function argument names end with '_a'.", false},
		{"Put migrations in `db/migrate`.", "We now put migrations in `migrations/`.", true},
		{"Use camelCase for JSON keys.", "Use snake_case for JSON keys from now on.", true},
		{"Use camelCase for JSON keys.", "Use snake_case for columns.", false},
		{"Use single quotes.", "Use double quotes in Python.", true},
		{"Sort imports in ascending order.", "Sort imports in descending order.", true},
		{"Answer in German.", "Answer in English.", true},
		{"Use npm to install.", "Install with yarn from now on.", true},
		{"Name test files with the suffix '_spec'.", "Test files have the suffix '_test'.", true},
		{"Use `moment` for dates.", "Never use moment for dates, always use `dayjs`.", true},
		{"Deploy with 'make deploy'.", "From now on deploy with 'fly deploy'.", true},
		{"Wrap lines at 80 columns.", "Lines are wrapped at 100 columns.", true},
		{"retry.max is 5.", "From now on, retry.max is 8, no longer 5.", true},
		{"retry_max is 5.", "retry_max is 8.", true},
		{"The region is eu-west-1.", "From now on, the region is us-east-1, no longer eu-west-1.", true},
		{"Support Node 16.", "We no longer support Node 16.", true},
		{"required_fields is name, budget.", "From now on, required_fields is name, budget, timeline, no longer name, budget.", true},
		{"From now on, retry_max is 5.", "retry_max is 5.", false},
		{"`retry_max` is 5.", "`retry_delay` is 8.", false},
		{"retry_max is 5.", "Raise retry_max to 8 in slow tests.", false},
		{"`a.go` is generated.", "`b.go` is generated.", false},
		{"server/a is generated, do not edit it.", "server/b is generated, do not edit it.", false},
		{"`main.go` is generated.", "`main.go` is formatted by `gofmt`.", false},
		{"Support Node 16.", "No longer support Node 16.", true},
		{"The build takes 5 minutes.", "The build takes no longer than 5 minutes.", false},
		{"Use bun, never npm.", "Never run npm.", false},
		{"Never npm in web/.", "Never run npm.", false},
		{"Use bun, never npm.", "Run npm.", true},
		{"Never use pnpm in web/, use yarn", "Use pnpm 9 in web/, never npm or yarn.", true},
		{"Never use pnpm in web/, use yarn", "Use yarn in web/, not pnpm.", false},
		{"Never use pnpm in web/, use yarn", "Use npm in api/.", false},
		// compatible rules
		{"Run `make lint` before committing.", "Run `make test` before committing.", false},
		{"Before `git commit`, run `make lint`: its hook runs the same.", "Before `git commit`, run `make vet`: its hook runs the same.", false},
		{"Always import `math`.", "Always import `numpy`.", false},
		{"Never edit `a.go`.", "Never edit `b.go`.", false},
		{"Use tabs in `web/`.", "Use spaces in `api/`.", false},
		{"Start variable names with 'm_' and method names with 'a_'.", "All method names should now start with 'o_'.", true},
		{"Start variable names with 'm_' and method names with 'a_'.", "All class names should now start with 'o_'.", false},
		{"Use meaningful names for variables.", "Use camelCase for variables.", false},
		// other languages
		{"Никогда не редактируй файлы в папке vendor/ вручную", "Никогда не редактируй файлы в папке generated/ вручную", false},
		{"Nie vendor/ ändern", "Nie generated/ ändern", false},
		{"コミット前に `make lint` を実行", "コミット前に `make test` を実行", false},
		{"vendor/ klasörünü düzenleme", "generated/ klasörünü düzenleme", false},
		{"Always use pnpm, never npm.", "Immer pnpm verwenden, niemals npm.", false},
		{"Always use pnpm, never npm.", "Больше никогда не используй npm, только pnpm!", false},
		{"npm verwenden, niemals pnpm", "pnpm verwenden, niemals npm", true},
		{"Всегда используй npm, никогда не pnpm", "Всегда используй pnpm, никогда не npm", true},
		{"Используй npm для сборки", "Используй pnpm для сборки", true},
		{"Не используй npm для сборки", "Используй pnpm для сборки", false},
		{"使用 npm 安装", "使用 pnpm 安装", true},
		{"不要使用 npm 安装", "使用 pnpm 安装", false},
		{"避免使用 npm 安装", "避免使用 pnpm 安装", false},
		{"Запрещено использовать npm", "Запрещено использовать pnpm", false},
		{"npm und pnpm sind erlaubt", "pnpm und npm sind erlaubt", false},
		{"npm 和 pnpm 都可以用", "pnpm 和 npm 都可以用", false},
		{"kullanma npm yerine düzenle", "kullanma pnpm yerine düzenle", false},
		{"Bitte pnpm benutzen, nie npm.", "Bitte npm benutzen, nie pnpm.", true},
		{"Bitte pnpm benutzen.", "Bitte npm vermeiden.", false},
		{"Keep latency below 100 µs.", "Keep latency below 200 µs.", true},
		{"Always use immer for reducers.", "Never use immer for reducers.", true},
		{"Never edit the façade package by hand.", "Always edit the façade package by hand.", true},
	} {
		for _, p := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
			a, b := Read(p[0]), Read(p[1])
			if got := a.Opposes(b); got != c.want {
				t.Errorf("%q opposes %q: %v\n%+v\n%+v", p[0], p[1], got, a, b)
			}
		}
	}
}

func TestCovers(t *testing.T) {
	for _, c := range []struct {
		wide, narrow string
		want         bool
	}{
		{"Use pnpm, not npm.", "Use pnpm, not npm, in web/.", true},
		{"Never use default exports.", "Never use default exports in tests.", true},
		{"Use pnpm, not npm, in web/.", "Use pnpm, not npm.", false},
		{"Never use default exports, except in tests.", "Never use default exports in tests.", false},
		{"Never use default exports.", "Use default exports in tests.", false},
		{"Use single quotes.", "Use double quotes in Python.", false},
	} {
		if a, b := Read(c.wide), Read(c.narrow); a.Covers(b) != c.want {
			t.Errorf("%q covers %q: %v\n%+v\n%+v", c.wide, c.narrow, !c.want, a, b)
		}
	}
}

func TestReplaces(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"Use pnpm, never npm.", "Use npm in web/, not pnpm.", true},
		{"Prefer composition over inheritance.", "Prefer inheritance over composition.", true},
		{"Use POST for the login endpoint, never GET.", "Use GET for the login endpoint, never POST.", true},
		{"Use POST for the login endpoint, never GET.", "Use GET for the search endpoint, never POST.", false},
		{"Use pnpm to install packages, never npm.", "The frontend runs its scripts with npm, not pnpm.", false},
		{"Keep functions under 50 lines.", "Keep functions under 80 lines.", true},
		{"Always squash merge.", "No more squash merges from now on, always rebase.", true},
	} {
		a, b := Read(c.a), Read(c.b)
		if !a.Opposes(b) {
			t.Errorf("%q does not oppose %q", c.a, c.b)
		}
		if a.Replaces(b) != c.want || b.Replaces(a) != c.want {
			t.Errorf("%q replaces %q: %v\n%+v\n%+v", c.b, c.a, !c.want, a, b)
		}
	}
}
