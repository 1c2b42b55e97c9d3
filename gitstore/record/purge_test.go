package record

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPurgeRecordIsExact(t *testing.T) {
	when := time.Date(2026, 11, 20, 14, 3, 5, 9, time.FixedZone("x", 3600))
	blob, hash := strings.Repeat("1", 40), strings.Repeat("a", 64)
	made := NewPurges(Purge{Time: when, Blobs: []string{blob, blob}, Memories: []string{"3f9a1c2b7d104e55"}, Messages: []string{hash}})
	if len(made) != 1 {
		t.Fatalf("%d records", len(made))
	}
	p := made[0]
	text, err := p.Format()
	if err != nil {
		t.Fatal(err)
	}
	// The id by another way: printf '%s' '{"id":"",…}' | sha256sum
	const id = "55aaea8f4ed5cb49"
	if p.ID != id || p.Path() != "purged/"+id[:2]+"/"+id+".json" {
		t.Errorf("id is %s at %s", p.ID, p.Path())
	}
	got, err := ParsePurge(p.Path(), text)
	if err != nil || !cmp.Equal(got, p) {
		t.Errorf("%v: %s", err, cmp.Diff(p, got))
	}
	for name, change := range map[string]func(string) string{
		"an unknown key":       func(s string) string { return strings.Replace(s, `"blobs"`, `"why": "hunter2", "blobs"`, 1) },
		"a value that tells":   func(s string) string { return strings.Replace(s, hash, "hunter2", 1) },
		"another time":         func(s string) string { return strings.Replace(s, "13:03", "13:04", 1) },
		"another memory":       func(s string) string { return strings.Replace(s, "3f9a", "3f9b", 1) },
		"something after it":   func(s string) string { return s + "hunter2" },
		"another id":           func(s string) string { return strings.Replace(s, p.ID, "0000000000000000", 1) },
		"an id that is no id":  func(s string) string { return strings.Replace(s, p.ID, "x", 1) },
		"a file and no record": func(string) string { return "hunter2" },
	} {
		if _, err := ParsePurge(p.Path(), []byte(change(string(text)))); err == nil {
			t.Errorf("%s is taken for a record", name)
		}
	}
}

func TestLargePurgeIsSeveralRecords(t *testing.T) {
	var all Purge
	for i := range 2*purgeEntries + 10 {
		all.Blobs = append(all.Blobs, fmt.Sprintf("%064x", i))
	}
	all.Memories = []string{"3f9a1c2b7d104e55"}
	seen := map[string]bool{}
	for _, p := range NewPurges(all) {
		text, err := p.Format()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParsePurge(p.Path(), text); err != nil {
			t.Error(err)
		}
		for _, v := range append(p.Blobs, p.Memories...) {
			seen[v] = true
		}
	}
	if len(seen) != 2*purgeEntries+11 {
		t.Errorf("%d values are recorded", len(seen))
	}
}

func TestMemoryOf(t *testing.T) {
	const id = "3f9a1c2b7d104e55"
	for path, want := range map[string]string{
		"memories/3f/" + id + "-use-pnpm.md": id,
		"memories/3f/" + id + ".md":          id,
		"memories/40/" + id + ".md":          "",
		"memories/3f/" + id + "x.md":         "",
		"memories/3f/" + id + "-a/b.md":      "",
		"memories/3f/" + id:                  "",
		"memories/3f":                        "",
		"reflections/3f/" + id + ".md":       "",
	} {
		if got := MemoryOf(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

func TestSlugTells(t *testing.T) {
	at := func(statement string) string {
		return New(Memory{Text: statement}).Path()
	}
	long := strings.Repeat("k3", 30)
	for _, c := range []struct {
		statement, text string
		want            bool
	}{
		{"The box is called Kestrel", "Kestrel", true},
		{"The box is called Kestrel", "estre", true},
		{"The box is called Kestrel", "called \"Kestrel", true},
		{"The box is called Kestrel", "Falcon", false},
		{"The box is called Kestrel", "盒子", false},
		// The slug keeps the words that fit.
		{"Words that go on and on until the slug is cut", "until the slug is cut", true},
		{"Words that go on and on until the slug is cut", "is cut", false},
		{long + " is the token", long, true},
		{"The token " + long, long, false}, // it is too long for the slug
	} {
		if got := SlugTells(at(c.statement), c.text); got != c.want {
			t.Errorf("%s tells %q: %v, want %v", at(c.statement), c.text, got, c.want)
		}
	}
}
