package worktree

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/reverie-memory/reverie/internal/redact"
)

// secretTexts returns texts with a secret, each with the words that must stay hidden.
func secretTexts() map[string][2]string {
	token := "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
	var key strings.Builder
	for n := range 8 {
		fmt.Fprintf(&key, "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC%02dcwggSjAgEAAoIBAQC7VJTUt9Us8\n", n)
	}
	return map[string][2]string{
		"a token":          {"it is " + token + " there\n", token},
		"a token alone":    {token + "\n", token},
		"a password":       {"the password is hunter2-Secr3tValue9\n", "hunter2-Secr3tValue9"},
		"a name and value": {"- name: PASSWORD\n  value: hunter2-Secr3tValue9\n", "hunter2-Secr3tValue9"},
		"a URL":            {"to https://ada:hunter2-Secr3tValue9@example.org/x.git\n", "hunter2-Secr3tValue9"},
		"a key":            {"-----BEGIN PRIVATE KEY-----\n" + key.String() + "MIIEvQ==\n-----END PRIVATE KEY-----\n", "MIIEvQIBADANBgkqhkiG9w0BAQ"},
		"a key in one line": {`{"key":"-----BEGIN PRIVATE KEY-----\n` + strings.ReplaceAll(key.String(), "\n", `\n`) + `-----END PRIVATE KEY-----\n"}` + "\n",
			"MIIEvQIBADANBgkqhkiG9w0BAQ"},
	}
}

// partOf returns a piece of a secret in a text, or "". Six bytes count as one.
func partOf(secret, text string) string {
	for at := 0; at+6 <= len(secret); at++ {
		if strings.Contains(text, secret[at:at+6]) {
			return secret[at : at+6]
		}
	}
	return ""
}

// filler returns lines of the given size in bytes.
func filler(size int) string {
	size = max(0, size)
	return strings.Repeat("a line of it\n", size/13+1)[13-size%13:]
}

// For any start and end of a gap, no part of a secret remains beside it.
func TestGapShowsNoPartOfASecret(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	const most = 1800
	scanner := redact.New()
	record := &Record{scanner: scanner}
	for name, c := range secretTexts() {
		text, secret := c[0], c[1]
		if clean, _ := scanner.Text(text); strings.Contains(clean.String(), secret) {
			t.Fatalf("%s is not known as one: %s", name, clean)
		}
		gaps := 0
		for shift := -20; shift < len(text)+20; shift++ {
			for where, all := range map[string]string{
				"beginning": filler(most/3-shift) + text + filler(2*most),
				"end":       filler(2*most) + text + filler(most-most/3-gapRoom-len(text)+shift),
				// at the point where Write drops it
				"last": filler(2*most) + text + filler(most-len(text)+shift),
			} {
				for _, size := range []int{1 << 20, 100} {
					k := kept{most: most}
					for rest := all; rest != ""; {
						n := min(size, len(rest))
						k.Write([]byte(rest[:n]))
						rest = rest[n:]
					}
					printed := k.text()
					if len(printed) > most || !strings.Contains(printed, "bytes are left out") {
						t.Fatalf("%s: %d bytes are kept, of at most %d", name, len(printed), most)
					}
					clean, _ := scanner.Text(printed)
					if part := partOf(secret, clean.String()); part != "" {
						t.Fatalf("%s, %s, %d, in pieces of %d: %q of it is kept in\n%s", name, where, shift, size, part, clean)
					}
				}
				stored := record.cut(all, gapped, most)
				if part := partOf(secret, stored.String()); part != "" {
					t.Fatalf("%s, %s, %d: %q of it is stored in\n%s", name, where, shift, part, stored)
				}
				if stored.Len() > most+100 || !strings.Contains(stored.String(), "bytes are left out") {
					t.Fatalf("%s: %d bytes are stored, of at most %d", name, stored.Len(), most)
				}
				gaps++
			}
		}
		if gaps < 3*len(text) {
			t.Errorf("%s: %d gaps", name, gaps)
		}
	}
}

func TestKeptHoldsWholeLines(t *testing.T) {
	const most = 3000
	line := strings.Repeat("x ", 49) + "x\n"
	for _, c := range []struct {
		name        string
		text        string
		first, last string // beginning and end of the kept text
	}{
		{"as much as there is room for", strings.Repeat(line, most/100), line, line},
		{"a little more", "first\n" + strings.Repeat(line, most/100) + "last", "first\n", "last"},
		{"much more", "first\n" + strings.Repeat(line, most) + "last\n", "first\n", "last\n"},
		{"without an end of lines", strings.Repeat("x", 10*most), "\n[… 30000 bytes are left out …]\n", "out …]\n"},
		{"a long line in the middle", "first\n" + strings.Repeat("x", 10*most) + "\nnext\nlast\n", "first\n\n[…", "left out …]\nnext\nlast\n"},
		{"a long line before the last", "first\n" + strings.Repeat("x", 10*most) + "\nlast\n", "first\n\n[…", "left out …]\nlast\n"},
		{"no UTF-8", "first\n" + strings.Repeat("\xffx\n", 3*most) + "last\n", "first\n", "last\n"},
		{"characters of many bytes", "first\n" + strings.Repeat("提交提交\n", 3*most) + "last\n", "first\n", "last\n"},
	} {
		for _, size := range []int{1, 1000, 1 << 20} {
			k := kept{most: most}
			for rest := c.text; rest != ""; {
				n := min(size, len(rest))
				k.Write([]byte(rest[:n]))
				rest = rest[n:]
				if len(k.tail) > 2*most+size {
					t.Fatalf("%s: %d bytes are held", c.name, len(k.tail))
				}
			}
			got := k.text()
			if len(got) > most || !utf8.ValidString(got) || !strings.HasPrefix(got, c.first) || !strings.HasSuffix(got, c.last) {
				t.Errorf("%s, in pieces of %d: %d bytes, %.40q … %q", c.name, size, len(got), got, got[max(0, len(got)-40):])
			}
			if fits := len(c.text) <= most; fits && got != c.text {
				t.Errorf("%s: it is not what was written", c.name)
			}
		}
	}
}

// A token that a cut would halve is in no object of the record.
func TestRecordHoldsNoPartOfASecret(t *testing.T) {
	token := "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
	head, tail := maxOutput/3, maxOutput-maxOutput/3-gapRoom
	texts := []string{
		filler(4*maxOutput) + token + "\n" + filler(tail-37), // a scanner would see 36 characters of it
		filler(head-20) + token + "\n" + filler(4*maxOutput),
	}
	r, rec := newRecord(t)
	for _, step := range []Step{
		{Event: Event{Kind: Placed}},
		{Event: Event{Kind: Coded, Tip: r.Run("rev-parse", "HEAD"), Tree: "x"}, Output: texts[0]},
		{Event: Event{Kind: Checked, Passed: true}, Output: texts[1]},
		{Event: Event{Kind: Failed, Why: strings.Repeat("w", maxSaid-20) + " " + token}},
	} {
		if _, err := rec.Take(t.Context(), step, noon); err != nil {
			t.Fatal(err)
		}
	}
	all := r.Run("log", "-p", Refs+"one")
	if part := partOf(token, all); part != "" {
		t.Errorf("%q is in the record", part)
	}
	if n := strings.Count(all, "bytes are left out"); n != 2 {
		t.Errorf("%d gaps", n)
	}
}
