package term

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHitline(t *testing.T) {
	hit := Hit{Mark: "!", Colour: Dim, ID: "3f9a1c2b7d104e55", Kind: "decision",
		Statement: "Migrations run with make migrate only,\u202e データベースは手作業で変更しない", Variants: []string{"or so"},
		Remarks: "stale: db/x.sql is gone", Snippet: "A migration\nof the orders took 3 hours", Words: []string{"migrat", "変更"}}
	for _, tt := range []struct {
		name string
		env  Terminal
		want string
	}{
		{"no screen", Terminal{Width: 40}, `
! 3f9a1c2b  decision    Migrations run with make migrate only,<U+202E> データベースは手作業で変更しない  (stale: db/x.sql is gone)
                        or: or so
                        A migration of the orders took 3 hours
`},
		{"80 columns", Terminal{Screen: true, Width: 80}, `
! 3f9a1c2b  decision    Migrations run with make migrate only,<U+202E> データ
                        ベースは手作業で変更しない  (stale: db/x.sql is gone)
                        or: or so
                        A migration of the orders took 3 hours
`},
		{"40 columns", Terminal{Screen: true, Width: 40}, `
! 3f9a1c2b  decision
    Migrations run with make migrate
    only,<U+202E> データベースは手作業で
    変更しない  (stale: db/x.sql is
    gone)
    or: or so
    A migration of the orders took 3
    hours
`},
		{"200 columns and colours", Terminal{Screen: true, Width: 200, Colour: true}, `
[2m![0m [1m3f9a1c2b[0m  decision    [1mMigrations[0m run with make [1mmigrate[0m only,<U+202E> データベースは手作業で[1m変更[0mしない  [2m(stale: db/x.sql is gone)[0m
                        or: or so
                        [2mA [0m[1mmigration[0m[2m of the orders took 3 hours[0m
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			tt.env.Out = &out
			tt.env.Hit(hit)
			if diff := cmp.Diff(tt.want[1:], strings.ReplaceAll(out.String(), "\x1b", "")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A statement that fills the screen is cut there and only there.
func TestHitlineOfALongStatement(t *testing.T) {
	var out bytes.Buffer
	hit := Hit{Mark: " ", ID: "3f9a1c2b7d104e55", Kind: "note", Statement: strings.Repeat("中文 ", 200)}
	(&Terminal{Out: &out, Screen: true, Width: 80}).Hit(hit)
	shown := strings.Join(strings.Fields(out.String()), " ")
	// of 5 cells each
	if n := strings.Count(shown, "中文"); n != 80 || !strings.HasSuffix(shown, "…") {
		t.Errorf("%d of the words are shown: %s", n, shown)
	}
	out.Reset()
	(&Terminal{Out: &out}).Hit(hit)
	if n := strings.Count(out.String(), "中文"); n != 200 || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("%d of the words are in a pipe: %s", n, &out)
	}
}

func TestHighlighted(t *testing.T) {
	for _, tt := range []struct{ text, words, want string }{
		{"Use pnpm, never npm", "npm", "Use pnpm, never [npm]"},
		{"Deployments deploy employ", "deploy", "[Deployments] [deploy] employ"},
		{"deployed deploying", "deploy", "[deployed] [deploying]"},
		{"go Google gopher goes", "go", "[go] Google gopher goes"},
		{"parseJSONL and json_lines", "json", "parse[JSONL] and [json]_lines"},
		{"parseTimeout", "timeout", "parse[Timeout]"},
		{"数据库迁移", "数据 据库", "[数据库]迁移"},
		{"cafe\u0301 cafe", "cafe\u0301", "[cafe\u0301] cafe"},
		{"ÉCOLE", "école", "[ÉCOLE]"},
		{"nothing", "", "nothing"},
		{"x86 x8", "x8", "x86 [x8]"},
	} {
		var b strings.Builder
		for _, s := range (&Terminal{Colour: true}).highlighted("", tt.text, strings.Fields(tt.words)) {
			if s.Style == Bold {
				s.Text = "[" + s.Text + "]"
			}
			b.WriteString(s.Text)
		}
		if b.String() != tt.want {
			t.Errorf("%q in %q: %q, want %q", tt.words, tt.text, b.String(), tt.want)
		}
	}
}
