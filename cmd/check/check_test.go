package check

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/hooks/setup/ci"
	"github.com/reverie-memory/reverie/internal/finding"
	"github.com/reverie-memory/reverie/internal/redact"
)

// TestTooManyFiles wants that a change which is too large is an error, and costs no more.
func TestTooManyFiles(t *testing.T) {
	for _, changes := range [][]changedFile{make([]changedFile, maxChanged+1), {{new: make([]byte, maxNew+1)}}} {
		c := &checker{Change: Change{Scanner: redact.New()}, changes: changes}
		if err := c.readMemories(); err != nil || len(c.changes) > 0 || len(c.found) != 1 || c.found[0].Rule != "size" || c.found[0].Level != finding.Error {
			t.Errorf("%v %v", err, c.found)
		}
	}
}

// TestCIVersion wants that a check never goes back behind the version that runs.
func TestCIVersion(t *testing.T) {
	at := func(version string) []byte {
		text, err := ci.Files[0].Render("refs/heads/m", version, false)
		if err != nil {
			t.Fatal(err)
		}
		return []byte(text)
	}
	for _, test := range []struct {
		old  []byte
		new  string
		want finding.Level
	}{{nil, "v1.5.0", finding.Note}, {nil, "v1.4.9", finding.Error}, {at("latest"), "v1.4.0", finding.Error}, {at("latest"), "v1.6.0", finding.Warning}, {at("v1.0.0"), "v1.6.0", finding.Note}, {at("v1.9.0"), "v1.6.0", finding.Error}} {
		c := &checker{Change: Change{Scanner: redact.New(), Version: "v1.5.0"}}
		c.checkCIFile(changedFile{path: ci.Files[0].Path, old: test.old, new: at(test.new)})
		if len(c.found) != 1 || c.found[0].Level != test.want {
			t.Errorf("%s: %v", test.new, c.found)
		}
	}
	public, err := ci.Files[0].Render("refs/heads/m", "v1.5.0", true)
	if err != nil {
		t.Fatal(err)
	}
	for _, was := range []string{"", string(at("v1.5.0")), public} {
		c := &checker{Change: Change{Scanner: redact.New(), Version: "v1.5.0"}}
		c.checkCIFile(changedFile{path: ci.Files[0].Path, old: []byte(was), new: []byte(public)})
		if begins := was != public; len(c.found) != 1 || (c.found[0].Level == finding.Error) != begins || strings.Contains(c.found[0].Message, "published") != begins {
			t.Errorf("publishing begins, %v: %v", begins, c.found)
		}
	}
}

func TestKnown(t *testing.T) {
	for path, want := range map[string]bool{
		"README.md": true, "reverie.toml": true, ".gitlab-ci.yml": true, ".github/workflows/reverie.yml": true, "memories/3f/3f9a1c2b7d104e55.md": true, "skills/a/SKILL.md": true,
		"notes.txt": false, "memories": false, "src/main.go": false, ".gitlab/ci.yml": false, "memories.d/x": false, "": false,
	} {
		if got := Known(path); got != want {
			t.Errorf("%q: %v", path, got)
		}
	}
}

func TestMemoriesByTheirLines(t *testing.T) {
	text := []byte("+++\nid = \"3f9a1c2b7d104e55\"\nkind = \"note\"\n\"topic\" = \"x\"\n+++\n\nUse pnpm.\nkind = body\n")
	for key, want := range map[string]int{"id": 2, "kind": 3, "topic": 4, "paths": 1} {
		if got := keyLine(text, key); got != want {
			t.Errorf("%s: line %d, want %d", key, got, want)
		}
	}
	if got := statementLine(text); got != 7 {
		t.Errorf("the statement is on line %d", got)
	}
}

// A name in a JSON file is looked at with its escapes undone, and so are the fields of a memory.
func TestPassages(t *testing.T) {
	var got []string
	for _, p := range passages("reflections/x.json", []byte("{\"a\":\n \"one\\u0020two\",\n\"b\": [\"c\"]}")) {
		got = append(got, fmt.Sprintf("%d %s", p.line, p.text))
	}
	if want := "1 a|2 one two|3 b|3 c"; strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", strings.Join(got, "|"), want)
	}
	if all := passages("a.json", []byte("{broken \"json")); len(all) != 1 || all[0].text != "{broken \"json" {
		t.Errorf("%+v", all)
	}
}
