package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	row "github.com/reverie-memory/reverie/bench/figure"
	"github.com/reverie-memory/reverie/bench/lab"
)

func newMatch(t *testing.T) (*match, func() map[string]row.Figure) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("HOME", filepath.Join(dir, "home"))
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(dir, "gitconfig"))
	if err := os.WriteFile(filepath.Join(dir, "gitconfig"), []byte("[user]\nname = T\nemail = t@example.org\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	return &match{&bench{runner: runner{dir: dir, rounds: 2}, json: true, out: &out}, "Peer v1"}, func() map[string]row.Figure {
		all, err := lab.Lines[row.Figure](&out)
		if err != nil {
			t.Fatal(err)
		}
		byName := map[string]row.Figure{}
		for _, f := range all {
			byName[f.Name] = f
		}
		return byName
	}
}

func TestProgramIsMissing(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var p program
	for _, path := range []string{filepath.Join(dir, "none"), dir, text} {
		if err := p.choose(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.choose(self); err != nil || p.path != self {
		t.Errorf("%s, %v", p.path, err)
	}
	if got := version(text); got != "of unknown version" {
		t.Error(got)
	}
}

// Our stub writes to .git and the home folder, and undoes both. The peer's writes to all places and
// to git's objects, and forgets a file, a line and a mode.
func TestFootprintsOfTwoPrograms(t *testing.T) {
	m, figures := newMatch(t)
	sh := func(script string) []string { return []string{"sh", "-ec", script} }
	m.footprints([][]string{
		sh(`mkdir .git/ours "$HOME/new"; echo a >.git/ours/a; echo b >.git/ours/b; echo c >"$HOME/new/c"`),
		sh(`echo x >.git/peer; echo >>.claude/settings.json; echo o >.git/objects/o; chmod 644 .git/hooks/post-commit; rm "$HOME/.claude/settings.json"`),
	}, [][]string{sh(`rm -r .git/ours "$HOME/new"`), sh(`rm .git/peer .git/objects/o`)})
	got := figures()
	for name, want := range map[string]struct {
		value  float64
		behind bool
		beside string
	}{
		"files that installing adds or changes in .git":            {2, false, "ours 2 (ours/a, ours/b), theirs 2 (hooks/post-commit, peer)"},
		"files that installing adds or changes in the work tree":   {0, false, "ours 0, theirs 1 (.claude/settings.json)"},
		"files that installing adds or changes in the home folder": {1, false, "ours 1 (new/c), theirs 1 (.claude/settings.json)"},
		"files not as before after uninstalling in .git":           {0, false, "ours 0, theirs 1 (hooks/post-commit)"},
		"files not as before after uninstalling in the work tree":  {0, false, "ours 0, theirs 1 (.claude/settings.json)"},
	} {
		if f, ok := got[name]; !ok || f.Value != want.value || f.Behind != want.behind || f.Beside != want.beside || f.Set != "Peer v1" {
			t.Errorf("%s: %+v", name, f)
		}
	}
	m.count("more", []string{"a", "b", "c", "d"}, nil)
	if f := figures()["more"]; !f.Behind || f.Beside != "ours 4 (a, b, c, …), theirs 0" {
		t.Errorf("%+v", f)
	}
}

func TestPeerIsBetterBeyondChance(t *testing.T) {
	m, figures := newMatch(t)
	m.versus("slower", row.Timing{Duration: 20, Low: 11, High: 30, N: 9}, row.Timing{Duration: 5, Low: 4, High: 10, N: 9})
	m.versus("by chance", row.Timing{Duration: 20, Low: 9, High: 30, N: 9}, row.Timing{Duration: 5, Low: 4, High: 10, N: 9})
	m.versus("few", row.Timing{Duration: 20, Low: 11, High: 30, N: 5}, row.Timing{Duration: 5, Low: 4, High: 10, N: 9})
	got := figures()
	if f := got["slower"]; !f.Behind || f.Value != 4 || f.Range == nil || f.Range.Low != 1.1 {
		t.Errorf("%+v", f)
	}
	if got["by chance"].Behind || got["few"].Behind || len(got) != 3 {
		t.Errorf("%+v", got)
	}
}

// git-bug names a bug by the hash of its first operation.
func TestBugsAreRefs(t *testing.T) {
	m, _ := newMatch(t)
	dir := m.repo("bugs")
	m.once(dir, bugs("someone", 3), "git", "fast-import", "--quiet")
	refs := strings.Fields(m.output(dir, "git", "for-each-ref", "--format=%(refname)", "refs/bugs/"))
	if len(refs) != 3 {
		t.Fatal(refs)
	}
	for _, ref := range refs {
		ops := m.output(dir, "git", "cat-file", "-p", ref+":ops")
		_, op, _ := strings.Cut(ops, `"ops":[`)
		if want := fmt.Sprintf("refs/bugs/%x", sha256.Sum256([]byte(strings.TrimSuffix(op, "]}")))); ref != want {
			t.Errorf("%s, want %s", ref, want)
		}
	}
}
