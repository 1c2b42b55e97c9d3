package block

import (
	"strings"
	"testing"
)

const begin, end = "<!-- reverie:begin v1 tree=0 -->\n", "<!-- reverie:end -->\n"

func TestBlockStates(t *testing.T) {
	cases := []struct {
		text string
		want State
	}{
		{"", Absent},
		{"# Mine\n", Absent},
		{"a\n" + begin + "x\n" + end + "b\n", OK},
		{"a\n" + begin + "x\n", Unclosed},
		{"a\n" + end, Unopened},
		{end + begin, Reversed},
		{begin + end + begin + end, Duplicated},
		{begin + begin + end + end, Nested},
		{begin + begin + end, Nested},
		{begin + end + begin, Unclosed},
		{end + begin + end, Unopened},
		{begin + end + end, Unopened},
		{"```\n" + begin + end + "```\n", Absent},
		{"```\ntext\n", Fenced},
		{"~~~~\n" + begin + "~~~\n" + end + "~~~~\n", Absent},
		{"`" + begin, Absent},
		{"text <!-- reverie:begin --> text\n", Absent},
		{"  <!--reverie:begin-->  \n<!--  reverie:end  -->", OK},
	}
	for _, c := range cases {
		if got := Find(c.text); got.State != c.want {
			t.Errorf("%q is %s, want %s", c.text, got.State, c.want)
		}
	}
}

// For any file, inserting the block and cutting it out again restores the bytes. Inserting the same
// block twice changes nothing.
// A conflict that git marked in the block alone is replaced with the block. A conflict in the text
// around it stays.
func TestBlockInConflict(t *testing.T) {
	const begin, end = "<!-- reverie:begin v1 tree=1 gap=1 -->\n", "<!-- reverie:end -->\n"
	const begin2 = "<!-- reverie:begin v1 tree=2 gap=1 -->\n"
	const from, base, mid, to = "<<<<<<< HEAD\n", "||||||| 1234567\n", "=======\n", ">>>>>>> topic\n"
	want := "mine\n\n<!-- reverie:begin new gap=1 -->\nfresh\n" + end + "after\n"
	for name, c := range map[string]struct {
		text string
		want State
	}{
		"the begin line": {"mine\n\n" + from + begin + mid + begin2 + to + "a\n" + end + "after\n", Conflicted},
		"two places":     {"mine\n\n" + from + begin + mid + begin2 + to + "same\n" + from + "a\n" + mid + "b\n" + to + end + "after\n", Conflicted},
		"a line":         {"mine\n\n" + begin + from + "a\n" + mid + to + end + "after\n", Conflicted},
		"the whole":      {"mine\n\n" + from + begin + "a\n" + end + mid + begin2 + "b\n" + end + to + "after\n", Conflicted},
		"with the base":  {"mine\n\n" + from + begin + base + begin + "was\n" + mid + begin2 + to + "a\n" + end + "after\n", Conflicted},
		"text before it": {from + "mine\n\n" + begin + mid + "theirs\n\n" + begin2 + to + "a\n" + end + "after\n", Nested},
		"text after it":  {"mine\n\n" + begin + "a\n" + from + end + "after\n" + mid + end + "then\n" + to, Unopened},
		"another place":  {from + "mine\n" + mid + "theirs\n" + to + "\n" + from + begin + mid + begin2 + to + end + "after\n", Nested},
		"gone on a side": {"mine\n\n" + from + mid + begin2 + "b\n" + end + to + "after\n", OK},
		"an open one":    {"mine\n\n" + from + begin + mid + begin2 + "a\n" + end + "after\n", Nested},
	} {
		text := c.text
		for _, eol := range []string{"\n", "\r\n"} {
			text := strings.ReplaceAll(text, "\n", eol)
			b := Find(text)
			if b.State != c.want {
				t.Errorf("%s: %s, want %s", name, b.State, c.want)
			}
			if want := strings.ReplaceAll(want, "\n", eol); c.want == Conflicted && b.Put(text, "new", "fresh\n") != want {
				t.Errorf("%s: %q, want %q", name, b.Put(text, "new", "fresh\n"), want)
			}
		}
	}
}

func TestBlockLeavesOtherBytesAlone(t *testing.T) {
	for _, text := range []string{"", "a", "a\n", "a\n\n", "a\r\nb\r\n", "\n", "# x\n\ntext\n", "```\n" + begin + "```\n"} {
		once := Find(text).Put(text, "v1 tree=0", "- one\n")
		b := Find(once)
		if b.State != OK {
			t.Fatalf("%q: the block is %s in %q", text, b.State, once)
		}
		if twice := b.Put(once, "v1 tree=0", "- one\n"); twice != once {
			t.Errorf("%q: put twice: %q, once: %q", text, twice, once)
		}
		if got := b.Cut(once); got != text {
			t.Errorf("%q came back as %q", text, got)
		}
		if strings.Contains(text, "\r\n") && strings.Contains(strings.ReplaceAll(once, "\r\n", ""), "\n") {
			t.Errorf("%q: mixed line ends in %q", text, once)
		}
		if got := b.Body(once); got != "- one\n" {
			t.Errorf("%q: body %q", text, got)
		}
	}
}

func FuzzBlock(f *testing.F) {
	f.Add("a\n" + begin + "x\n" + end + "b")
	f.Add("```\n" + begin + "\r\n```\n" + end)
	f.Fuzz(func(t *testing.T, text string) {
		b := Find(text)
		if b.State != OK && b.State != Absent {
			return
		}
		once := b.Put(text, "v1", "- one\n")
		after := Find(once)
		if after.State != OK {
			t.Fatalf("%q became %s", text, after.State)
		}
		if b.State == OK && (!strings.HasPrefix(once, text[:b.From]) || !strings.HasSuffix(once, text[b.To:])) {
			t.Fatalf("bytes outside the block changed: %q to %q", text, once)
		}
		if b.State == Absent && after.Cut(once) != text {
			t.Fatalf("%q came back as %q", text, after.Cut(once))
		}
		if again := after.Put(once, "v1", "- one\n"); again != once {
			t.Fatalf("not stable: %q, then %q", once, again)
		}
	})
}
