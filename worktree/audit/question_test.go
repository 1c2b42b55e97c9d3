package audit

import (
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/prompts"
	"github.com/reverie-memory/reverie/worktree/diff"
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

func TestQuoteDecidesThePlace(t *testing.T) {
	parts := diff.Parts(diff.Parse(twoFiles), 10000)
	for _, test := range []struct {
		name  string
		f     prompts.AuditFinding
		part  bool // of a change
		line  int
		fault string
	}{
		{"the quote, not the count", prompts.AuditFinding{File: "a.go", Line: 3, Quote: "eleven"}, false, 21, ""},
		{"with its mark", prompts.AuditFinding{File: "a.go", Line: 0, Quote: "+eleven"}, false, 21, ""},
		{"the nearest", prompts.AuditFinding{File: "a.go", Line: 19, Quote: "e"}, false, 20, ""},
		{"a file alone", prompts.AuditFinding{File: "b c.png"}, false, 0, ""},
		{"a line without a quote", prompts.AuditFinding{File: "a.go", Line: 2}, false, 0, "quote is missing: the line of the diff"},
		{"no such words", prompts.AuditFinding{File: "a.go", Line: 2, Quote: "twelve"}, false, 0, `quote "twelve" stands in no line of a.go that is shown`},
		{"words of another file", prompts.AuditFinding{File: "gone", Line: 2, Quote: "eleven"}, false, 0, `quote "eleven" stands in no line of gone that is shown`},
		{"no such file", prompts.AuditFinding{File: "c.go", Line: 2, Quote: "ten"}, false, 0, `file "c.go" is not in the change`},
		{"what the whole lacks", prompts.AuditFinding{}, false, 0, ""},
		{"what the whole lacks, from a part", prompts.AuditFinding{}, true, 0, `file "": this is a part of the change, which does not show what the whole lacks`},
	} {
		t.Run(test.name, func(t *testing.T) {
			q := question{part: parts[0], whole: !test.part}
			line, fault := q.place(test.f)
			if line != test.line || fault != test.fault {
				t.Errorf("%d, %q", line, fault)
			}
		})
	}
}

// A line shown in pieces is one line.
func TestQuoteOfALongLine(t *testing.T) {
	files := diff.Parse("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,2 @@\n+" + strings.Repeat("ü0123456789", 300) + "the end\n+short\n")
	found := 0
	for _, p := range diff.Parts(files, 1500) {
		q := question{part: p}
		line, fault := q.place(prompts.AuditFinding{File: "x", Line: 7, Quote: "the end"})
		if fault != "" {
			continue
		}
		if found++; line != 1 {
			t.Errorf("the end is in line %d", line)
		}
	}
	if found != 1 {
		t.Errorf("the end is in %d parts", found)
	}
}
