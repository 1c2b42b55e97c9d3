package labelled

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore/record"
)

func folder(t *testing.T, labels string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, Index), []byte(labels), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestJudge(t *testing.T) {
	labels, err := Read(folder(t, `{"session": "a.jsonl", "want": [{"class": "fix", "about": ["compose", "5433|refused"], "accept": "db"}, `+
		`{"about": ["PNPM"]}, {"about": ["never"]}], "allow": [{"about": ["index"]}]}`+"\n\n"))
	if err != nil {
		t.Fatal(err)
	}
	db := record.Candidate{Text: "Run docker compose first", Body: "else: refused"}
	web := record.Candidate{Text: "Use pnpm", Paths: []string{"web/"}}
	again := record.Candidate{Text: "Use the package manager", Paths: []string{"pnpm/compose"}}
	index := record.Candidate{Text: "The index is built later"}
	wrong := record.Candidate{Text: "docker compose is nice"}
	weak := record.Candidate{Text: "never", Weak: true}
	v := labels[0].Judge([]record.Candidate{db, web, again, index, wrong, weak})
	if diff := cmp.Diff([][]record.Candidate{{db, web, again}, {index}, {wrong}}, [][]record.Candidate{v.Right, v.Allowed, v.Wrong}); diff != "" {
		t.Error(diff)
	}
	if len(v.Found) != 2 || v.Found[0].Accept != "db" || len(v.Missed) != 1 || v.Missed[0].About[0] != "never" {
		t.Errorf("found %v, missed %v", v.Found, v.Missed)
	}
	var s Score
	if s.Precision() != 1 || s.Recall() != 1 {
		t.Error("nothing is wrong with nothing")
	}
	s.Add(v)
	s.Add(Verdict{Missed: v.Missed})
	want := Score{
		Right: 3, Allowed: 1, Wrong: 1, Found: 2, Missed: 2, Waiting: Share{3, 4},
		Classes: map[string]Share{"": {1, 3}, "fix": {1, 1}}, Detectors: map[string]Share{"": {3, 4}},
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
	if s.Precision() != 0.75 || s.Recall() != 0.5 {
		t.Errorf("precision %v, recall %v", s.Precision(), s.Recall())
	}
}

func TestBadLabelIsNamed(t *testing.T) {
	for _, c := range []struct{ name, labels, want string }{
		{"empty", "\n", "labels.jsonl: no labels"},
		{"no JSON", "{}\nx", "labels.jsonl:1: session: "},
		{"second line", `{"session": "a"}` + "\nx", "labels.jsonl:2: invalid character"},
		{"outside", `{"session": "../a"}`, `labels.jsonl:1: session: "../a" is not a file of the folder`},
		{"twice", `{"session": "a"}` + "\n" + `{"session": "a"}`, `labels.jsonl:2: session: "a" has a line already`},
		{"no pattern", `{"session": "a", "allow": [{"accept": "x"}]}`, "labels.jsonl:1: allow[0].about: a statement without patterns"},
		{"bad pattern", `{"session": "a", "want": [{"about": ["x", "("]}]}`, "labels.jsonl:1: want[0].about: error parsing regexp"},
		{"long", strings.Repeat("x", maxLine+1), "labels.jsonl:1: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := folder(t, c.labels)
			_, err := Read(dir)
			if err == nil || !strings.HasPrefix(err.Error(), dir+string(filepath.Separator)+c.want) {
				t.Errorf("%v\nwant %s", err, c.want)
			}
		})
	}
}

func TestTranscriptThatCannotBeReadIsNamed(t *testing.T) {
	dir := folder(t, `{"session": "none.jsonl"}`+"\n"+`{"session": "folder"}`+"\n"+`{"session": "odd.json"}`)
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "odd.json"), []byte("no transcript"), 0o600); err != nil {
		t.Fatal(err)
	}
	labels, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"none.jsonl: ", "folder: not a regular file", "odd.json: "} {
		if _, err := labels[i].Sessions(context.Background()); err == nil || !strings.HasPrefix(err.Error(), dir+string(filepath.Separator)+want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := Read(filepath.Join(dir, "none")); err == nil || !strings.Contains(err.Error(), "labels.jsonl: ") {
		t.Error(err)
	}
}

// The figures come from Wilson's paper and from tables based on it.
func TestInterval(t *testing.T) {
	for _, c := range []struct {
		s         Share
		low, high string
	}{{Share{0, 0}, "0.000", "1.000"}, {Share{0, 10}, "0.000", "0.278"}, {Share{5, 10}, "0.237", "0.763"}, {Share{10, 10}, "0.722", "1.000"}, {Share{81, 263}, "0.255", "0.366"}} {
		low, high := c.s.Interval()
		if got := fmt.Sprintf("%.3f %.3f", low, high); got != c.low+" "+c.high {
			t.Errorf("%v: %s, want %s %s", c.s, got, c.low, c.high)
		}
	}
}
