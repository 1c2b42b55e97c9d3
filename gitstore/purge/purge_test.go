package purge_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/remotes"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

const (
	branch  = "refs/heads/reverie/memory"
	journal = "refs/reverie/journal"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// first are the initial files of the stores in these tests.
var first = map[string]string{"README.md": "# Memory of kestrels\n", "reverie.toml": "format = 1\n"}

// cloneAt opens the clone in a folder and fills its state folder with files of every kind.
func cloneAt(t *testing.T, dir string) *purge.Clone {
	t.Helper()
	repo, err := git.Find(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	state, err := repo.State().Dir()
	if err != nil {
		t.Fatal(err)
	}
	known, err := remotes.Read(state)
	if err != nil {
		t.Fatal(err)
	}
	memory := gitstore.Open(repo, branch)
	stores := record.Stores{Memory: memory, Journal: gitstore.Open(repo, journal), Inbox: gitstore.Open(repo, "refs/reverie/inbox")}
	kinds := map[string]purge.Kind{"whole": purge.Whole, "late": purge.Whole, "names": purge.Whole, "settings": purge.Settings, "sessions": purge.Session}
	return &purge.Clone{
		Repo: repo, Memory: memory, Journal: journal, Book: record.Open(stores, state, nil), Now: func() time.Time { return noon },
		First: first, Agents: "AGENTS.md", Remotes: known,
		State: purge.State{
			Dir:     state,
			Kind:    func(path string) purge.Kind { top, _, _ := strings.Cut(path, "/"); return kinds[top] },
			Session: func(client, id string) string { return "sessions/" + client + "-" + id },
			Drop:    func(context.Context) error { return os.RemoveAll(filepath.Join(state, "derived")) },
		},
		Loops: purge.Loops{Records: "refs/reverie/loops/", Branches: "refs/heads/reverie/loop/", Kept: "refs/reverie-kept/", Dir: filepath.Join(state, "loops"),
			Held: func(context.Context, string) bool { return false }},
	}
}

// newClone has a store with some memories.
func newClone(t *testing.T, texts ...string) (*purge.Clone, *testrepo.Repo) {
	t.Helper()
	r := testrepo.New(t)
	c := cloneAt(t, r.Dir)
	if err := c.Book.Create(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		remember(t, c, text)
	}
	return c, r
}

// remember adds a memory from a Claude Code session and returns its id.
func remember(t *testing.T, c *purge.Clone, text string) string {
	t.Helper()
	m := record.New(record.Memory{Kind: record.Fact, Text: text, Source: record.Source{Time: noon, By: "claude/3", How: record.Said}})
	err := c.Book.Update(t.Context(), func(tx *record.Tx) error {
		tx.Describe(gitstore.Commit{Subject: "remember: " + text})
		return tx.PutMemory(m, nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	return m.ID
}

// purged applies and finishes a purge.
func purged(t *testing.T, c *purge.Clone, target purge.Target) (*purge.Done, []purge.Left) {
	t.Helper()
	done, err := c.Apply(t.Context(), target, "")
	if err != nil {
		t.Fatal(err)
	}
	left, err := done.Finish(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	return done, left
}

// everything returns the content of the repository: objects as git prints them, and the files of
// the state folder.
func everything(t *testing.T, c *purge.Clone, r *testrepo.Repo) string {
	t.Helper()
	all := r.Run("cat-file", "--batch-all-objects", "--batch")
	for _, dir := range []string{c.State.Dir, filepath.Join(c.Repo.CommonDir, "logs")} {
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				data, err := os.ReadFile(path)
				all += path + string(data)
				return err
			}
			return err
		})
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	return all
}

// A statement whose every version held the text cannot be written again; one with a clean version
// loses only the others.
func TestPurgedStatementCannotReturn(t *testing.T) {
	const first, second = "Deploys of the shop start from the box called falcon", "Logs of the shop are kept on the box called falcon"
	c, _ := newClone(t, first, second, "We write tests first")
	clean := "Logs of the shop are kept elsewhere"
	err := c.Book.Update(t.Context(), func(tx *record.Tx) error {
		m, ok := tx.Same(second)
		if !ok {
			t.Fatal("no memory")
		}
		was := m
		m.Text = clean
		tx.Describe(gitstore.Commit{Subject: "edit: say less"})
		return tx.PutMemory(m, &was)
	})
	if err != nil {
		t.Fatal(err)
	}
	purged(t, c, purge.Text("falcon"))
	err = c.Book.Update(t.Context(), func(tx *record.Tx) error {
		tx.Describe(gitstore.Commit{Subject: "remember: it"})
		return tx.PutMemory(record.New(record.Memory{Kind: record.Fact, Text: first, Source: record.Source{Time: noon.Add(time.Hour), By: "claude/4", How: record.Said}}), nil)
	})
	if !errors.Is(err, record.ErrPurged) {
		t.Errorf("the same statement from another session: %v", err)
	}
	err = c.Book.View(t.Context(), func(v *record.View) error {
		if m, ok := v.Same(clean); !ok || m.ID != record.New(record.Memory{Text: second}).ID {
			t.Errorf("the clean text is gone: %+v", v.Memories())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func places(left []purge.Left) (out []purge.Place) {
	for _, l := range left {
		out = append(out, l.Place)
	}
	return out
}

func TestTextIsTakenOutOfAllThatIsOurs(t *testing.T) {
	c, r := newClone(t, "The box is called falcon", "We write tests first")
	r.Run("update-ref", "refs/reverie/backup/1", branch)
	at := testrepo.At(t, c.State.Dir)
	at.Write("plain", "one\nthe falcon\nthree\n")
	at.Write("whole/1", "falcon")
	at.Write("names", "memories/1f/1f-the-box-is-called-fal.md")
	at.Write("derived/1", "falcon")
	at.Write("sessions/claude-1", `{"text":"the falcon is down"}`+"\n")
	at.Write("sessions/claude-2", `{"text":"the gate is open"}`+"\n")
	p, err := c.Plan(t.Context(), purge.Text("falcon"))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Check(); err != nil || p.Empty() {
		t.Errorf("empty %v, error %v", p.Empty(), err)
	}
	found, err := p.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Memories) != 1 || found.Memories[0].N != 1 || found.Messages != 1 || found.Nothing {
		t.Errorf("found %+v", found)
	}
	if got, want := found.Refs, []string{"refs/reverie/backup/1", branch}; !slices.Equal(got, want) {
		t.Errorf("refs %q, want %q", got, want)
	}
	if got, want := found.Sessions, []string{"claude-1"}; !slices.Equal(got, want) {
		t.Errorf("sessions %q, want %q", got, want)
	}
	if got, want := found.State, []string{"derived/1", "plain", "whole/1"}; !slices.Equal(got, want) {
		t.Errorf("state %q, want %q", got, want)
	}
	var once sync.Once
	c.State.Drop = func(context.Context) error { // a concurrent write
		once.Do(func() { at.Write("late", "falcon") })
		return os.RemoveAll(filepath.Join(c.State.Dir, "derived"))
	}
	mark := purge.Mark(c.State.Dir)
	done, left := purged(t, c, purge.Text("falcon"))
	if !done.Complete || len(done.Records) != 1 {
		t.Errorf("complete %v, records %q", done.Complete, done.Records)
	}
	if purge.Since(c.State.Dir, mark) == nil {
		t.Error("the mark is the same")
	}
	if got, want := places(left), []purge.Place{purge.Elsewhere}; !slices.Equal(got, want) {
		t.Errorf("left in %q, want %q", got, want)
	}
	if all := everything(t, c, r); strings.Contains(all, "falcon") || strings.Contains(all, "called-fal") {
		t.Error("it is still there")
	} else if !strings.Contains(all, "We write tests first") || !strings.Contains(all, "one\nthe [purged]\nthree") || !strings.Contains(all, "the gate is open") {
		t.Error("more went than the text")
	}
	again, err := c.Plan(t.Context(), purge.Text("falcon"))
	if err != nil {
		t.Fatal(err)
	}
	if found, err := again.Find(t.Context()); err != nil || !found.Nothing || len(found.Refs) > 0 {
		t.Errorf("there is more to do: %+v, %v", found, err)
	}
	r.Run("fsck", "--strict")
}

func TestMemoryIsTakenOutByItsID(t *testing.T) {
	c, r := newClone(t, "The falcon nests in the old tower")
	id := remember(t, c, "The old tower is closed")
	at := testrepo.At(t, c.State.Dir)
	at.Write("sessions/claude-3", `{"text":"nobody gets in there any more"}`+"\n")
	at.Write("settings", "note = \"The old tower is closed\"\n")
	p, err := c.Plan(t.Context(), purge.Memory(id))
	if err != nil {
		t.Fatal(err)
	}
	if !p.Tells("because The old tower is closed") || p.Tells("because it is wrong") {
		t.Error("what the memory said is not known to the plan")
	}
	found, err := p.Find(t.Context())
	if err != nil || !slices.Equal(found.Sessions, []string{"claude-3"}) || !slices.Contains(found.Left, purge.Left{Place: purge.InSettings, Name: "settings"}) {
		t.Errorf("found %+v, %v", found, err)
	}
	purged(t, c, purge.Memory(id))
	if _, err := os.Stat(filepath.Join(c.State.Dir, "sessions", "claude-3")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the session that it was learned from: %v", err)
	}
	if err := os.Remove(filepath.Join(c.State.Dir, "settings")); err != nil {
		t.Errorf("a person's settings: %v", err)
	}
	if all := everything(t, c, r); strings.Contains(all, "The old tower is closed") || !strings.Contains(all, "The falcon nests in the old tower") {
		t.Errorf("it is still there, or the other one is not:\n%s", all)
	}
}

func TestTextOfEveryMemoryIsTold(t *testing.T) {
	c, _ := newClone(t, "A falcon flies", "The falcon is small")
	for text, want := range map[string]int{"falcon": 2, "flies": 0} {
		p, err := c.Plan(t.Context(), purge.Text(text))
		if err != nil {
			t.Fatal(err)
		}
		if n, err := p.EveryMemory(t.Context()); err != nil || n != want {
			t.Errorf("%s: %d, %v, want %d", text, n, err, want)
		}
	}
}

func TestSettingsOfTheBranchAreNotTakenAway(t *testing.T) {
	c, r := newClone(t, "The box is called falcon")
	_, err := c.Memory.Update(t.Context(), gitstore.Commit{Subject: "set"}, func(tx *gitstore.Tx) error {
		text, _ := (*redact.Scanner)(nil).Text("format = 1\n# ask the falcon\n")
		return tx.Write("reverie.toml", text)
	})
	if err != nil {
		t.Fatal(err)
	}
	tip := r.Run("rev-parse", branch)
	_, err = c.Apply(t.Context(), purge.Text("falcon"), "")
	if why := new(purge.Refused); !errors.As(err, &why) || why.Why != purge.HoldsSettings || why.Name != "reverie/memory" {
		t.Errorf("the error is %v", err)
	}
	if now := r.Run("rev-parse", branch); now != tip {
		t.Error("the branch moved")
	}
}

// One of two clones purges, and the other follows to the same ids. A third that adds to the old
// history is merged without the target.
func TestClonesFollow(t *testing.T) {
	c, r := newClone(t, "The box is called falcon", "We write tests first")
	root := t.TempDir()
	copyOf := func(name string) (*purge.Clone, *testrepo.Repo) {
		dir := filepath.Join(root, name)
		testrepo.At(t, root).Run("clone", "-q", r.Dir, dir)
		at := testrepo.At(t, dir)
		at.Run("branch", "-q", "reverie/memory", "origin/reverie/memory")
		return cloneAt(t, dir), at
	}
	other, there := copyOf("other")
	stale, old := copyOf("stale")
	remember(t, stale, "The gate is open")
	done, _ := purged(t, c, purge.Text("falcon"))

	there.Run("fetch", "-q", r.Dir, branch+":refs/reverie/remotes/origin/new/memory")
	theirs := gitstore.ID(there.Run("rev-parse", "refs/reverie/remotes/origin/new/memory"))
	f, err := other.Follow(t.Context(), other.Memory, theirs)
	if err != nil || f == nil || f.Records != len(done.Records) {
		t.Fatalf("%+v, %v", f, err)
	}
	found, err := f.Find(t.Context())
	if err != nil || !slices.Equal(found.Refs, []string{branch}) {
		t.Errorf("found %+v, %v", found, err)
	}
	if len(found.Memories) != 1 || found.Memories[0].Newest.Text != "The box is called falcon" {
		t.Errorf("memories %+v", found.Memories)
	}
	followed, err := f.Apply(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	left, err := followed.Finish(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(left, purge.Left{Place: purge.InRef, Name: "refs/remotes/origin/reverie/memory", Followed: true}) {
		t.Errorf("left %+v", left)
	}
	if to := followed.New[theirs]; to != theirs {
		t.Errorf("theirs became %s", to)
	}
	if base := there.Run("merge-base", branch, string(theirs)); base != there.Run("rev-parse", branch) {
		t.Error("the same history was rewritten to other ids")
	}

	r.Run("fetch", "-q", old.Dir, branch+":refs/reverie/remotes/stale/new/memory")
	theirs = gitstore.ID(r.Run("rev-parse", "refs/reverie/remotes/stale/new/memory"))
	if f, err = c.Follow(t.Context(), c.Memory, theirs); err != nil || f == nil || f.Records != 0 {
		t.Fatalf("%+v, %v", f, err)
	}
	if done, err = f.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := done.Finish(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	to := done.New[theirs]
	if list := r.Run("log", "-p", string(to)); strings.Contains(list, "falcon") || !strings.Contains(list, "The gate is open") {
		t.Errorf("what may be merged: %s", list)
	}
	if f, err := c.Follow(t.Context(), c.Memory, to); f != nil || err != nil {
		t.Errorf("of what may be merged: %+v, %v", f, err)
	}
}

func TestPushReplacesOnlyWhatIsAllHere(t *testing.T) {
	c, r := newClone(t, "The box is called falcon")
	bare := filepath.Join(t.TempDir(), "bare.git")
	testrepo.Init(t, bare, "--bare")
	r.Run("remote", "add", "origin", bare)
	r.Run("push", "-q", "origin", branch, branch+":refs/heads/reverie/proposal/1")
	purged(t, c, purge.Text("falcon"))
	remote, err := c.Repo.Remote(t.Context(), "origin", "reverie/memory")
	if err != nil {
		t.Fatal(err)
	}
	hub := testrepo.At(t, bare)
	more := hub.Run("-c", "user.name=a", "-c", "user.email=a@example.org", "commit-tree", "-m", "more", "-p", branch, branch+"^{tree}")
	before := hub.Run("rev-parse", branch)
	hub.Run("update-ref", branch, more)
	_, err = c.Push(t.Context(), remote)
	if why := new(purge.Refused); !errors.As(err, &why) || why.Why != purge.RemoteAhead || hub.Run("rev-parse", branch) != more {
		t.Errorf("the error is %v", err)
	}
	hub.Run("update-ref", branch, before)
	done, err := c.Push(t.Context(), remote)
	if err != nil || len(done.Lanes) != 1 || !done.Lanes[0].Replaced || hub.Run("rev-parse", branch) != r.Run("rev-parse", branch) {
		t.Errorf("%+v, %v", done, err)
	}
	if want := []purge.Left{{Place: purge.InRemoteBranch, Name: "reverie/proposal/1", Of: "origin"}}; !slices.Equal(done.Left, want) {
		t.Errorf("left %+v, want %+v", done.Left, want)
	}
	if done, err = c.Push(t.Context(), remote); err != nil || len(done.Lanes) != 1 || !done.Lanes[0].Current {
		t.Errorf("again: %+v, %v", done, err)
	}
}

func TestProposalsOnRewrittenHistoryAreDropped(t *testing.T) {
	known, err := remotes.Read(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i, base := range []gitstore.ID{"old", "same", "unknown"} {
		known.At("origin").Proposals = append(known.At("origin").Proposals, remotes.Proposal{Branch: fmt.Sprint("p", i), Commit: gitstore.ID(fmt.Sprint("c", i)), Base: base})
	}
	left, err := purge.DropProposals(known, map[gitstore.ID]gitstore.ID{"old": "new", "same": "same"})
	if want := []purge.Left{{Place: purge.InProposal, Name: "p0", Of: "origin"}}; err != nil || !slices.Equal(left, want) {
		t.Errorf("%+v, %v, want %+v", left, err, want)
	}
	if n := len(known.At("origin").Proposals); n != 2 {
		t.Errorf("%d are left", n)
	}
}

// A commit-graph that names purged commits is damaged for git. It is removed, whether in one file
// or in layers. A graph without them stays, as does that of an alternate.
func TestPurgeLeavesNoStaleCommitGraph(t *testing.T) {
	for _, c := range []struct {
		name  string
		write [][]string // by git, the graph
		stays bool
	}{
		{"one file", [][]string{{"commit-graph", "write", "--reachable"}}, false},
		{"one layer", [][]string{{"commit-graph", "write", "--reachable", "--split"}}, false},
		{"layers", [][]string{{"commit-graph", "write", "--reachable", "--split"}, {"commit", "-q", "--allow-empty", "-m", "more"},
			{"commit-graph", "write", "--reachable", "--split=no-merge"}}, false},
		{"with filters of paths", [][]string{{"commit-graph", "write", "--reachable", "--changed-paths"}}, false},
		{"of the code alone", [][]string{{"commit-graph", "write", "--stdin-commits"}}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, r := newClone(t, "Nothing about birds", "The kestrel is the key", "Something else")
			for _, args := range c.write {
				if args[len(args)-1] == "--stdin-commits" {
					cmd := exec.Command("git", args...)
					cmd.Dir, cmd.Stdin = r.Dir, strings.NewReader(r.Run("rev-parse", "HEAD")+"\n")
					if out, err := cmd.CombinedOutput(); err != nil {
						t.Fatalf("%v: %s", err, out)
					}
					continue
				}
				r.Run(args...)
			}
			info := filepath.Join(r.Dir, ".git", "objects", "info")
			graphs := func() int {
				one, _ := filepath.Glob(filepath.Join(info, "commit-graph"))
				more, _ := filepath.Glob(filepath.Join(info, "commit-graphs", "*"))
				return len(one) + len(more)
			}
			if graphs() == 0 {
				t.Fatal("git wrote no commit-graph")
			}
			done, err := p.Apply(t.Context(), purge.Text("kestrel"), "")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := done.Finish(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
			r.Run("fsck", "--strict")
			if (graphs() > 0) != c.stays {
				t.Errorf("%d files of the commit-graph are there, should they: %t", graphs(), c.stays)
			}
			r.Run("commit-graph", "write", "--reachable")
			r.Run("commit-graph", "verify")
		})
	}
}

// A git that read the refs before a purge moved them writes its commit-graph after it. Later
// commands remove that graph, for an hour.
func TestTidyRemovesALateCommitGraph(t *testing.T) {
	p, r := newClone(t, "Nothing about birds", "The kestrel is the key", "Something else")
	graph := filepath.Join(r.Dir, ".git", "objects", "info", "commit-graph")
	r.Run("commit-graph", "write", "--reachable")
	late, err := os.ReadFile(graph)
	if err != nil {
		t.Fatal(err)
	}
	done, err := p.Apply(t.Context(), purge.Text("kestrel"), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := done.Finish(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	tidy := func(now time.Time) bool {
		t.Helper()
		if err := os.WriteFile(graph, late, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := purge.Tidy(p.Repo, p.State.Dir, now); err != nil {
			t.Fatal(err)
		}
		_, err := os.Stat(graph)
		return errors.Is(err, fs.ErrNotExist)
	}
	if !tidy(time.Now()) {
		t.Error("the graph that names what went is there")
	}
	r.Run("fsck", "--strict")
	if !tidy(time.Now().Add(2 * time.Hour)) {
		t.Error("after two hours it is not looked at once more")
	}
	if tidy(time.Now()) {
		t.Error("the ids are kept for ever")
	}
}

// Copies of the last writes survive a purge, without the target.
func TestPurgeTakesItOutOfWhatIsKept(t *testing.T) {
	p, r := newClone(t, "Nothing about birds", "The kestrel is the key", "Something else")
	dir := filepath.Join(r.Dir, ".git", "reverie", git.RecentDir)
	kept := func() string {
		var all []byte
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, data...)
		}
		return string(all)
	}
	if !strings.Contains(kept(), "The kestrel is") {
		t.Fatal("nothing was kept")
	}
	done, err := p.Apply(t.Context(), purge.Text("kestrel"), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := done.Finish(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if now := kept(); strings.Contains(now, "The kestrel is") || !strings.Contains(now, "Something else") {
		t.Errorf("kept after the purge: %q", now)
	}
}
