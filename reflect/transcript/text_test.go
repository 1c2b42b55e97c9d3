package transcript

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSafeIDs(t *testing.T) {
	same := []string{"5ad1b7e6-f3fc-49f0-8a00-566954750048", "ses_e0681dc50ffeVdO2QIhISxFNPd", "a", "a.b-c_d", strings.Repeat("x", 100)}
	for _, id := range same {
		if got := SafeID(id); got != id {
			t.Errorf("%q became %q", id, got)
		}
	}
	changed := []string{"", ".", "..", "../../evil", ".git", "-rf", "a..b", "a b", "a/b", "a\\b", "a:b", "é", "\x00", "end.", "日本語", strings.Repeat("x", 101), strings.Repeat("/", 500)}
	seen := map[string]string{}
	for _, id := range append(changed, same...) {
		got := SafeID(id)
		if other, found := seen[got]; found {
			t.Errorf("%q and %q both became %q", id, other, got)
		}
		seen[got] = id
		checkSafe(t, id, got)
	}
	if got, want := SafeID("../../evil"), "evil-"; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %s…", got, want)
	}
}

func checkSafe(t *testing.T, id, got string) {
	t.Helper()
	bad := func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._-", r))
	}
	if got == "" || len(got) > 100 || strings.IndexFunc(got, bad) >= 0 || strings.Contains(got, "..") || strings.HasPrefix(got, ".") ||
		strings.HasSuffix(got, ".") || strings.HasPrefix(got, "-") || SafeID(got) != got {
		t.Errorf("%q became %q", id, got)
	}
}

func FuzzSafeID(f *testing.F) {
	for _, id := range []string{"", "../../evil", "a..b", "ses_1", "日本語"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) { checkSafe(t, id, SafeID(id)) })
}

func TestLongTextKeepsHeadAndTail(t *testing.T) {
	text := "BEGIN" + strings.Repeat("日本語", 20000) + "END"
	for limit := MaxText; limit < MaxText+7; limit++ { // each way that a rune may be cut
		got := cutter(nil).cut(text, limit)
		if len(got) > limit || len(got) < limit-64 || !utf8.ValidString(got) {
			t.Errorf("limit %d: %d bytes, valid %v", limit, len(got), utf8.ValidString(got))
		}
		if !strings.HasPrefix(got, "BEGIN日") || !strings.HasSuffix(got, "語END") || !strings.Contains(got, " bytes left out …]\n") {
			t.Errorf("limit %d: %.20q … %q", limit, got, got[len(got)-20:])
		}
	}
	if got := cutter(nil).cut("short", MaxText); got != "short" {
		t.Errorf("got %q", got)
	}
	head, tail, _ := strings.Cut(cutter(nil).cut(text, MaxText), "\n[… ")
	count, tail, _ := strings.Cut(tail, " bytes left out …]\n")
	if len(head)+len(tail) >= len(text) || count != strconv.Itoa(len(text)-len(head)-len(tail)) {
		t.Errorf("says %s bytes are gone, %d are", count, len(text)-len(head)-len(tail))
	}
}

// A text with many tags that are never closed must not take quadratic time: a megabyte would then
// take minutes.
func TestSplitIsLinear(t *testing.T) {
	text := "x" + strings.Repeat("<system-reminder><hook_context>", 1<<15)
	if w := partMessage(text); len(w.own) != 1 || w.own[0] != text || w.injected != nil || !w.mixed {
		t.Errorf("%d injected, mixed: %v", len(w.injected), w.mixed)
	}
}
