package cut

import (
	"testing"
	"unicode/utf8"
)

func TestCuts(t *testing.T) {
	for _, c := range []struct {
		text          string
		n             int
		bytes, marked string
	}{
		{"", 3, "", ""},
		{"abc", 3, "abc", "abc"},
		{"abcd", 3, "abc", "…"},
		{"abcdef", 5, "abcde", "ab…"},
		{"aéé", 4, "aé", "a…"}, // five bytes
		{"日本語", 9, "日本語", "日本語"},
		{"日本語", 8, "日本", "日…"},
		{"日本語", 5, "日", "…"},
		{"👩‍💻x", 11, "👩\u200d💻", "👩\u200d…"}, // a joiner is a character
	} {
		if got := Bytes(c.text, c.n); got != c.bytes {
			t.Errorf("%d bytes of %q: %q, want %q", c.n, c.text, got, c.bytes)
		}
		if got := Marked(c.text, c.n); got != c.marked {
			t.Errorf("%d bytes of %q, marked: %q, want %q", c.n, c.text, got, c.marked)
		}
	}
}

func FuzzCuts(f *testing.F) {
	f.Add("Grüße, 日本語 👩‍💻", 7)
	f.Fuzz(func(t *testing.T, text string, n int) {
		if n < len(mark) || n > 1<<10 || !utf8.ValidString(text) {
			return
		}
		for _, got := range []string{Bytes(text, n), Marked(text, n)} {
			if len(got) > n || !utf8.ValidString(got) || len(text) <= n && got != text {
				t.Errorf("%d bytes of %q are %q", n, text, got)
			}
			if len(text) > n && len(got) <= n-utf8.UTFMax {
				t.Errorf("%d bytes of %q are only %d: %q", n, text, len(got), got)
			}
		}
	})
}
