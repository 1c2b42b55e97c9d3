package main

import (
	"os"
	"slices"
	"testing"

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
	for _, series := range []string{"learn ms", "edit ms", "forget ms", "purge ms", "sync ms", "recall ms", "git gc ms", "branch objects", ".git bytes", "lost"} {
		if !slices.ContainsFunc(y.rows, func(r row) bool { return r.Series == series }) {
			t.Errorf("no figures of %s", series)
		}
	}
	if last := slices.IndexFunc(y.rows, func(r row) bool { return r.X == 45 && r.Series == "memories" && r.Y >= 45 }); last < 0 {
		t.Errorf("fewer memories than sessions: %v", y.rows)
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
