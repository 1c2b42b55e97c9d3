package worktree

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParsePlan(t *testing.T) {
	for _, c := range []struct {
		name, text string
		title      string
		verify     []string
	}{
		{"all of it", "# Parse lists\n\nDo it.\n\n```verify\ngo test ./a\n\n# not a command\n  go vet ./a\n```\n", "Parse lists", []string{"go test ./a", "go vet ./a"}},
		{"two blocks", "# T\n~~~ verify\na\n~~~\n````verify extra\n```\nb\n````\n", "T", []string{"a", "```", "b"}},
		{"another block", "# T\n```sh\n# Heading\nrm -rf /\n```\n", "T", nil},
		{"a command over two lines", "# T\n```verify\nmake \\\n  test\n```\n", "T", []string{"make test"}},
		{"no heading", "Do it.\nThen stop.\n", "Do it.", nil},
		{"a heading later", "Do it.\n\n## Do what\n", "Do what", nil},
		{"Windows", "\ufeff# T\r\n```verify\r\na\r\n```\r\n", "T", []string{"a"}},
	} {
		p, err := parsePlan(c.text)
		if err != nil || p.Title != c.title {
			t.Errorf("%s: %q, %v", c.name, p.Title, err)
		}
		if d := cmp.Diff(c.verify, p.Verify); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
	for text, want := range map[string]string{
		"":                                       "line 1: the plan is empty",
		" \n\n":                                  "line 1: the plan is empty",
		"# T\n\n```verify\na\n":                  "line 3: the block that begins here is not closed",
		"# T\na\x00b\n":                          "line 2: a control character",
		"# T\n\xff\n":                            "line 2: a control character, or bytes that are no UTF-8",
		"# T\n```verify\na \\\n```\n":            "line 3: the command goes on",
		"```verify\na\n```\n":                    "line 1: the plan has no title",
		"# T\n" + strings.Repeat("x\n", MaxPlan): "longer than 128 KiB",
	} {
		if _, err := parsePlan(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}

func TestSlug(t *testing.T) {
	for title, want := range map[string]string{
		"Parse empty lists!": "parse-empty-lists",
		"  --X--  ":          "x",
		"日本語":                "",
		"Über Größe":         "ber-gr-e",
		"A title that is much too long to be the name of anything": "a-title-that-is-much-too-long",
		strings.Repeat("x", 50): strings.Repeat("x", 32),
	} {
		if got := Slug(title); got != want {
			t.Errorf("%q: %q, want %q", title, got, want)
		}
	}
}
