package git_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

const shared, seen = "refs/heads/reverie/memory", "refs/reverie/remotes/origin/new"

// pair returns a repository and a bare one that it knows as origin, which has the branch main.
func pair(t *testing.T, url string) (*testrepo.Repo, *testrepo.Repo, *git.Repo) {
	t.Helper()
	r := testrepo.New(t)
	bare := testrepo.Init(t, filepath.Join(filepath.Dir(r.Dir), "bare"), "--bare")
	if url == "" {
		url = "file://" + filepath.ToSlash(bare.Dir)
	}
	r.Run("remote", "add", "origin", url)
	r.Run("push", "-q", "../bare", "main")
	repo, err := git.Find(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	return r, bare, repo
}

func origin(t *testing.T, repo *git.Repo) *git.Remote {
	t.Helper()
	m, err := repo.Remote(t.Context(), "origin", "")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// push moves one ref and returns the result.
func push(t *testing.T, m *git.Remote, id, old string) git.Pushed {
	t.Helper()
	report, err := m.Push(t.Context(), git.Update{Ref: shared, ID: id, Old: old})
	if err != nil {
		t.Fatal(err)
	}
	return report.Refs[0]
}

func hook(t *testing.T, dir, name, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "hooks", name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestFetchAndPushTouchNothingElse(t *testing.T) {
	r, bare, repo := pair(t, "")
	canary := filepath.Join(t.TempDir(), "canary")
	r.Run("tag", "v1")
	for _, kv := range [][2]string{
		{"remote.origin.prune", "true"}, {"remote.origin.tagOpt", "--tags"}, {"remote.origin.mirror", "true"}, {"push.followTags", "true"},
		{"remote.origin.push", "refs/heads/*:refs/heads/*"}, {"fetch.pruneTags", "true"}, {"push.gpgSign", "true"}, {"gpg.program", "touch " + canary},
		{"maintenance.auto", "true"}, {"gc.auto", "1"}, {"fetch.fsck.hasDotdot", "ignore"}, {"fetch.fsckObjects", "false"},
	} {
		r.Run("config", kv[0], kv[1])
	}
	r.Run("update-ref", "refs/remotes/origin/stale", "HEAD")
	before := r.Run("for-each-ref") + r.Run("config", "--list", "--local")
	id := r.Run("commit-tree", "-m", "one", "HEAD^{tree}")
	for _, name := range []string{"pre-push", "reference-transaction", "post-checkout", "post-index-change"} {
		hook(t, filepath.Join(r.Dir, ".git"), name, "touch "+canary)
	}
	m := origin(t, repo)
	if got := push(t, m, id, ""); got.Outcome != git.Moved {
		t.Fatalf("push: %+v", got)
	}
	if got := push(t, m, id, id); got.Outcome != git.UpToDate {
		t.Errorf("again: %+v", got)
	}
	if got, err := m.Fetch(t.Context(), shared, seen); err != nil || got != id {
		t.Fatalf("fetch: %s, %v; want %s", got, err, id)
	}
	for _, path := range []string{canary, filepath.Join(r.Dir, ".git", "FETCH_HEAD")} {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s was made", path)
		}
	}
	if got := r.Run("rev-parse", seen); got != id {
		t.Errorf("%s is at %s", seen, got)
	}
	r.Run("update-ref", "-d", seen)
	if diff := cmp.Diff(before, r.Run("for-each-ref")+r.Run("config", "--list", "--local")); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
	if refs := bare.Run("for-each-ref", "--format=%(refname)"); refs != "refs/heads/main\n"+shared {
		t.Errorf("the remote has %s", refs)
	}
}

func TestPushSaysWhatBecameOfIt(t *testing.T) {
	r, bare, repo := pair(t, "")
	m := origin(t, repo)
	one := r.Run("commit-tree", "-m", "one", "HEAD^{tree}")
	two := r.Run("commit-tree", "-m", "two", "-p", one, "HEAD^{tree}")
	apart := r.Run("commit-tree", "-m", "apart", "-p", one, "HEAD^{tree}")

	// Another client created, moved or deleted it after the fetch.
	if got := push(t, m, one, ""); got.Outcome != git.Moved {
		t.Fatalf("%+v", got)
	}
	if got := push(t, m, two, ""); got.Outcome != git.LostRace {
		t.Errorf("made meanwhile: %+v", got)
	}
	if got := push(t, m, two, one); got.Outcome != git.Moved {
		t.Fatalf("%+v", got)
	}
	if got := push(t, m, apart, one); got.Outcome != git.LostRace {
		t.Errorf("moved meanwhile: %+v", got)
	}
	bare.Run("update-ref", shared, one) // like a purge elsewhere
	three := r.Run("commit-tree", "-m", "three", "-p", two, "HEAD^{tree}")
	if got := push(t, m, three, two); got.Outcome != git.LostRace {
		t.Errorf("rewound meanwhile: %+v", got)
	}

	// Another client moves it while the server holds our push.
	hook(t, bare.Dir, "update", "git update-ref "+shared+" "+two+"\n")
	if got := push(t, m, apart, one); got.Outcome != git.LostRace {
		t.Errorf("moved during the push: %+v", got)
	}

	// A server that refuses, with escape sequences in its words.
	hook(t, bare.Dir, "update", "printf 'GH006: Protected \\033[31mbranch\\n' >&2; exit 1\n")
	report, err := m.Push(t.Context(), git.Update{Ref: shared, ID: three, Old: two})
	if err != nil || report.Refs[0].Outcome != git.Refused {
		t.Fatalf("%+v, %v", report, err)
	}
	if len(report.Said) == 0 || !strings.HasPrefix(report.Said[0], "GH006: Protected") {
		t.Errorf("the server's words: %q", report.Said)
	}

	// Only a fast-forward is pushed.
	if _, err := m.Push(t.Context(), git.Update{Ref: shared, ID: apart, Old: two}); err == nil {
		t.Error("a history would have been replaced")
	}
	if got := bare.Run("rev-parse", shared); got != two {
		t.Errorf("the remote is at %s, want %s", got, two)
	}
}

func TestRemoteThatIsNotThere(t *testing.T) {
	r, bare, repo := pair(t, "")
	m := origin(t, repo)
	if _, err := m.Fetch(t.Context(), shared, seen); !errors.Is(err, git.ErrNoRemoteRef) {
		t.Errorf("no such branch: %v", err)
	}
	refs, err := m.Refs(t.Context(), "refs/heads/")
	if err != nil || len(refs.Refs) != 1 || refs.Refs["refs/heads/main"] == "" {
		t.Errorf("refs: %+v, %v", refs, err)
	}
	if all, err := m.Refs(t.Context()); err != nil || all.Head != "refs/heads/main" {
		t.Errorf("head: %+v, %v", all, err)
	}
	if err := os.Rename(bare.Dir, bare.Dir+".away"); err != nil {
		t.Fatal(err)
	}
	_, err = m.Fetch(t.Context(), shared, seen)
	if err == nil || errors.Is(err, git.ErrNoRemoteRef) || errors.Is(err, git.ErrObjects) {
		t.Errorf("fetch: %v", err)
	}
	if _, err := m.Push(t.Context(), git.Update{Ref: shared, ID: r.Run("rev-parse", "HEAD")}); err == nil {
		t.Error("pushed to nowhere")
	}
	for _, name := range []string{"nosuch", "--upload-pack=x", "https://example.com/x", "../bare", "a/b", ".", "o..o"} {
		if _, err := repo.Remote(t.Context(), name, ""); !errors.Is(err, git.ErrNoRemote) {
			t.Errorf("remote %q: %v", name, err)
		}
	}
}

// A relative path of a remote starts at the folder of the user's git.
func TestRemoteMayBeARelativePath(t *testing.T) {
	r, _, repo := pair(t, "../bare")
	id := r.Run("rev-parse", "HEAD")
	if got := push(t, origin(t, repo), id, ""); got.Outcome != git.Moved {
		t.Errorf("%+v", got)
	}
}

func TestFetchRefusesMalformedObjects(t *testing.T) {
	r, bare, repo := pair(t, "")
	blob := r.Run("hash-object", "-w", "README")
	for _, entry := range []string{"100644 blob " + blob + "\t..", "100644 blob " + blob + "\t.git"} {
		dir := testrepo.Init(t, filepath.Join(t.TempDir(), "evil"))
		dir.Write("README", "a project\n")
		dir.Run("hash-object", "-w", "README")
		tree := pipe(t, dir.Dir, entry+"\n", "mktree")
		commit := dir.Run("commit-tree", "-m", "evil", tree)
		dir.Run("push", "-q", "-f", bare.Dir, commit+":"+shared)
		_, err := origin(t, repo).Fetch(t.Context(), shared, seen)
		if !errors.Is(err, git.ErrObjects) || !strings.Contains(err.Error(), "hasDot") {
			t.Errorf("%q: %v", entry, err)
		}
	}
	if out, err := r.Try("rev-parse", "--verify", "-q", seen); err == nil {
		t.Errorf("%s is at %s", seen, out)
	}
}

// A program that only the repository's own configuration names is not run; the user's own is.
func TestProgramsOfTheRepositoryAreRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	for _, kv := range [][2]string{
		{"core.sshCommand", "CANARY"}, {"core.gitProxy", "CANARY"}, {"core.askPass", "CANARY"}, {"core.alternateRefsCommand", "CANARY"},
		{"remote.origin.uploadpack", "CANARY"}, {"remote.origin.receivepack", "CANARY"}, {"remote.origin.vcs", "ext"},
		{"credential.helper", "!CANARY"}, {"credential.https://example.com.helper", "/CANARY"}, {"credential.helper", "store --file=/x"},
		{"http.saveCookies", "true"}, {"hook.x.command", "CANARY"}, {"remote.reverie.sync.uploadpack", "CANARY"},
	} {
		t.Run(kv[0], func(t *testing.T) {
			r, _, repo := pair(t, "")
			canary := filepath.Join(t.TempDir(), "canary")
			value := strings.ReplaceAll(kv[1], "CANARY", "touch "+canary)
			r.Run("config", kv[0], "plain")
			r.Run("config", "--add", kv[0], value)
			var told *git.ProgramError
			m, err := repo.Remote(t.Context(), "origin", "")
			if !errors.As(err, &told) || !strings.EqualFold(told.Keys[0], kv[0]) {
				t.Fatalf("%v, %v", m, err)
			}
			r.Run("config", "--unset-all", kv[0])
			r.Run("config", "--global", kv[0], value)
			if _, err := repo.Remote(t.Context(), "origin", ""); err != nil {
				t.Errorf("the user's own: %v", err)
			}
			r.Run("config", kv[0], value)
			if _, err := repo.Remote(t.Context(), "origin", ""); err != nil {
				t.Errorf("the user's own, repeated: %v", err)
			}
		})
	}
	r, _, repo := pair(t, "")
	r.Write("evil.config", "[core]\n\tsshCommand = touch canary\n")
	for _, key := range []string{"include.path", "includeIf.gitdir:**.path"} {
		r.Run("config", key, "../evil.config")
		var told *git.ProgramError
		if _, err := repo.Remote(t.Context(), "origin", ""); !errors.As(err, &told) {
			t.Errorf("%s: %v", key, err)
		}
		r.Run("config", "--unset", key)
	}
	r.Run("config", "extensions.worktreeConfig", "true")
	r.Run("config", "--worktree", "core.sshCommand", "touch canary")
	var told *git.ProgramError
	if _, err := repo.Remote(t.Context(), "origin", ""); !errors.As(err, &told) {
		t.Errorf("config.worktree: %v", err)
	}
	r.Run("config", "--worktree", "--unset", "core.sshCommand")
	r.Run("config", "credential.helper", "cache")
	r.Run("config", "http.extraHeader", "a: b")
	r.Run("config", "remote.other.uploadpack", "elsewhere")
	origin(t, repo)
}

func TestExtNeverRuns(t *testing.T) {
	canary := filepath.Join(t.TempDir(), "canary")
	r, _, repo := pair(t, "")
	r.Run("config", "protocol.ext.allow", "always")
	r.Run("config", "--global", "protocol.ext.allow", "always")
	r.Run("config", "url.ext::touch "+canary+" #.insteadOf", "file://")
	for _, allowed := range []string{"", "file:ext"} {
		if allowed != "" {
			t.Setenv("GIT_ALLOW_PROTOCOL", allowed)
		}
		m := origin(t, repo)
		if !strings.HasPrefix(m.URL, "ext::") {
			t.Fatalf("contacts %s", m.URL)
		}
		if _, err := m.Fetch(t.Context(), shared, seen); err == nil || !strings.Contains(err.Error(), "not allowed") {
			t.Errorf("fetch: %v", err)
		}
		if _, err := m.Push(t.Context(), git.Update{Ref: shared, ID: r.Run("rev-parse", "HEAD")}); err == nil {
			t.Error("pushed")
		}
	}
	if _, err := os.Stat(canary); err == nil {
		t.Error("it ran")
	}
}

func TestDefaultRemote(t *testing.T) {
	r, _, repo := pair(t, "")
	want := func(name string) {
		t.Helper()
		m, err := repo.Remote(t.Context(), "", "main")
		if err != nil && !errors.Is(err, git.ErrNoRemote) || err == nil && m.Name != name || err != nil && name != "" {
			t.Errorf("%+v, %v; want %q", m, err, name)
		}
	}
	r.Run("remote", "add", "up", "/srv/up")
	want("origin")
	r.Run("config", "branch.main.remote", "up")
	want("up")
	r.Run("config", "branch.main.remote", ".")
	r.Run("remote", "rename", "origin", "fork")
	want("")
	r.Run("remote", "remove", "up")
	want("fork")
	r.Run("remote", "rename", "fork", "team/one")
	want("team/one")
	r.Run("config", "remote.-x.url", "/srv/x") // git itself never creates such a name
	r.Run("config", "remote.a..b.url", "/srv/x")
	want("team/one")
}

// RemoteURLs agrees with the addresses that git says it contacts.
func TestRemoteURLsAreGitsOwn(t *testing.T) {
	r, _, repo := pair(t, "gh:team/code")
	r.Run("config", "url.https://github.com/.insteadOf", "gh:")
	r.Run("config", "url.ssh://git@github.com/.pushInsteadOf", "gh:")
	r.Run("config", "--add", "url.https://mirror.example/team/.insteadOf", "gh:team/")
	r.Run("remote", "add", "two", "gh:other/code")
	r.Run("remote", "set-url", "--push", "two", "gh:fork/code")
	r.Run("remote", "add", "three", "/srv/code")
	for _, name := range []string{"origin", "two", "three"} {
		m, err := repo.Remote(t.Context(), name, "")
		if err != nil {
			t.Fatal(err)
		}
		want := [2]string{r.Run("remote", "get-url", name), r.Run("remote", "get-url", "--push", name)}
		if diff := cmp.Diff(want, [2]string{m.URL, m.PushURL}); diff != "" {
			t.Errorf("%s (-git +ours):\n%s", name, diff)
		}
	}
}

func TestAddressHoldsNoPassword(t *testing.T) {
	for url, want := range map[string]string{
		"https://ann:s3cret@example.com/a/b.git": "https://example.com/a/b.git",
		"https://ghp_token@example.com/a":        "https://example.com/a",
		"https://example.com/a":                  "https://example.com/a",
		"ssh://git@example.com/a":                "ssh://git@example.com/a",
		"ssh://git:pw@example.com/a":             "ssh://example.com/a",
		"git@example.com:a/b.git":                "git@example.com:a/b.git",
		"https://a:%zz@example.com/x":            "https://example.com/x",
		"../bare":                                "../bare",
		"https://h/x.git?access_token=abc123":    "https://h/x.git",
		"https://h/x.git#token=abc123":           "https://h/x.git",
		"http://a:b@h:80/x?t=1@2#3":              "http://h:80/x",
		"https://a:%zz@example.com/x?token=abc1": "https://example.com/x",
		"file:///tmp/a?b":                        "file:///tmp/a",
		"../what?":                               "../what?",
	} {
		if got := git.Address(url); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
}

// Errors contain no secret of an address, even of one that another setting rewrote.
func TestErrorsTellNoSecretOfAnAddress(t *testing.T) {
	for _, address := range []string{"http://127.0.0.1:1/x.git?access_token=s3cretQ9", "http://ann:s3cretQ9@127.0.0.1:1/x.git", "http://s3cretQ9@127.0.0.1:1/x.git?a=s3cretQ9#s3cretQ9",
		"http://ann:s3cretQ9 x@127.0.0.1:1/x.git", "rewritten:x.git"} {
		r, _, repo := pair(t, address)
		r.Run("config", "--global", "url.http://ann:s3cretQ9@127.0.0.1:1/?token=s3cretQ9&p=.insteadOf", "rewritten:")
		m := origin(t, repo)
		_, err := m.Refs(t.Context())
		_, err2 := m.Fetch(t.Context(), "refs/heads/main", "refs/reverie/remotes/origin/new/main")
		for _, err := range []error{err, err2} {
			if err == nil || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%s: %v", address, err)
			}
		}
	}
}

// A remote that accepts the connection and stays silent is abandoned at the deadline, with all
// processes started for it.
func TestDeadlineEndsEverything(t *testing.T) {
	r, _, repo := pair(t, "ssh://nowhere.example/x")
	pids := filepath.Join(t.TempDir(), "pid")
	r.Run("config", "--global", "core.sshCommand", "echo $$ >>"+pids+"; exec sleep 600 #")
	m := origin(t, repo)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for text := []byte(nil); len(text) == 0; time.Sleep(10 * time.Millisecond) {
			text, _ = os.ReadFile(pids)
		}
		cancel()
	}()
	if _, err := m.Fetch(ctx, shared, seen); !errors.Is(err, context.Canceled) {
		t.Errorf("fetch: %v", err)
	}
	text, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal("ssh was never asked")
	}
	gone(t, strings.TrimSpace(string(text)))
}

// A slow remote counts as at work while git runs. It sends a part of the fetch, and the rest only
// after progress was reported. Reading the received objects reports each.
func TestSlowFetchTellsOfProgress(t *testing.T) {
	r, bare, repo := pair(t, "")
	m := origin(t, repo)
	noise(t, bare, 300)
	dir := t.TempDir()
	script, all, more := filepath.Join(dir, "script"), filepath.Join(dir, "all"), filepath.Join(dir, "more")
	text := fmt.Sprintf("#!/bin/sh\n\"$@\" >'%[1]s'\nhead -c 100000 '%[1]s'\nwhile [ ! -e '%[2]s' ]; do sleep 0.05; done\ntail -c +100001 '%[1]s'\n", all, more)
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	r.Run("config", "--global", "uploadpack.packObjectsHook", script)
	var told atomic.Int64
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	id, err := m.Fetch(git.Watched(ctx, func() {
		if told.Add(1) == 1 {
			os.WriteFile(more, nil, 0o600)
		}
	}), shared, seen)
	if err != nil {
		t.Fatalf("after %d signs of progress: %v", told.Load(), err)
	}
	told.Store(0)
	ids := strings.Fields(r.Run("rev-list", "--objects", "--no-object-names", id))
	objects := repo.Objects()
	defer objects.Close()
	if err := objects.ReadAll(git.Watched(t.Context(), func() { told.Add(1) }), ids, func(int, git.Object) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if n := told.Load(); n < int64(len(ids)) {
		t.Errorf("%d signs of progress for %d objects", n, len(ids))
	}
}

// noise makes the shared branch one commit of incompressible files, 1 KiB each.
func noise(t *testing.T, bare *testrepo.Repo, files int) {
	t.Helper()
	r := testrepo.Init(t, t.TempDir())
	rnd := rand.NewChaCha8([32]byte{})
	for i := range files {
		text := make([]byte, 1024)
		rnd.Read(text)
		r.Write(fmt.Sprint(i), string(text))
	}
	r.Commit("noise")
	r.Run("push", "-q", bare.Dir, "HEAD:"+shared)
}

// Only our branch is fetched whole into a shallow clone: the code stays as shallow as before.
func TestShallowCloneGetsOurWholeHistory(t *testing.T) {
	r, bare, repo := pair(t, "")
	r.Write("a", "a\n")
	r.Commit("second")
	r.Run("push", "-q", "origin", "main")
	one := r.Run("commit-tree", "-m", "one", "HEAD^{tree}")
	two := r.Run("commit-tree", "-m", "two", "-p", one, "HEAD^{tree}")
	push(t, origin(t, repo), two, "")
	clone := testrepo.At(t, filepath.Join(filepath.Dir(r.Dir), "clone"))
	r.Run("clone", "-q", "--depth=1", "--no-single-branch", "file://"+filepath.ToSlash(bare.Dir), clone.Dir)
	shallow, err := git.Find(t.Context(), clone.Dir)
	if err != nil || !shallow.Shallow {
		t.Fatalf("%+v, %v", shallow, err)
	}
	if _, err := origin(t, shallow).Fetch(t.Context(), shared, seen); err != nil {
		t.Fatal(err)
	}
	if n := clone.Run("rev-list", "--count", seen); n != "2" {
		t.Errorf("%s commits of ours", n)
	}
	if n := clone.Run("rev-list", "--count", "HEAD"); n != "1" {
		t.Errorf("%s commits of the code", n)
	}
}

// A partial clone gets our files whole, and keeps its configuration.
func TestPartialCloneGetsOurFiles(t *testing.T) {
	r, bare, repo := pair(t, "")
	bare.Run("config", "uploadpack.allowFilter", "true")
	r.Write("ours", "words\n")
	tree := pipe(t, r.Dir, "100644 blob "+r.Run("hash-object", "-w", "ours")+"\tours\n", "mktree")
	push(t, origin(t, repo), r.Run("commit-tree", "-m", "one", tree), "")
	clone := testrepo.At(t, filepath.Join(filepath.Dir(r.Dir), "clone"))
	r.Run("clone", "-q", "--filter=blob:none", "--single-branch", "file://"+filepath.ToSlash(bare.Dir), clone.Dir)
	before := clone.Run("config", "--list", "--local")
	partial, err := git.Find(t.Context(), clone.Dir)
	if err != nil || !partial.Partial {
		t.Fatalf("%+v, %v", partial, err)
	}
	if _, err := origin(t, partial).Fetch(t.Context(), shared, seen); err != nil {
		t.Fatal(err)
	}
	bare.Run("config", "uploadpack.allowFilter", "false")
	if err := os.Rename(bare.Dir, bare.Dir+".away"); err != nil {
		t.Fatal(err)
	}
	if got := clone.Run("show", seen+":ours"); got != "words" {
		t.Errorf("%q", got)
	}
	if diff := cmp.Diff(before, clone.Run("config", "--list", "--local")); diff != "" {
		t.Errorf("configuration (-before +after):\n%s", diff)
	}
}

// Reading an object that a partial clone lacks would make git fetch it, by the programs of that
// clone.
func TestPartialCloneRunsNoProgramOfItsOwn(t *testing.T) {
	r, bare, _ := pair(t, "")
	bare.Run("config", "uploadpack.allowFilter", "true")
	clone := testrepo.At(t, filepath.Join(filepath.Dir(r.Dir), "clone"))
	r.Run("clone", "-q", "--no-checkout", "--filter=blob:none", "file://"+filepath.ToSlash(bare.Dir), clone.Dir)
	id := r.Run("rev-parse", "HEAD:README")
	canary := filepath.Join(t.TempDir(), "canary")
	clone.Run("config", "remote.origin.uploadpack", "touch "+canary+"; git-upload-pack")
	read := func() error {
		repo, err := git.Find(t.Context(), clone.Dir)
		if err != nil {
			t.Fatal(err)
		}
		objects := repo.Objects()
		defer objects.Close()
		_, err = objects.Read(t.Context(), id)
		return err
	}
	if err := read(); !errors.Is(err, git.ErrNoObject) {
		t.Errorf("read: %v", err)
	}
	if _, err := os.Stat(canary); err == nil {
		t.Error("it ran")
	}
	clone.Run("config", "--unset", "remote.origin.uploadpack")
	if err := read(); err != nil {
		t.Errorf("read: %v", err)
	}
}

// pipe runs git in a folder with text on its standard input.
func pipe(t *testing.T, dir, text string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(text)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %v: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// gone waits for the end of a process.
func gone(t *testing.T, pid string) {
	t.Helper()
	for range 500 {
		if exec.Command("kill", "-0", pid).Run() != nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %s is still there", pid)
}
