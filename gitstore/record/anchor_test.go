package record

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAnchorTextForm(t *testing.T) {
	for _, c := range []struct {
		text string
		want Anchor
	}{
		{`main.go@0123456789abcdef "func main() {"`, Anchor{"main.go", "0123456789abcdef", "func main() {"}},
		{`a b/c d.js@0123456 "x = \"y\" \\n"`, Anchor{"a b/c d.js", "0123456", `x = "y" \n`}},
		{`pkg@v1.2/index.ts@0123456789abcdef ""`, Anchor{"pkg@v1.2/index.ts", "0123456789abcdef", ""}},
		{`odd@0123456 "name@89abcde "real"`, Anchor{`odd@0123456 "name`, "89abcde", "real"}},
		{`x@0123456 "ends in \\"`, Anchor{"x", "0123456", `ends in \`}},
		{`x@0123456 "a@89abcde \"b\""`, Anchor{"x", "0123456", `a@89abcde "b"`}},
	} {
		got, err := ParseAnchor(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.text, diff)
		}
		if got.String() != c.text {
			t.Errorf("written %s, want %s", got, c.text)
		}
	}
	if a, err := ParseAnchor("main.go@0123456789abcdef"); err != nil || a.Path != "main.go" {
		t.Errorf("without a snippet: %v, %v", a, err)
	}
	for _, bad := range []string{"", "main.go", `main.go "x"`, "@0123456", `main.go@xyz "x"`, `main.go@0123456 "x`, `main.go@0123456"x"`, `main.go@0123456 "x\"`, `"`, `""`, ` ""`} {
		if a, err := ParseAnchor(bad); err == nil {
			t.Errorf("%q was taken for %+v", bad, a)
		}
	}
}

func TestAnchorsSurviveTheFile(t *testing.T) {
	m := New(Memory{Kind: Fact, Text: "`main` prints \"x\"", Source: Source{By: "human", How: Written}, Branch: Side{Name: "topic", Tip: strings.Repeat("a", 40), Base: strings.Repeat("b", 40)}.String(),
		Anchors: []string{Anchor{"a b@1/c.go", "0123456789abcdef", `fmt.Print("x\n") // é`}.String()}})
	got, err := ParseMemory(m.Path(), m.Format())
	if err != nil {
		t.Fatal(err)
	}
	a, err := ParseAnchor(got.Anchors[0])
	if err != nil || a.Snippet != `fmt.Print("x\n") // é` || a.Path != "a b@1/c.go" {
		t.Errorf("%+v, %v", a, err)
	}
	if got.Branch != "topic aaaaaaaaaaaaaaaa bbbbbbbbbbbbbbbb -" {
		t.Errorf("branch %q", got.Branch)
	}
}

func FuzzAnchor(f *testing.F) {
	f.Add("a/b.go", `say "hi" \ @0123456 "x"`)
	f.Fuzz(func(t *testing.T, path, snip string) {
		a := Anchor{Path: path, Blob: "0123456789abcdef", Snippet: snip}
		if path == "" {
			return
		}
		got, err := ParseAnchor(a.String())
		if err != nil || got != a {
			t.Errorf("%+v became %+v, %v", a, got, err)
		}
	})
}

func TestAnchorHolds(t *testing.T) {
	a := Anchor{"x.go", "0123456", "return a  +  b"}
	text := ""
	reads := 0
	holds := func(blob string) bool {
		ok, err := a.Holds(blob, func() ([]byte, error) { reads++; return []byte(text), nil })
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if !holds("0123456789") || reads != 0 {
		t.Error("the same file needs no look")
	}
	text = "f()\n\treturn\ta +\n\t\tb\n"
	if !holds("99") {
		t.Error("white space alone changed")
	}
	text = "return a - b"
	if holds("99") {
		t.Error("the line is gone")
	}
	boom := errors.New("boom")
	if _, err := a.Holds("99", func() ([]byte, error) { return nil, boom }); !errors.Is(err, boom) {
		t.Errorf("got %v", err)
	}
}

func TestQuoted(t *testing.T) {
	m := Memory{Text: "Call `load` before `save`, never `load` twice.", Body: "See `a/b.go:12`.\n\n```\n`not this`\n```\nbut `this` and `open"}
	if diff := cmp.Diff([]string{"load", "save", "a/b.go:12", "this"}, m.Quoted()); diff != "" {
		t.Error(diff)
	}
}

func TestSnippetPrefersTheDefinition(t *testing.T) {
	code := "package x\n\n// loadAll calls load.\nfunc loadAll() { load() }\n\n\tfunc load() error {\n}\n"
	for _, c := range []struct {
		tokens []string
		want   string
	}{
		{[]string{"load"}, "func load() error {"}, // the definition, not a call
		{[]string{"load()"}, "func load() error {"},
		{[]string{"load() error"}, "func load() error {"},
		{[]string{"missing", "loadAll"}, "func loadAll() { load() }"},
		{[]string{"oad"}, ""},
		{[]string{"x"}, ""}, // too short to tell anything
		{nil, ""},
	} {
		if got := snippet([]byte(code), c.tokens); got != c.want {
			t.Errorf("%q: %q, want %q", c.tokens, got, c.want)
		}
	}
	long := strings.Repeat("é", 200) + " needle " + strings.Repeat("ü", 200)
	got := snippet([]byte(long), []string{"needle"})
	if len(got) > maxSnippet || !strings.Contains(got, "needle") || !strings.Contains(long, got) {
		t.Errorf("%q", got)
	}
}

func TestAnchorNeedsTextAndAPlainPath(t *testing.T) {
	blob := strings.Repeat("c", 40)
	if _, ok := NewAnchor("a.bin", blob, []byte("a\x00b"), nil); ok {
		t.Error("binary")
	}
	if _, ok := NewAnchor("a\nb", blob, nil, nil); ok {
		t.Error("path of two lines")
	}
	if a, ok := NewAnchor("a.go", blob, []byte("x"), nil); !ok || a.String() != `a.go@cccccccccccccccc ""` {
		t.Errorf("%v %v", a, ok)
	}
}

func TestSide(t *testing.T) {
	for text, want := range map[string]Side{
		"":        {},
		"feature": {Name: "feature"},
		"f/x 0123456789abcdef 123456789abcdef0 23456789abcdef01": {"f/x", "0123456789abcdef", "123456789abcdef0", "23456789abcdef01"},
		"f/x 0123456789abcdef 123456789abcdef0 -":                {"f/x", "0123456789abcdef", "123456789abcdef0", ""},
	} {
		if got := ParseSide(text); got != want || got.String() != text {
			t.Errorf("%q is %+v, written %q", text, got, got)
		}
	}
	if got := ParseSide("a --upload-pack=x b c"); got != (Side{Name: "a"}) {
		t.Errorf("%+v", got)
	}
}
