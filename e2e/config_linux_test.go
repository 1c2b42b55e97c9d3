package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// canaries are programs that leave their name in a file when run.
type canaries struct {
	t    *testing.T
	dir  string
	mark string
}

func newCanaries(t *testing.T) *canaries {
	dir := t.TempDir()
	return &canaries{t: t, dir: dir, mark: filepath.Join(dir, "mark")}
}

// named returns the path of a program that records its name and fails. A program whose name begins
// with "my-" copies its input like a pager; as an editor it does nothing.
func (c *canaries) named(name string) string {
	path := filepath.Join(c.dir, strings.NewReplacer("/", "_", ":", "_", "*", "_").Replace(name))
	then := "exit 1"
	if strings.HasPrefix(name, "my-") {
		then = "[ -t 0 ] || exec cat"
	}
	write(c.t, path, "#!/bin/sh\necho '"+name+"' >>'"+c.mark+"'\n"+then+"\n")
	if err := os.Chmod(path, 0o755); err != nil {
		c.t.Fatal(err)
	}
	return path
}

// sang returns the names of the programs run since the last call, each once.
func (c *canaries) sang() []string {
	text, _ := os.ReadFile(c.mark)
	os.Remove(c.mark)
	names := strings.Fields(string(text))
	slices.Sort(names)
	return slices.Compact(names)
}

// programKeys lists settings whose value git runs. A % marks the canary's place.
var programKeys = []string{
	"core.fsmonitor=%", "core.editor=%", "sequence.editor=%", "core.pager=%", "pager.log=%", "pager.diff=%", "pager.blame=%", "pager.show=%",
	"core.sshCommand=%", "core.gitProxy=%", "core.askPass=%", "core.alternateRefsCommand=%",
	"diff.external=%", "diff.evil.command=%", "diff.evil.textconv=%", "diff.evil.trustExitCode=true",
	"filter.evil.clean=%", "filter.evil.smudge=%", "filter.worse.process=%", "filter.worse.required=true",
	"merge.evil.driver=%", "merge.default=evil", "merge.tool=evil", "mergetool.evil.cmd=%", "diff.tool=evil", "difftool.evil.cmd=%",
	"gpg.program=%", "gpg.openpgp.program=%", "gpg.ssh.program=%", "gpg.x509.program=%", "gpg.ssh.defaultKeyCommand=%",
	"commit.gpgSign=true", "tag.gpgSign=true", "push.gpgSign=if-asked", "log.showSignature=true", "user.signingKey=none",
	"credential.helper=%", "credential.http://127.0.0.1.helper=!%",
	"uploadpack.packObjectsHook=%", "remote.origin.uploadpack=%", "remote.origin.receivepack=%", "remote.other.vcs=ext",
	"alias.cat-file=!%", "alias.log=!%", "alias.reverie=!%", "protocol.ext.allow=always", "protocol.allow=always",
	"trailer.sign.command=%", "trailer.sign.cmd=%", "trailer.sign.ifMissing=add",
	"web.browser=evil", "browser.evil.cmd=%", "browser.evil.path=%", "man.viewer=evil", "man.evil.cmd=%", "interactive.diffFilter=%",
	"gc.auto=1", "gc.autoDetach=false", "gc.recentObjectsHook=%", "maintenance.auto=true", "submodule.sub.update=!%", "submodule.recurse=true", "sendemail.tocmd=%",
}

// hookNames lists all of git's hooks.
var hookNames = strings.Fields(`applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg post-commit
	pre-rebase post-checkout post-merge pre-push pre-receive update proc-receive post-receive post-update reference-transaction push-to-checkout
	pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman post-index-change`)

// plant makes a repository hostile in every known way: each program that runs in it sings.
func plant(t *testing.T, dir string, c *canaries) {
	t.Helper()
	gitDir := filepath.Join(dir, ".git")
	for _, kv := range programKeys {
		key, value, _ := strings.Cut(kv, "=")
		git(t, dir, "config", "--add", key, strings.ReplaceAll(value, "%", c.named(key)))
	}
	// An included file sets the same again under other names.
	var included strings.Builder
	for _, kv := range []string{"core.fsmonitor", "core.editor", "core.pager", "core.sshCommand", "gpg.program", "gpg.ssh.program", "diff.external"} {
		section, key, _ := strings.Cut(kv, ".")
		if i := strings.LastIndex(key, "."); i >= 0 {
			section, key = section+` "`+key[:i]+`"`, key[i+1:]
		}
		fmt.Fprintf(&included, "[%s]\n\t%s = %s\n", section, key, c.named("include.path:"+kv))
	}
	write(t, filepath.Join(gitDir, "more"), included.String())
	git(t, dir, "config", "includeIf.gitdir:/.path", filepath.Join(gitDir, "more"))
	for _, name := range hookNames {
		for _, folder := range []string{"hooks", "hooks-of-path"} {
			hook := filepath.Join(gitDir, folder, name)
			write(t, hook, "#!/bin/sh\nexec '"+c.named(folder+"/"+name)+"'\n")
			if err := os.Chmod(hook, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	git(t, dir, "config", "core.hooksPath", filepath.Join(gitDir, "hooks-of-path"))
	for _, file := range []string{".gitattributes", ".git/info/attributes"} {
		write(t, filepath.Join(dir, file), "* diff=evil filter=evil merge=evil\n*.worse filter=worse\n")
	}
	write(t, filepath.Join(dir, ".gitmodules"), "[submodule \"sub\"]\n\tpath = sub\n\turl = ext::"+c.named("gitmodules")+"\n\tupdate = !"+c.named("gitmodules")+"\n")
	write(t, filepath.Join(dir, ".env"), "SECRET_KEY=kuh4Gah8ieYoo3ui\n")
	write(t, filepath.Join(dir, "sub", ".env"), "SECRET_KEY=Aep3ohxaiNgee5co\n")
	write(t, filepath.Join(dir, ".gitignore"), ".env\n")
}

// userPrograms gives the person an editor and a pager, which must be used.
func userPrograms(t *testing.T, c *canaries) {
	t.Helper()
	config := filepath.Join(t.TempDir(), "gitconfig")
	write(t, config, "[user]\n\tname = Ann Author\n\temail = ann@example.com\n[core]\n\teditor = "+c.named("my-editor")+"\n\tpager = "+c.named("my-pager")+"\n")
	t.Setenv("GIT_CONFIG_GLOBAL", config)
	t.Setenv("TERM", "xterm")
}

// everyCommand lists the commands, with their arguments: ID is a memory, OP a pending operation, _
// a space.
var everyCommand = []string{
	"status", "list --all", "show ID", "recall first", "log", "log ID -p", "blame ID", "diff", "diff --words", "diff ~2",
	"remember another_statement_altogether", "edit ID the_first_statement,_changed", "forget --reason over ID2", "revert ~0",
	"review", "accept OP", "reject --all", "learn FILE2", "ingest FILE", "sessions", "reflect --pending", "dream",
	"export", "import --accept IMPORT", "config", "config sightings 3", "render agents-md --force --file NEW.md", "render memory-md", "check --deep", "init",
	"stale", "check", "status --json", "merge refs/remotes/theirs/memory", "conflicts", "check --diff reverie/memory~1..reverie/memory", "init --ci github",
	"list --at ~1", "list --at @{1.minute.ago}", "show ID --at ~1", "recall --at ~1 first", "version", "help",
	"trust", "trust --signatures", "trust approve --all", "purge --dry-run second", "purge --yes second", "check --deep", "uninstall --dry-run", "web --export SITE",
}

// A repository's own settings, attributes and hooks name programs in every possible way. No command
// of Reverie runs one of them, or writes anything but its own refs and state: the repository may be
// a folder received from a stranger.
func TestProgramsOfTheRepositoryAreNotRun(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	c := newCanaries(t)
	userPrograms(t, c)
	t.Setenv("PATH", withoutSigners(t))
	formats := []string{"openpgp", "ssh", "x509"}
	if !full { // one of the store's own tests covers all three
		formats = formats[:1]
	}
	for _, format := range formats {
		dir := newRepo(t)
		var ids []string
		for _, text := range []string{"the first statement", "the second is another one", "what a third one says"} {
			ids = append(ids, strings.TrimSpace(must(t, dir, "remember", text)))
		}
		must(t, dir, "learn", example(t))
		op := waiting(t, dir)
		write(t, filepath.Join(t.TempDir(), "import.jsonl"), `{"text":"an imported statement about things"}`+"\n")
		lines := filepath.Join(t.TempDir(), "import.jsonl")
		write(t, lines, `{"text":"an imported statement about things"}`+"\n")
		knowCode(t, dir)
		theirs := copyDir(t, dir)
		must(t, theirs, "edit", ids[2], "what a third one says elsewhere")
		must(t, dir, "edit", ids[2], "what a third one says here")
		git(t, dir, "fetch", "-q", theirs, "reverie/memory:refs/remotes/theirs/memory")
		plant(t, dir, c)
		git(t, dir, "config", "gpg.format", format)
		if format == formats[0] {
			isHostile(t, copyDir(t, dir), c)
		}
		c.sang()
		before := manifest(t, dir)
		words := map[string]string{"ID": ids[0], "ID2": ids[1], "OP": op, "FILE": example(t), "FILE2": strings.Replace(example(t), "claude-code", "codex", 1),
			"IMPORT": lines, "NEW.md": filepath.Join(t.TempDir(), "NEW.md"), "SITE": t.TempDir()}
		commands := everyCommand
		if format != formats[0] {
			// where a signature counts
			commands = []string{"remember another_statement_altogether", "log", "check --deep"}
		}
		for _, line := range commands {
			args := strings.Fields(line)
			for i := range args {
				if value, ok := words[args[i]]; ok {
					args[i] = value
				} else {
					args[i] = strings.ReplaceAll(args[i], "_", " ")
				}
			}
			a := reverie(t, dir, args...)
			if names := c.sang(); len(names) > 0 {
				t.Errorf("gpg.format %s: reverie %s ran %v", format, line, names)
			}
			if a.code != 0 && !(args[0] == "check" && a.code == 1) {
				t.Errorf("gpg.format %s: %s", format, a)
			}
		}
		if format == formats[0] {
			c.runOthers(dir, ids[0])
			for _, line := range []string{"log -p", "log ID", "diff", "blame ID", "edit ID", "review", "list", "show ID", "status", "uninstall"} {
				args := strings.Fields(strings.Replace(line, "ID", ids[0], 1))
				a := onTerminal(t, dir, "q\nn\n", args...) // a question wants a yes or a no
				allowed := []string{"my-editor", "my-pager"}
				for _, name := range c.sang() {
					if !slices.Contains(allowed, name) {
						t.Errorf("on a terminal reverie %s ran %s", line, name)
					}
					words[name] = "ran"
				}
				if a.code == 128 || a.code == 129 {
					t.Errorf("on a terminal %s", a)
				}
			}
			if words["my-editor"] != "ran" || words["my-pager"] != "ran" {
				t.Errorf("the user's own editor and pager were not used: %v", words)
			}
		}
		sameManifest(t, before, manifest(t, dir))
	}
}

// runOthers runs the commands that are not in everyCommand, and ignores failures.
func (c *canaries) runOthers(dir, id string) {
	for line := range strings.Lines(must(c.t, dir, "help", "--all")) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		listed := strings.HasPrefix(line, "    ") && name != "reverie" && name != "git" && !strings.HasPrefix(name, "-")
		if !listed || slices.ContainsFunc(everyCommand, func(known string) bool { return strings.HasPrefix(known+" ", name+" ") }) {
			continue
		}
		for _, args := range [][]string{{name}, {name, id}} {
			a := reverie(c.t, dir, args...)
			if names := c.sang(); len(names) > 0 {
				c.t.Errorf("%s\nran %v", a, names)
			}
		}
	}
}

// isHostile shows that the canaries can sing: plain git runs many of them.
func isHostile(t *testing.T, dir string, c *canaries) {
	t.Helper()
	write(t, filepath.Join(dir, "README"), "changed\n")
	for _, args := range [][]string{
		{"status"}, {"diff"}, {"diff", "--no-ext-diff"}, {"add", "README"}, {"commit", "-m", "hostile"}, {"commit", "--no-verify", "-m", "hostile"},
		{"fetch", "ssh://nobody@127.0.0.1:1/x"}, {"fetch", "ext::" + c.named("ext")}, {"fetch", "--upload-pack=" + c.named("uploadpack"), "."},
		{"commit", "--amend", "--no-gpg-sign"}, {"var", "GIT_EDITOR"}, {"checkout", "-q", "-f", "HEAD^{tree}", "--", "README"}, {"reverie"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir, cmd.WaitDelay = dir, time.Second
		_ = cmd.Run() // most of them fail, because the canary is no such program
		cancel()
	}
	names := c.sang()
	if len(names) < 12 {
		t.Errorf("plain git runs only %v", names)
	}
	t.Logf("plain git runs %v", names)
}

// waiting returns an operation that waits for a person.
func waiting(t *testing.T, dir string) string {
	t.Helper()
	_, id, found := strings.Cut(must(t, dir, "review", "--json"), `"id":"`)
	if !found {
		t.Fatal("nothing waits")
	}
	return id[:16]
}

// withoutSigners returns a PATH on which no signing program finds a key of the machine's.
func withoutSigners(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"gpg", "gpgsm", "ssh-keygen"} {
		write(t, filepath.Join(dir, name), "#!/bin/sh\necho no key >&2\nexit 2\n")
		if err := os.Chmod(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir + string(os.PathListSeparator) + os.Getenv("PATH")
}
