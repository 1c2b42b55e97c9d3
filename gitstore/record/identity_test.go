package record

import "testing"

func TestSameness(t *testing.T) {
	cases := []struct {
		a, b string
		want bool
	}{
		{"Use pnpm, never npm, in web/.", "use `pnpm`, never npm,  in web/", true},
		{"Run the database before the integration tests with docker compose up -d db", "Run the database before the integration tests, with `docker compose up -d db`.", true},
		{"Use npm.", "Never use npm.", false},
		{"Use pnpm, not npm, in web/.", "Use npm, not pnpm, in web/.", false},
		{"Run the migration before the tests.", "Run the tests before the migration.", false},
		{"In web/, use pnpm, never npm.", "Use pnpm, never npm, in web/.", true},
		{"pnpm", "pnpm.", true},
		{"Node 18 is the oldest version that we support in production", "Node 20 is the oldest version that we support in production", false},
		{"Run make lint and then make test and then make e2e and push the branch now", "Run make lint and then make test and then make e2e and push the branch", true},
		{"以后都用 pnpm，不要用 npm。", "以后都用 pnpm，不要用 npm", true},
		{"提交前要运行 make lint", "提交前不要运行 make lint", false},
		{"テストを先に書く", "テストを先に書かない", false},
		{"Never push to main.", "Don't push to main", true},
		{"Always run `make lint` before committing.", "Run `make lint` before you commit.", true},
		{"Use pnpm, not npm.", "We use pnpm instead of npm", true},
		{"Tests live next to the code.", "The tests live next to the code", true},
		{"Use pnpm, not npm.", "Use npm, not pnpm.", false},
		{"Push to main.", "Never push to main.", false},
		{"Keep functions under 50 lines.", "Keep functions under 80 lines.", false},
		{"Run `make gen` before `make test`.", "Run `make test` before `make gen`.", false},
		{"Start function names with 'a_'.", "Start function names with 'b_'.", false},
		{"Use Node 18.", "Use Node 20.", false},
		{"", "", false},
	}
	for _, c := range cases {
		if got := Print(c.a).Same(Print(c.b)); got != c.want {
			t.Errorf("%q and %q: same %v, want %v (alike %.2f)", c.a, c.b, got, c.want, Print(c.a).Alike(Print(c.b)))
		}
		if Print(c.a).Same(Print(c.b)) != Print(c.b).Same(Print(c.a)) {
			t.Errorf("%q and %q: not symmetric", c.a, c.b)
		}
	}
}

func TestSlug(t *testing.T) {
	for text, want := range map[string]string{
		"Use pnpm, never npm, in web/.":                                       "use-pnpm-never-npm-in-web",
		"A very long statement that goes on and on past the end of the limit": "a-very-long-statement-that-goes-on-and",
		"以后都用 pnpm":                                                           "pnpm",
		"用中文写提交信息":                                                            "",
		"supercalifragilisticexpialidocious-and-then-some-more":               "supercalifragilisticexpialidocious-and",
		"supercalifragilisticexpialidociousandthensomemore yes":               "supercalifragilisticexpialidociousandthe",
		"../../etc/passwd":                                                    "etc-passwd",
	} {
		if got := slug(text); got != want {
			t.Errorf("slug(%q) = %q, want %q", text, got, want)
		}
	}
}
