package anchor

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

const memories = "refs/heads/reverie/memory"

// newCode returns the code of a new repository with one file of it.
func newCode(t *testing.T) (*testrepo.Repo, *Code) {
	t.Helper()
	r := testrepo.New(t)
	r.Write("lib/load.go", "package lib\n\n// Load reads a file.\nfunc Load(name string) error {\n\treturn nil\n}\n")
	r.Commit("code")
	return r, codeOf(t, r)
}

// find returns a repository with its state folder.
func find(t *testing.T, r *testrepo.Repo) (repo *git.Repo, state string) {
	t.Helper()
	repo, err := git.Find(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if state, err = repo.State().Dir(); err != nil {
		t.Fatal(err)
	}
	return repo, state
}

// codeOf returns the code as a new command sees it.
func codeOf(t *testing.T, r *testrepo.Repo) *Code {
	t.Helper()
	repo, state := find(t, r)
	book := record.Open(record.Stores{Memory: gitstore.Open(repo, memories), Journal: gitstore.Open(repo, "refs/reverie/journal"), Inbox: gitstore.Open(repo, "refs/reverie/inbox")}, state, nil)
	c := &Code{Repo: repo.Offline(), State: state, Memories: memories, Book: book, Note: func(err error) { t.Errorf("noted: %v", err) }}
	t.Cleanup(c.Done)
	return c
}

func statement(text string) record.Memory {
	return record.New(record.Memory{Kind: record.Fact, Text: text, Source: record.Source{Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), By: "human", How: record.Written}})
}

// A statement's anchor is the line that defines its names. It is stale from the commit on that
// leaves no file with that line.
func TestAnchorsFollowTheCode(t *testing.T) {
	r, c := newCode(t)
	ctx := t.Context()
	m := statement("Call `Load` once")
	m.Source.Commit = r.Run("rev-parse", "HEAD")[:12]
	var whole bool
	m.Anchors, whole = c.Here(ctx).Find(ctx, ctx, m)
	if want := []string{"lib/load.go@" + r.Run("rev-parse", "HEAD:lib/load.go")[:16] + ` "func Load(name string) error {"`}; !whole || !cmp.Equal(want, m.Anchors) {
		t.Fatal(whole, cmp.Diff(want, m.Anchors))
	}
	for _, step := range []struct {
		name string
		do   func()
		want []string
	}{
		{"as it was", func() {}, nil},
		{"changed elsewhere", func() {
			r.Write("lib/load.go", "package lib\n\n// Load reads a file.\nfunc Load(name string) error {\n\tpanic(name)\n}\n")
		}, nil},
		{"renamed", func() { r.Run("mv", "lib/load.go", "lib/read.go") }, nil},
		{"without the line", func() {
			r.Write("lib/read.go", "package lib\n\n// Load reads a file.\nfunc Load(name, at string) error {\n\tpanic(name)\n}\n")
		}, []string{`lib/read.go no longer has "func Load(name string) error {"`}},
		{"removed", func() { r.Run("rm", "-q", "lib/read.go") }, []string{"lib/load.go is gone"}},
	} {
		step.do()
		r.Run("add", "-A")
		r.Run("commit", "-q", "--allow-empty", "-m", step.name)
		for range 2 { // the second time from the stored verdicts
			c := codeOf(t, r)
			got, unknown := c.Here(ctx).Look(ctx, m)
			c.Done()
			if !cmp.Equal(step.want, got) || unknown > 0 {
				t.Errorf("%s: %q, want %q; %d unknown", step.name, got, step.want, unknown)
			}
		}
	}
	before := r.Run("rev-parse", "HEAD~2")
	c.Stand(before, "")
	if got := c.Here(ctx).Gone(ctx, m); len(got) > 0 {
		t.Errorf("where it was renamed: %q", got)
	}
}

// A side branch's lesson holds there, on branches with its commits, and everywhere once they have
// landed.
func TestSideHoldsUntilItLands(t *testing.T) {
	for name, land := range map[string]func(r *testrepo.Repo){
		"merge":  func(r *testrepo.Repo) { r.Run("merge", "-q", "--no-ff", "-m", "merge", "topic") },
		"squash": func(r *testrepo.Repo) { r.Run("merge", "-q", "--squash", "topic"); r.Run("commit", "-qm", "squash") },
		"rebase": func(r *testrepo.Repo) { r.Run("cherry-pick", "main..topic") },
	} {
		r, c := newCode(t)
		ctx := t.Context()
		if got := c.Here(ctx).Side(ctx); got != "" {
			t.Errorf("%s: on the default branch: %q", name, got)
		}
		r.Run("switch", "-qc", "topic")
		for _, file := range []string{"a.txt", "b.txt"} {
			r.Write(file, file)
			r.Commit(file)
		}
		c = codeOf(t, r)
		m := statement("Topics have files")
		m.Branch = c.Here(ctx).Side(ctx)
		if s := record.ParseSide(m.Branch); s.Name != "topic" || s.Patch == "" {
			t.Fatalf("%s: %q", name, m.Branch)
		}
		holds := func() bool {
			c := codeOf(t, r)
			defer c.Done()
			return c.Holds(ctx, m.Branch)
		}
		if !holds() {
			t.Errorf("%s: not on the branch itself", name)
		}
		r.Run("switch", "-qc", "above")
		if !holds() {
			t.Errorf("%s: not on a branch above it", name)
		}
		r.Run("switch", "-q", "main")
		if holds() {
			t.Errorf("%s: on main, before it landed", name)
		}
		if landed, asked, err := codeOf(t, r).Land(ctx, nil, []record.Memory{m}, nil, time.Now()); err != nil || len(landed)+len(asked) > 0 {
			t.Errorf("%s: before: landed %v, asked %v, %v", name, landed, asked, err)
		}
		r.Write("main.txt", "main went on\n")
		r.Commit("main went on")
		land(r)
		if !holds() {
			t.Errorf("%s: not on main, where it landed", name)
		}
		if landed, asked, err := codeOf(t, r).Land(ctx, nil, []record.Memory{m}, nil, time.Now()); err != nil || len(landed) != 1 || len(asked) > 0 {
			t.Errorf("%s: after: landed %v, asked %v, %v", name, landed, asked, err)
		}
	}
}

// If a branch is gone without landing, a person is asked: to retire memories that need its code, to
// keep the rest.
func TestLandAsksAboutWhatWasGivenUp(t *testing.T) {
	r, _ := newCode(t)
	ctx := t.Context()
	r.Run("switch", "-qc", "topic")
	r.Write("only.go", "package only\n\nfunc OnlyHere() {}\n")
	r.Commit("topic")
	c := codeOf(t, r)
	rests, free := statement("Call `OnlyHere` first"), statement("Be kind")
	for _, m := range []*record.Memory{&rests, &free} {
		m.Branch = c.Here(ctx).Side(ctx)
		m.Anchors, _ = c.Here(ctx).Find(ctx, ctx, *m)
	}
	rests.Source.Commit = r.Run("rev-parse", "HEAD")
	r.Run("switch", "-q", "main")
	r.Run("branch", "-qD", "topic")
	c = codeOf(t, r)
	if err := c.Book.Create(ctx, map[string]string{"reverie.toml": "format = 1\n"}); err != nil {
		t.Fatal(err)
	}
	err := c.Book.View(ctx, func(v *record.View) error {
		sides := []record.Memory{rests, free}
		landed, asked, err := c.Land(ctx, v, sides, nil, time.Now())
		if err != nil {
			return err
		}
		if len(landed) > 0 || len(asked) != 2 || asked[0].Op != record.Retire || asked[1].Op != record.Edit || asked[1].Memory.Branch != "" {
			t.Errorf("landed %v, asked %+v", landed, asked)
		}
		if len(asked) > 0 && asked[0].Why != "it was learned on the branch topic, which is gone and did not land" {
			t.Errorf("because %s", asked[0].Why)
		}
		_, asked, err = c.Land(ctx, v, sides, map[string]bool{rests.ID: true, free.ID: true}, time.Now())
		if len(asked) > 0 {
			t.Errorf("decided, and asked again: %v", asked)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestNamedBranches(t *testing.T) {
	r, c := newCode(t)
	r.Run("branch", "release")
	if got, err := c.Named(t.Context(), "release"); got != "release" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := c.Named(t.Context(), "nosuch"); !errors.Is(err, ErrNoBranch) {
		t.Errorf("%q, %v", got, err)
	}
}
