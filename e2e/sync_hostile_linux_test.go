package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// cloneOf is a repository whose origin is a bare one beside it, with a memory that both have.
func cloneOf(t *testing.T) (dir, bare string) {
	t.Helper()
	dir = newRepo(t)
	bare = filepath.Join(filepath.Dir(dir), "bare.git")
	git(t, "", "init", "-q", "--bare", bare)
	git(t, dir, "remote", "add", "origin", bare)
	git(t, dir, "push", "-q", "origin", "HEAD:main")
	must(t, dir, "remember", "what both know")
	must(t, dir, "sync", "--yes")
	return dir, bare
}

// A sync runs git's own transports and the user's programs. It refuses any program that the
// repository itself names, and reports the key. Programs that are neither needed nor refused stay
// unmentioned.
func TestSyncRunsNoProgramOfTheRepository(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	c := newCanaries(t)
	userPrograms(t, c)
	t.Setenv("PATH", withoutSigners(t))
	dir, bare := cloneOf(t)
	server := unauthorized(t)
	for i, set := range [][]string{ // the key that is named comes last
		{"remote.origin.uploadpack=%"},
		{"remote.origin.receivepack=%"},
		{"remote.origin.url=ssh://nobody@127.0.0.1:1/x", "core.sshCommand=%"},
		{"remote.origin.url=git://127.0.0.1:1/x", "core.gitProxy=%"},
		{"protocol.ext.allow=always", "remote.origin.url=%", "remote.origin.vcs=ext"},
		{"remote.origin.url=" + server, "credential.helper=%"},
		{"remote.origin.url=" + server, "credential." + server + ".helper=!%"},
		{"remote.origin.url=" + server, "core.askPass=%"},
		{"protocol.ext.allow=always", "remote.origin.url=ext::%"},
		{"protocol.ext.allow=always", "remote.origin.url=good:", "url.ext::%.insteadOf=good:"},
	} {
		name, program := strings.Join(set, " "), c.named(fmt.Sprintf("sync%d", i))
		config := filepath.Join(dir, ".git", "config")
		before := read(t, config)
		var key string
		for _, kv := range set {
			var value string
			key, value, _ = strings.Cut(strings.ReplaceAll(kv, "%", program), "=")
			git(t, dir, "config", key, value)
		}
		must(t, dir, "remember", fmt.Sprintf("learned before sync %d", i))
		tip := git(t, bare, "rev-parse", "reverie/memory")
		a := reverie(t, dir, "sync", "--yes", "--timeout", "10s")
		if names := c.sang(); len(names) > 0 {
			t.Errorf("%s: it was run", name)
		}
		if a.code == 0 || !strings.Contains(a.err, "ext") && !strings.Contains(strings.ToLower(a.err), strings.ToLower(key)) {
			t.Errorf("%s: want a refusal that names the last key: %s", name, a)
		}
		if now := git(t, bare, "rev-parse", "reverie/memory"); now != tip {
			t.Errorf("%s: the remote moved", name)
		}
		write(t, config, before)
	}
	// Without those keys, in a repository that is hostile in all other ways, it works.
	plant(t, dir, c)
	for _, key := range []string{"core.sshCommand", "core.gitProxy", "core.askPass", "core.alternateRefsCommand", "credential.helper",
		"credential.http://127.0.0.1.helper", "remote.origin.uploadpack", "remote.origin.receivepack", "includeIf.gitdir:/.path"} {
		if key != "includeIf.gitdir:/.path" {
			if a := reverie(t, dir, "sync", "--yes"); a.code == 0 || !strings.Contains(a.err, "configuration") {
				t.Errorf("with %s: %s", key, a)
			}
		}
		git(t, dir, "config", "--unset-all", key)
	}
	c.sang()
	before := manifest(t, dir)
	must(t, dir, "sync", "--yes")
	must(t, dir, "sync", "--dry-run")
	must(t, dir, "import", lines(t, "a thing to be proposed"))
	must(t, dir, "sync", "--propose", "--yes")
	must(t, dir, "sync", "--journal", "--yes")
	sameManifest(t, before, manifest(t, dir))
	must(t, dir, "purge", "--yes", "--push", "origin", "what both know")
	if names := c.sang(); len(names) > 0 {
		t.Errorf("sync or purge ran %v", names)
	}
}

// lines is a file of statements to import.
func lines(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "import.jsonl")
	write(t, path, fmt.Sprintf("{\"text\":%q}\n", text))
	return path
}

// The same hostile trees, sent by a real remote. git refuses some of them by its own rules.
func TestSyncRefusesHostileTrees(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	t.Parallel()
	first, bare := cloneOf(t)
	must(t, first, "remember", "what only this clone knows")
	base := git(t, bare, "rev-parse", "reverie/memory")
	for n, c := range hostileTrees {
		if c.says == "" || !full && n%6 != 0 || c.name == "settings that loosen" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			dir := copyDir(t, first)
			root := rawTree(t, bare, c.make(t, bare, entriesOf(t, bare, base))...)
			commit := object(t, bare, "commit", fmt.Appendf(nil, "tree %s\nparent %s\nauthor %s\ncommitter %[3]s\n\nevil\n", root, base, eve))
			write(t, filepath.Join(bare, "refs", "heads", "reverie", "memory"), commit+"\n")
			defer git(t, bare, "update-ref", "refs/heads/reverie/memory", base)
			tip, list := git(t, dir, "rev-parse", "reverie/memory"), must(t, dir, "list", "--all")
			before := manifest(t, filepath.Dir(dir))
			a := reverie(t, dir, "sync", "--yes")
			if a.code == 0 || a.code == 1 {
				t.Errorf("want a refusal: %s", a)
			}
			if !strings.Contains(a.err, c.says) && !strings.Contains(a.err, "git") {
				t.Errorf("neither the entry is named nor is it git that refuses: %s", a)
			}
			if now := git(t, dir, "rev-parse", "reverie/memory"); now != tip {
				t.Errorf("the branch moved from %s to %s", tip, now)
			}
			if now := must(t, dir, "list", "--all"); now != list {
				t.Errorf("list says\n%s\nnot\n%s", now, list)
			}
			sameManifest(t, before, manifest(t, filepath.Dir(dir)))
			git(t, dir, "fsck", "--strict", "--no-dangling")
		})
	}
	must(t, first, "sync", "--yes")
}
