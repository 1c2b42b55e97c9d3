package recall

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore/recall/segment"
	"github.com/reverie-memory/reverie/gitstore/recall/terms"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// What Only leaves out hides nothing that says the same, counts in no frequency, and is there in the index that it was taken from.
func TestOnlyIsAsIfTheOthersHadNeverBeen(t *testing.T) {
	ours := memories("Never run terraform destroy on the cluster", "The cluster is terraform's", "Use pnpm in web/")
	theirs := memories("never run terraform destroy, on the cluster!", "terraform", "terraform cluster", "destroy terraform", "cluster 9", "pnpm on the cluster")
	index := func(all []record.Memory, blob string) (entries []Entry, docs []segment.Doc) {
		var a terms.Analyzer
		for _, m := range all {
			entries = append(entries, Entry{keyOf(m.ID, m.Private), blob})
			docs = append(docs, Document(&a, m))
		}
		return entries, docs
	}
	bring := func(steps ...string) *Index {
		x := Open("", MemoryAnalysis())
		var entries []Entry
		var docs []segment.Doc
		for _, step := range steps {
			of := ours
			if step == "bb" {
				of = theirs
			}
			e, d := index(of, step)
			entries, docs = append(entries, e...), append(docs, d...)
			byKey(entries, docs)
			y, err := x.Bring(t.Context(), State{Key: strings.Join(steps, step)}, entries, Limits{}, func(i int) (segment.Doc, error) { return docs[i], nil })
			if err != nil {
				t.Fatal(err)
			}
			x.Close()
			x = y
		}
		return x
	}
	want := bring("aa")
	for _, steps := range [][]string{{"aa", "bb"}, {"bb", "aa"}} {
		x := bring(steps...)
		before := x.Totals()
		got := x.Only(func(v Version) bool { return v.Blob == "aa" && !v.Private })
		for _, q := range []string{"terraform destroy", "cluster", "terrafrom", "pnpm cluster", "run"} {
			if diff := cmp.Diff(answers(want, q), answers(got, q)); diff != "" {
				t.Errorf("%v %q: %s", steps, q, diff)
			}
		}
		if got.Totals() != want.Totals() || got.DF("terraform") != 2 {
			t.Errorf("%v: %+v, want %+v", steps, got.Totals(), want.Totals())
		}
		if x.Totals() != before || x.DF("terraform") != 6 {
			t.Errorf("%v: the index itself lost some", steps)
		}
		got.Close()
		if len(x.Rank(Request{Text: "terraform", Apart: true})) != 6 {
			t.Errorf("%v: the index was closed with its part", steps)
		}
	}
}

// answer is a hit without where it stands.
type answer struct {
	ID             string
	Score, Covered float64
	Alike          int
}

func answers(x *Index, query string) (out []answer) {
	for _, f := range x.Rank(Request{Text: query}) {
		out = append(out, answer{x.segments[f.Segment].Key(f.Doc), f.Score, f.Covered, len(f.Alike)})
	}
	return out
}

// byKey sorts entries by their keys, and the documents with them.
func byKey(entries []Entry, docs []segment.Doc) {
	for i := range entries {
		for j := i; j > 0 && entries[j].Key < entries[j-1].Key; j-- {
			entries[j], entries[j-1] = entries[j-1], entries[j]
			docs[j], docs[j-1] = docs[j-1], docs[j]
		}
	}
}
