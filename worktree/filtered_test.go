package worktree

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A filtered file counts as unchanged in a sandbox as long as its content is, whatever git reports.
// Changed and new files stay out until a person has looked. The history keeps the filter's result.
func TestSealedPlaceKeepsWhatFiltersMade(t *testing.T) {
	r, first := newRecord(t)
	r.Run("config", "filter.upper.smudge", "tr a-z A-Z")
	r.Run("config", "filter.upper.clean", "tr A-Z a-z")
	r.Run("config", "filter.upper.required", "true")
	r.Write(".gitattributes", "*.bin filter=upper -text\n*.none filter\n")
	for _, name := range []string{"a.bin", "b.bin", "c.bin", "d.bin", "e.none"} {
		r.Write(name, "pointer\n")
	}
	r.Commit("filtered")
	l, err := first.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l.State.Name, l.State.Branch, l.State.Base = "two", Branches+"two", r.Run("rev-parse", "HEAD")
	l.State.Settings.Sandbox, l.State.Settings.MaxIterations, l.State.Settings.MaxFile = "docker", 1, 40
	record := Open(first.repo, "two", nil)
	if err := record.Create(t.Context(), l.State, l.Plan); err != nil {
		t.Fatal(err)
	}
	place, err := PlaceOf(first.repo, l.State, nil)
	if err != nil {
		t.Fatal(err)
	}
	waived := map[string]bool{}
	place.Sandbox.Waived = func(_ context.Context, name, rule string) (bool, error) { return waived[name+" "+rule], nil }
	b := &bench{Repo: r, t: t, repo: first.repo, record: record, place: place}
	s := b.run(func(turn Turn) (Outcome, error) {
		if text, err := os.ReadFile(filepath.Join(turn.Dir, "a.bin")); err != nil || string(text) != "POINTER\n" {
			t.Errorf("%q %v", text, err)
		}
		if err := os.Chtimes(filepath.Join(turn.Dir, "a.bin"), noon, noon.Add(time.Hour)); err != nil {
			return Outcome{}, err
		}
		b.in("b.bin", "CONTENT\n")
		b.in("new.bin", "NEW\n")
		b.in("plain", "x\n")
		b.in(".gitattributes", "*.bin -filter\n") // its present content does not count
		if err := os.Remove(filepath.Join(turn.Dir, "d.bin")); err != nil {
			return Outcome{}, err
		}
		return Outcome{}, nil
	}, fine, fine)
	if s.Reason != MaxIterations || s.Blocking != 2 {
		t.Errorf("%s %s, %d blocking", s.Reason, s.Detail, s.Blocking)
	}
	if got := b.Run("diff", "--name-status", "--no-renames", l.State.Base, "reverie/loop/two"); got != "M\t.gitattributes\nD\td.bin\nA\tplain" {
		t.Errorf("%q", got)
	}
	l, err = record.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range l.Findings {
		waived[f.File+" "+f.Rule] = true
	}
	if len(waived) != 2 {
		t.Errorf("%+v", l.Findings)
	}
}
