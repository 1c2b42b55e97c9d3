package main

import (
	"bytes"
	"os"
	"slices"
	"testing"

	"github.com/reverie-memory/reverie/bench/figure"
	"github.com/reverie-memory/reverie/bench/lab"
)

// A short year ends without a loss, and with every kind of work and figure.
func TestYear(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	dir := t.TempDir()
	program, err := lab.Build(dir)
	if err != nil {
		t.Fatal(err)
	}
	y := &year{sessions: 45, checks: 3, seed: 1, dir: dir, program: program, report: os.Stderr}
	if err := y.run(); err != nil {
		t.Fatal(err)
	}
	if y.lost > 0 {
		t.Errorf("%d differences from the model", y.lost)
	}
	var out bytes.Buffer
	if err := figure.Print(&out, y.figures(), true); err != nil {
		t.Fatal(err)
	}
	all, err := lab.Lines[figure.Figure](&out)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, f := range all {
		kinds[f.Set+" "+f.Name]++
		switch f.Unit {
		case "MB", "ms":
			if f.Value <= 0 || len(f.Curve) < 3 && f.Name != "purge" && f.Name != "git gc" || f.Curve[len(f.Curve)-1][0] != 45 && f.Unit == "MB" {
				t.Errorf("%+v", f)
			}
		}
		if f.Name == "differences from the model" && (f.Value != 0 || f.N < 45*4 || f.Missed) || f.Name == "memories at the end" && f.Value < 45 || f.Name == "comparisons of a clone with the model" && f.Value != 12 {
			t.Errorf("%+v", f)
		}
	}
	for _, want := range []string{"model differences from the model", "size .git/reverie, mean of the clones", "processor time learn", "processor time, last quarter against first sync"} {
		if kinds[want] != 1 {
			t.Errorf("%d figures of %s in %v", kinds[want], want, kinds)
		}
	}
	for _, op := range []string{"learn", "edit", "forget", "purge", "sync", "recall", "git gc"} {
		if len(y.took[op]) == 0 {
			t.Errorf("no %s", op)
		}
	}
	// A statement that the model alone has is a difference, and fails the aim.
	y.clones[1].add("This was never said.")
	y.compare(46, y.clones[1])
	if f := y.figures()[0]; f.Value != 1 || !f.Missed {
		t.Errorf("a lost statement gives %+v", f)
	}
}

// The model has FORMAT.md's id, merges like the clones, and sees each kind of loss.
func TestModelSeesLosses(t *testing.T) {
	if id := idOf("Use pnpm, never npm, in web/."); id != "40b5c2ded2325584" {
		t.Errorf("the id of FORMAT.md's example is %s", id)
	}
	a, b := newModel(), newModel()
	id := a.add("One.")
	other := a.add("Two.")
	b.merge(a)
	a.edit(id, "One here.")
	b.edit(id, "One there.")
	b.retired[other] = true
	a.merge(b)
	whole := []listed{{ID: id, Status: "contested", Text: "One here.", Variants: []string{"One there."}}, {ID: other, Status: "retired", Text: "Two."}}
	if wrong := a.lost(whole); len(wrong) > 0 {
		t.Errorf("a difference without a loss: %q", wrong)
	}
	for name, all := range map[string][]listed{
		"gone":          whole[:1],
		"a text gone":   {{ID: id, Status: "active", Text: "One here."}, whole[1]},
		"an edit back":  {{ID: id, Status: "contested", Text: "One.", Variants: []string{"One there."}}, whole[1]},
		"back in force": {whole[0], {ID: other, Status: "active", Text: "Two."}},
		"never said":    append(slices.Clone(whole), listed{ID: idOf("Three."), Status: "active", Text: "Three."}),
	} {
		if len(a.lost(all)) == 0 {
			t.Errorf("%s: no difference is seen", name)
		}
	}
	a.purge(id)
	b.merge(a)
	if len(b.lost(whole)) == 0 {
		t.Error("a purged statement that is there is not seen")
	}
}
