package recall

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/gitstore/record"
)

// The labels of a memory match the same paths as its globs do one by one.
func TestAboutAgreesWithCovers(t *testing.T) {
	globs := []string{"src", "./src/", "src/a.go", "src/**", "src/*.go", "src/*/b.go", "src/**/b.go", "sr*", "**", "*", "s", "lib/x?.go", "lib/[ab]/**", "src/a", "日本/語.go", "a*/b", "src//b", "/src/b.go", "a\\b/**"}
	paths := []string{"src", "src/", "./src/a.go", "src/a.go", "src/a/b.go", "src/b.go", "lib/x1.go", "lib/a/c", "lib", "日本/語.go", "/", "s", "srcs/a.go", "a\\b/c"}
	for _, glob := range globs {
		for _, path := range paths {
			x, err := Of([]record.Memory{{ID: "0", Text: "one", Paths: []string{glob}}})
			if err != nil {
				t.Fatal(err)
			}
			root := Root(glob)
			want := len(root) >= 2 && (clean(path) == root || Covers(glob, path))
			if got := x.about([]string{"other/file", path}, false).path(Ref{}); (got == path) != want || got != "" && !want {
				t.Errorf("%q about %q: %q, want %t", glob, path, got, want)
			}
			x.Close()
		}
	}
}

// Few comparisons are needed for many globs of memories and many paths of a prompt.
func TestGateLooksAtFewGlobs(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	var all []record.Memory
	for i := range 20 {
		m := record.Memory{ID: fmt.Sprint(i), Kind: record.Fact, Text: "Widgets need lacquer"}
		for j := range 3500 {
			m.Paths = append(m.Paths, fmt.Sprintf("shop%d/%d/*a*", i, j))
		}
		all = append(all, m)
	}
	x, err := Of(all)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	var paths []string
	for i := range 390 {
		paths = append(paths, fmt.Sprintf("shop%d/9999/aaaa.go", i))
	}
	p := Ask("lacquer widgets " + strings.Join(paths, " "))
	if len(p.paths) != maxPaths {
		t.Errorf("%d paths", len(p.paths))
	}
	a := x.about(paths, true)
	for i := range all {
		a.path(Ref{0, i})
	}
	looked := 0
	for _, verdict := range a.known[0] {
		if verdict != 0 {
			looked++
		}
	}
	if len(a.paths) != maxPaths || looked > maxLabels*len(all) || looked == 0 {
		t.Errorf("%d paths, %d labels", len(a.paths), looked)
	}
	for _, paths := range [][]string{paths, nil} { // with a path and without
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if got, err := Ask("lacquer widgets "+strings.Join(paths, " ")).Relevant(ctx, x, nil, nil); !errors.Is(err, context.Canceled) || len(got) > 0 {
			t.Errorf("nobody waits any more: %d, %v", len(got), err)
		}
	}
}

// The gate examines a memory about a path in the prompt once, however many others share more words.
func TestGateFindsWhatIsAboutAPath(t *testing.T) {
	all := shelfOf()
	for i := range 3 * depth {
		all = append(all, record.New(record.Memory{Kind: record.Fact, Text: fmt.Sprintf("Tidy the cart with brush%d", i)}))
	}
	all = append(all, record.New(record.Memory{Kind: record.Fact, Text: "Sand the hull, tidy lines, keep the varnish off the deck", Paths: []string{"shop/**"}}))
	got := relevant(t, all, "tidy the cart in shop/hull.tsx")
	if n := slices.IndexFunc(got, func(r Relevance) bool { return strings.HasPrefix(r.Memory.Text, "Sand") }); n < 0 {
		t.Errorf("not among %d", len(got))
	} else if !slices.Contains(got[n].Words, "shop/hull.tsx") {
		t.Errorf("for %q", got[n].Words)
	}
	seen := map[string]bool{}
	for _, r := range got {
		if seen[r.Memory.ID] {
			t.Errorf("%q twice", r.Memory.Text)
		}
		seen[r.Memory.ID] = true
	}
}

func BenchmarkRelevant(b *testing.B) {
	var all []record.Memory
	for i := range 10_000 {
		var body []string
		for j := range 150 {
			body = append(body, fmt.Sprintf("word%d", (i*31+j*j*17)%5000))
		}
		all = append(all, record.New(record.Memory{Kind: record.Fact, Text: fmt.Sprintf("Widget%d of the export job has latency %d", i, i%97),
			Body: strings.Join(body, " "), Paths: []string{fmt.Sprintf("src/job%d/**", i%300)}}))
	}
	x, err := Of(all)
	if err != nil {
		b.Fatal(err)
	}
	defer x.Close()
	for name, prompt := range map[string]string{"words": "why is the latency of widget 17 high in the export job", "path": "why is the latency high in src/job17/run.go of the export job"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Ask(prompt).Relevant(context.Background(), x, nil, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/rank", func(b *testing.B) {
			for b.Loop() {
				x.Rank(Request{Text: prompt, N: most})
			}
		})
	}
}
