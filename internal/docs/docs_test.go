package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMarkdownUnits(t *testing.T) {
	// 8 lines
	text := "---\ndescription: \"Rules\"\nglobs:\n  - a/**\n  - b/**\nmetadata:\n  type: user\n---\n" +
		"# Top\n\n[![badge](x)](y)\n<p align=center>\n\nSome words\ngo on.\n\n" + // 16
		"Under\n-----\n- one:\n  - two\n    goes on\n- [x] three\n\n      and on\n1. four\n" + // 25
		"```sh\nmake a\n\nmake b\n```\n<!-- a comment\n- not\n-->\n" + // 33
		"<!-- reverie:begin v1 -->\n- ours\n```\nx\n```\n<!-- reverie:end -->\n" + // 39
		"| a | b |\n|---|---|\n> quoted\n\n    indented\n"
	got := Markdown(text)
	want := Text{Front: map[string]string{"description": "Rules", "globs": "a/**,b/**", "metadata": "", "type": "user"}, Units: []Unit{
		{Line: 14, Text: "Some words go on.", Headings: []string{"Top"}},
		{Line: 19, Form: Bullet, Text: "one:", Headings: []string{"Top", "Under"}},
		{Line: 20, Form: Bullet, Text: "two goes on", Headings: []string{"Top", "Under"}, Under: "one", In: 19},
		{Line: 22, Form: Bullet, Text: "three and on", Headings: []string{"Top", "Under"}},
		{Line: 25, Form: Bullet, Text: "four", Headings: []string{"Top", "Under"}},
		{Line: 27, Form: Code, Text: "make a", Headings: []string{"Top", "Under"}, Block: 1},
		{Line: 29, Form: Code, Text: "make b", Headings: []string{"Top", "Under"}, Block: 1},
		{Line: 40, Form: Table, Text: "| a | b |", Headings: []string{"Top", "Under"}},
		{Line: 42, Text: "quoted", Headings: []string{"Top", "Under"}},
		{Line: 44, Form: Code, Text: "indented", Headings: []string{"Top", "Under"}, Block: 2},
	}}
	for i, u := range want.Units {
		want.Units[i].Level = len(u.Headings)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestMarkdownBadInput(t *testing.T) {
	for _, text := range []string{"", "---", "---\na: b", "```", "<!--", "<!-- reverie:begin -->\n- x", "- ", "#", strings.Repeat("- ", 50000), strings.Repeat("  ", 3000) + "- x"} {
		Markdown(text)
	}
	if got := Markdown(strings.Repeat("x\n", 1<<19)).Units; len(got) != 1 || len(got[0].Text) > 2*MaxText {
		t.Errorf("%d units", len(got))
	}
	got := Markdown("Before a commit:\n\n- **lint**:\n  1. all\n- test\n\nAfter.\n\n- push").Units
	var under []string
	for _, u := range got {
		under = append(under, u.Under)
	}
	if diff := cmp.Diff([]string{"", "Before a commit", "**lint**", "Before a commit", "", ""}, under); diff != "" {
		t.Error(diff)
	}
	if got := Markdown("<!-- reverie:begin -->\n- ours, never closed"); len(got.Units) > 0 {
		t.Errorf("%+v", got.Units)
	}
}

// tree writes files below a folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	top := t.TempDir()
	for name, text := range files {
		path := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return top
}

func TestSays(t *testing.T) {
	top := tree(t, map[string]string{
		"README.md": "# Thing\n\n## Development\n\n    $ CGO_ENABLED=0 go test ./...   # all\n    go vet ./... && staticcheck ./...\n\n" +
			"Use pnpm in web/, never npm. The API listens on port 8080.\n\n```\ncd web\npnpm run lint\n# pnpm audit\n```\n",
		"CONTRIBUTING.md":   "Before a release:\n- tag it in git\n\nNever do:\n- rebase published branches\n\n## Rules\n- Do not push to main.\n- Start the database with `docker compose up -d db` before the store's tests.\n- Commit messages are written in English\n",
		"docs/testing.md":   "Run `just flaky` twice after a change of the scheduler.\n",
		"docs/deep/more.md": "The moon is made of green cheese.\n",
		"package.json":      "{\n \"scripts\": {\n  \"test\": \"x\",\n  \"type-check\": \"y\"\n }\n}\n",
		"Makefile":          "X := 1\n.PHONY: lint\nlint fmt: deps\n\tgo vet\n",
		"justfile":          "default:\n  x\n@gen kind='a':\n  y\n",
		"mise.toml":         "[tasks.build]\nrun = 'x'\n[tasks]\n\"db:up\" = 'y'\n",
		"Taskfile.yml":      "version: '3'\ntasks:\n  cover:\n    cmds:\n      - echo\n",
		"web/package.json":  "{\"scripts\":{\"storybook\":\"x\"}}",
		"notes.md":          "The sun is cold.\n",
	})
	said := Read(top)
	defer said.Close()
	for _, c := range []struct {
		text, path string
		job        bool
		want       string // "" for nothing
	}{
		{text: "Run `go test ./...` to run the tests.", job: true, want: "README.md:5"},
		{text: "Run `go test -v ./...` to run the tests.", job: true, want: "README.md:5"},
		{text: "Run `staticcheck ./...` to lint.", job: true, want: "README.md:6"},
		{text: "Run `go test ./...` before each commit.", job: true},
		{text: "Run `go test -race ./...` to run the tests.", job: true},
		{text: "Run `npm test` to run the tests.", job: true, want: "package.json:3"},
		{text: "Run `yarn type-check` to check types.", job: true, want: "package.json:4"},
		{text: "Run `npm run type-check` to check types.", job: true, want: "package.json:4"},
		{text: "Run `npm run type` to check types.", job: true},
		{text: "Run `make lint` to lint.", job: true, want: "Makefile:3"},
		{text: "Run `make fmt` to format.", job: true, want: "Makefile:3"},
		{text: "Run `make deps` to build.", job: true},
		{text: "Run `just gen` to generate code.", job: true, want: "justfile:3"},
		{text: "Run `mise run build` to build.", job: true, want: "mise.toml:1"},
		{text: "Run `mise run db:up` to build.", job: true, want: "mise.toml:4"},
		{text: "Run `task cover` to run the tests.", job: true, want: "Taskfile.yml:3"},
		{text: "Run `task cmds` to run the tests.", job: true},
		{text: "Run `cd web && pnpm lint` to lint.", job: true, want: "README.md:12"},
		{text: "Run `pnpm lint` to lint.", path: "web/**", job: true, want: "README.md:12"},
		{text: "Run `pnpm lint` to lint.", job: true},
		{text: "Run `cd web && pnpm audit` to check a change.", job: true},
		{text: "Run `npm run storybook` to check a change.", path: "web/**", job: true, want: "web/package.json:1"},
		{text: "Run `npm run storybook` to check a change.", job: true},

		{text: "Always use pnpm in web/, never npm.", want: "README.md:8"},
		{text: "Use npm in web/, never pnpm."},
		{text: "Always use pnpm in web/."},
		{text: "The API listens on port 8080", want: "README.md:8"},
		{text: "The API listens on port 8081"},
		{text: "Never push to main", want: "CONTRIBUTING.md:8"},
		{text: "Push to main"},
		{text: "All commit messages must be written in English.", want: "CONTRIBUTING.md:10"},
		{text: "Before a release: tag it in git", want: "CONTRIBUTING.md:2"},
		{text: "After a release: tag it in git"},
		{text: "Never do: rebase published branches", want: "CONTRIBUTING.md:5"},
		{text: "Rebase published branches"},
		{text: "Before `go test ./store/...`, run `docker compose up -d db`: else it fails with \"connection refused\"."},
		{text: "Run `just flaky` twice after a change of the scheduler", want: "docs/testing.md:1"},
		{text: "Run `just flaky` twice before a change of the scheduler"},
		{text: "The moon is made of green cheese."},
		{text: "The sun is cold."},
		{text: "Main"},
		{text: ""},
	} {
		s := Statement{Text: c.text, Job: c.job}
		if c.path != "" {
			s.Paths = []string{c.path}
		}
		got := ""
		if places := said.Says(s); len(places) > 0 {
			got = places[0].String()
		}
		if got != c.want {
			t.Errorf("%q %s: %q, want %q", c.text, c.path, got, c.want)
		}
	}
	var none *Tree
	if got := append(none.Says(Statement{Text: "Never push to main"}), Read("").Says(Statement{Text: "Never push to main"})...); len(got) > 0 {
		t.Errorf("no work tree says %v", got)
	}
}

func TestReadStaysInTheWorkTree(t *testing.T) {
	const rule = "Never push to the main branch"
	outside := tree(t, map[string]string{"secret.md": rule, "README.md": rule})
	top := tree(t, map[string]string{".git/HEAD": "x", ".git/readme.md": rule, "AGENTS.md": "x\n"})
	for link, to := range map[string]string{"README.md": filepath.Join(outside, "secret.md"), "CONTRIBUTING.md": filepath.Join("..", filepath.Base(outside), "secret.md"),
		"docs": outside, "GEMINI.md": ".git/readme.md", "CLAUDE.md": "nowhere"} {
		if err := os.Symlink(to, filepath.Join(top, link)); err != nil {
			t.Skip(err)
		}
	}
	if got := Read(top).Says(Statement{Text: rule}); len(got) > 0 {
		t.Fatalf("said by %v", got)
	}
	// A link inside is followed, and its target is read once.
	if err := os.WriteFile(filepath.Join(top, "AGENTS.md"), []byte(rule), 0o644); err != nil {
		t.Fatal(err)
	}
	os.Remove(filepath.Join(top, "CLAUDE.md"))
	if err := os.Symlink("AGENTS.md", filepath.Join(top, "CLAUDE.md")); err != nil {
		t.Skip(err)
	}
	if got := Read(top).Says(Statement{Text: rule}); len(got) != 1 || got[0].File != "AGENTS.md" {
		t.Errorf("said by %v", got)
	}
}

func TestReadIsBounded(t *testing.T) {
	top := tree(t, map[string]string{"README.md": strings.Repeat("word ", maxFile/5+10) + "\n\n- Never push to main\n", "AGENTS.md": "- Never push to main\n"})
	if got := Read(top).Says(Statement{Text: "Never push to main"}); len(got) != 1 || got[0].String() != "AGENTS.md:1" {
		t.Errorf("said by %v", got)
	}
}

// A heading as long as a book does not count for the text below it.
func TestLongHeadingsAreBounded(t *testing.T) {
	var text strings.Builder
	text.WriteString("# ")
	for i := range 2000 {
		fmt.Fprintf(&text, "word%d ", i)
	}
	text.WriteString("\n\n")
	for i := range 2000 {
		fmt.Fprintf(&text, "- x%d y\n", i)
	}
	postings := 0
	for _, list := range Read(tree(t, map[string]string{"README.md": text.String()})).with {
		postings += len(list)
	}
	if postings > 20_000 {
		t.Errorf("%d terms of 2000 bullets", postings)
	}
}
