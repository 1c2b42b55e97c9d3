package recall

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore/catalog"
	"github.com/reverie-memory/reverie/gitstore/recall/terms"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// A document that Only drops hides no duplicate and counts in no frequency. It remains in the
// original index.
func TestOnlyIsAsIfTheOthersHadNeverBeen(t *testing.T) {
	ours := memories("Never run terraform destroy on the cluster", "The cluster is terraform's", "Use pnpm in web/")
	theirs := memories("never run terraform destroy, on the cluster!", "terraform", "terraform cluster", "destroy terraform", "cluster 9", "pnpm on the cluster")
	bring := func(steps ...string) *Index {
		x := Open("")
		var docs []catalog.Doc
		var a terms.Analyzer
		for _, step := range steps {
			of := ours
			if step == "bb" {
				of = theirs
			}
			for _, m := range of {
				docs = append(docs, Document(&a, catalog.Doc{Key: keyOf(m.ID, m.Private), Blob: step, Body: record.Pack(m)}, m))
			}
			x = bringTo(t, x, docs)
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

// answer is a hit without its position.
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
