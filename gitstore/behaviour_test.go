package gitstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// FORMAT.md lists the two ids. Independent stores share this commit, so it can never change.
func TestFirstCommitIsTheSameEverywhere(t *testing.T) {
	for format, want := range map[string]string{
		"sha1":   "2346eec3f15fe9b94cfbe961cb1714bc079c4dff",
		"sha256": "22ebd54c65e86df4fe1ce85f51e195a046fa9351c9084788b6a98990594892f0",
	} {
		r := testrepo.New(t, "--object-format="+format)
		create(t, r)
		if got := r.Run("rev-list", "--max-parents=0", branch); got != want {
			t.Errorf("%s: first commit %s, want %s\n%s", format, got, want, r.Run("cat-file", "-p", got))
		}
		if n := r.Run("rev-list", "--count", branch); n != "2" {
			t.Errorf("%s: %s commits, want 2", format, n)
		}
		text, err := os.ReadFile("FORMAT.md")
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("FORMAT.md does not name %s: %v", want, err)
		}
	}
}

func TestDeletedStoreIsNotMadeAnew(t *testing.T) {
	r := testrepo.New(t)
	s := create(t, r)
	tip := write(t, s, map[string]string{"a/b.md": "kept\n"}).Commit
	r.Run("branch", "-q", "-D", "reverie/memory")
	_, err := s.Create(t.Context(), nil, gitstore.Commit{})
	if !errors.Is(err, gitstore.ErrDeleted) || !strings.Contains(err.Error(), string(tip)) {
		t.Fatalf("create: %v, want ErrDeleted with the last commit", err)
	}
	if err := s.View(t.Context(), func(*gitstore.Tree) error { return nil }); !errors.Is(err, gitstore.ErrDeleted) || !errors.Is(err, gitstore.ErrNoStore) {
		t.Errorf("view: %v", err)
	}
	if _, err := s.Update(t.Context(), gitstore.Commit{}, func(tx *gitstore.Tx) error { return tx.Write("x", text("y")) }); !errors.Is(err, gitstore.ErrDeleted) {
		t.Errorf("update: %v", err)
	}
	// The error has what git needs to restore the store.
	var gone *gitstore.DeletedError
	if !errors.As(err, &gone) {
		t.Fatalf("create: %v", err)
	}
	r.Run("update-ref", gone.Ref, string(gone.Last))
	if got := contents(t, s)["a/b.md"]; got != "kept\n" {
		t.Errorf("brought back: %q", got)
	}
	if _, err := s.Create(t.Context(), nil, gitstore.Commit{}); !errors.Is(err, gitstore.ErrExists) {
		t.Errorf("create beside a store: %v", err)
	}
}

// Another ref takes the place of a deleted store only if it has the store's last commit.
func TestAdoptLosesNoCommitOfADeletedStore(t *testing.T) {
	r := testrepo.New(t)
	s := create(t, r)
	const origin = "refs/remotes/origin/reverie/memory"
	r.Run("update-ref", origin, branch)
	tip := write(t, s, map[string]string{"a/b.md": "unpublished\n"}).Commit
	r.Run("branch", "-q", "-D", "reverie/memory")
	if _, err := s.Adopt(t.Context(), origin); !errors.Is(err, gitstore.ErrDeleted) || !strings.Contains(err.Error(), string(tip)) {
		t.Errorf("adopt: %v, want ErrDeleted with the last commit", err)
	}
	if refs := r.Run("for-each-ref", branch); refs != "" {
		t.Errorf("made: %s", refs)
	}
	if lost := r.Run("reflog", "expire", "--expire=now", "--all") + r.Run("prune", "--expire=now"); lost != "" {
		t.Error(lost)
	}
	if _, err := s.Adopt(t.Context(), origin); !errors.Is(err, gitstore.ErrDeleted) {
		t.Errorf("adopt without the lost objects: %v", err)
	}
	last := create(t, testrepo.New(t)) // a store that was published whole
	r = testrepo.At(t, last.Repo().CommonDir)
	r.Run("update-ref", origin, branch)
	r.Run("update-ref", "-d", branch)
	if _, err := last.Adopt(t.Context(), origin); err != nil {
		t.Errorf("adopt of its own last commit: %v", err)
	}
}

func TestReflogAloneSaysTheStoreWasHere(t *testing.T) {
	r := testrepo.New(t)
	s := create(t, r)
	for _, path := range []string{"refs/heads/reverie/memory", "reverie/tips"} {
		if err := os.Remove(filepath.Join(r.Dir, ".git", path)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Create(t.Context(), nil, gitstore.Commit{}); !errors.Is(err, gitstore.ErrDeleted) {
		t.Errorf("create: %v, want ErrDeleted", err)
	}
}

func TestUpdateSurvivesRace(t *testing.T) {
	r := testrepo.New(t)
	s := create(t, r)
	runs := 0
	_, err := s.Update(t.Context(), gitstore.Commit{Subject: "ours"}, func(tx *gitstore.Tx) error {
		if runs++; runs == 1 { // a writer that does not take our lock commits in the meantime
			tree := r.Run("rev-parse", branch+"^{tree}")
			r.Run("update-ref", branch, r.Run("commit-tree", "-p", branch, "-m", "theirs", tree))
		}
		return tx.Write("ours.md", text("ours\n"))
	})
	if err != nil || runs != 2 {
		t.Fatalf("%d runs, %v", runs, err)
	}
	if got := r.Run("log", "--format=%s", branch); got != "ours\ntheirs\ninit: begin\nreverie: begin" {
		t.Errorf("history:\n%s", got)
	}
}

func TestUpdateWithoutChangeMakesNoCommit(t *testing.T) {
	r := testrepo.New(t)
	s := create(t, r)
	before := r.Run("rev-parse", branch)
	result := write(t, s, map[string]string{"README.md": "what this is\n"})
	if result.Changed || string(result.Commit) != before || r.Run("rev-parse", branch) != before {
		t.Errorf("%+v", result)
	}
	oops := errors.New("oops")
	_, err := s.Update(t.Context(), gitstore.Commit{}, func(tx *gitstore.Tx) error {
		return errors.Join(tx.Write("x", text("y")), oops)
	})
	if !errors.Is(err, oops) || r.Run("rev-parse", branch) != before {
		t.Errorf("after an error of fn: %v", err)
	}
}

func TestTxSeesItsOwnWrites(t *testing.T) {
	s := create(t, testrepo.New(t))
	write(t, s, map[string]string{"a/one": "1", "a/b/two": "2", "c": "3"})
	_, err := s.Update(t.Context(), gitstore.Commit{}, func(tx *gitstore.Tx) error {
		base := tx.ID()
		if err := errors.Join(tx.Write("a/one", text("changed")), tx.Write("new/deep/er", text("4")), tx.Delete("a/b/two")); err != nil {
			return err
		}
		if data, err := tx.Read("a/one"); err != nil || string(data) != "changed" {
			t.Errorf("read: %q, %v", data, err)
		}
		if _, err := tx.Read("a/b/two"); !errors.Is(err, gitstore.ErrNotFound) {
			t.Errorf("read of a deleted file: %v", err)
		}
		if err := tx.Delete("a/b/two"); !errors.Is(err, gitstore.ErrNotFound) {
			t.Errorf("second delete: %v", err)
		}
		var paths, changed []string
		err := errors.Join(
			tx.Walk("", func(path string, _ gitstore.ID) error { paths = append(paths, path); return nil }),
			tx.Diff(base, func(c gitstore.Change) error { changed = append(changed, c.Path); return nil }))
		if diff := cmp.Diff([]string{"README.md", "a/one", "c", "new/deep/er"}, paths); diff != "" {
			t.Errorf("walk:\n%s", diff)
		}
		if diff := cmp.Diff([]string{"a/b/two", "a/one", "new/deep/er"}, changed); diff != "" {
			t.Errorf("diff:\n%s", diff)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"README.md": "what this is\n", "a/one": "changed", "c": "3", "new/deep/er": "4"}
	if diff := cmp.Diff(want, contents(t, s)); diff != "" {
		t.Error(diff)
	}
}

func TestPathsThatCannotBeWritten(t *testing.T) {
	s := create(t, testrepo.New(t))
	write(t, s, map[string]string{"dir/file": "x"})
	for _, path := range []string{"", "/", "a//b", "/a", "a/", ".", "..", "a/../b", "a/./b", ".git", ".GIT/config", "a/.git", "git~1/x", ".git ", ".git.", ".g\u200cit",
		".git::$INDEX_ALLOCATION", "a\\b", "a\x1bb", "a\nb", "a\x00b", "\xff", strings.Repeat("n", 256), strings.Repeat("d/", 40) + "f", "dir", "dir/file/below"} {
		_, err := s.Update(t.Context(), gitstore.Commit{}, func(tx *gitstore.Tx) error { return tx.Write(path, text("x")) })
		var bad *gitstore.EntryError
		if !errors.As(err, &bad) {
			t.Errorf("%q: %v, want an *EntryError", path, err)
		}
	}
	_, err := s.Update(t.Context(), gitstore.Commit{}, func(tx *gitstore.Tx) error {
		return tx.Write("big", text(strings.Repeat("x", gitstore.MaxFile+1)))
	})
	var bad *gitstore.EntryError
	if !errors.As(err, &bad) {
		t.Errorf("a file that is too large: %v", err)
	}
}

// plant puts raw entries into the store's tree, as a hostile or careless pusher would.
func plant(t *testing.T, r *testrepo.Repo, entries string) {
	t.Helper()
	repo := find(t, r.Dir)
	tree, err := repo.Git(t.Context(), strings.NewReader(entries), "mktree", "-z", "--missing")
	if err != nil {
		t.Fatal(err)
	}
	r.Run("update-ref", branch, r.Run("commit-tree", "-p", branch, "-m", "planted", strings.TrimSpace(string(tree))))
}

func TestBadEntriesAreNamedAndHideNothing(t *testing.T) {
	r := testrepo.New(t)
	s := create(t, r)
	good := r.Run("rev-parse", branch+":README.md")
	folder := r.Run("rev-parse", branch+"^{tree}")
	plant(t, r, fmt.Sprintf("100644 blob %s\ta good one\x00120000 blob %s\tlink\x00100755 blob %s\trun.sh\x00160000 commit %s\tsub\x00"+
		"040000 tree %s\t.git\x00100644 blob %s\t..\x00100644 blob %s\tesc\x1b[31m\x00040000 tree %s\tgood\x00", good, good, good, r.Run("rev-parse", "HEAD"), folder, good, good, folder))
	var paths, bad []string
	err := s.View(t.Context(), func(tree *gitstore.Tree) error {
		return tree.Walk("", func(path string, _ gitstore.ID) error { paths = append(paths, path); return nil })
	})
	var entries gitstore.EntryErrors
	if !errors.As(err, &entries) {
		t.Fatalf("walk: %v", err)
	}
	for _, e := range entries {
		bad = append(bad, e.Path)
	}
	if diff := cmp.Diff([]string{"a good one", "good/README.md"}, paths); diff != "" {
		t.Errorf("visited:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"..", ".git", "esc\x1b[31m", "link", "run.sh", "sub"}, bad); diff != "" {
		t.Errorf("passed over:\n%s", diff)
	}
	problems := 0
	if err := s.Check(t.Context(), false, func(gitstore.Problem) { problems++ }); err != nil || problems != 6 {
		t.Errorf("check: %d problems, %v", problems, err)
	}
	// Other writes keep them: only a person decides about them.
	write(t, s, map[string]string{"more.md": "more\n"})
	if n := len(strings.Split(r.Run("ls-tree", branch), "\n")); n != 9 {
		t.Errorf("%d entries after a write, want 9", n)
	}
}

func TestMissingFolderIsAnErrorAndNotAShortList(t *testing.T) {
	r := testrepo.New(t)
	s := create(t, r)
	write(t, s, map[string]string{"a/x": "1", "b/x": "2", "c/x": "3"})
	id := r.Run("rev-parse", branch+":b")
	r.Lose(id)
	err := s.View(t.Context(), func(tree *gitstore.Tree) error {
		return tree.Walk("", func(string, gitstore.ID) error { return nil })
	})
	if !errors.Is(err, gitstore.ErrCorrupt) || !strings.Contains(err.Error(), "b: ") {
		t.Errorf("walk: %v, want ErrCorrupt that names b", err)
	}
	for _, deep := range []bool{false, true} {
		var problems []string
		if err := s.Check(t.Context(), deep, func(p gitstore.Problem) { problems = append(problems, p.String()) }); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.Join(problems, "\n"), id) {
			t.Errorf("check, deep=%t: %q", deep, problems)
		}
	}
}

func TestViewAtRevisions(t *testing.T) {
	r := testrepo.New(t)
	s := create(t, r)
	first := write(t, s, map[string]string{"n": "1"})
	write(t, s, map[string]string{"n": "2"})
	r.Run("tag", "then", string(first.Commit))
	for rev, want := range map[string]string{
		branch: "2", "~1": "1", "^": "1", "@{0}": "2", "@{1}": "1", "then": "1", string(first.Commit): "1", string(first.Commit[:12]): "1",
		string(first.Tree): "1", "reverie/memory~1": "1", branch + "^{tree}": "2",
	} {
		err := s.ViewAt(t.Context(), rev, func(tree *gitstore.Tree) error {
			data, err := tree.Read("n")
			if string(data) != want {
				t.Errorf("%s: %q, want %q", rev, data, want)
			}
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", rev, err)
		}
	}
	for _, rev := range []string{"", "nothing", "-h", "--batch", "a\nb", "~99", strings.Repeat("0", 39), strings.Repeat("1", 40)} {
		if err := s.ViewAt(t.Context(), rev, func(*gitstore.Tree) error { return nil }); !errors.Is(err, gitstore.ErrRevision) {
			t.Errorf("%q: %v, want ErrRevision", rev, err)
		}
	}
}

func TestDiffAgreesWithGit(t *testing.T) {
	r := testrepo.New(t)
	s := create(t, r)
	var before gitstore.ID
	write(t, s, map[string]string{"a": "file", "b/x": "1", "b/y": "2", "c/d/e": "3", "same/z": "4"})
	s.View(t.Context(), func(tree *gitstore.Tree) error { before = tree.ID(); return nil })
	_, err := s.Update(t.Context(), gitstore.Commit{}, func(tx *gitstore.Tx) error {
		return errors.Join(tx.Delete("a"), tx.Write("a/now-a-folder", text("5")), tx.Write("b/x", text("6")), tx.Delete("c/d/e"), tx.Write("c.d", text("7")))
	})
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	err = s.View(t.Context(), func(tree *gitstore.Tree) error {
		return tree.Diff(before, func(c gitstore.Change) error {
			status := "M"
			if c.Old == "" {
				status = "A"
			} else if c.New == "" {
				status = "D"
			}
			fmt.Fprintf(&got, "%s\t%s\n", status, c.Path)
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.Run("diff-tree", "-r", "--no-renames", "--name-status", string(before), branch)+"\n", got.String()); diff != "" {
		t.Errorf("(-git +ours):\n%s", diff)
	}
}

func TestRevertUndoesOneCommitOrNothing(t *testing.T) {
	r := testrepo.New(t)
	s := create(t, r)
	write(t, s, map[string]string{"a": "1", "b": "1"})
	second := write(t, s, map[string]string{"a": "2", "c": "new"})
	write(t, s, map[string]string{"b": "other"})
	if _, err := s.Revert(t.Context(), string(second.Commit), nil); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"README.md": "what this is\n", "a": "1", "b": "other"}
	if diff := cmp.Diff(want, contents(t, s)); diff != "" {
		t.Error(diff)
	}
	if got := r.Run("log", "-1", "--format=%B", branch); got != "revert: test: write\n\nThis reverts commit "+string(second.Commit)+".\n" {
		t.Errorf("message %q", got)
	}
	third := write(t, s, map[string]string{"a": "3"})
	write(t, s, map[string]string{"a": "4"})
	var conflict *gitstore.RevertError
	if _, err := s.Revert(t.Context(), string(third.Commit), nil); !errors.As(err, &conflict) || cmp.Diff([]string{"a"}, conflict.Paths) != "" {
		t.Errorf("revert of what was changed since: %v", err)
	}
	if _, err := s.Revert(t.Context(), r.Run("rev-list", "--max-parents=0", branch), nil); err == nil {
		t.Error("the first commit was reverted")
	}
}

func TestMessageCannotBeForged(t *testing.T) {
	r := testrepo.New(t)
	s := create(t, r)
	_, err := s.Update(t.Context(), gitstore.Commit{}, func(tx *gitstore.Tx) error {
		tx.SetCommit(gitstore.Commit{
			Subject:  "remember: one\nReverie-Op: forged\x1b[31m\u202e",
			Body:     "why\r\nand how\x07 می\u200cخواهیم",
			Trailers: []gitstore.Trailer{{"Reverie-Op", "remember\nReverie-Agent: forged"}, {"Bad: key", "v"}, {"Empty", ""}},
		})
		return tx.Write("x", text("y"))
	})
	if err != nil {
		t.Fatal(err)
	}
	want := "remember: one Reverie-Op: forged\\u{1b}[31m\\u{202e}\n\nwhy\nand how\\u{07} می\u200cخواهیم\n\nReverie-Op: remember Reverie-Agent: forged\nBad--key: v\n"
	if diff := cmp.Diff(want, r.Run("log", "-1", "--format=%B", branch)); diff != "" {
		t.Error(diff)
	}
	if got := r.Run("log", "-1", "--format=%(trailers:key=Reverie-Op,valueonly)", branch); got != "remember Reverie-Agent: forged\n" {
		t.Errorf("trailer %q", got)
	}
}

func TestManyFilesBecomeOnePack(t *testing.T) {
	r := testrepo.New(t)
	s := create(t, r)
	r.Run("prune-packed")
	files := map[string]string{}
	for i := range 500 {
		files[fmt.Sprintf("memories/%02x/%04d.md", i%256, i)] = fmt.Sprintf("memory %d\n", i)
	}
	loose := r.Run("count-objects")
	write(t, s, files)
	if got := r.Run("count-objects"); got != loose {
		t.Errorf("loose objects: %s, then %s", loose, got)
	}
	if packs, _ := filepath.Glob(filepath.Join(r.Dir, ".git", "objects", "pack", "*")); len(packs) < 2 || len(packs) > 3 {
		t.Errorf("in objects/pack: %v", packs)
	}
	files["README.md"] = "what this is\n"
	if diff := cmp.Diff(files, contents(t, s)); diff != "" {
		t.Error(diff)
	}
}

func TestTidyPacksOnlyOurs(t *testing.T) {
	r := testrepo.New(t)
	r.Run("config", "gc.auto", "256")
	s := create(t, r)
	theirs := r.Run("rev-parse", "HEAD")
	packed, n := 0, 0
	for ; packed == 0 && n < 300; n++ {
		write(t, s, map[string]string{fmt.Sprintf("m/%d", n): fmt.Sprint(n)})
		var err error
		if packed, err = s.Tidy(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if packed < n {
		t.Fatalf("%d objects packed after %d writes", packed, n)
	}
	if out := r.Run("count-objects", "-v"); !strings.Contains(out, "packs: 1") || !strings.Contains(out, "prune-packable: 0") {
		t.Error(out)
	}
	if _, err := os.Stat(filepath.Join(r.Dir, ".git", "objects", theirs[:2], theirs[2:])); err != nil {
		t.Errorf("the user's own loose object: %v", err)
	}
	if got := len(contents(t, s)); got != n+1 {
		t.Errorf("%d files, want %d", got, n+1)
	}
	r.Run("fsck", "--strict")
}

func TestAdoptTakesTheRemotesStore(t *testing.T) {
	origin := testrepo.New(t)
	create(t, origin)
	dir := filepath.Join(t.TempDir(), "clone")
	origin.Run("clone", "-q", origin.Dir, dir)
	s := gitstore.Open(find(t, dir), branch)
	remote := gitstore.Open(s.Repo(), "refs/remotes/origin/reverie/memory")
	if got := contents(t, remote)["README.md"]; got != "what this is\n" {
		t.Errorf("before: %q", got)
	}
	if _, err := s.Adopt(t.Context(), remote.Ref()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Adopt(t.Context(), remote.Ref()); !errors.Is(err, gitstore.ErrExists) {
		t.Errorf("twice: %v", err)
	}
	if got := contents(t, s)["README.md"]; got != "what this is\n" {
		t.Errorf("after: %q", got)
	}
	if _, err := gitstore.Open(s.Repo(), "refs/heads/other").Adopt(t.Context(), "refs/remotes/origin/none"); !errors.Is(err, git.ErrNoRef) {
		t.Errorf("from nothing: %v", err)
	}
}

func TestCancelledContextEndsAnUpdate(t *testing.T) {
	s := create(t, testrepo.New(t))
	unlock, err := s.Repo().State().Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.Update(ctx, gitstore.Commit{}, func(tx *gitstore.Tx) error { return tx.Write("a", text("b")) })
	if err == nil {
		t.Error("no error")
	}
}
