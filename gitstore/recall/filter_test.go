package recall

import (
	"strings"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/gitstore/record"
	"pgregory.net/rapid"
)

func TestMatch(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	v := Values{Kind: record.Failure, Paths: []string{"web/**", "cmd/*_test.go"}, Tags: []string{"CI", "slow"}, By: "claude/4b91b8f5",
		Time: time.Date(2026, 11, 19, 12, 0, 0, 0, time.UTC)}
	for query, want := range map[string]bool{
		"":                               true,
		"kind:failure":                   true,
		"kind:fact":                      false,
		"kind:fact kind:failure":         true,
		"-kind:failure":                  false,
		"tag:ci":                         true,
		"tag:fast":                       false,
		"tag:fast tag:slow":              true,
		"tag:fast kind:failure":          false,
		"tag:slow -tag:ci":               false,
		"-tag:fast":                      true,
		"path:web":                       true,
		"path:web/src/cart.tsx":          true,
		"path:webapp":                    false,
		"path:cmd/root_test.go":          true,
		"path:cmd":                       true,
		"path:cmd/root.go":               false,
		"path:cmd/root_test.go:14:5":     true,
		"path:cmd/*.go":                  true,
		"path:cmd/*.ts":                  false,
		"path:cmd/sub":                   false,
		"path:web/*.ts":                  true,
		"path:*/cart.tsx":                true,
		"path:*.go":                      false,
		"path:cmd/**":                    true,
		"path:api":                       false,
		"-path:web/src":                  false,
		"by:claude":                      true,
		"by:claud":                       false,
		"by:claude/4b91":                 true,
		"by:claude/ffff":                 false,
		"by:human":                       false,
		"-by:claude":                     false,
		"since:2026-11-19":               true,
		"since:2026-11-20":               false,
		"since:2026-11":                  true,
		"since:2026-12":                  false,
		"since:3d":                       true,
		"since:1d":                       false,
		"since:1w":                       true,
		"since:1m":                       true,
		"since:1y":                       true,
		"since:yesterday":                false,
		"-since:yesterday":               true,
		"-since:2w":                      false,
		"since:2w -since:yesterday":      true,
		"kind:failure tag:ci path:web/a": true,
	} {
		q, err := Parse(query)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		if got := q.Match(v, now); got != want {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	if q, _ := Parse("path:web since:1y"); q.Match(Values{Time: v.Time}, now) || q.Match(Values{Paths: v.Paths}, now) {
		t.Error("what has no path, or no time, matches a filter for one")
	}
}

// A filter and its opposite together cover all memories.
func TestNegatedFilterIsTheRest(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	list := func(of ...string) *rapid.Generator[[]string] { return rapid.SliceOfN(rapid.SampledFrom(of), 0, 3) }
	rapid.Check(t, func(t *rapid.T) {
		v := Values{
			Kind:  rapid.SampledFrom(record.Kinds).Draw(t, "kind"),
			Paths: list("web/**", "*.go", "cmd/x.go", "a/b/**/c.ts", "**").Draw(t, "paths"),
			Tags:  list("ci", "slow", "ui").Draw(t, "tags"),
			By:    rapid.SampledFrom([]string{"claude/1", "human", "import/jsonl"}).Draw(t, "by"),
			Time:  now.AddDate(0, 0, -rapid.IntRange(0, 40).Draw(t, "days")),
		}
		filter := rapid.SampledFrom([]string{"kind:fact", "path:web", "path:cmd/x.go", "path:a/b", "tag:ci", "by:human", "since:2w", "since:2026-11"}).Draw(t, "filter")
		with, err := Parse(filter)
		if err != nil {
			t.Fatal(err)
		}
		without, err := Parse("-" + filter)
		if err != nil || with.Match(v, now) == without.Match(v, now) {
			t.Errorf("%s and its opposite: %v for %+v; %v", filter, with.Match(v, now), v, err)
		}
	})
}

func TestAfterIsOfTheZone(t *testing.T) {
	zone := time.FixedZone("", 9*3600)
	now := time.Date(2026, 3, 31, 1, 0, 0, 0, zone)
	for since, want := range map[string]string{
		"":           "0001-01-01T00:00:00Z",
		"today":      "2026-03-31T00:00:00+09:00",
		"yesterday":  "2026-03-30T00:00:00+09:00",
		"2026-02":    "2026-02-01T00:00:00+09:00",
		"2026-02-03": "2026-02-03T00:00:00+09:00",
		"2w":         "2026-03-17T01:00:00+09:00",
		"3m":         "2025-12-31T01:00:00+09:00",
		"1y":         "2025-03-31T01:00:00+09:00",
	} {
		if got := (Filter{Since: since}).After(now).Format(time.RFC3339); got != want {
			t.Errorf("%s: %s, want %s", since, got, want)
		}
	}
}

func TestCovers(t *testing.T) {
	for _, c := range []struct {
		glob, file string
		want       bool
	}{
		{"web/**", "web/src/a.ts", true}, {"web/**", "web", true}, {"web/**", "webapp/a", false}, {"web/", "web/a", true},
		{"web", "web/a/b", true}, {"web/*.ts", "web/a.ts", true}, {"web/*.ts", "web/b/a.ts", false}, {"./web/a.ts", "web/a.ts", true},
		{"src/app*.ts", "src/app1.ts", true}, {"src/app*.ts", "src/other.ts", false}, {"**/*.go", "a/b/c.go", true}, {"**/*.go", "c.go", true},
		{"*.go", "a/c.go", false}, {"a/**/b/**/c", "a/x/b/y/z/c", true}, {"a/**/b/**/c", "a/x/y/z/c", false}, {"**", "x", true}, {"", "x", false}, {"x", "", false},
		{"a/[", "a/b", false}, {"a/**/**/b", "a/b", true},
	} {
		if got := Covers(c.glob, c.file); got != c.want {
			t.Errorf("%s covers %s: %v, want %v", c.glob, c.file, got, c.want)
		}
	}
	for _, c := range []struct {
		glob, place string
		want        bool
	}{
		{"cmd/a.go", "cmd/*.go", true}, {"cmd/a.txt", "cmd/*.go", false}, {"cmd/*_test.go", "cmd/*.go", true}, {"cmd/*_test.go", "cmd/r*", true},
		{"cmd/*_test.go", "cmd/*.txt", false}, {"cmd/sub/a.go", "cmd/*.go", false}, {"cmd/sub/a.go", "cmd/**/*.go", true}, {"cmd/sub/**", "cmd/*.go", false},
		{"cmd", "cmd/*.go", true}, {"cmd/**", "cmd/*.go", true}, {"web", "cmd/*.go", false}, {"cmd", "cmd/sub/a.go", true}, {"cmd/sub/a.go", "cmd", true},
		{"cmd/*.go", "cmd", true}, {"cmd/*.go", "cmd/sub", false}, {"cmd/*.go", "cmd/a.go", true}, {"cmd/a?.go", "cmd/[ab]1.*", true}, {"cmd/a?.go", "cmd/b*", false},
		{"**", "cmd", true}, {"**/*.go", "cmd", false}, {"**/*.go", "cmd/a.go", true}, {"**/*.go", "cmd/*.go", true}, {"**/*.go", "cmd/*.ts", false},
		{"a/**/b/*.go", "a/x/**/y.go", true}, {"a/**/b/*.go", "a/x/**/y.ts", false}, {"cmd/[", "cmd/*", false}, {"", "**", false},
	} {
		if got := About(c.glob, c.place); got != c.want {
			t.Errorf("%s is about %s: %v, want %v", c.glob, c.place, got, c.want)
		}
	}
	for glob, want := range map[string]string{"web/**": "web", "web/src/*.ts": "web/src", "a/b": "a/b", "./a/": "a", "*.go": "", "src/app*.ts": "src", "": ""} {
		if got := Root(glob); got != want {
			t.Errorf("the root of %s is %q, want %q", glob, got, want)
		}
	}
}

// Globs that cover one file meet, whichever of them comes first.
func TestAboutFindsWhatBothCover(t *testing.T) {
	part := rapid.SampledFrom([]string{"a", "b", "ab", "a.go", "b.go", "*", "**", "a*", "*.go", "?", "[ab]", "?b*"})
	name := rapid.SampledFrom([]string{"a", "b", "ab", "a.go", "b.go", "abb"})
	path := func(of *rapid.Generator[string]) *rapid.Generator[string] {
		return rapid.Map(rapid.SliceOfN(of, 1, 4), func(parts []string) string { return strings.Join(parts, "/") })
	}
	rapid.Check(t, func(t *rapid.T) {
		glob, place, file := path(part).Draw(t, "glob"), path(part).Draw(t, "place"), path(name).Draw(t, "file")
		both := Covers(glob, file) && Covers(place, file)
		if both && !meet(partsOf(glob), partsOf(place)) {
			t.Errorf("%s and %s cover %s", glob, place, file)
		}
		if meet(partsOf(glob), partsOf(place)) != meet(partsOf(place), partsOf(glob)) {
			t.Errorf("%s meets %s one way only", glob, place)
		}
	})
}
