package pack

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFirst(t *testing.T) {
	for text, want := range map[string]string{
		"Use pnpm. Never npm: it writes a lock file.":       "Use pnpm.",
		"Does it fail? Run it again.":                       "Does it fail?",
		"Stop! Read this first...":                          "Stop!",
		"It waits... Then it goes on.":                      "It waits...",
		"提交信息用中文写。不要用英文。":                                   "提交信息用中文写。",
		"テストは先に書く！実装は後。":                                    "テストは先に書く！",
		"테스트를 먼저 실행한다. 그다음 커밋한다.":                           "테스트를 먼저 실행한다.",
		"用 `a。b` 表示。然后继续。":                                  "用 `a。b` 表示。",
		"用 pnpm。`npm` 会写锁文件。":                               "用 pnpm。",
		"Call `x. Y()` first. Then close it.":               "Call `x. Y()` first.",
		"Call ``a ` b. C`` first. Then close it.":           "Call ``a ` b. C`` first.",
		"The API stays at 2.x. The app pins it.":            "The API stays at 2.x.",
		"See docs/a.md. It says why.":                       "See docs/a.md.",
		"Use a queue (e.g. NATS. Or Kafka.) here. Not SQL.": "Use a queue (e.g. NATS. Or Kafka.) here.",
		`It says "Stop. Now." and stops. Then it ends.`:     `It says "Stop. Now." and stops.`,
		"彼は「はい。そうです。」と言う。次へ。":                               "彼は「はい。そうです。」と言う。",
		"Ask J. Smith about it. He knows.":                  "Ask J. Smith about it.",
		"Linters etc. Are run first. Tests follow.":         "Linters etc. Are run first.",
		"1. Build it. 2. Run it.":                           "1. Build it.",

		"One sentence only.":                 "",
		"one":                                "",
		"":                                   "",
		"Use pnpm. npm breaks the lock file": "", // a small letter: in doubt
		"Version 1.2.3 is pinned in go.mod":  "",
		"Run `make. Then` without an end. Or so.": "Run `make. Then` without an end.",
		"Run `make. Then without an end. Or so.":  "",
		"It (never. Ends":                         "",
		"e.g. This":                               "",
	} {
		if got := First(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// FuzzFirst: the first sentence is a proper prefix of the text. It ends with a mark, and opens no
// code that it does not close.
func FuzzFirst(f *testing.F) {
	for _, s := range []string{"A `b. C`. D", "一。二", "a. B", "``` x. ``` Y. Z", "\xff. A", `"A. B" c. D`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := First(text)
		if got == "" {
			return
		}
		whole := strings.TrimSpace(text)
		if !strings.HasPrefix(whole, got) || len(got) >= len(whole) {
			t.Errorf("%q begins with %q", text, got)
		}
		if last, _ := utf8.DecodeLastRuneInString(got); !strings.ContainsRune(".!?。！？．｡।؟", last) {
			t.Errorf("%q ends with %q", got, last)
		}
		code := 0 // read again, by another way: split at runs of backticks
		for i := 0; i < len(got); {
			run := len(got[i:]) - len(strings.TrimLeft(got[i:], "`"))
			switch {
			case run > 0 && code == 0:
				code = run
			case run > 0 && run == code:
				code = 0
			}
			i += max(run, 1)
		}
		if code != 0 {
			t.Errorf("%q is cut in its code: %q", text, got)
		}
	})
}
