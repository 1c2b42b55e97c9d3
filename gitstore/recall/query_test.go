package recall

import (
	"errors"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore/record"
	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	not := func(text string, words ...string) Query { return Query{Text: text, Not: words} }
	phrase := func(text string, phrases ...string) Query {
		return Query{Text: text, Phrases: phrases, Literal: true}
	}
	for query, want := range map[string]Query{
		// Phrases.
		`"connection refused"`:                 phrase("connection refused", "connection refused"),
		`why "connection refused" in tests`:    phrase("why connection refused in tests", "connection refused"),
		`“go vet” and „mod tidy“ and «build»`:  phrase("go vet and mod tidy and build", "go vet", "mod tidy", "build"),
		`設定「キャッシュ」の『有効期限』`:                     phrase("設定 キャッシュ の 有効期限", "キャッシュ", "有効期限"),
		`fmt.Println("hello world")`:           phrase("fmt.Println( hello world )", "hello world"),
		`msg="dial tcp" level=error`:           phrase("msg= dial tcp level=error", "dial tcp"),
		`"-race" in CI`:                        phrase("-race in CI", "-race"),
		`"kind:failure"`:                       phrase("kind:failure", "kind:failure"),
		"say \"two\nlines\"":                   {Text: "say \"two\nlines\""},
		`a "quote that nobody closes`:          {Text: `a "quote that nobody closes`},
		`an empty "" or "--" says nothing`:     {Text: `an empty "" or "--" says nothing`},
		`a 5" pipe and a 6" pipe`:              {Text: `a 5" pipe and a 6" pipe`},
		`don't touch the team's 'main' branch`: {Text: `don't touch the team's 'main' branch`},

		// Exclusions at an end; options elsewhere.
		"storage -redis -kafka":            not("storage", "redis", "kafka"),
		"-npm lock file":                   not("lock file", "npm"),
		"lock file -npm, -yarn.":           not("lock file", "npm", "yarn"),
		`storage -"message queue" please`:  not("storage please", "message queue"),
		"缓存策略 -测试 -猫":                      not("缓存策略", "测试", "猫"),
		"storage -node_modules kind:fact":  {Text: "storage", Not: []string{"node_modules"}, Filter: Filter{Kinds: []record.Kind{record.Fact}}},
		"go test -race":                    {Text: "go test -race"},
		"gcc -Wall":                        {Text: "gcc -Wall"},
		"-race":                            {Text: "-race", Literal: true},
		"mytool -frobnicate crashes":       {Text: "mytool -frobnicate crashes"},
		"grep -v -n --color x":             {Text: "grep -v -n --color x"},
		"git commit --amend":               {Text: "git commit --amend"},
		"gcc -O2 -m32 -DFOO=1 -I/usr -lm ": {Text: "gcc -O2 -m32 -DFOO=1 -I/usr -lm "},
		"go build -mod=vendor":             {Text: "go build -mod=vendor"},
		"a - b, -1, -, --":                 {Text: "a - b, -1, -, --"},
		"well-known e-mail -":              {Text: "well-known e-mail -"},
		"-old line\n+new line":             {Text: "-old line\n+new line"},

		"error codes -404":                 {Text: "error codes -404"},
		"java -Xmx512m":                    {Text: "java -Xmx512m"},
		"where do we keep sessions -redis": not("where do we keep sessions", "redis"),

		// Pasted text.
		"-bash: foo: command not found":                  {Text: "-bash: foo: command not found"},
		"--- FAIL: TestX (0.00s)":                        {Text: "--- FAIL: TestX (0.00s)"},
		"flag provided but not defined: -coverpkgs":      {Text: "flag provided but not defined: -coverpkgs"},
		"ld: cannot find -lfoo":                          {Text: "ld: cannot find -lfoo"},
		`ld: foo -"of libc"`:                             not("ld: foo", "of libc"),
		`"ld: foo" -libc`:                                {Text: "ld: foo", Phrases: []string{"ld: foo"}, Not: []string{"libc"}, Literal: true},
		"-rwxr-xr-x 1 root root 42 Jan 1 run.sh":         {Text: "-rwxr-xr-x 1 root root 42 Jan 1 run.sh"},
		"-npm is not what we want here":                  {Text: "-npm is not what we want here"},
		"no matches for kind:Deployment in version apps": {Text: "no matches for kind:Deployment in version apps", Plain: []string{"kind:Deployment"}},
		"error: kind:Deployment -since:now":              {Text: "error: kind:Deployment -since:now", Plain: []string{"kind:Deployment", "-since:now"}},
		"at:a at:b stands in this trace":                 {Text: "at:b stands in this trace", At: "a", Plain: []string{"at:b"}, Perhaps: []string{"at:a"}},
		"access denied for the app tag:latest": {Text: "access denied for the app", Filter: Filter{Tags: []string{"latest"}},
			Perhaps: []string{"tag:latest"}},
		"how do we sign releases path:web -tag:x kind:fact since:2w": {Text: "how do we sign releases", Perhaps: []string{"path:web"},
			Filter: Filter{Paths: []string{"web"}, Kinds: []record.Kind{"fact"}, Since: "2w"}, Without: Filter{Tags: []string{"x"}}},
		"镜像拉取失败提示 tag:latest": {Text: "镜像拉取失败提示", Filter: Filter{Tags: []string{"latest"}}, Perhaps: []string{"tag:latest"}},

		// Filters.
		"flaky kind:failure kind:Fact path:./web/ tag:ci -tag:slow by:claude since:2w at:v1.2": {Text: "flaky", At: "v1.2",
			Filter:  Filter{Kinds: []record.Kind{"failure", "fact"}, Paths: []string{"web"}, Tags: []string{"ci"}, By: []string{"claude"}, Since: "2w"},
			Without: Filter{Tags: []string{"slow"}}},
		`tag:"two words" path:"a b/c"`: {Filter: Filter{Tags: []string{"two words"}, Paths: []string{"a b/c"}}},
		`-path:web/** -by:human x`:     {Text: "x", Without: Filter{Paths: []string{"web/**"}, By: []string{"human"}}},
		"kind:failure -docker":         {Not: []string{"docker"}, Filter: Filter{Kinds: []record.Kind{"failure"}}},
		"at:HEAD~3 how":                {Text: "how", At: "HEAD~3"},
		"common.go:296 std::vector":    {Text: "common.go std::vector"},
		"see http://example.com:80/a":  {Text: "see http://example.com:80/a"},
		"note: the path: is at: home":  {Text: "note: the path: is at: home"},
		"Kind:fact xkind:fact :kind":   {Text: "Kind:fact xkind:fact :kind"},
		"foo:bar -foo:bar x":           {Text: "foo:bar -foo:bar x"},
		"kind:fact\nof lines":          {Text: "kind:fact\nof lines"},
		"":                             {},
		" \t ":                         {Text: " \t "},
	} {
		got, err := Parse(query)
		if len(want.Phrases) == 0 {
			got.Literal = want.Literal // TestLiteral is about that
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v -want +got\n%s", query, err, diff)
		}
	}
}

func TestParseTakesFiltersAsWords(t *testing.T) {
	got, err := Parse(`x tag:latest tag:"two words" kind:fact`, `tag:"two words"`, "tag:latest")
	want := Query{Text: `x tag:latest tag:"two words"`, Filter: Filter{Kinds: []record.Kind{record.Fact}}, Literal: got.Literal}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestParseSaysWhatAFilterTakes(t *testing.T) {
	for query, want := range map[string]string{
		"x kind:bug":                  `kind:"bug": it takes one of constraint, convention, `,
		"x -kind:bug":                 `-kind:"bug": it takes one of constraint`,
		"x since:lately":              `since:"lately": it takes a day (2026-11-01), a month (2026-11), an age (3d, 2w, 6m, 1y), today or yesterday`,
		"x since:2026-13":             `since:"2026-13": it takes a day`,
		"x since:2026-02-30":          `since:"2026-02-30": it takes`,
		"x since:-3d":                 `since:"-3d": it takes`,
		"x since:99999d":              `since:"99999d": it takes`,
		"x since:3d since:4d":         `since:"4d": it is given twice`,
		"x path:/":                    `path:"/": it takes a file, a folder or a glob`,
		"x path:../a":                 `path:"../a": it lies outside of the repository`,
		"x at:--all":                  `at:"--all": it takes a git revision`,
		"x at:a at:b":                 `at:"b": it is given twice`,
		"x -at:a":                     `-at:"a": at: has no opposite`,
		"-frobnicate":                 `-frobnicate leaves out, and "-frobnicate" in quotes is looked for`,
		`-"connection refused"`:       ErrOnlyNot.Error(),
		"-docker -tag:x at:v1 -kafka": ErrOnlyNot.Error(),
	} {
		_, err := Parse(query)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", query, err, want)
		}
		if only := strings.HasPrefix(query, "-"); errors.Is(err, ErrOnlyNot) != only {
			t.Errorf("%q: %v", query, err)
		}
	}
}

func TestCommon(t *testing.T) {
	for query, want := range map[string]bool{"the": true, "How, and why?": true, "the -docker": true, "the docker": false, "": false, "?!": false, "不": false} {
		q, err := Parse(query)
		if err != nil || q.Common() != want {
			t.Errorf("%q: %v, want %v; %v", query, q.Common(), want, err)
		}
	}
}

// A text without operators stays unchanged except for line numbers, in every language.
func TestPlainTextParsesToItself(t *testing.T) {
	word := rapid.OneOf(
		rapid.StringMatching(`[a-z']{1,8}[.,:;!?]?`),
		rapid.StringMatching(`[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]{1,12}[。、！？]?`),
		rapid.StringMatching(`[\p{Cyrillic}\p{Arabic}\p{Devanagari}\p{Thai}]{1,12}`),
		rapid.StringMatching(`--?[a-z](=[a-z/]+)?|-[A-Z][0-9]+|--[a-z-]+|[a-z]+\.go:[0-9]+|[a-z]+::[A-Z][a-z]+|https?://[a-z.:/]+|[a-z]+-[a-z]+`),
		rapid.StringMatching(`[(\[{<&|>}\])*+=/\\#@$%^~0-9]{1,4}`),
	)
	gap := rapid.SampledFrom([]string{" ", "  ", "\t", "\n", "　"})
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(0, 12).Draw(t, "words") {
			w := word.Draw(t, "word")
			if key, value, _ := strings.Cut(strings.TrimLeft(w, "-"), ":"); isKey(key) && value != "" {
				continue
			}
			b.WriteString(w)
			b.WriteString(gap.Draw(t, "gap"))
		}
		text := b.String()
		q, err := Parse(text)
		if diff := cmp.Diff(Query{Text: withoutPositions(text), Literal: q.Literal}, q); diff != "" || err != nil {
			t.Fatalf("%q: %v\n%s", text, err, diff)
		}
	})
}

// FuzzQuery: nothing panics. A valid query keeps every letter to find, and finds nothing that it
// excludes.
func FuzzQuery(f *testing.F) {
	for _, s := range []string{"", "plain words", `"a b" -c kind:fact`, `-"x" tag:"y z" „a” «»`, "「一」-二 since:3d at:v1", "\xff\"\xfe\"-\xff", `"a"b"c"`, "-a:b:-c", "a.go:1:2 b.go#L3", `path:"`, `-kind:"fact"x`} {
		f.Add(s)
	}
	letters := func(s string) (out []rune) {
		for _, r := range s {
			if unicode.IsLetter(r) && r != 'L' && r != 'C' { // the letters of #L10C2
				out = append(out, r)
			}
		}
		return out
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := Parse(text)
		if err != nil {
			if diff := cmp.Diff(Query{}, q); diff != "" {
				t.Errorf("%q: an error with %s", text, diff)
			}
			return
		}
		for _, p := range q.Phrases {
			if !strings.Contains(q.Text, p) || !says(p) {
				t.Errorf("%q: the phrase %q is not in %q", text, p, q.Text)
			}
		}
		for _, w := range q.Not {
			if strings.TrimSpace(w) == "" || !strings.Contains(text, "-") {
				t.Errorf("%q leaves out %q", text, w)
			}
		}
		if q.Filter.empty() && q.Without.empty() && q.At == "" && len(q.Not) == 0 {
			if want, got := string(letters(text)), string(letters(q.Text)); want != got {
				t.Errorf("%q became %q", text, q.Text)
			}
			if !strings.ContainsAny(text, "\"“„«「『") && q.Text != withoutPositions(text) {
				t.Errorf("%q became %q without a reason", text, q.Text)
			}
		}
	})
}
