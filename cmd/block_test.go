package cmd

import (
	"strings"
	"testing"
)

const begin, end = "<!-- reverie:begin v1 tree=0 -->\n", "<!-- reverie:end -->\n"

func TestBlockStates(t *testing.T) {
	cases := []struct {
		text string
		want blockState
	}{
		{"", blockAbsent},
		{"# Mine\n", blockAbsent},
		{"a\n" + begin + "x\n" + end + "b\n", blockOK},
		{"a\n" + begin + "x\n", blockUnclosed},
		{"a\n" + end, blockUnopened},
		{end + begin, blockReversed},
		{begin + end + begin + end, blockDuplicated},
		{begin + begin + end + end, blockNested},
		{begin + begin + end, blockNested},
		{begin + end + begin, blockUnclosed},
		{end + begin + end, blockUnopened},
		{begin + end + end, blockUnopened},
		{"```\n" + begin + end + "```\n", blockAbsent},
		{"```\ntext\n", blockFenced},
		{"~~~~\n" + begin + "~~~\n" + end + "~~~~\n", blockAbsent},
		{"`" + begin, blockAbsent},
		{"text <!-- reverie:begin --> text\n", blockAbsent},
		{"  <!--reverie:begin-->  \n<!--  reverie:end  -->", blockOK},
	}
	for _, c := range cases {
		if got := findBlock(c.text); got.state != c.want {
			t.Errorf("%q is %s, want %s", c.text, got.state, c.want)
		}
	}
}

// Whatever a file looks like, putting the block in and cutting it out gives its bytes back,
// and putting the same block twice changes nothing.
func TestBlockLeavesOtherBytesAlone(t *testing.T) {
	for _, text := range []string{"", "a", "a\n", "a\n\n", "a\r\nb\r\n", "\n", "# x\n\ntext\n", "```\n" + begin + "```\n"} {
		once := findBlock(text).put(text, "v1 tree=0", "- one\n")
		b := findBlock(once)
		if b.state != blockOK {
			t.Fatalf("%q: the block is %s in %q", text, b.state, once)
		}
		if twice := b.put(once, "v1 tree=0", "- one\n"); twice != once {
			t.Errorf("%q: put twice: %q, once: %q", text, twice, once)
		}
		if got := b.cut(once); got != text {
			t.Errorf("%q came back as %q", text, got)
		}
		if strings.Contains(text, "\r\n") && strings.Contains(strings.ReplaceAll(once, "\r\n", ""), "\n") {
			t.Errorf("%q: mixed line ends in %q", text, once)
		}
		if got := b.body(once); got != "- one\n" {
			t.Errorf("%q: body %q", text, got)
		}
	}
}

func FuzzBlock(f *testing.F) {
	f.Add("a\n" + begin + "x\n" + end + "b")
	f.Add("```\n" + begin + "\r\n```\n" + end)
	f.Fuzz(func(t *testing.T, text string) {
		b := findBlock(text)
		if b.state != blockOK && b.state != blockAbsent {
			return
		}
		once := b.put(text, "v1", "- one\n")
		after := findBlock(once)
		if after.state != blockOK {
			t.Fatalf("%q became %s", text, after.state)
		}
		if b.state == blockOK && (!strings.HasPrefix(once, text[:b.from]) || !strings.HasSuffix(once, text[b.to:])) {
			t.Fatalf("bytes outside the block changed: %q to %q", text, once)
		}
		if b.state == blockAbsent && after.cut(once) != text {
			t.Fatalf("%q came back as %q", text, after.cut(once))
		}
		if again := after.put(once, "v1", "- one\n"); again != once {
			t.Fatalf("not stable: %q, then %q", once, again)
		}
	})
}
