package cmd

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// later runs the command so many days from now, and returns what it said on either stream.
func later(t *testing.T, dir string, days int, args ...string) string {
	t.Helper()
	var said bytes.Buffer
	env := &Env{Terminal: term.Terminal{In: strings.NewReader(""), Out: &said, Err: &said, Width: 80}, Now: func() time.Time { return time.Now().Add(time.Duration(days) * 24 * time.Hour) }}
	if code := Run(context.Background(), env, append([]string{"reverie", "-C", dir}, args...)); code != 0 {
		t.Fatalf("%d days from now, %v: exit code %d\n%s", days, args, code, &said)
	}
	return said.String()
}

// A branch that neither lands nor moves for long is asked about, once; one that moves is not.
func TestBranchThatWasGivenUpIsAskedAbout(t *testing.T) {
	r := testrepo.New(t)
	r.Run("switch", "-qc", "slow")
	r.Write("slow.txt", "slow\n")
	r.Commit("slow")
	reverie(t, r.Dir, "remember", "Slow things are slow")
	if got := later(t, r.Dir, 80, "dream"); strings.Contains(got, "review") {
		t.Errorf("after 80 days: %s", got)
	}
	if got := later(t, r.Dir, 100, "dream"); !strings.Contains(got, "1 statement of a deleted or abandoned side branch") {
		t.Errorf("after 100 days: %s", got)
	}
	if got := later(t, r.Dir, 101, "dream"); strings.Contains(got, "statement") {
		t.Errorf("again: %s", got)
	}
	got := later(t, r.Dir, 101, "review")
	if !strings.Contains(got, "because: the branch slow did not land and did not move in 90 days") || !strings.Contains(got, "edit note") {
		t.Error(got)
	}
	later(t, r.Dir, 101, "accept", "--all")
	r.Run("switch", "-q", "main")
	if got := reverie(t, r.Dir, "list"); strings.Contains(got, "only on") {
		t.Error(got)
	}
}

// A person may say that something holds on a branch which has nothing of its own yet, and it does
// when that lands.
func TestBranchNamedByHand(t *testing.T) {
	r := testrepo.New(t)
	r.Run("branch", "release")
	reverie(t, r.Dir, "remember", "--branch", "release", "No new features")
	if got := reverie(t, r.Dir, "list"); !strings.Contains(got, "only on release") {
		t.Error(got)
	}
	r.Run("switch", "-q", "release")
	if got := reverie(t, r.Dir, "list"); strings.Contains(got, "only on") {
		t.Error(got)
	}
	r.Run("switch", "-q", "main")
	r.Run("branch", "-D", "release")
	if got := reverie(t, r.Dir, "dream"); got != "" {
		t.Error(got)
	}
	if got := reverie(t, r.Dir, "review"); got != "" { // its branch is unknown
		t.Error(got)
	}
}

// said is a session in which a person says something for good, on a branch.
func said(t *testing.T, session, branch, words string) string {
	t.Helper()
	at := time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)
	return saidBetween(t, session, branch, words, at, at)
}

// saidBetween is said with the session's beginning and end.
func saidBetween(t *testing.T, session, branch, words string, began, ended time.Time) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "s.jsonl")
	line := ""
	for i, at := range []time.Time{began, ended} {
		line += fmt.Sprintf(`{"type":"user","uuid":"u%d","sessionId":%q,"timestamp":%q,"cwd":"/src/demo","gitBranch":%q,"message":{"role":"user","content":%q}}`+"\n",
			i, session, at.UTC().Format(time.RFC3339), branch, []string{words, "Thanks."}[i])
	}
	if err := os.WriteFile(file, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A session that began on a side branch taught about that, wherever HEAD is when it is learned
// from.
func TestSessionsBranchCounts(t *testing.T) {
	r := testrepo.New(t)
	r.Run("switch", "-qc", "topic")
	r.Write("t.txt", "t\n")
	r.Commit("t")
	r.Run("switch", "-q", "main")
	got := reverie(t, r.Dir, "learn", said(t, "5f0c1e2a-0000-4000-8000-000000000001", "topic", "From now on always run the slow checks too, never only the fast ones."))
	if !strings.Contains(got, "on topic until it lands") {
		t.Errorf("on the side branch: %s", got)
	}
	got = reverie(t, r.Dir, "learn", said(t, "5f0c1e2a-0000-4000-8000-000000000002", "main", "From now on always write release notes in English."))
	if got == "" || strings.Contains(got, "until it lands") {
		t.Errorf("on main: %s", got)
	}
	r.Run("switch", "-q", "topic")
	r.Run("commit", "-q", "--amend", "--no-edit", "--date", "2026-11-01T10:00:00Z")
	for i, s := range []struct {
		began, ended time.Duration // from the branch's commit, which was amended later
		branch, text string
		bound        bool
	}{
		{-time.Hour, time.Hour, "main", "From now on always pin the versions of tools, never float them.", true},
		{-time.Hour, time.Hour, "nosuch", "From now on never squash merge commits by hand.", true},
		{-2 * time.Hour, -time.Hour, "main", "From now on always write tests for parsers first.", false},
		{time.Hour, 2 * time.Hour, "main", "From now on always keep the changelog sorted by date.", false},
		{time.Hour, 2 * time.Hour, "", "From now on always name benchmarks after their package.", true},
		{-2 * time.Hour, -time.Hour, "", "From now on never log whole requests.", false},
	} {
		at, err := time.Parse(time.RFC3339, r.Run("log", "-1", "--format=%aI", "topic"))
		if err != nil {
			t.Fatal(err)
		}
		file := saidBetween(t, fmt.Sprintf("5f0c1e2a-0000-4000-8000-%012d", 10+i), s.branch, s.text, at.Add(s.began), at.Add(s.ended))
		if got = reverie(t, r.Dir, "learn", file); got == "" || strings.Contains(got, "on topic until it lands") != s.bound {
			t.Errorf("on %q, from %v to %v: %s", s.branch, s.began, s.ended, got)
		}
	}
}

// A statement said again on the default branch is proposed to hold there too.
func TestSaidAgainOnTheDefaultBranch(t *testing.T) {
	r := testrepo.New(t)
	r.Run("switch", "-qc", "topic")
	r.Write("t.txt", "t\n")
	r.Commit("t")
	const words = "From now on always run the slow checks too, never only the fast ones."
	reverie(t, r.Dir, "learn", said(t, "5f0c1e2a-0000-4000-8000-000000000001", "topic", words))
	reverie(t, r.Dir, "learn", said(t, "5f0c1e2a-0000-4000-8000-000000000002", "topic", words))
	r.Run("switch", "-q", "main")
	if got := reverie(t, r.Dir, "review"); got != "" {
		t.Errorf("said twice on the side branch: %s", got)
	}
	reverie(t, r.Dir, "learn", said(t, "5f0c1e2a-0000-4000-8000-000000000003", "main", words))
	if got := reverie(t, r.Dir, "review"); !strings.Contains(got, "because: a session on the default branch says it too") {
		t.Errorf("said on main: %q", got)
	}
	reverie(t, r.Dir, "accept", "--all")
	if got := reverie(t, r.Dir, "list"); strings.Contains(got, "only on") || !strings.Contains(got, "slow checks") {
		t.Error(got)
	}
}

// strange is a stranger's memory that claims to hold on a side branch.
func strange(id, branch, text string) (path, content string) {
	return "memories/00/" + id + ".md", fmt.Sprintf("+++\nkind = \"fact\"\nid = %q\nstatus = \"active\"\nsource = \"2026-01-01T00:00:00Z human - written\"\npaths = []\nref = \"\"\ntags = []\nbranch = %q\n+++\n%s\n", id, branch, text)
}

// A stranger's memory stays withheld wherever the named commits are: upkeep neither commits it, nor
// proposes it, nor widens its scope.
func TestUpkeepDoesNotLaunder(t *testing.T) {
	const words = "From now on always run the slow checks too, never only the fast ones."
	r := newRepo(t)
	main := r.Run("rev-parse", "HEAD")[:16]
	r.Run("switch", "-qc", "dead")
	r.Write("dead.txt", "dead\n")
	dead := r.Commit("dead")[:16]
	r.Run("switch", "-q", "main")
	r.Run("branch", "-qD", "dead")
	for i, m := range [][2]string{{"feature " + main + " " + main + " " + main, "Landed nonsense"}, {"dead " + dead + " " + main + " " + main, "Dead nonsense"}, {"away", "Always run the slow checks too, never only the fast ones."}} {
		path, text := strange(fmt.Sprintf("%016x", i), m[0], m[1])
		stranger(t, r, "refs/heads/reverie/memory", path, text)
	}
	before := r.Run("ls-tree", "-r", "reverie/memory", "memories")
	said := reverie(t, r.Dir, "learn", said(t, "5f0c1e2a-0000-4000-8000-000000000001", "main", words)) + later(t, r.Dir, 100, "dream") + reverie(t, r.Dir, "review")
	if strings.Contains(said, "branch") || strings.Contains(said, "everywhere") {
		t.Error(said)
	}
	if after := r.Run("ls-tree", "-r", "reverie/memory", "memories"); after != before {
		t.Errorf("rewritten:\n%s\nwas\n%s", after, before)
	}
	if got := reverie(t, r.Dir, "render", "memory-md"); strings.Contains(got, "nonsense") {
		t.Error(got)
	}
	// An approved memory lands.
	reverie(t, r.Dir, "trust", "approve", "--all")
	if got := later(t, r.Dir, 100, "dream"); !strings.Contains(got, "landed   1 statement") || !strings.Contains(got, "1 statement of a deleted or abandoned side branch") {
		t.Errorf("after approval: %s", got)
	}
}

// maxSides bounds the unknown side branches that one command looks into.
const maxSides = 64

// Branch values of strangers cost a bounded time and are held back.
func TestManyStrangeBranchesAreBounded(t *testing.T) {
	r := newRepo(t)
	tree := filepath.Join(t.TempDir(), "tree")
	r.Run("worktree", "add", "-q", tree, "reverie/memory")
	w := testrepo.At(t, tree)
	head := r.Run("rev-parse", "HEAD")[:16]
	for i := range 3 * maxSides {
		id := fmt.Sprintf("%016x", i)
		name := "x" + fmt.Sprint(i)
		if i%3 == 0 {
			name = "--upload-pack=touch"
		}
		w.Write("memories/00/"+id+".md", fmt.Sprintf("+++\nkind = \"fact\"\nid = %q\nstatus = \"active\"\nsource = \"2026-01-01T00:00:00Z human - written\"\npaths = []\nref = \"\"\ntags = []\nbranch = \"%s %s %s %016x\"\nanchors = [%q]\n+++\nText %d\n", id, name, fmt.Sprintf("%016x", i+1), head, i, `../../etc/passwd@0123456 "root"`, i))
	}
	w.Commit("strange")
	got := reverie(t, r.Dir, "list")
	if n := strings.Count(got, "(only on "); n != 3*maxSides || strings.Contains(got, "stale") {
		t.Errorf("%d of %d are held back", n, 3*maxSides)
	}
}
