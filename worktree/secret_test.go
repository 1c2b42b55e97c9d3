package worktree

import (
	"strings"
	"testing"

	"github.com/reverie-memory/reverie/internal/testrepo"
)

// Each secret of a file is judged by itself, not by the number of secrets, and by path and content
// together.
func TestOnlySecretsThatWereThereMayStay(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	old, other := "ghp_"+"9fK2mQ7xT4bV8nR3wJ6zL1cD5hG0sYpAeUiO", "ghp_"+"16C7e42F292c6912E7710c838347Ae178B4a"
	for _, c := range []struct {
		name string
		work func(b *bench, tree *testrepo.Repo)
		left string // files left out of the commit
	}{
		{"the one that was there", func(b *bench, _ *testrepo.Repo) { b.in("conf", "more\ntoken = "+old+"\n"+old+"\n") }, ""},
		{"another one", func(b *bench, _ *testrepo.Repo) { b.in("conf", "token = "+other+"\n") }, "conf"},
		{"another one in a commit", func(b *bench, tree *testrepo.Repo) {
			b.in("conf", "token = "+other+"\n")
			tree.Commit("agent: one")
		}, "conf"},
		{"elsewhere", func(b *bench, _ *testrepo.Repo) { b.in("copy", "token = "+old+"\n") }, "copy"},
		{"elsewhere, in a commit with the file that may have it", func(b *bench, tree *testrepo.Repo) {
			b.in("a", "1\n")
			tree.Run("update-index", "--chmod=+x", "conf") // the same content under two paths
			b.in("copy", "token = "+old+"\n")
			tree.Run("add", "a", "copy")
			tree.Run("commit", "-qm", "agent: one")
		}, "copy"},
		{"for a folder", func(b *bench, tree *testrepo.Repo) {
			tree.Run("rm", "-rq", "dir")
			b.in("dir", "token = "+old+"\n")
		}, "dir"},
		{"below a path that was there", func(b *bench, _ *testrepo.Repo) { b.in("of-"+old+"/new", "1\n") }, ""},
		{"another path", func(b *bench, _ *testrepo.Repo) { b.in("of-"+other, "1\n") }, "of-[redacted:github-token]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, record := newRecord(t)
			r.Write("conf", "token = "+old+"\n")
			r.Write("dir/x", "x")
			r.Write("of-"+old+"/x", "x")
			r.Commit("with a secret")
			l, err := record.Load(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			s := l.State
			s.Name, s.Branch, s.Base, s.Settings.MaxIterations = "two", Branches+"two", r.Run("rev-parse", "HEAD"), 1
			record = Open(record.repo, "two", nil)
			if err := record.Create(t.Context(), s, l.Plan); err != nil {
				t.Fatal(err)
			}
			place, err := PlaceOf(record.repo, s, nil)
			if err != nil {
				t.Fatal(err)
			}
			b := &bench{Repo: r, t: t, repo: record.repo, record: record, place: place}
			b.run(func(Turn) (Outcome, error) {
				c.work(b, testrepo.At(t, place.Dir))
				return Outcome{}, nil
			}, fine, fine)
			if l, err = record.Load(t.Context()); err != nil {
				t.Fatal(err)
			}
			var left []string
			for _, f := range l.Findings {
				left = append(left, f.File)
			}
			if got := strings.Join(left, " "); got != c.left {
				t.Errorf("left out %q, want %q", got, c.left)
			}
			if all := b.Run("log", "-p", "--all", "--not", "main"); strings.Contains(all, "+token = ") || strings.Contains(all, other) {
				t.Errorf("a secret is in a commit:\n%s", all)
			}
		})
	}
}
