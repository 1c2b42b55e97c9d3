package recall

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore/catalog"
	"github.com/reverie-memory/reverie/gitstore/recall/terms"
	"github.com/reverie-memory/reverie/gitstore/record"
)

const fuzzedPath = "memories/3f/3f9a0c1d2e4b5a67.md"

// fileOf returns a memory's file with a source line and lines of front matter more.
func fileOf(source, more, text string) []byte {
	return fmt.Appendf(nil, "+++\nkind = \"fact\"\nsource = %q\n%s+++\n%s\n", source, more, text)
}

// Every file that parses is indexed: its content comes back, and a search finds it as long as it is
// in force.
func FuzzDocument(f *testing.F) {
	const source = "2026-11-20T14:03:05Z human - written"
	f.Add(fileOf(source, "", "Lacquer the widget."), int64(0))
	f.Add(fileOf("1960-01-01T00:00:00Z human - written", "", "Lacquer the widget."), int64(0))
	f.Add(fileOf("0000-01-01T00:00:00Z human - written", "expires = \"9999-12-31\"\n", "Lacquer the widget."), int64(1e9))
	f.Add(fileOf(source, "expires = \"1960-01-01\"\n", "Lacquer the widget."), int64(1e9))
	f.Add(fileOf(source, "expires = \"1970-01-01\"\n", "Lacquer the widget."), int64(1e9))
	f.Add(fileOf(source, "tags = [\"a b\"]\npaths = [\"**\"]\nanchors = [\"x@1 \\\"y\\\"\"]\n", strings.Repeat("日本 word-word_wordWord ", 400)), int64(0))
	f.Fuzz(func(t *testing.T, data []byte, at int64) {
		m, err := record.ParseMemory(fuzzedPath, data)
		if err != nil {
			return
		}
		x, err := Of([]record.Memory{m})
		if err != nil || len(x.Notes()) > 0 {
			t.Fatalf("not indexed: %v, %q\n%s", err, x.Notes(), data)
		}
		got, err := x.Memory(Ref{})
		if diff := cmp.Diff(m, got); err != nil || diff != "" {
			t.Fatalf("%v (-file +index):\n%s", err, diff)
		}
		now := time.Unix(max(1, at%(1<<40)), 0)
		keep := x.Keep(Query{}, now)
		m.Status = record.Active // the indexer skips retired memories
		if held := keep == nil || keep(Ref{}); held != m.Live(now) {
			t.Fatalf("at %s it is kept: %v; it holds: %v\n%s", now, held, m.Live(now), data)
		}
	})
}

func TestOldMemoryIsIndexedAsOld(t *testing.T) {
	var all []record.Memory
	for i, year := range []int{0, 1969, 2026} {
		m := record.New(record.Memory{Kind: record.Fact, Text: fmt.Sprintf("Lacquer widget %d.", i), Source: record.Source{Time: time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC), By: "human", How: record.Written}})
		all = append(all, m)
	}
	x, err := Of(all)
	if err != nil {
		t.Fatal(err)
	}
	q, err := Parse("widget -since:2020-01-01")
	if err != nil {
		t.Fatal(err)
	}
	if found := x.Rank(Request{Text: q.Text, Keep: x.Keep(q, time.Now())}); len(found) != 2 {
		t.Errorf("%d were written before 2020, not 2", len(found))
	}
}

// With any flipped bit in a segment, filters and files end without a crash and are right unless Err
// reports corruption.
func TestSpoiltSegmentFiltersNothingWrongly(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	var all []record.Memory
	for i := range 120 {
		m := record.New(record.Memory{Kind: record.Fact, Text: fmt.Sprintf("Lacquer the widget%d.", i), Source: record.Source{Time: now.Add(-time.Hour), By: "human", How: record.Written}})
		m.Tags, m.Paths = []string{"all", fmt.Sprintf("tag%d-%s", i, strings.Repeat("x", i%30))}, []string{fmt.Sprintf("src/%d/**", i%9)}
		if i%5 == 0 {
			m.Expires = now.Add(time.Duration(i-60) * time.Hour)
		}
		all = append(all, m)
	}
	path := filepath.Join(t.TempDir(), "cache")
	var docs []catalog.Doc
	var a terms.Analyzer
	for _, m := range all {
		docs = append(docs, Document(&a, catalog.Doc{Key: m.ID, Body: record.Pack(m)}, m))
	}
	whole := bringTo(t, Open(path), docs)
	q, err := Parse("lacquer tag:all -path:src/3/x.go")
	if err != nil {
		t.Fatal(err)
	}
	ask := func(x *Index) string {
		var out strings.Builder
		for _, f := range x.Rank(Request{Text: q.Text, N: 200, Apart: true, Files: []string{"src/2/x.go"}, Keep: x.Keep(q, now)}) {
			fmt.Fprintln(&out, x.segments[f.Segment].Key(f.Doc), f.Score)
		}
		about := x.about([]string{"src/2/x.go"}, true)
		for doc := range x.segments[0].Len() {
			fmt.Fprint(&out, about.path(Ref{0, doc}), " ")
		}
		return out.String()
	}
	want := ask(whole)
	if n := strings.Count(want, "\n"); n < 50 || n > 110 || !strings.Contains(want, "src/2/x.go ") {
		t.Fatalf("the filters let %d of 120 through: that shows little\n%s", n, want)
	}
	noticed := 0
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(data); at += 13 {
		data[at] ^= 1 << (at % 8)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		data[at] ^= 1 << (at % 8)
		x := Open(path)
		if len(x.segments) == 0 {
			continue
		}
		got := ask(x)
		switch {
		case x.Err() != nil:
			noticed++
		case got != want:
			t.Errorf("byte %d: another answer, and nobody says that it is wrong\n%s", at, cmp.Diff(want, got))
		}
	}
	if noticed < 100 {
		t.Errorf("only %d were noticed: that shows little", noticed)
	}
}
