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
