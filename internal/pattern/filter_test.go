package pattern

import (
	"regexp"
	"strings"
	"testing"
)

// A text that matches passes the filter, whatever the expression.
func FuzzFilter(f *testing.F) {
	for _, expr := range []string{
		`always|never`, `(?i)\b(?:ha(?:s|ve) to|from (?:now|here) on(?:wards?)?)\b|以后|每次`, `(?i)\b(?:the|our) docs?\b`, `(?m)^\s*(?:- )?[\w-]+:\s*$`, `[“„«]\w+`, `a?b*c+`,
		`(?i)für|ÜBER|straße|kelvin`, `(?:ab){2,3}x?`, `x{0}y`, `->|=`, `\(?(?:from|see)?\b`, `(?i)[ks]tep`, "[\ufffd]|\ufffdx", `^$`, `a.c|.`, `(ab|(cd|)e)f`, `(?i:A)b|C`, ``,
	} {
		for _, text := range []string{"", "FROM NOW ONWARDS", "the Docs", "以后", "“x", "FÜR über STRASSE \u212aelvin", "\u017ftep", "abab", "\xff", "\xffx", "a→b", "cdef ef abf", "aB c", "y"} {
			f.Add(expr, text)
		}
	}
	f.Fuzz(func(t *testing.T, expr, text string) {
		re, err := regexp.Compile(expr)
		if err != nil {
			return
		}
		p := New(expr)
		if got, want := p.MatchString(text), re.MatchString(text); got != want {
			t.Errorf("%q in %q: %v", expr, text, got)
		}
		if got, want := p.ReplaceAllString(text, "x"), re.ReplaceAllString(text, "x"); got != want {
			t.Errorf("%q in %q: %q, not %q", expr, text, got, want)
		}
	})
}

// Expressions of words never reach regexp where a text has none of them.
func TestFilterKeepsTextsAway(t *testing.T) {
	for expr, texts := range map[string][2]string{ // kept away, let through
		`(?i)\b(?:ha(?:s|ve) to|going forward)\b|一律`:           {"I had two of them, forward", "they HAVE TO go"},
		`(?i)\b(?:this|that)\s+(?:\w+\s+)?(?:texts?|pages?)\b`: {"this is that", "a Page"},
		`[{\[,]\s*["'][\w .-]+["']\s*:`:                        {`say it, "no"`, `["a":`},
		`(?i)\b(?:über|niño)s?\b`:                              {"ein Bär", "ÜBER"},
	} {
		p := New(expr)
		if p.MatchString(texts[0]); p.re != nil {
			t.Errorf("%q: %q was let through", expr, texts[0])
		}
		if p.MatchString(texts[1]); p.re == nil {
			t.Errorf("%q: %q was kept away", expr, texts[1])
		}
	}
	if New(`\w+`).MatchString("") || !New(strings.Repeat("(?:ab?)?", 20)).MatchString("") {
		t.Error("expressions without words")
	}
}
