package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// forge puts a commit with changed files at a record's ref, as a pusher to a mirrored remote could.
func forge(r *testrepo.Repo, name string, files map[string]func(text string) string) {
	ref := Refs + name
	r.Run("read-tree", ref)
	for path, change := range files {
		text, _ := r.Try("show", ref+":"+path)
		r.Write("forged", change(text))
		r.Run("update-index", "--add", "--cacheinfo", "100644,"+r.Run("hash-object", "-w", "forged")+","+path)
	}
	r.Run("update-ref", ref, r.Run("commit-tree", "-m", "forged", "-p", ref, r.Run("write-tree")))
}

// A foreign record is never acted upon, whatever its content, and no step makes it ours.
func TestForeignRecordIsOnlyShown(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	ctx := t.Context()
	with := func(old, new string) func(string) string {
		return func(text string) string { return strings.Replace(text, old, new, 1) }
	}
	bug := Finding{ID: "0011223344556677", File: "a.go", Severity: Bug, Text: "It leaks", State: OpenFinding, First: 1, By: ByHost}
	for name, files := range map[string]map[string]func(string) string{
		"a command":         {"state.json": with("cat audit.json", "touch /pwned")},
		"a mark":            {"state.json": with("0123456789abcdef", "")},
		"a plan":            {"plan.md": with("\ntrue\n", "\ntouch /pwned\n")},
		"a waived finding":  {"findings/" + bug.ID + ".json": with(`"open"`, `"waived"`)},
		"a finding more":    {"findings/8899aabbccddeeff.json": func(string) string { return `{"id":"8899aabbccddeeff","state":"waived"}` }},
		"no signatures":     {signatures: func(string) string { return "" }},
		"another signature": {signatures: func(text string) string { return strings.ReplaceAll(text, "a", "b") }},
	} {
		b := newBench(t, nil)
		if _, err := b.record.Take(ctx, Step{Event: Event{Kind: Placed}, Findings: func([]Finding, State) []Finding { return []Finding{bug} }}, noon); err != nil {
			t.Fatal(err)
		}
		if l, err := b.record.LoadOwn(ctx); err != nil || !l.Own {
			t.Fatalf("%s: before: %v", name, err)
		}
		forge(b.Repo, "one", files)
		at := b.Run("rev-parse", Refs+"one")
		l, err := b.record.Load(ctx)
		if err != nil || l.Own {
			t.Errorf("%s: shown: own %v, %v", name, l.Own, err)
		}
		lease, err := TakeLease(ctx, b.repo, "one", "")
		if err != nil {
			t.Fatal(err)
		}
		tries := map[string]func() error{
			"wake":   func() error { _, _, err := Wake(ctx, b.record, b.place, noon); return err },
			"resume": func() error { _, err := Resume(ctx, b.record, b.place, l.State.Settings, noon); return err },
			"run":    func() error { _, err := Run(ctx, b.record, b.place, lease, Doers{}); return err },
			"step": func() error {
				_, err := b.record.Take(ctx, Step{Event: Event{Kind: Halted, Reason: Other}}, noon)
				return err
			},
			"waive":  func() error { _, err := b.record.Waive(ctx, bug.ID, "seen"); return err },
			"cancel": func() error { _, err := Cancel(ctx, b.repo, b.record, b.place, nil); return err },
		}
		for what, try := range tries {
			if err := try(); !errors.Is(err, ErrForeign) {
				t.Errorf("%s: %s: %v", name, what, err)
			}
		}
		lease.Release()
		if now := b.Run("rev-parse", Refs+"one"); now != at {
			t.Errorf("%s: the record was changed", name)
		}
	}
}

// A clone that fetches a record has no key for it; a copy of the whole repository has.
func TestFetchedRecordIsForeign(t *testing.T) {
	ctx := t.Context()
	r, _ := newRecord(t)
	other := testrepo.New(t)
	other.Run("fetch", "-q", r.Dir, "+refs/reverie/*:refs/reverie/*")
	repo, err := git.Find(ctx, other.Dir)
	if err != nil {
		t.Fatal(err)
	}
	fetched := Open(repo, "one", nil)
	if _, err := fetched.LoadOwn(ctx); !errors.Is(err, ErrForeign) {
		t.Errorf("fetched: %v", err)
	}
	l, err := fetched.Load(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := fetched.Create(ctx, l.State, l.Plan); !errors.Is(err, ErrTaken) {
		t.Errorf("begun in the place of it: %v", err)
	}
	if err := os.CopyFS(filepath.Join(repo.CommonDir, "reverie/loops"), os.DirFS(filepath.Join(r.Dir, ".git/reverie/loops"))); err != nil {
		t.Fatal(err)
	}
	if _, err := fetched.LoadOwn(ctx); err != nil {
		t.Errorf("copied: %v", err)
	}
	if info, err := os.Stat(filepath.Join(r.Dir, ".git/reverie/loops/one", keyFile)); err != nil || filepath.Separator == '/' && info.Mode().Perm() != 0o600 {
		t.Errorf("the key: %v %v", info.Mode(), err)
	}
}

// A new loop with the name of a removed one has another key: the old signatures are foreign.
func TestKeyIsOfOneLoop(t *testing.T) {
	ctx := t.Context()
	r, record := newRecord(t)
	l, err := record.Load(ctx)
	if err != nil {
		t.Fatal(err)
	}
	old := r.Run("rev-parse", Refs+"one")
	if err := Discard(ctx, record.repo, "one"); err != nil {
		t.Fatal(err)
	}
	if err := record.Create(ctx, l.State, l.Plan); err != nil {
		t.Fatal(err)
	}
	if _, err := record.LoadOwn(ctx); err != nil {
		t.Errorf("the new one: %v", err)
	}
	r.Run("update-ref", Refs+"one", old)
	if _, err := record.LoadOwn(ctx); !errors.Is(err, ErrForeign) {
		t.Errorf("the one before: %v", err)
	}
}

func TestMarkIsOfOneLoop(t *testing.T) {
	for run, want := range map[string]string{
		"0123456789abcdef": "REVERIE_LOOP_RUN=0123456789abcdef", "": "", "0123456789abcde": "", "0123456789abcdef0": "", "0123456789abcdeg": "", "0123456789ABCDEF": "",
	} {
		if got := Mark(State{Run: run}); got != want {
			t.Errorf("%q: %q", run, got)
		}
	}
}

// A ref whose name no loop can have is ignored, and its name leads nowhere.
func TestListPassesOverNamesOfNoLoop(t *testing.T) {
	r, record := newRecord(t)
	for _, name := range []string{"a/b", "Upper", "with@sign", "ä", "two.x_y-1"} {
		r.Run("update-ref", Refs+name, Refs+"one")
	}
	names, err := List(t.Context(), record.repo)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"one", "two.x_y-1"}, slices.Sorted(slices.Values(names))); d != "" {
		t.Error(d)
	}
}
