package gitstore_test

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// greatest resolves a file to the greater text of both sides.
func greatest(_ string, h gitstore.History) (gitstore.Outcome, error) {
	var best []byte
	var id gitstore.ID
	for _, at := range []int{h.Ours, h.Theirs} {
		if at < 0 || h.Versions[at].ID == "" {
			continue
		}
		data, err := h.Read(h.Versions[at].ID)
		if err != nil {
			return gitstore.Outcome{}, err
		}
		if bytes.Compare(data, best) > 0 {
			best, id = data, h.Versions[at].ID
		}
	}
	return gitstore.Outcome{ID: id, Dropped: true}, nil
}

// sides makes two stores in one repository, on two branches that begin alike.
func sides(t *testing.T, options ...string) (r *testrepo.Repo, ours, theirs *gitstore.Store) {
	t.Helper()
	r = testrepo.New(t, options...)
	ours = create(t, r)
	r.Run("branch", "theirs", "reverie/memory")
	return r, ours, gitstore.Open(find(t, r.Dir), "refs/heads/theirs")
}

func merge(t *testing.T, s, from *gitstore.Store) gitstore.Merged {
	t.Helper()
	tip, err := from.Tip(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.Merge(t.Context(), gitstore.Incoming{Tip: tip, Message: gitstore.Commit{Subject: "merge: theirs"}, Resolve: greatest})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMergeTakesEachSidesOwnFiles(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			r, ours, theirs := sides(t, "--object-format="+format)
			write(t, ours, map[string]string{"a/mine": "1\n", "both": "ours\n"})
			write(t, theirs, map[string]string{"a/yours": "2\n", "both": "theirs\n", "README.md": "changed\n"})
			m := merge(t, ours, theirs)
			if m.Way != gitstore.Joined || !cmp.Equal(m.Dropped, []string{"both"}) || m.Backup != "" {
				t.Errorf("merged: %+v", m)
			}
			want := map[string]string{"a/mine": "1\n", "a/yours": "2\n", "both": "theirs\n", "README.md": "changed\n"}
			if d := cmp.Diff(want, contents(t, ours)); d != "" {
				t.Error(d)
			}
			if again := merge(t, ours, theirs); again.Way != gitstore.Nothing || again.Changed {
				t.Errorf("merged again: %+v", again)
			}
			if forward := merge(t, theirs, ours); forward.Way != gitstore.FastForward {
				t.Errorf("the other side: %+v", forward)
			}
			r.Run("fsck", "--strict")
		})
	}
}

func TestMergeAdoptsTheSameTree(t *testing.T) {
	r, ours, theirs := sides(t)
	write(t, ours, map[string]string{"one": "1\n"})
	mine := write(t, ours, map[string]string{"two": "2\n"}).Commit
	yours := write(t, theirs, map[string]string{"one": "1\n", "two": "2\n"}).Commit
	m := merge(t, ours, theirs)
	if m.Way != gitstore.Adopted || m.Commit != yours || m.Backup != "refs/reverie/backup/1" || r.Run("rev-parse", m.Backup) != string(mine) {
		t.Errorf("merged: %+v", m)
	}
}

// A change that one side made and undid must travel on: another clone may have seen it made.
func TestMergeKeepsWhatWasUndone(t *testing.T) {
	_, ours, theirs := sides(t)
	write(t, ours, map[string]string{"README.md": "done\n"})
	mine := write(t, ours, map[string]string{"README.md": "what this is\n"}).Commit
	write(t, theirs, map[string]string{"one": "1\n"})
	if m := merge(t, ours, theirs); m.Way != gitstore.Joined || m.Old != mine {
		t.Errorf("merged: %+v; want a merge commit", m)
	}
}

func TestMergeRefusesWhatNoStoreHolds(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	big := strings.Repeat("x", gitstore.MaxFile+1)
	for name, plant := range map[string]func(r *testrepo.Repo, blob string) string{
		"evil/..":   func(r *testrepo.Repo, blob string) string { return "100644 blob " + blob + "\t.." },
		"evil/.GIT": func(r *testrepo.Repo, blob string) string { return "100644 blob " + blob + "\t.GIT" },
		"evil/link": func(r *testrepo.Repo, blob string) string { return "120000 blob " + blob + "\tlink" },
		"evil/run":  func(r *testrepo.Repo, blob string) string { return "100755 blob " + blob + "\trun" },
		"evil/module": func(r *testrepo.Repo, blob string) string {
			return "160000 commit " + r.Run("rev-parse", "HEAD") + "\tmodule"
		},
		`evil/a\x1b[2J`: func(r *testrepo.Repo, blob string) string { return "100644 blob " + blob + "\ta\x1b[2J" },
		"evil/huge": func(r *testrepo.Repo, _ string) string {
			r.Write("huge", strings.Repeat("x", git.MaxObject+1))
			return "100644 blob " + r.Run("hash-object", "-w", "huge") + "\thuge"
		},
		"evil/big": func(r *testrepo.Repo, _ string) string {
			r.Write("big", big)
			return "100644 blob " + r.Run("hash-object", "-w", "big") + "\tbig"
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, ours, theirs := sides(t)
			tip := write(t, ours, map[string]string{"one": "1\n"}).Commit
			write(t, theirs, map[string]string{"two": "2\n"})
			r.Write("x", "x\n")
			line := plant(r, r.Run("hash-object", "-w", "x"))
			evil := mktree(t, r, line)
			tree := mktree(t, r, strings.TrimSpace(r.Run("ls-tree", "theirs")), "040000 tree "+evil+"\tevil")
			commit := r.Run("commit-tree", "-m", "evil", "-p", "theirs", tree)
			_, err := ours.Merge(t.Context(), gitstore.Incoming{Tip: gitstore.ID(commit), Resolve: greatest})
			var bad gitstore.EntryErrors
			if !errors.As(err, &bad) || len(bad) != 1 || !strings.Contains(bad.Error(), strings.ReplaceAll(name, `\\`, `\`)) {
				t.Errorf("the error is %v, and does not name %s", err, name)
			}
			if now, err := ours.Tip(t.Context()); now != tip || err != nil {
				t.Errorf("the ref moved to %s, %v", now, err)
			}
			r.Run("update-ref", "refs/remotes/origin/evil", commit)
			fresh := gitstore.Open(ours.Repo(), "refs/heads/fresh")
			if _, err := fresh.Adopt(t.Context(), "refs/remotes/origin/evil"); !errors.As(err, &bad) {
				t.Errorf("adopted: %v", err)
			}
			if _, err := fresh.Tip(t.Context()); !errors.Is(err, gitstore.ErrNoStore) {
				t.Errorf("the store was made: %v", err)
			}
		})
	}
}

// mktree makes a tree of lines as ls-tree prints them; git itself takes any name.
func mktree(t *testing.T, r *testrepo.Repo, lines ...string) string {
	t.Helper()
	cmd := exec.Command("git", "mktree", "-z")
	cmd.Dir, cmd.Stdin = r.Dir, strings.NewReader(strings.ReplaceAll(strings.Join(lines, "\n"), "\n", "\x00")+"\x00")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func TestMergeAsksBeforeAnythingMoves(t *testing.T) {
	_, ours, theirs := sides(t)
	tip := write(t, theirs, map[string]string{"two": "2\n"}).Commit
	no := errors.New("no")
	_, err := ours.Merge(t.Context(), gitstore.Incoming{Tip: tip, Accept: func(tree *gitstore.Tree) error {
		if data, err := tree.Read("two"); err != nil || string(data) != "2\n" {
			t.Errorf("their file: %q, %v", data, err)
		}
		return no
	}})
	if now, _ := ours.Tip(t.Context()); !errors.Is(err, no) || now == tip {
		t.Errorf("the error is %v, the ref at %s", err, now)
	}
}

func TestMergeStopsWhereHistoryIsCutOff(t *testing.T) {
	r, ours, theirs := sides(t)
	for _, n := range []string{"1\n", "2\n", "3\n"} {
		write(t, theirs, map[string]string{"one": n})
	}
	clone := filepath.Join(t.TempDir(), "clone")
	r.Run("clone", "-q", "--depth=1", "--branch=theirs", "file://"+r.Dir, clone)
	shallow := testrepo.At(t, clone)
	shallow.Run("fetch", "-q", "--depth=2", "origin", "theirs", "reverie/memory:reverie/memory")
	write(t, ours, map[string]string{"two": "2\n"})
	s := gitstore.Open(find(t, clone), "refs/heads/reverie/memory")
	write(t, s, map[string]string{"three": "3\n"})
	_, err := s.Merge(t.Context(), gitstore.Incoming{Tip: gitstore.ID(shallow.Run("rev-parse", "origin/theirs")), Resolve: greatest})
	if !errors.Is(err, gitstore.ErrShallow) {
		t.Errorf("the error is %v, want ErrShallow", err)
	}
}

// A file with a name that git quotes or sorts differently gets all its versions.
func TestMergeSeesEveryVersion(t *testing.T) {
	_, ours, theirs := sides(t)
	name := `odd "name" [*] ü`
	write(t, ours, map[string]string{name: "1\n", "other": "1\n"})
	m := merge(t, theirs, ours)
	write(t, ours, map[string]string{name: "2\n"})
	write(t, theirs, map[string]string{name: "3\n", "other": "3\n"})
	tip, _ := theirs.Tip(context.Background())
	var seen []string
	_, err := ours.Merge(t.Context(), gitstore.Incoming{Tip: tip, Resolve: func(path string, h gitstore.History) (gitstore.Outcome, error) {
		for _, v := range h.Versions {
			data, err := h.Read(v.ID)
			if err != nil {
				return gitstore.Outcome{}, err
			}
			seen = append(seen, strings.TrimSpace(string(data)))
		}
		return gitstore.Outcome{ID: h.Versions[h.Ours].ID}, nil
	}})
	if slices.Sort(seen); err != nil || !cmp.Equal(seen, []string{"1", "2", "3"}) {
		t.Errorf("after %s: %v, %v", m.Way, seen, err)
	}
}

// A file that both sides changed to the same content is examined again, unless each of them only
// made it.
func TestMergeLooksAtWhatBothAgreeOn(t *testing.T) {
	_, ours, theirs := sides(t)
	write(t, ours, map[string]string{"one": "1\n"}) // or the commits of both would be the same
	for _, s := range []*gitstore.Store{ours, theirs} {
		write(t, s, map[string]string{"made": "1\n", "README.md": "on the way\n"})
		write(t, s, map[string]string{"README.md": "agreed\n"})
	}
	tip, _ := theirs.Tip(t.Context())
	var asked []string
	_, err := ours.Merge(t.Context(), gitstore.Incoming{Tip: tip, Resolve: func(path string, h gitstore.History) (gitstore.Outcome, error) {
		asked = append(asked, path)
		return greatest(path, h)
	}})
	if err != nil || !cmp.Equal(asked, []string{"README.md"}) {
		t.Errorf("asked about %v, %v", asked, err)
	}
}
