package e2e

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reverie-memory/reverie/internal/job"
)

// oldStore is a repository with a store that an earlier commit of this program wrote, and what that
// program said about it. See testdata/stores/README.md.
type oldStore struct {
	t              *testing.T
	dir, home      string // the work tree and the home of its owner, Ada
	did            string // commands that the program knew
	list, review   []fields
	tip, tipOfTree string
}

func unpack(t *testing.T, file string) *oldStore {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("tar", "-xzf", file, "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s := &oldStore{t: t, dir: filepath.Join(dir, "repo"), home: filepath.Join(dir, "home"), did: read(t, filepath.Join(dir, "commands"))}
	s.list, s.review = objects[fields](t, read(t, filepath.Join(dir, "list"))), objects[fields](t, read(t, filepath.Join(dir, "review")))
	settings, err := os.OpenFile(filepath.Join(s.home, ".config/reverie/config.toml"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = settings.WriteString("learn.background = 'off'\n") // no worker beside the test
		err = errors.Join(err, settings.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(read(t, filepath.Join(dir, "log")), "\n")
	s.tip, s.tipOfTree, _ = strings.Cut(first, " ")
	if len(s.list) < 10 || len(s.review) < 2 || s.tipOfTree == "" {
		t.Fatalf("the fixture has %d memories, %d operations and tree %q", len(s.list), len(s.review), s.tipOfTree)
	}
	return s
}

// run runs a program as Ada in dir.
func (s *oldStore) run(dir, stdin, name string, args ...string) answer {
	s.t.Helper()
	return finish(s.t, func(ctx context.Context) *exec.Cmd {
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
		cmd.Env = append(os.Environ(), "HOME="+s.home, "USERPROFILE="+s.home, "GIT_CONFIG_GLOBAL="+filepath.Join(s.home, ".gitconfig"))
		return cmd
	})
}

func (s *oldStore) must(args ...string) string {
	s.t.Helper()
	a := s.run(s.dir, "", binary, args...)
	if a.code != 0 {
		s.t.Errorf("%s", a)
	}
	return a.out
}

// peoples returns the fields that people gave to each memory or operation, by id.
func peoples(all []fields) map[string]fields {
	byID := map[string]fields{}
	for _, o := range all {
		kept := fields{}
		for _, key := range []string{"op", "kind", "status", "text", "body", "variants", "path", "source", "paths", "ref", "tags", "supersedes", "topic", "branch", "expires"} {
			if v := o[key]; v != nil {
				kept[key] = v
			}
		}
		if m, ok := o["memory"].(fields); ok {
			kept["memory"] = peoples([]fields{m})
		}
		byID[o["id"].(string)] = kept
	}
	return byID
}

// idOf returns the id of the memory whose statement contains a text.
func (s *oldStore) idOf(text string) string {
	s.t.Helper()
	for _, m := range s.list {
		if strings.Contains(m["text"].(string), text) {
			return m["id"].(string)
		}
	}
	s.t.Fatalf("the fixture has no %q", text)
	return ""
}

// A store of each earlier version is read whole, unchanged by reading, and is worked on and shared
// as one of today's.
func TestEarlierStoresStayReadable(t *testing.T) {
	files, err := filepath.Glob("testdata/stores/*.tar.gz")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d stores: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".tar.gz"), func(t *testing.T) {
			t.Parallel()
			s := unpack(t, file)
			s.reads()
			s.works()
			s.shares()
			idle(t, s.dir)
		})
	}
}

func (s *oldStore) reads() {
	refs := git(s.t, s.dir, "for-each-ref", "refs/reverie/inbox", "refs/heads/reverie")
	if d := cmp.Diff(peoples(s.list), peoples(objects[fields](s.t, s.must("list", "--all", "--json")))); d != "" {
		s.t.Errorf("memories (-then +now):\n%s", d)
	}
	if d := cmp.Diff(peoples(s.review), peoples(objects[fields](s.t, s.must("review", "--json")))); d != "" {
		s.t.Errorf("the inbox (-then +now):\n%s", d)
	}
	for _, m := range s.list {
		if text := m["text"].(string); m["status"] != "contested" && !strings.Contains(s.must("show", m["id"].(string)), text) {
			s.t.Errorf("show %s lacks %q", m["id"], text)
		}
	}
	for _, c := range []struct{ want, args string }{
		{"Use pnpm, never npm, in web/.", "recall pnpm"},
		{"Use pnpm, never npm, in web/.", "context"},
		{"{+after.+}", "log " + s.idOf("edited after")},
		{"Ada", "blame " + s.idOf("edited after")},
		{"36500", "config sessions.keep-days"},
		{"3", "config sightings"},
		{"codex", "sessions"},
		{"", "status"}, {"", "diff"}, {"", "stale"}, {"", "conflicts"}, {"", "check --deep"},
	} {
		if got := s.must(strings.Fields(c.args)...); !strings.Contains(got, c.want) {
			s.t.Errorf("%s prints no %q:\n%s", c.args, c.want, got)
		}
	}
	for _, c := range []struct{ did, want, args string }{
		{"reverie checkpoint", "Next: the mobile client.", "checkpoint show claude/4b91#1"},
		{"reverie kv set", "8080", "kv get port"},
		{"reverie trust approve", "1 withheld", "trust"},
		{"reverie merge", "This is contested there.", "conflicts"},
		{"reverie remember --user", "A rule of mine", "list --user"},
		{"reverie context", "pnpm", "why last"},
	} {
		if !strings.Contains(s.did, c.did) {
			continue
		}
		if got := s.must(strings.Fields(c.args)...); !strings.Contains(got, c.want) {
			s.t.Errorf("%s prints no %q:\n%s", c.args, c.want, got)
		}
	}
	if now := git(s.t, s.dir, "for-each-ref", "refs/reverie/inbox", "refs/heads/reverie"); now != refs {
		s.t.Errorf("reading moved refs from\n%s\nto\n%s", refs, now)
	}
	if now := git(s.t, s.dir, "rev-parse", "reverie/memory^{tree}"); now != s.tipOfTree {
		s.t.Errorf("the branch has tree %s, not %s", now, s.tipOfTree)
	}
}

// learned reports whether a memory or an operation comes from the prompt that waited in the spool.
func learned(o fields) bool {
	if m, ok := o["memory"].(fields); ok {
		o = m
	}
	return strings.Contains(o["text"].(string), "make lint")
}

// works learns, decides and changes; nothing known goes, and nothing decided comes back.
func (s *oldStore) works() {
	example, err := filepath.Abs("../examples/claude-code.jsonl")
	if err != nil {
		s.t.Fatal(err)
	}
	s.must("learn", example)
	s.must("learn") // also from the hook events that wait
	s.must("dream")
	waits := peoples(slices.DeleteFunc(objects[fields](s.t, s.must("review", "--json")), learned))
	if d := cmp.Diff(peoples(s.review), waits); d != "" {
		s.t.Errorf("the inbox after learning (-then +now):\n%s", d)
	}
	again := filepath.Join(s.t.TempDir(), "again.jsonl")
	write(s.t, again, "{\"text\":\"Imported and rejected.\"}\n{\"text\":\"Imported and accepted.\"}\n")
	s.must("import", again)
	s.must("accept", s.review[0]["id"].(string))
	for _, op := range s.review[1:] {
		s.must("reject", op["id"].(string))
	}
	if waits := slices.DeleteFunc(objects[fields](s.t, s.must("review", "--json")), learned); len(waits) > 0 {
		s.t.Errorf("decided, and back: %v", waits)
	}
	s.must("edit", s.idOf("edited after"), "This is edited today.")
	want := peoples(s.list)
	want[s.idOf("edited after")]["text"] = "This is edited today."
	accepted := s.review[0]["memory"].(fields)
	want[accepted["id"].(string)] = peoples([]fields{accepted})[accepted["id"].(string)]
	now := slices.DeleteFunc(objects[fields](s.t, s.must("list", "--all", "--json")), learned)
	if d := cmp.Diff(want, peoples(now)); d != "" {
		s.t.Errorf("memories after learning (-then +now):\n%s", d)
	}
}

// shares syncs with a colleague's clone and back.
func (s *oldStore) shares() {
	bare, clone := filepath.Join(s.t.TempDir(), "bare.git"), filepath.Join(s.t.TempDir(), "clone")
	git(s.t, "", "init", "-q", "--bare", bare)
	git(s.t, s.dir, "remote", "add", "origin", bare)
	git(s.t, s.dir, "push", "-q", "origin", "main")
	s.must("sync", "--yes")
	git(s.t, "", "clone", "-q", bare, clone)
	must(s.t, clone, "init", "--yes")
	must(s.t, clone, "sync", "--yes")
	want := peoples(slices.DeleteFunc(objects[fields](s.t, s.must("list", "--all", "--json")), func(m fields) bool { return m["private"] == true || m["own"] == true }))
	if d := cmp.Diff(want, peoples(objects[fields](s.t, must(s.t, clone, "list", "--all", "--json")))); d != "" {
		s.t.Errorf("the clone's memories (-ours +clone's):\n%s", d)
	}
	must(s.t, clone, "remember", "The clone says this.")
	must(s.t, clone, "edit", s.idOf("edited after"), "This is edited in the clone.")
	s.must("remember", "Meanwhile this was said.")
	must(s.t, clone, "sync", "--yes")
	s.must("sync", "--yes")
	must(s.t, clone, "sync", "--yes")
	if ours, theirs := git(s.t, s.dir, "rev-parse", "reverie/memory^{tree}"), git(s.t, clone, "rev-parse", "reverie/memory^{tree}"); ours != theirs {
		s.t.Errorf("trees %s and %s differ", ours, theirs)
	}
	all := s.must("list", "--all")
	for _, text := range []string{"The clone says this.", "This is edited in the clone.", "Meanwhile this was said.", "Queues are written in Go."} {
		if !strings.Contains(all, text) {
			s.t.Errorf("%q is lost:\n%s", text, all)
		}
	}
	for _, dir := range []string{s.dir, clone, bare} {
		git(s.t, dir, "fsck", "--strict", "--no-dangling")
		if hits, _ := tryGit(dir, "log", "--all", "-Szanzibar", "--format=%H"); strings.Contains(s.did, "reverie purge") && hits != "" {
			s.t.Errorf("%s has what was purged: %s", dir, hits)
		}
	}
	s.must("check", "--deep")
}

// A store of a newer format is refused by name: no ref moves, hooks say nothing, and a person's
// commit goes through.
func TestNewerStoreIsLeftAlone(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	bare := filepath.Join(t.TempDir(), "bare.git")
	git(t, "", "init", "-q", "--bare", bare)
	git(t, dir, "remote", "add", "origin", bare)
	git(t, dir, "push", "-q", "origin", "main")
	must(t, dir, "init", "--git-hooks")
	id := strings.TrimSpace(must(t, dir, "-q", "remember", "Use pnpm, never npm"))
	lines := filepath.Join(t.TempDir(), "waits.jsonl")
	write(t, lines, "{\"text\":\"It waits.\"}\n")
	must(t, dir, "import", lines)
	op := objects[fields](t, must(t, dir, "review", "--json"))[0]["id"].(string)
	must(t, dir, "sync", "--yes")
	root := rawTree(t, dir, replaced("reverie.toml", "format = 2\n")(t, dir, entriesOf(t, dir, "reverie/memory"))...)
	commit := git(t, dir, "commit-tree", "-p", "reverie/memory", "-m", "newer", root)
	git(t, dir, "update-ref", "refs/heads/reverie/memory", commit)

	tips := func() string {
		return git(t, dir, "for-each-ref", "refs/reverie", "refs/heads/reverie") + "\n" + git(t, bare, "for-each-ref")
	}
	refs := tips()
	left := func(after any) {
		t.Helper()
		if now := tips(); now != refs {
			t.Fatalf("%v moved refs from\n%s\nto\n%s", after, refs, now)
		}
	}
	for _, c := range [][]string{
		{"list"}, {"show", id}, {"recall", "pnpm"}, {"context"}, {"status"}, {"review"}, {"log"}, {"blame", id}, {"check"}, {"trust"}, {"conflicts"},
		{"export"}, {"remember", "more"}, {"edit", id, "other"}, {"forget", "--reason", "x", id}, {"accept", op}, {"reject", op}, {"import", lines},
		{"learn", "../../../examples/claude-code.jsonl"}, {"dream"}, {"undo"}, {"revert", "reverie/memory~1"}, {"purge", "--yes", "pnpm"},
		{"sync", "--yes"}, {"merge", "reverie/memory~1"}, {"checkpoint", "a note here"}, {"init", "--git-hooks"}, {"render", "agents-md"},
	} {
		if c[0] == "learn" {
			c[1], _ = filepath.Abs("../examples/claude-code.jsonl")
		}
		if a := reverie(t, dir, c...); a.code != 128 || !strings.Contains(a.err, "newer Reverie") {
			t.Errorf("%s", a)
		}
		left(c)
	}
	hook := func(event string) {
		t.Helper()
		a := finish(t, func(ctx context.Context) *exec.Cmd {
			cmd := exec.CommandContext(ctx, binary, "hook", "claude")
			cmd.Dir = dir
			cmd.Stdin = strings.NewReader(`{"hook_event_name":"` + event + `","session_id":"s1","cwd":"` + dir +
				`","source":"startup","prompt":"npm or pnpm?","tool_name":"Bash","tool_input":{"command":"npm install"}}`)
			return cmd
		})
		if a.code != 0 || a.out+a.err != "" {
			t.Errorf("hook %s: %s", event, a)
		}
		left(event)
	}
	for _, event := range []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PreCompact", "Stop", "SessionEnd"} {
		hook(event)
	}
	if out := git(t, dir, "commit", "-q", "--allow-empty", "-m", "mine"); out != "" {
		t.Errorf("a commit prints %q", out)
	}
	left("a commit")
	if said := read(t, filepath.Join(dir, ".git/reverie/log")); !strings.Contains(said, "newer Reverie") {
		t.Errorf("the log lacks the reason:\n%s", said)
	}

	git(t, dir, "update-ref", "refs/heads/reverie/memory", commit+"~1") // as after an upgrade
	if all := must(t, dir, "list") + must(t, dir, "review"); !strings.Contains(all, "pnpm") || !strings.Contains(all, "It waits.") {
		t.Errorf("afterwards:\n%s", all)
	}
	idle(t, dir)
}

// idle waits for the end of a clone's background work.
func idle(t *testing.T, dir string) {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	if err := job.Settle(ctx, filepath.Join(dir, ".git/reverie")); err != nil {
		t.Fatal(err)
	}
}
