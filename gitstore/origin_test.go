package gitstore_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// story makes histories with plain git: each commit has files as "path=text", parents and an
// author.
type story struct {
	t *testing.T
	r *testrepo.Repo
}

func (s story) commit(author string, parents []string, files ...string) string {
	s.t.Helper()
	s.r.Run("read-tree", "--empty")
	for _, f := range files {
		path, body, _ := strings.Cut(f, "=")
		s.r.Write("blob", body)
		s.r.Run("update-index", "--add", "--cacheinfo", "100644,"+s.r.Run("hash-object", "-w", "blob")+",m/"+path)
	}
	args := []string{"-c", "user.name=X", "-c", "user.email=" + author + "@example.com", "commit-tree", "-m", author, s.r.Run("write-tree")}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	return s.r.Run(args...)
}

// whose returns the authors of each file, as letters.
func (s story) whose(tip string, since *gitstore.Origins) (map[string]string, *gitstore.Origins) {
	s.t.Helper()
	store := gitstore.Open(find(s.t, s.r.Dir), branch)
	o, err := store.Authors().Origins(s.t.Context(), gitstore.ID(tip), "m", since, false, gitstore.Belief{Author: trustedAnn})
	if err != nil {
		s.t.Fatal(err)
	}
	out := map[string]string{}
	for path, f := range o.Files {
		var by []string
		for _, a := range f.By {
			by = append(by, strings.TrimSuffix(a.Email, "@example.com"))
		}
		slices.Sort(by)
		out[strings.TrimPrefix(path, "m/")] = strings.Join(slices.Compact(by), "+")
		if got := s.r.Run("rev-parse", tip+":"+path); got != string(f.Blob) {
			s.t.Errorf("%s: blob %s, git says %s", path, f.Blob, got)
		}
	}
	return out, o
}

func trustedAnn(a gitstore.Author) bool { return a.Email == "ann@example.com" }

func TestOriginIsTheLastChangeAndMergesDoNotLaunder(t *testing.T) {
	s := story{t, testrepo.New(t)}
	base := s.commit("ann", nil, "a=1", "b=1")
	mallory := s.commit("mallory", []string{base}, "a=1", "b=2", "c=1")
	ann := s.commit("ann", []string{base}, "a=2", "b=1")
	retired := s.commit("ann", []string{mallory}, "a=1", "b=3", "c=1")
	for _, c := range []struct {
		name string
		tip  string
		want map[string]string
	}{
		{"one after the other", mallory, map[string]string{"a": "ann", "b": "mallory", "c": "mallory"}},
		{"an edit releases", retired, map[string]string{"a": "ann", "b": "ann", "c": "mallory"}},
		{"a merge of mine takes each side", s.commit("ann", []string{ann, mallory}, "a=2", "b=2", "c=1"),
			map[string]string{"a": "ann", "b": "mallory", "c": "mallory"}},
		{"sides swapped", s.commit("ann", []string{mallory, ann}, "a=2", "b=2", "c=1"),
			map[string]string{"a": "ann", "b": "mallory", "c": "mallory"}},
		{"a merge of theirs takes nothing from me", s.commit("mallory", []string{ann, mallory}, "a=2", "b=2", "c=1"),
			map[string]string{"a": "ann", "b": "mallory", "c": "mallory"}},
		{"two texts joined are both people's", s.commit("ann", []string{s.commit("ann", []string{base}, "a=1", "b=9"), mallory}, "a=1", "b=2 and 9", "c=1"),
			map[string]string{"a": "ann", "b": "ann+mallory", "c": "mallory"}},
		{"a merge of theirs that adds something", s.commit("mallory", []string{ann, mallory}, "a=7", "b=2", "c=1"),
			map[string]string{"a": "ann+mallory", "b": "mallory", "c": "mallory"}},
		{"a commit brings back what was given up", s.commit("mallory", []string{ann}, "a=1", "b=1"),
			map[string]string{"a": "mallory", "b": "ann"}},
		{"a merge brings back what was given up", s.commit("mallory", []string{ann, base}, "a=1", "b=1"),
			map[string]string{"a": "ann+mallory", "b": "ann"}},
		{"the same bytes by both", s.commit("bob", []string{s.commit("bob", []string{base}, "a=1", "b=1", "d=1"), s.commit("ann", []string{base}, "a=1", "b=1", "d=1")}, "a=1", "b=1", "d=1"),
			map[string]string{"a": "ann", "b": "ann", "d": "ann"}},
	} {
		got, _ := s.whose(c.tip, nil)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

func TestOriginsGoOnFromWhatIsKnown(t *testing.T) {
	s := story{t, testrepo.New(t)}
	base := s.commit("ann", nil, "a=1", "b=1", "e=1")
	side := s.commit("mallory", []string{base}, "a=1", "b=2", "e=1")
	mine := s.commit("ann", []string{base}, "a=2", "b=1", "e=1")
	mine = s.commit("ann", []string{mine}, "a=3", "b=1", "e=1")
	tips := map[string]string{
		"forward":             s.commit("mallory", []string{mine}, "a=3", "b=1", "e=2"),
		"merge of mine":       s.commit("ann", []string{mine, side}, "a=3", "b=2", "e=1"),
		"merge of theirs":     s.commit("mallory", []string{side, mine}, "a=3", "b=2", "e=1"),
		"old text by a merge": s.commit("mallory", []string{side, mine}, "a=1", "b=2", "e=1"),
		"a file that is gone": s.commit("mallory", []string{mine}, "a=3"),
		"an older commit":     base,
		"another history":     s.commit("mallory", nil, "a=5", "f=1"),
	}
	for _, name := range slices.Sorted(maps.Keys(tips)) {
		_, known := s.whose(mine, nil)
		want, _ := s.whose(tips[name], nil)
		got, _ := s.whose(tips[name], known)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: not the same as worked out anew (-anew +going on):\n%s", name, d)
		}
	}
	_, known := s.whose(mine, nil)
	squash := s.commit("forge", []string{base}, "a=3", "b=4", "e=1")
	got, _ := s.whose(squash, known)
	if d := cmp.Diff(map[string]string{"a": "ann", "b": "forge", "e": "ann"}, got); d != "" {
		t.Errorf("a squashed copy of what is known (-want +got):\n%s", d)
	}
}

// Commits that no git would make belong to untrusted authors, with and without a check of
// signatures.
func TestStrangeAuthorsAreNobody(t *testing.T) {
	s := story{t, testrepo.New(t)}
	base := s.commit("ann", nil, "a=1")
	tree := s.r.Run("rev-parse", s.commit("mallory", []string{base}, "a=1", "b=1")+"^{tree}")
	store := gitstore.Open(find(t, s.r.Dir), branch)
	head := "tree " + tree + "\nparent " + base + "\n"
	rest := "committer X <x@example.com> 1700000000 +0000\n"
	for name, text := range map[string]string{
		"no author":             head + rest + "\nx\n",
		"no address":            head + "author Ann 1700000000 +0000\n" + rest + "\nx\n",
		"an empty address":      head + "author Ann <> 1700000000 +0000\n" + rest + "\nx\n",
		"no end of the address": head + "author Ann <ann@example.com 1700000000 +0000\n" + rest + "\nx\n",
		"a zero byte":           head + "author Ann <mallory@example.com\x00> <ann@example.com> 1700000000 +0000\n" + rest + "\nx\n",
		"more zero bytes":       head + "author M <mallory@example.com> 1700000000 +0000\n" + rest + "\nx\x00" + base + "\x00" + tree + "\x00\x00ann@example.com\x001\x00x\n",
		"address in the name":   head + "author <mallory@example.com> <ann@example.com> 1700000000 +0000\n" + rest + "\nx\n",
		"rubbish for a signature": head + "author M <mallory@example.com> 1700000000 +0000\n" + rest +
			"gpgsig -----BEGIN SSH SIGNATURE-----\n rubbish\n -----END SSH SIGNATURE-----\n\nx\n",
	} {
		s.r.Write("commit", text)
		tip := gitstore.ID(s.r.Run("hash-object", "-t", "commit", "-w", "--literally", "commit"))
		for _, verify := range []bool{false, true} {
			o, err := store.Authors().Origins(t.Context(), tip, "m", nil, verify, gitstore.Belief{Author: trustedAnn})
			if err != nil {
				continue // everything is withheld then
			}
			if by := o.Files["m/b"].By; len(by) != 1 || trustedAnn(by[0]) || by[0].Key != "" {
				t.Errorf("%s: %+v", name, by)
			}
			if by := o.Files["m/a"].By; len(by) != 1 || !trustedAnn(by[0]) {
				t.Errorf("%s: what ann wrote is by %+v", name, by)
			}
		}
		if _, ok := store.Authors().Straight(t.Context(), gitstore.ID(base), tip, 9, trustedAnn); ok {
			t.Errorf("%s: the short way trusts it", name)
		}
	}
}
