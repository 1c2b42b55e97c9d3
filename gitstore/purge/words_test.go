package purge

import (
	"strings"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/gitstore/record"
)

func TestEachFieldIsFoundThatSomebodyWrote(t *testing.T) {
	const file = "memories/3f/3f00000000000000-the-slug.md"
	text := "+++\nkind = \"fact\"\nid = \"3f00000000000000\"\nstatus = \"contested\"\nsource = \"2026-11-20T10:00:00Z human - said\"\npaths = [\"in/paths\"]\nref = \"tool:in-ref\"\ntags = [\"in-tags\"]\n" +
		"topic = \"in-topic\"\nanchors = [\"in/anchor.go@0123456789abcdef \\\"in \\\\\\\"snippet\\\\\\\"\\\"\"]\nlater = \"in-later\"\n+++\nIn text\n\nIn body\n+++\nIn variant\n\nIn other body\n"
	if _, err := record.ParseMemory(file, []byte(text)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"the-slug", "in/paths", "tool:in-ref", "in-tags", "in-topic", "in/anchor.go", `in "snippet"`, "in-later", "In text", "In body", "In text\n\nIn body", "In variant", "In other body"} {
		p := Target{texts: []string{want}}
		p.prepare()
		if !p.inFile(file, []byte(text)) {
			t.Errorf("%q is not found", want)
		}
	}
	for _, not := range []string{"fact", "contested", "human", "2026", "said", "status", "paths =", "0123456789abcdef", "3f0000", "memories", "+++"} {
		p := Target{texts: []string{not}}
		p.prepare()
		if p.inFile(file, []byte(text)) {
			t.Errorf("%q is found", not)
		}
	}
	p := Target{texts: []string{"a secret"}}
	p.prepare()
	if !p.inFile(file, []byte(strings.Replace(text, "status = \"contested\"", "status = \"contested\" # a secret", 1))) {
		t.Error("a comment is not found")
	}
}

// A following clone loses sessions that contain the purged statement, not those that share a common
// line with its body.
func TestFollowingLooksForWholeStatements(t *testing.T) {
	const file = "memories/3f/3f00000000000000-x.md"
	m := record.Memory{ID: "3f00000000000000", Slug: "x", Kind: "fact", Status: record.Active, Text: "The box is called kestrel", Body: "Run the tests before you push\nand ask the owner of it",
		Source: record.Source{Time: time.Now(), By: "human", How: record.Said}}
	got := strings.Join(purgedLines(file, m.Format()), "|")
	if want := m.Text + "|" + m.Body; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
