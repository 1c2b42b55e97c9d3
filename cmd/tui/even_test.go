package tui

import (
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestEvenTextHasOneWidth(t *testing.T) {
	for text, want := range map[string]string{
		"plain text, 提交信息 한글 🚀": "plain text, 提交信息 한글 🚀",
		"cafe\u0301 क्\u200dष":  "cafe\u0301 क्\u200dष",
		"👨‍👩‍👧 and 👩🏽‍💻":        "👨👩👧 and 👩💻",
		"🇯🇵🇫🇷":                  "JPFR",
		"❤️ 1️⃣ ⚠️":             "❤ 1 ⚠",
		"broken ❤️\xff":         "broken ❤\ufffd",
	} {
		got := even(text)
		if got != want {
			t.Errorf("%q: %q", text, got)
		}
		if a, b := ansi.StringWidth(got), ansi.StringWidthWc(got); a != b {
			t.Errorf("%q has %d or %d cells", got, a, b)
		}
	}
}
