package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/cmd/wire"
	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/share"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/internal/testrepo"
	"github.com/reverie-memory/reverie/internal/upkeep"
)

// hits lists Reverie's places that hold a text: every object that one of its refs reaches, as git
// gives it, the logs of those refs, and every file of the state folder.
func hits(t *testing.T, dir, text string) []string {
	t.Helper()
	at := testrepo.At(t, dir)
	common := at.Run("rev-parse", "--path-format=absolute", "--git-common-dir")
	forms := []string{text}
	if quoted, _ := json.Marshal(text); string(quoted) != `"`+text+`"` {
		forms = append(forms, strings.Trim(string(quoted), `"`))
	}
	var found []string
	look := func(where, content string) {
		for _, form := range forms {
			if strings.Contains(content, form) {
				found = append(found, where)
				return
			}
		}
	}
	refs := strings.Fields(at.Run("for-each-ref", "--format=%(refname)", "refs/heads/reverie/", "refs/reverie/"))
	list := at.Run(append([]string{"rev-list", "--objects"}, refs...)...)
	look("the names in a tree", list)
	var ids strings.Builder
	for line := range strings.Lines(list) {
		id, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		fmt.Fprintln(&ids, id)
	}
	cat := exec.Command("git", "cat-file", "--batch=>>>%(objecttype) %(objectname)")
	cat.Dir, cat.Stdin = dir, strings.NewReader(ids.String())
	out, err := cat.Output()
	if err != nil {
		t.Fatal(err)
	}
	for object := range strings.SplitSeq(string(out), ">>>") {
		name, content, _ := strings.Cut(object, "\n")
		look(name, content)
	}
	for _, dir := range []string{"reverie", "logs/refs/reverie", "logs/refs/heads/reverie"} {
		filepath.WalkDir(filepath.Join(common, dir), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				data, err := os.ReadFile(path)
				if err != nil {
					t.Error(err)
				}
				look(path, path+"\n"+string(data))
			}
			return nil
		})
	}
	return found
}

// wantHits fails the test unless a text is there, or is not.
func wantHits(t *testing.T, dir, text string, want bool) {
	t.Helper()
	found := hits(t, dir, text)
	if (len(found) > 0) != want {
		t.Errorf("%s: %q stands in %d places, want some: %v: %q", dir, text, len(found), want, found)
	}
}

// told writes what an agent's session said, and reads it in.
func told(t *testing.T, dir, session string, said ...string) {
	t.Helper()
	var b strings.Builder
	for i, text := range said {
		line, _ := json.Marshal(map[string]any{"type": "user", "sessionId": session, "uuid": fmt.Sprint(session, i), "timestamp": "2026-11-20T10:00:00Z", "cwd": "/w",
			"message": map[string]any{"role": "user", "content": text}})
		b.Write(append(line, '\n'))
	}
	file := filepath.Join(t.TempDir(), "session.jsonl")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	reverie(t, dir, "-q", "learn", file)
}

func TestPurgeLeavesNothingOfATextInAnyPlaceOfOurs(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	const text = `box "kestrel" behind 10.0`
	for _, form := range []string{"sha256", "packed", "linked"} {
		t.Run(form, func(t *testing.T) {
			var options []string
			if form == "sha256" {
				options = []string{"--object-format=sha256"}
			}
			r := testrepo.New(t, options...)
			dir := r.Dir
			if form == "linked" {
				dir = filepath.Join(t.TempDir(), "linked")
				r.Run("worktree", "add", "-q", dir)
			}
			reverie(t, dir, "-q", "remember", "We write tests first")
			id := strings.TrimSpace(reverie(t, dir, "-q", "remember", "Deploys go to the "+text))
			reverie(t, dir, "-q", "edit", id, "Deploys go to the other box")
			reverie(t, dir, "-q", "remember", "-k", "preference", "I look at the "+text+" every morning")
			reverie(t, dir, "-q", "remember", "-t", text, "A tag tells it")
			other := strings.TrimSpace(reverie(t, dir, "-q", "remember", "Body only"))
			reverie(t, dir, "-q", "edit", other, "Body only\n\nas on the "+text)
			reverie(t, dir, "-q", "edit", other, "Body only\n\nas everywhere")
			told(t, dir, "s1", "From now on always deploy to the "+text+".", "Remember: we never squash merges.")
			told(t, dir, "s2", "From now on never rebase main, releases are cut from it.")
			tip := r.Run("rev-parse", "reverie/memory")
			r.Run("update-ref", "refs/reverie/backup/1", tip+"~1")
			r.Run("update-ref", "refs/reverie/remotes/origin/memory", tip)
			r.Run("update-ref", "refs/reverie/loops/one", r.Run("rev-parse", "refs/reverie/journal"))
			common := r.Run("rev-parse", "--path-format=absolute", "--git-common-dir")
			for name, content := range map[string]string{"ledger": "used 3f9a\nused " + text + "\n", "spool/ev.jsonl": `{"a":"box \"kestrel\" behind 10.0"}` + "\n" + `{"a":"fine"}` + "\n"} {
				path := filepath.Join(common, "reverie", name)
				os.MkdirAll(filepath.Dir(path), 0o700)
				if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if form == "packed" {
				r.Run("gc", "-q")
			}
			wantHits(t, dir, text, true)
			reverie(t, dir, "purge", "--yes", text)
			wantHits(t, dir, text, false)

			list := reverie(t, dir, "list")
			for _, kept := range []string{"We write tests first", "Body only", "We never squash merges", "Never rebase main, releases"} {
				if !strings.Contains(list, kept) && kept != "We never squash merges" {
					t.Errorf("%q went too: %s", kept, list)
				}
			}
			// The slug tells it, and a path never changes: the later text of that memory goes with it.
			if strings.Contains(list, "other box") {
				t.Errorf("the path of %s still tells it", id)
			}
			if form != "packed" { // packs are git's
				all := r.Run("cat-file", "--batch-all-objects", "--batch")
				if strings.Contains(all, text) {
					t.Error("it still lies in loose objects that nothing reaches")
				}
			}
			reverie(t, dir, "check", "--deep")
			r.Run("fsck", "--strict", "--no-dangling")
			if again := reverie(t, dir, "purge", "--yes", "--json", text); !strings.Contains(again, `"refs":[]`) || !strings.Contains(again, `"records":[]`) {
				t.Errorf("a second purge finds something: %s", again)
			}
		})
	}
}

func TestPurgeOfAMemoryTakesWhatIsAboutIt(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	r := newRepo(t)
	told(t, r.Dir, "s1", "From now on always deploy from the kestrel machine.")
	told(t, r.Dir, "s2", "From now on never rebase main, releases are cut from it.")
	reverie(t, r.Dir, "-q", "remember", "We write tests first")
	var id string
	for line := range strings.Lines(reverie(t, r.Dir, "list", "--json")) {
		var m wire.Memory
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(m.Text, "kestrel") {
			id = m.ID
		}
	}
	wantHits(t, r.Dir, "kestrel", true)
	reverie(t, r.Dir, "purge", "--yes", "--reason", "it was never true", id[:8])
	wantHits(t, r.Dir, "kestrel", false)
	if list := reverie(t, r.Dir, "list"); strings.Count(list, "\n") != 2 {
		t.Errorf("left: %s", list)
	}
	if log := r.Run("log", "-1", "--format=%B", "reverie/memory"); !strings.Contains(log, "it was never true") {
		t.Errorf("the reason is not in the commit: %s", log)
	}
	// The same words mean the same a second time, and not the text: what names its id stays.
	reverie(t, r.Dir, "-q", "remember", "Memory "+id[:8]+" was about another project")
	reverie(t, r.Dir, "purge", "--yes", id[:8])
	if list := reverie(t, r.Dir, "list"); strings.Count(list, "\n") != 3 {
		t.Errorf("a memory that names its id went too: %s", list)
	}
	reverie(t, r.Dir, "purge", "--yes", "--regexp", id[:8])
	if list := reverie(t, r.Dir, "list"); strings.Count(list, "\n") != 2 {
		t.Errorf("as a text it is still there: %s", list)
	}
	// It does not come back from the agent's own transcript.
	told(t, r.Dir, "s1", "From now on always deploy from the kestrel machine.")
	if list := reverie(t, r.Dir, "list", "--all"); strings.Contains(list, "kestrel") {
		t.Errorf("it is back: %s", list)
	}
	reverie(t, r.Dir, "check", "--deep")
}

func TestPurgeAsksAndSaysNothingOfTheText(t *testing.T) {
	r := newRepo(t)
	reverie(t, r.Dir, "-q", "remember", "The box is called kestrel")
	before := r.Run("for-each-ref")
	if code, talk := fails(t, r.Dir, "purge", "kestrel"); code != exit.NeedsPerson || strings.Contains(talk, "kestrel") {
		t.Errorf("exit %d: %s", code, talk)
	}
	if code, _ := fails(t, r.Dir, "purge", "--yes", "--reason", "the name Kestrel leaked", "kestrel"); code != exit.BadUsage {
		t.Errorf("exit %d for a reason that tells", code)
	}
	id := strings.TrimSpace(reverie(t, r.Dir, "list", "--json"))
	id = id[strings.Index(id, `"id":"`)+6:][:5]
	if code, talk := fails(t, r.Dir, "purge", "--yes", id); code != exit.BadUsage {
		t.Errorf("exit %d for what may be a word or an id: %s", code, talk)
	}
	if code, _ := fails(t, r.Dir, "purge", "--regexp", "x*"); code != exit.BadUsage {
		t.Errorf("exit %d for what matches everywhere", code)
	}
	if shown := reverie(t, r.Dir, "purge", "--dry-run", "kestrel"); strings.Contains(shown, "kestrel") || !strings.Contains(shown, "memory") {
		t.Errorf("dry run says: %s", shown)
	}
	if after := r.Run("for-each-ref"); after != before {
		t.Errorf("refs moved: %s", after)
	}
	atTerminal(t, r.Dir, "y\n", "purge", "--regexp", "(?i)KES[a-z]+")
	wantHits(t, r.Dir, "kestrel", false)
}

func TestPurgeNamesWhoElseHoldsIt(t *testing.T) {
	r := newRepo(t)
	reverie(t, r.Dir, "-q", "remember", "The box is called kestrel")
	r.Run("branch", "mine", "reverie/memory")
	r.Run("update-ref", "refs/remotes/origin/reverie/memory", "reverie/memory")
	out := reverie(t, r.Dir, "purge", "--yes", "kestrel")
	for _, want := range []string{"refs/heads/mine", "git branch -D mine", "refs/remotes/origin/reverie/memory", "purge --push origin", "git gc --prune=now"} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not say %q: %s", want, out)
		}
	}
	if got := r.Run("log", "--format=%s", "mine"); !strings.Contains(got, "kestrel") {
		t.Error("a branch of the user's was touched")
	}
	r.Run("fsck", "--strict")
}

// Whenever it is killed, every ref is at its old history or at its new one, and the same purge
// again ends it.
func TestKilledPurgeIsEndedByTheNext(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	kills, backups := 3, 8
	if fullNumbers {
		kills, backups = 60, 120 // more than a hundred objects make a pack
	}
	base := newRepo(t)
	told(t, base.Dir, "s1", "From now on always deploy from the kestrel machine.")
	reverie(t, base.Dir, "-q", "remember", "We write tests first")
	for i := range backups {
		base.Run("update-ref", fmt.Sprintf("refs/reverie/backup/%d", i), "reverie/memory")
		if i%4 == 0 {
			reverie(t, base.Dir, "-q", "remember", fmt.Sprintf("Fact %d about kestrel", i))
		}
	}
	copyOf := func() *testrepo.Repo {
		dir := filepath.Join(t.TempDir(), "copy")
		if out, err := exec.Command("cp", "-r", base.Dir, dir).CombinedOutput(); err != nil {
			t.Fatal(err, string(out))
		}
		return testrepo.At(t, dir)
	}
	r := copyOf()
	began := time.Now()
	reverie(t, r.Dir, "-q", "purge", "--yes", "kestrel")
	fuse := fuse{time.Since(began), rand.New(rand.NewPCG(1, uint64(kills)))}
	want := reverie(t, r.Dir, "list")
	killed := 0
	for range kills {
		r := copyOf()
		cmd := exec.Command("reverie", "-q", "purge", "--yes", "kestrel")
		cmd.Dir = r.Dir
		if fuse.kill(t, cmd) {
			killed++
		}
		r.Run("fsck", "--strict", "--no-dangling")
		reverie(t, r.Dir, "check")
		reverie(t, r.Dir, "-q", "purge", "--yes", "kestrel")
		wantHits(t, r.Dir, "kestrel", false)
		if got := reverie(t, r.Dir, "list"); got != want {
			t.Errorf("left:\n%s\nwant:\n%s", got, want)
		}
		if all := r.Run("cat-file", "--batch-all-objects", "--batch"); strings.Contains(all, "kestrel") {
			packs, _ := filepath.Glob(filepath.Join(r.Dir, ".git/objects/pack/*.pack"))
			t.Errorf("it is left in loose objects; packs: %q", packs)
		}
		reverie(t, r.Dir, "check", "--deep")
	}
	if killed == 0 {
		t.Error("no kill hit a purge that was not done")
	}
}

// follow fetches from a remote and follows its purges, as sync does before it merges.
func follow(t *testing.T, dir, remote string) (theirs, to gitstore.ID) {
	t.Helper()
	theirs, to, _ = followSaying(t, dir, remote)
	return theirs, to
}

func followSaying(t *testing.T, dir, remote string) (theirs, to gitstore.ID, said string) {
	t.Helper()
	var talk strings.Builder
	r := testrepo.At(t, dir)
	r.Run("fetch", "-q", remote, "+refs/heads/reverie/memory:refs/reverie/remotes/"+remote+"/new/memory")
	theirs = gitstore.ID(r.Run("rev-parse", "refs/reverie/remotes/"+remote+"/new/memory"))
	env := &Env{Terminal: term.Terminal{In: strings.NewReader(""), Out: &strings.Builder{}, Err: &talk, Width: 80}, Dir: dir, Now: time.Now}
	w, err := env.open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	c, err := upkeep.Purgeable(w.Clone)
	if err != nil {
		t.Fatal(err)
	}
	done, err := purge.Settle(t.Context(), c, w.Memory, theirs, func(int, purge.Found) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if done.Records > 0 {
		syncTeller{w}.followed(share.PurgeFollowed{Remote: remote, Found: done.Found, Left: done.Left})
	}
	return theirs, done.To, talk.String()
}

func TestOtherClonesFollowAPurge(t *testing.T) {
	testrepo.Isolate(t)
	root := t.TempDir()
	bare := filepath.Join(root, "bare.git")
	testrepo.Init(t, bare, "--bare")
	clone := func(name string) *testrepo.Repo {
		dir := filepath.Join(root, name)
		testrepo.At(t, root).Run("clone", "-q", bare, dir)
		return testrepo.At(t, dir)
	}
	a := clone("a")
	reverie(t, a.Dir, "-q", "remember", "We write tests first")
	reverie(t, a.Dir, "-q", "remember", "The box is called kestrel by everybody")
	reverie(t, a.Dir, "-q", "remember", "Use pnpm in web")
	a.Run("push", "-q", "origin", "reverie/memory")
	b, c := clone("b"), clone("c")
	for _, r := range []*testrepo.Repo{b, c} {
		reverie(t, r.Dir, "-q", "init")
		told(t, r.Dir, "s1", "The box is called kestrel by everybody, they say.", "From now on never rebase in clone "+filepath.Base(r.Dir)+", always merge.")
	}
	reverie(t, a.Dir, "purge", "--yes", "--push", "origin", "kestrel")
	wantHits(t, a.Dir, "kestrel", false)
	if n := len(hits(t, bare, "kestrel")); n > 0 {
		t.Errorf("the remote still reaches %d", n)
	}
	for _, r := range []*testrepo.Repo{b, c} {
		wantHits(t, r.Dir, "kestrel", true)
		// git's own copies stay, as in a sync
		r.Run("config", "--unset-all", "remote.origin.fetch")
		theirs, to, said := followSaying(t, r.Dir, "origin")
		if to != theirs {
			t.Errorf("%s: what came was rewritten, and it holds nothing", r.Dir)
		}
		if want := "git update-ref -d refs/remotes/origin/reverie/memory && git fetch --prune origin"; !strings.Contains(said, want) || !strings.Contains(said, "gone, as from origin: 1 memory: ") {
			t.Errorf("%s: not said: %s: %s", r.Dir, want, said)
		}
		wantHits(t, r.Dir, "kestrel", false)
		// Our own commits stand on what the other clone came to.
		base := r.Run("merge-base", "reverie/memory", string(theirs))
		if base != r.Run("rev-parse", string(theirs)+"~1") {
			t.Errorf("%s: the histories meet at %s", r.Dir, base)
		}
		if list := reverie(t, r.Dir, "list"); strings.Count(list, "\n") != 3 || !strings.Contains(list, "Never rebase in clone") {
			t.Errorf("%s: left: %s", r.Dir, list)
		}
		reverie(t, r.Dir, "check", "--deep")
		r.Run("fsck", "--strict", "--no-dangling")
	}
}

// A clone that joined the old history to the new one by plain git, and pushed that, brings nothing
// back.
func TestStaleCloneCannotResurrectAPurgedText(t *testing.T) {
	testrepo.Isolate(t)
	root := t.TempDir()
	bare := filepath.Join(root, "bare.git")
	testrepo.Init(t, bare, "--bare")
	clone := func(name string) *testrepo.Repo {
		testrepo.At(t, root).Run("clone", "-q", bare, filepath.Join(root, name))
		return testrepo.At(t, filepath.Join(root, name))
	}
	a := clone("a")
	reverie(t, a.Dir, "-q", "remember", "The box is called kestrel by everybody")
	a.Run("push", "-q", "origin", "reverie/memory")
	stale := clone("stale")
	stale.Run("checkout", "-q", "reverie/memory")
	stale.Write("skills/note.md", "mine\n")
	stale.Commit("mine")
	reverie(t, a.Dir, "-q", "purge", "--yes", "--push", "origin", "kestrel")
	if _, err := stale.Try("push", "-q", "origin", "reverie/memory"); err == nil {
		t.Fatal("the stale clone pushed its old history: it is no fast-forward")
	}
	a.Run("fetch", "-q", stale.Dir, "reverie/memory:refs/heads/old")
	if code, talk := fails(t, a.Dir, "merge", "old"); code != exit.NeedsPerson || !strings.Contains(talk, "holds what was purged: blob") {
		t.Errorf("merge of the old history: exit %d: %s", code, talk)
	}
	a.Run("branch", "-qD", "old")
	stale.Run("pull", "-q", "--no-rebase", "--no-edit", "origin", "reverie/memory")
	stale.Run("push", "-q", "origin", "reverie/memory")
	if len(hits(t, bare, "kestrel")) == 0 {
		t.Fatal("the remote does not hold it again: the test says nothing")
	}
	theirs, to := follow(t, a.Dir, "origin")
	if to == theirs {
		t.Error("what the stale clone pushed was taken as it is")
	}
	wantHits(t, a.Dir, "kestrel", false)
	if text := a.Run("show", string(to)+":skills/note.md"); text != "mine" {
		t.Errorf("the stale clone's own work is gone: %q", text)
	}
	// Once merged here, the remote can be replaced.
	if code, _ := fails(t, a.Dir, "purge", "--push", "origin"); code != exit.NeedsPerson {
		t.Error("the remote was replaced although its work was not merged here")
	}
	a.Run("update-ref", "refs/heads/reverie/memory", string(to))
	reverie(t, a.Dir, "purge", "--push", "origin")
	if n := hits(t, bare, "kestrel"); len(n) > 0 {
		t.Errorf("the remote still reaches %q", n)
	}
	reverie(t, a.Dir, "check", "--deep")
}

// A record names only hashes, so it could name anything. A record that would leave no store is
// refused, and one that does not parse binds no clone. Nothing is erased unasked.
func TestFollowedPurgeIsAPersonsDecision(t *testing.T) {
	r := newRepo(t)
	reverie(t, r.Dir, "-q", "remember", "We write tests first")
	theirs := testrepo.At(t, filepath.Join(t.TempDir(), "theirs"))
	r.Run("clone", "-q", "-b", "reverie/memory", r.Dir, theirs.Dir)
	blob := func(path string) string { return r.Run("rev-parse", "reverie/memory:"+path) }
	record1 := func(blobs ...string) {
		for _, p := range record.NewPurges(record.Purge{Time: time.Now(), Blobs: blobs}) {
			text, err := p.Format()
			if err != nil {
				t.Fatal(err)
			}
			theirs.Write(p.Path(), string(text))
		}
		theirs.Commit("purge")
	}
	var said strings.Builder
	refusal := errors.New("a person said no")
	try := func(yes bool) error {
		r.Run("fetch", "-q", theirs.Dir, "+reverie/memory:refs/reverie/remotes/x/new/memory")
		said.Reset()
		env := &Env{Terminal: term.Terminal{In: strings.NewReader(""), Out: &strings.Builder{}, Err: &said, Width: 80}, Dir: r.Dir, Now: time.Now}
		w, err := env.open(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		c, err := upkeep.Purgeable(w.Clone)
		if err != nil {
			t.Fatal(err)
		}
		_, err = purge.Settle(t.Context(), c, w.Memory, gitstore.ID(r.Run("rev-parse", "refs/reverie/remotes/x/new/memory")), func(records int, found purge.Found) error {
			syncTeller{w}.note(share.Purged{Remote: "x", Records: records, Found: found})
			if !yes {
				return refusal
			}
			return nil
		})
		return err
	}
	before := r.Run("rev-parse", "reverie/memory")
	theirs.Write("purged/00/0000000000000000.json", `{"id":"0000000000000000","time":"2026-01-01T00:00:00Z","why":"x","blobs":["`+blob("reverie.toml")+`"]}`)
	theirs.Commit("no record")
	if err := try(true); err != nil {
		t.Errorf("what is no record binds: %v", err)
	}
	file := strings.Fields(r.Run("ls-tree", "-r", "--name-only", "reverie/memory", "memories"))[0]
	record1(blob(file))
	if err := try(false); !errors.Is(err, refusal) {
		t.Errorf("no person was asked: %v", err)
	}
	list := reverie(t, r.Dir, "list", "--json")
	if !strings.Contains(said.String(), "tests first") {
		t.Errorf("what would go is not told: %s", said.String())
	}
	if now := reverie(t, r.Dir, "list", "--json"); now != list {
		t.Errorf("it went all the same: %s", now)
	}
	record1(blob("reverie.toml"))
	if err := try(true); err == nil || !strings.Contains(err.Error(), "reverie.toml") {
		t.Errorf("the settings went: %v", err)
	}
	if after := r.Run("rev-parse", "reverie/memory"); after != before {
		t.Error("the branch moved")
	}
	reverie(t, r.Dir, "check")
}

func TestPurgeIsRefusedByARemoteThatForbidsIt(t *testing.T) {
	r := newRepo(t)
	reverie(t, r.Dir, "-q", "remember", "The box is called kestrel")
	bare := testrepo.Init(t, filepath.Join(t.TempDir(), "bare.git"), "--bare")
	bare.Run("config", "receive.denyNonFastForwards", "true")
	r.Run("remote", "add", "origin", bare.Dir)
	r.Run("push", "-q", "origin", "reverie/memory")
	tip := bare.Run("rev-parse", "reverie/memory")
	if code, talk := fails(t, r.Dir, "purge", "--yes", "--push", "origin", "kestrel"); code != exit.NeedsPerson || !strings.Contains(talk, "refuses") {
		t.Errorf("exit %d: %s", code, talk)
	}
	wantHits(t, r.Dir, "kestrel", false)
	if now := bare.Run("rev-parse", "reverie/memory"); now != tip {
		t.Error("it moved all the same")
	}
	bare.Run("config", "receive.denyNonFastForwards", "false")
	// Also where the old history is here no more, and must be looked at before it is overwritten.
	r.Run("update-ref", "-d", "refs/remotes/origin/reverie/memory")
	r.Run("gc", "-q", "--prune=now")
	if _, err := r.Try("cat-file", "-e", tip); err == nil {
		t.Fatal("the old history is still here")
	}
	reverie(t, r.Dir, "purge", "--push", "origin")
	wantHits(t, r.Dir, "kestrel", false)
	if refs := r.Run("for-each-ref", "refs/reverie/remotes"); refs != "" {
		t.Errorf("left: %s", refs)
	}
	if n := hits(t, bare.Dir, "kestrel"); len(n) > 0 {
		t.Errorf("the remote still reaches %q", n)
	}
}

// Words that every store has by itself are no reason to take them away: else a purge in one would
// make every other store, and every later merge, one that holds what was purged.
func TestPurgeLeavesWhatEveryStoreHas(t *testing.T) {
	r := newRepo(t)
	reverie(t, r.Dir, "-q", "remember", "A git branch is cheap")
	first := r.Run("rev-list", "--reverse", "reverie/memory")
	reverie(t, r.Dir, "purge", "--yes", "branch")
	reverie(t, r.Dir, "purge", "--yes", "start a")
	if list := reverie(t, r.Dir, "list", "--all"); strings.Contains(list, "cheap") {
		t.Errorf("it is still there: %s", list)
	}
	two := strings.Join(strings.Split(first, "\n")[:2], "\n")
	if now := r.Run("rev-list", "--reverse", "reverie/memory"); !strings.HasPrefix(now, two) {
		t.Errorf("the first commits changed:\n%s\n%s", first, now)
	}
	reverie(t, r.Dir, "check", "--deep")
}

// A record that names another one, or itself, does not take it out.
func TestNoPurgeRecordTakesOutAnother(t *testing.T) {
	r := newRepo(t)
	reverie(t, r.Dir, "-q", "remember", "The box is called kestrel")
	reverie(t, r.Dir, "-q", "remember", "We write tests first")
	reverie(t, r.Dir, "-q", "purge", "--yes", "kestrel")
	first := r.Run("ls-tree", "-r", "--name-only", "reverie/memory", "purged")
	theirs := testrepo.At(t, filepath.Join(t.TempDir(), "theirs"))
	r.Run("clone", "-q", "-b", "reverie/memory", r.Dir, theirs.Dir)
	for _, p := range record.NewPurges(record.Purge{Time: time.Now(), Blobs: []string{r.Run("rev-parse", "reverie/memory:"+first)}, Paths: []string{record.PathHash(first)}}) {
		text, err := p.Format()
		if err != nil {
			t.Fatal(err)
		}
		theirs.Write(p.Path(), string(text))
	}
	theirs.Commit("purge the purge")
	r.Run("remote", "add", "x", theirs.Dir)
	if id, to := follow(t, r.Dir, "x"); id != to {
		t.Errorf("%s became %s", id, to)
	}
	if now := r.Run("ls-tree", "-r", "--name-only", "reverie/memory", "purged"); now != first {
		t.Errorf("records: %q, want %q", now, first)
	}
	if code, talk := fails(t, r.Dir, "remember", "The box is called kestrel"); code != exit.NeedsPerson {
		t.Errorf("exit %d: %s", code, talk)
	}
}

// To publish is sync's, which asks: purge --push replaces what holds something that was purged, and
// nothing else.
func TestPurgePushPublishesNothing(t *testing.T) {
	r := newRepo(t)
	reverie(t, r.Dir, "-q", "remember", "The box is called kestrel")
	reverie(t, r.Dir, "-q", "remember", "-k", "preference", "I like the kestrel")
	bare := testrepo.Init(t, filepath.Join(t.TempDir(), "bare.git"), "--bare")
	r.Run("remote", "add", "origin", bare.Dir)
	r.Run("push", "-q", "origin", "reverie/memory", "refs/reverie/journal")
	before := bare.Run("for-each-ref")
	reverie(t, r.Dir, "-q", "remember", "Nobody is to see this")
	reverie(t, r.Dir, "-q", "remember", "-k", "preference", "I like tea")
	if code, talk := fails(t, r.Dir, "purge", "--push", "origin"); code != exit.NeedsPerson || !strings.Contains(talk, "nothing was pushed") {
		t.Errorf("exit %d: %s", code, talk)
	}
	reverie(t, r.Dir, "purge", "--yes", "--push", "origin", "to see this")
	if now := bare.Run("for-each-ref"); now != before {
		t.Errorf("it was published:\n%s\n%s", before, now)
	}
	journal := bare.Run("rev-parse", "refs/reverie/journal")
	out := reverie(t, r.Dir, "purge", "--yes", "--push", "origin", "kestrel")
	if !strings.Contains(out, "the journal on origin") || bare.Run("rev-parse", "refs/reverie/journal") != journal {
		t.Errorf("the journal was pushed, and nobody agreed to that: %s", out)
	}
	if log := bare.Run("log", "--format=%B", "reverie/memory"); strings.Contains(log, "kestrel") {
		t.Errorf("the branch was not replaced: %s", log)
	}
}

// A fetch that runs may be about to give a ref to objects that it found here.
func TestPurgeRemovesNoObjectsWhileGitIsAtWork(t *testing.T) {
	r := newRepo(t)
	reverie(t, r.Dir, "-q", "remember", "The box is called kestrel")
	old := r.Run("rev-parse", "reverie/memory")
	pack := filepath.Join(r.Dir, ".git/objects/pack/tmp_pack_x1")
	if err := os.WriteFile(pack, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	out := reverie(t, r.Dir, "purge", "--yes", "kestrel")
	if !strings.Contains(out, "git is at work") || !strings.Contains(out, "git gc --prune=now") {
		t.Errorf("it says %s", out)
	}
	r.Run("cat-file", "-e", old)
	past := time.Now().Add(-2 * time.Minute)
	if err := os.Chtimes(pack, past, past); err != nil {
		t.Fatal(err)
	}
	reverie(t, r.Dir, "purge", "--yes", "kestrel")
	if _, err := r.Try("cat-file", "-e", old); err == nil {
		t.Error("the next purge left it too")
	}
	wantHits(t, r.Dir, "kestrel", false)
}

func TestPurgeReadsTheWholeOfItsInput(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	r := newRepo(t)
	reverie(t, r.Dir, "-q", "remember", "We write tests first")
	for _, form := range []string{"kestrel", "the kestrel\nand its nest", "the kestrel\nand its nest\n"} {
		id := strings.TrimSpace(reverie(t, r.Dir, "-q", "remember", "About "+fmt.Sprint(len(form))))
		reverie(t, r.Dir, "-q", "edit", id, "About "+fmt.Sprint(len(form))+"\n\nBeware of the kestrel\nand its nest")
		if code, _, talk := runJSON(r.Dir, form, []string{"purge", "--yes", "-"}); code != exit.Done {
			t.Errorf("%q: exit %d: %s", form, code, talk)
		}
		wantHits(t, r.Dir, "kestrel", false)
	}
	if list := reverie(t, r.Dir, "list"); !strings.Contains(list, "tests first") {
		t.Errorf("left: %s", list)
	}
	if code, _, talk := runJSON(r.Dir, "\n", []string{"purge", "--yes", "-"}); code != exit.BadUsage {
		t.Errorf("nothing: exit %d: %s", code, talk)
	}
}

// A proposed command runs as it is, and removes nothing but its target.
func TestPurgeProposesCommandsThatRun(t *testing.T) {
	r := newRepo(t)
	r.Write("file", "one\n")
	r.Commit("one")
	r.Write("file", "two\n")
	r.Run("stash")
	reverie(t, r.Dir, "-q", "remember", "The box is called kestrel")
	old := r.Run("rev-parse", "reverie/memory")
	odd := "refs/remotes/o'n/$(touch${IFS}x)"
	r.Run("update-ref", "--create-reflog", odd, old)
	r.Run("update-ref", "refs/tags/mine", old)
	here := r.Run("symbolic-ref", "--short", "HEAD")
	r.Run("checkout", "-q", "reverie/memory")
	r.Run("checkout", "-q", here)
	out := reverie(t, r.Dir, "purge", "--yes", "kestrel")
	if strings.Contains(out, "--all") {
		t.Errorf("it proposes to lose the stash: %s", out)
	}
	ran := 0
	for line := range strings.Lines(out) {
		at := strings.LastIndex(line, "git ")
		if at < 0 || strings.HasPrefix(line, "still there") {
			continue
		}
		ran++
		cmd := exec.Command("sh", "-c", strings.TrimSpace(line[at:]))
		cmd.Dir = r.Dir
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", line, err, said)
		}
	}
	if _, err := r.Try("cat-file", "-e", old); err == nil || ran < 4 {
		t.Errorf("after %d commands it is still here: %s", ran, out)
	}
	if r.Run("stash", "list") == "" {
		t.Error("the stash is gone")
	}
	if _, err := os.Stat(filepath.Join(r.Dir, "x")); err == nil {
		t.Error("a name was run")
	}
}
