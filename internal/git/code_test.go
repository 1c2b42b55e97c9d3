package git_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

func TestCodeReadsWhatGitSays(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		r := testrepo.New(t, "--object-format="+format)
		r.Write("a/b/c d.txt", "deep\n")
		r.Write("a.txt", "a\n")
		r.Write("a/link", "")
		head := r.Commit("files")
		for _, packed := range []bool{false, true} {
			if packed {
				r.Run("repack", "-adq")
			}
			c := open(t, r).Code(head)
			defer c.Close()
			blob, err := c.File(t.Context(), "a/b/c d.txt")
			if want := r.Run("rev-parse", "HEAD:a/b/c d.txt"); err != nil || blob != want {
				t.Errorf("%s: %q, %v, want %q", format, blob, err, want)
			}
			if text, err := c.Read(t.Context(), blob); err != nil || string(text) != "deep\n" {
				t.Errorf("%q, %v", text, err)
			}
			for name, want := range map[string]bool{"a": true, "a/b": true, "a/b/c d.txt": true, "a/c": false, "a.txt/x": false, "": false} {
				if has, err := c.Has(t.Context(), name); has != want || err != nil {
					t.Errorf("has %q: %t, %v", name, has, err)
				}
			}
			for _, none := range []string{"", "a", "a/b", "b.txt", "a.txt/x", "/a.txt", "./a.txt", "a//b", "../a.txt"} {
				if _, err := c.File(t.Context(), none); !errors.Is(err, git.ErrNoPath) {
					t.Errorf("%q: %v", none, err)
				}
			}
			var names []string
			if err := c.Walk(t.Context(), func(name, _ string) bool { names = append(names, name); return true }); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(r.Run("ls-tree", "-r", "--name-only", "HEAD"), "\n"), names); diff != "" {
				t.Error(diff)
			}
		}
	}
}

func TestCodeOfAMissingCommitIsNoAbsence(t *testing.T) {
	r := testrepo.New(t)
	c := open(t, r).Code(strings.Repeat("1", 40))
	defer c.Close()
	if _, err := c.File(t.Context(), "README"); err == nil || errors.Is(err, git.ErrNoPath) {
		t.Errorf("got %v", err)
	}
}

func TestHistoryQuestions(t *testing.T) {
	r := testrepo.New(t)
	ctx := t.Context()
	base := r.Run("rev-parse", "HEAD")
	r.Run("switch", "-qc", "topic")
	r.Write("one.txt", "one\ntwo\nthree\n")
	first := r.Commit("one")
	r.Write("two.txt", "two\n")
	tip := r.Commit("two")
	r.Run("switch", "-q", "main")
	r.Write("other.txt", "x\n")
	r.Commit("other")
	r.Run("merge", "-q", "--squash", "topic")
	squash := r.Commit("squashed")
	g := open(t, r)
	ids, err := g.History().Commits(ctx, "topic", tip[:16], "no-such", "--help", strings.Repeat("0", 16))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{tip, tip, "", "", ""}, ids); diff != "" {
		t.Error(diff)
	}
	if is, err := g.History().IsAncestor(ctx, base[:16], tip); !is || err != nil {
		t.Errorf("%v %v", is, err)
	}
	if is, err := g.History().IsAncestor(ctx, tip, "main"); is || err != nil {
		t.Errorf("%v %v", is, err)
	}
	if _, err := g.History().IsAncestor(ctx, strings.Repeat("1", 40), "main"); err == nil {
		t.Error("a missing commit is not an answer")
	}
	if b, err := g.History().MergeBase(ctx, tip, "main"); b != base || err != nil {
		t.Errorf("%v %v", b, err)
	}
	whole, err := g.History().PatchID(ctx, base, tip)
	if err != nil || whole == "" {
		t.Fatal(whole, err)
	}
	paths, err := g.History().ChangedPaths(ctx, base, tip)
	if diff := cmp.Diff([]string{"one.txt", "two.txt"}, paths); diff != "" || err != nil {
		t.Error(diff, err)
	}
	between, err := g.History().Between(ctx, base, "main", 10, paths...)
	if diff := cmp.Diff([]string{squash}, between); diff != "" || err != nil {
		t.Error(diff, err)
	}
	got, err := g.History().PatchIDs(ctx, between)
	if diff := cmp.Diff([]string{whole}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	// git itself agrees.
	if want, _, _ := strings.Cut(r.Run("-c", "alias.p=!git diff-tree -p "+base+" "+tip+" | git patch-id --stable", "p"), " "); want != whole {
		t.Errorf("git says %s, we %s", want, whole)
	}
	r.Run("mv", "one.txt", "uno.txt")
	moved := r.Commit("move")
	if renames, err := g.History().Renames(ctx, first, moved); err != nil || renames["one.txt"] != "uno.txt" {
		t.Errorf("%v %v", renames, err)
	}
	if commit, parent, err := g.History().Removed(ctx, moved, "one.txt"); err != nil || commit != moved || parent != squash {
		t.Errorf("%s %s %v", commit, parent, err)
	}
	if commit, _, err := g.History().Removed(ctx, moved, "never"); err != nil || commit != "" {
		t.Errorf("%s %v", commit, err)
	}
	at, err := g.History().Committed(ctx, moved)
	if err != nil || fmt.Sprint(at.Unix()) != r.Run("log", "-1", "--format=%ct") {
		t.Errorf("%v %v", at, err)
	}
}

func TestPatchIDIsTheSameWhateverTheConfiguration(t *testing.T) {
	r := testrepo.New(t)
	base := r.Run("rev-parse", "HEAD")
	r.Write("a.txt", strings.Repeat("x\n\n", 20))
	middle := r.Commit("a")
	r.Write("a.txt", strings.Repeat("x\n\n", 10)+"y\n\n"+strings.Repeat("x\n\n", 10))
	tip := r.Commit("b")
	ids := func() string {
		g := open(t, r)
		one, err := g.History().PatchID(t.Context(), middle, tip)
		two, err2 := g.History().PatchIDs(t.Context(), []string{middle, tip})
		if err != nil || err2 != nil || len(two) != 2 || !strings.Contains(strings.Join(two, " "), one) {
			t.Fatal(one, two, err, err2)
		}
		return fmt.Sprint(one, two)
	}
	want := ids()
	for _, kv := range []string{"diff.noprefix=true", "diff.context=9", "diff.suppressBlankEmpty=true", "diff.algorithm=patience", "diff.renames=copies", "color.ui=always", "diff.external=false", "diff.mnemonicPrefix=true"} {
		key, value, _ := strings.Cut(kv, "=")
		r.Run("config", key, value)
	}
	if got := ids(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if id, err := open(t, r).History().PatchID(t.Context(), base, base); id != "" || err != nil {
		t.Errorf("%q %v", id, err)
	}
}

func TestDefaultBranch(t *testing.T) {
	r := testrepo.New(t)
	def := func(asked string) string {
		d, err := open(t, r).Refs().Default(t.Context(), asked)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(d.Name, " ", len(d.Tips))
	}
	if got := def(""); got != "main 1" {
		t.Error(got)
	}
	r.Run("branch", "trunk")
	if got := def("trunk"); got != "trunk 1" {
		t.Error(got)
	}
	r.Run("update-ref", "refs/remotes/origin/trunk", "HEAD")
	r.Run("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
	if got := def(""); got != "trunk 2" {
		t.Error(got)
	}
	r.Run("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/nosuch")
	if got := def(""); got != "main 1" {
		t.Error(got)
	}
	if got := def("gone"); got != " 0" {
		t.Error(got)
	}
	r.Run("symbolic-ref", "-d", "refs/remotes/origin/HEAD")
	r.Run("branch", "-m", "main", "work")
	r.Run("config", "init.defaultBranch", "work")
	if got := def(""); got != "work 1" {
		t.Error(got)
	}
	if tips, err := open(t, r).Refs().Branches(t.Context(), "trunk"); err != nil || len(tips) != 2 {
		t.Error(tips, err)
	}
	if tips, err := open(t, r).Refs().Branches(t.Context(), "*"); err != nil || len(tips) != 0 {
		t.Error(tips, err)
	}
}

func open(t *testing.T, r *testrepo.Repo) *git.Repo {
	t.Helper()
	g, err := git.Find(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	return g
}
