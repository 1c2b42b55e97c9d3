package recall

import (
	"fmt"
	"testing"
)

// Only a better memory about one of its files raises a memory's score.
func TestSameFile(t *testing.T) {
	best, other := "retry the upload when the socket closes", "sockets are closed by the reaper"
	for name, test := range map[string]struct {
		of, mate []string // labels of the other, and of the best
		raised   bool
	}{
		"one file":             {[]string{"path=net/upload.go"}, []string{"path=net/upload.go"}, true},
		"one of several files": {[]string{"path=a.go", "path=net/upload.go"}, []string{"path=b.go", "path=net/upload.go"}, true},
		"written otherwise":    {[]string{"path=./net/upload.go"}, []string{"path=net/upload.go"}, true},
		"one glob":             {[]string{"path=net/**"}, []string{"path=net/**"}, true},
		"rests on it":          {[]string{"anchor=net/upload.go"}, []string{"path=net/upload.go"}, true},
		"another file":         {[]string{"path=net/reap.go"}, []string{"path=net/upload.go"}, false},
		"about everything":     {[]string{"path=**"}, []string{"path=**"}, false},
		"about no file":        {nil, []string{"path=net/upload.go"}, false},
		"one tag":              {[]string{"tag=net"}, []string{"tag=net"}, false},
	} {
		for _, steps := range []int{1, 2} {
			docs := docsOf(best, other, "the log is rotated")
			docs[0].Labels, docs[1].Labels = test.mate, test.of
			x := indexOf(t, docs, steps)
			got := x.Rank(Request{Text: "retry upload socket", Apart: true})
			if len(got) != 2 {
				t.Fatalf("%s: %d hits", name, len(got))
			}
			if s := got[0].Parts.SameFile; s != 0 {
				t.Errorf("%s: the best is raised by %v", name, s)
			}
			if s := got[1].Parts.SameFile; (s > 0) != test.raised {
				t.Errorf("%s, %d steps: the other is raised by %v", name, steps, s)
			}
		}
	}
}

// The number of requested hits changes no score.
func TestSameFileDoesNotDependOnHowManyAreAsked(t *testing.T) {
	var texts []string
	for i := range 3 * depth {
		texts = append(texts, fmt.Sprint("retry ", []string{"", "upload ", "upload socket "}[i%3], i))
	}
	docs := docsOf(texts...)
	for i := range docs {
		docs[i].Labels = []string{labelPath + fmt.Sprint("src/", i%7, ".go")}
	}
	x := indexOf(t, docs, 1)
	score := func(n int) map[int]float64 {
		out := map[int]float64{}
		for _, f := range x.Rank(Request{Text: "retry upload socket", N: n, Apart: true}) {
			out[f.Doc] = f.Score
		}
		return out
	}
	all := score(0)
	for doc, s := range score(10) {
		if all[doc] != s {
			t.Errorf("document %d: %v of ten, %v of all", doc, s, all[doc])
		}
	}
}
