package record

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/internal/testrepo"
)

// Our code and git both agree with the worked example of FORMAT.md.
func TestFormatExample(t *testing.T) {
	page, err := os.ReadFile("../FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "### A worked example")
	path := regexp.MustCompile("`(memories/[^`]+)`").FindStringSubmatch(rest)
	_, rest, _ = strings.Cut(rest, "```\n")
	text, rest, ok := strings.Cut(rest, "```\n")
	blob := regexp.MustCompile("`([0-9a-f]{40})`").FindStringSubmatch(rest)
	if path == nil || blob == nil || !ok {
		t.Fatal("FORMAT.md has no worked example where it was")
	}
	m, err := ParseMemory(path[1], []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(m.Format()); got != text {
		t.Errorf("formatted again:\n%s", got)
	}
	if made := New(Memory{Kind: m.Kind, Text: m.Text, Source: m.Source}); made.Path() != path[1] {
		t.Errorf("made anew it lies at %s", made.Path())
	}
	r := testrepo.New(t)
	r.Write("x", text)
	if got := strings.TrimSpace(r.Run("hash-object", "--no-filters", "x")); got != blob[1] {
		t.Errorf("git's id is %s", got)
	}
}
