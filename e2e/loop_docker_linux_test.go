package e2e

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// loopEngine returns the engine of the tests: Podman if REVERIE_PODMAN is set.
func loopEngine() string {
	if os.Getenv("REVERIE_PODMAN") != "" {
		return "podman"
	}
	return "docker"
}

// engineOfTests makes a test's commands use the Docker of REVERIE_DOCKER, which .ci/docker starts,
// or the Podman of REVERIE_PODMAN, which .ci/podman sets up, with limits that tests reach.
func engineOfTests(t *testing.T) {
	t.Helper()
	host, settings := os.Getenv("REVERIE_DOCKER"), os.Getenv("REVERIE_PODMAN")
	switch {
	case host+settings == "":
		t.Skip("REVERIE_DOCKER=$(.ci/docker) or REVERIE_PODMAN=$(.ci/podman) runs this")
	case settings != "":
		t.Setenv("CONTAINERS_CONF", filepath.Join(settings, "containers.conf"))
		t.Setenv("CONTAINERS_STORAGE_CONF", filepath.Join(settings, "storage.conf"))
	default:
		t.Setenv("DOCKER_HOST", host)
	}
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	write(t, filepath.Join(home, "reverie", "config.toml"), "[sandbox]\nimage = \"reverie-busybox\"\nmemory = 256\nprocesses = 64\noutput = 1\ndisk = 64\n")
	t.Cleanup(func() {
		if left := containers(t); len(left) > 0 {
			t.Errorf("containers are left: %q", left)
		}
	})
}

// containers lists those of these tests' folders, by the engine's own account.
func containers(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command(loopEngine(), "ps", "--all", "--no-trunc", "--filter", "label=reverie.sandbox", "--format", "{{.Names}} {{.Mounts}}").Output()
	if err != nil {
		t.Fatal(err)
	}
	var ours []string
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "TestLoopDocker") { // another package's tests may be running
			ours = append(ours, line)
		}
	}
	return ours
}

// processes lists this machine's processes that have a text in their arguments.
func processes(text string) []int {
	var found []int
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range all {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if line, err2 := os.ReadFile(name); err == nil && err2 == nil && pid != os.Getpid() && bytes.Contains(line, []byte(text)) {
			found = append(found, pid)
		}
	}
	return found
}

// snapshot returns the visible state of a checkout: its files, index, HEAD, configuration and
// hooks.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintln(&b, git(t, dir, "status", "--porcelain", "--ignored"), git(t, dir, "rev-parse", "HEAD", "main"), git(t, dir, "symbolic-ref", "HEAD"), git(t, dir, "config", "--local", "--list"))
	for _, name := range files(t, dir) {
		rel, _ := filepath.Rel(dir, name)
		if strings.HasPrefix(rel, ".git/") && !strings.HasPrefix(rel, ".git/hooks/") && rel != ".git/index" {
			continue
		}
		fmt.Fprintf(&b, "%s %q\n", rel, read(t, name))
	}
	return b.String()
}

const noFindings = `cat >/dev/null; echo '{"findings":[]}'`

// A plan that takes three iterations: a failing test, a finding, a fix. Everything runs inside.
func TestLoopDockerEndsDone(t *testing.T) {
	engineOfTests(t)
	dir := newRepo(t)
	canary := filepath.Join(t.TempDir(), "canary")
	write(t, canary, "of the host")
	write(t, filepath.Join(dir, "agent.sh"), `cat >prompt
test ! -e `+canary+` && test ! -e /usr/bin/git && test "$HOSTNAME" = sandbox && test ! -e .git || exit 9
case $REVERIE_ITERATION in
1) echo 'exit 1' >parse.sh ;;
2) grep -q 'exit code 1' prompt && printf '#!/bin/sh\necho "$1"\n' >parse.sh ;;
3) grep -q 'An empty list' prompt && printf '#!/bin/sh\n[ -n "$1" ] || echo empty\necho "$1"\n' >parse.sh && chmod 755 parse.sh ;;
esac && rm prompt
`)
	write(t, filepath.Join(dir, "audit.sh"), `cat >prompt
echo spoilt >parse.sh
grep -q '^+++ b/parse.sh' prompt || exit 8
if [ "$REVERIE_ITERATION" = 2 ]; then
	echo '{"findings":[{"file":"parse.sh","line":2,"severity":"bug","text":"An empty list prints an empty line."}]}'
else
	echo '{"findings":[]}'
fi
`)
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "scripts")
	plan := filepath.Join(t.TempDir(), "plan.md")
	write(t, plan, "# Parse\n\n```verify\nsh parse.sh a\ntest ! -e "+canary+"\n```\n")
	before := snapshot(t, dir)
	a := reverie(t, dir, "loop", "start", plan, "--name", "one", "--sandbox", loopEngine(), "--audit", "sh audit.sh", "--", "sh", "agent.sh")
	if a.code != 0 || !strings.Contains(a.err, "done after 3 iterations") {
		t.Fatalf("%s", a)
	}
	if after := snapshot(t, dir); after != before {
		t.Errorf("the checkout changed:\n%s\n%s", before, after)
	}
	if got := git(t, dir, "ls-tree", "-r", "--name-only", "reverie/loop/one"); got != "README\nagent.sh\naudit.sh\nparse.sh" {
		t.Errorf("the branch has %q", got)
	}
	if got := git(t, dir, "show", "reverie/loop/one:parse.sh"); !strings.Contains(got, "echo empty") {
		t.Errorf("%q", got)
	}
	if got := git(t, dir, "ls-tree", "reverie/loop/one", "parse.sh"); !strings.HasPrefix(got, "100755") {
		t.Errorf("%q", got)
	}
	if got := git(t, dir, "log", "--format=%s", "main..reverie/loop/one"); strings.Count(got, "\n") != 2 {
		t.Errorf("commits: %s", got)
	}
	git(t, dir, "fsck", "--strict", "--no-dangling")
	must(t, dir, "loop", "cancel", "one", "--remove-worktree")
	if out := git(t, dir, "worktree", "list"); strings.Contains(out, "loops") {
		t.Errorf("%s", out)
	}
}

// Without an engine, an image or the agent's program, no loop begins.
func TestLoopDockerFailsClosed(t *testing.T) {
	engineOfTests(t)
	plan := filepath.Join(t.TempDir(), "plan.md")
	write(t, plan, "# Nothing\n\n```verify\ntrue\n```\n")
	for _, test := range []struct {
		name, says string
		code       int
		set        func(t *testing.T)
		argv       []string
	}{
		{"no engine", "the engine does not answer", 27, func(t *testing.T) {
			t.Setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
			t.Setenv("CONTAINERS_STORAGE_CONF", "/nowhere/storage.conf")
		}, []string{"--", "touch", "ran"}},
		{"no program", "is not on PATH", 27, func(t *testing.T) {
			only := t.TempDir()
			for _, name := range []string{"git", "sh"} {
				at, err := exec.LookPath(name)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(at, filepath.Join(only, name)); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("PATH", only)
		}, []string{"--", "touch", "ran"}},
		{"no image", "no such image", 27, func(t *testing.T) {
			write(t, filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "reverie", "config.toml"), "[sandbox]\nimage = \"nosuch\"\n")
		}, []string{"--", "touch", "ran"}},
		{"no agent in the image", "the image has no program nosuchagent", 28, func(t *testing.T) {
			write(t, filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "reverie", "config.toml"), "[sandbox]\nimage = \"reverie-busybox\"\n")
		}, []string{"--", "nosuchagent"}},
		{"no auditor in the image", "the image has no program nosuchaudit", 28, func(t *testing.T) {
			write(t, filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "reverie", "config.toml"), "[sandbox]\nimage = \"reverie-busybox\"\n")
		}, []string{"--audit", "X=1 nosuchaudit --all", "--", "touch", "ran"}},
		{"an auditor that is not committed", "./audit.sh is no file of the commit", 28, func(t *testing.T) {
			write(t, filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "reverie", "config.toml"), "[sandbox]\nimage = \"reverie-busybox\"\n")
		}, []string{"--audit", "./audit.sh", "--", "touch", "ran"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := newRepo(t)
			before := git(t, dir, "for-each-ref") + strings.Join(files(t, dir), "\n")
			test.set(t)
			a := reverie(t, dir, append([]string{"loop", "start", plan, "--sandbox", loopEngine(), "--min-audits", "0"}, test.argv...)...)
			if a.code != test.code || !strings.Contains(a.err, test.says) {
				t.Errorf("%s", a)
			}
			if after := git(t, dir, "for-each-ref") + strings.Join(files(t, dir), "\n"); after != before {
				t.Errorf("something is left:\n%s\n%s", before, after)
			}
		})
	}
}

// escapeKit is an agent that plants files which the host would run, and tries to escape, in each
// iteration. It ignores failures.
const escapeKit = `
echo "# iteration $REVERIE_ITERATION"
plant() { mkdir -p "$1/hooks" "$1/objects" "$1/refs/heads"
	echo 'ref: refs/heads/main' >"$1/HEAD"
	printf '[core]\n\trepositoryformatversion = 0\n\tfsmonitor = "touch @canary@/fsmonitor; false"\n\tsshCommand = touch @canary@/ssh\n\teditor = touch @canary@/editor\n\thooksPath = hooks\n[alias]\n\tx = !touch @canary@/alias\n[filter "own"]\n\tclean = touch @canary@/ownclean\n\tsmudge = touch @canary@/ownsmudge\n' >"$1/config"
	for h in pre-commit post-checkout post-commit reference-transaction post-index-change; do printf '#!/bin/sh\ntouch @canary@/hook-%s\n' $h >"$1/hooks/$h"; chmod 755 "$1/hooks/$h"; done
}
plant .git; plant nested/.git; plant bare; plant deep/a/b/c/.git
echo x >nested/file; echo x >deep/a/file
printf 'gitdir: %s\n' "$PWD/bare" >sub.git; mkdir -p linked; printf 'gitdir: ../bare\n' >linked/.git
mkdir -p .GIT; plant .GIT
printf '* filter=host diff=host merge=host\n* filter=own\n' >.gitattributes; mkdir -p in; cp .gitattributes in/.gitattributes
printf '[submodule "s"]\n\tpath = s\n\turl = ext::sh -c touch%% @canary@/module\n\tupdate = !touch @canary@/update\n' >.gitmodules
mkfifo in/.gitignore; mkfifo pipe; rm -f tracked; mkfifo tracked
ln -sf /etc/passwd passwd; ln -sf @canary@ out; ln -sf ../../../../../.git/config config; ln -sfn @repo@ checkout
rm -rf folder; ln -sfn @repo@ folder
mv README r 2>/dev/null; ln -sf @repo@/README README
echo all: >Makefile; echo 'touch @canary@/envrc' >.envrc; mkdir -p .vscode .claude; echo '{}' >.vscode/tasks.json; echo '{}' >.claude/settings.json
touch 'quo"te' '-rf' 'new
line' "$(printf 'bad\377name')"
echo 'out' >work; ln work hard
(echo x >@repo@/out) 2>/dev/null; (echo x >@canary@/write) 2>/dev/null; (echo x >@repo@/.git/hooks/pre-commit) 2>/dev/null
for s in /var/run/docker.sock /run/docker.sock @socket@; do [ -e $s ] && echo "ESCAPED socket $s"; nc local:$s </dev/null 2>/dev/null && echo "ESCAPED socket $s"; done
for a in 1.1.1.1:443 169.254.169.254:80 172.17.0.1:22; do nc -w 1 ${a%:*} ${a#*:} </dev/null 2>/dev/null && echo "ESCAPED to $a"; done
[ "$(ls /sys/class/net)" = lo ] || echo "ESCAPED network"
env | grep -E 'SECRET_OF|DOCKER_HOST' && echo "ESCAPED environment"
kill -9 -1 2>/dev/null
(setsid sleep @mark@ >/dev/null 2>&1 &)
echo "end of the kit"
exit 0
`

// After an agent has planted everything possible, no git command on the host runs any of it.
func TestLoopDockerEscapes(t *testing.T) {
	engineOfTests(t)
	t.Setenv("SECRET_OF_THE_HOST", "s3cret")
	dir := newRepo(t)
	canaries := t.TempDir()
	write(t, filepath.Join(dir, "tracked"), "plain\n")
	write(t, filepath.Join(dir, "folder", "file"), "plain\n")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "two")
	// Programs configured on the host that an attribute could call.
	for key, name := range map[string]string{"filter.host.clean": "clean", "filter.host.smudge": "smudge", "diff.host.textconv": "textconv", "merge.host.driver": "merge"} {
		git(t, dir, "config", key, "touch "+canaries+"/"+name+"; cat")
	}
	mark := fmt.Sprintf("77%d", os.Getpid())
	kit := strings.NewReplacer("@canary@", canaries, "@repo@", dir, "@mark@", mark, "@socket@", strings.TrimPrefix(os.Getenv("DOCKER_HOST"), "unix://")).Replace(escapeKit)
	plan := filepath.Join(t.TempDir(), "plan.md")
	write(t, plan, "# Get out\n\n```verify\ntouch "+canaries+"/verify; mkfifo .gitignore; mkdir .git; echo '* filter=host' >.gitattributes; false\n```\n")
	before := snapshot(t, dir)
	none := func(when string) {
		t.Helper()
		if entries, _ := os.ReadDir(canaries); len(entries) > 0 {
			t.Fatalf("%s: %v", when, entries)
		}
	}
	a := reverie(t, dir, "loop", "start", plan, "--name", "kit", "--sandbox", loopEngine(), "--audit", "touch "+canaries+"/audit; mkdir .git; "+noFindings, "--max", "2", "--", "sh", "-c", kit)
	if a.code != 20 {
		t.Fatalf("exit code %d\n%s", a.code, a.err)
	}
	none("the loop")
	for _, phase := range []string{"1/agent", "2/agent", "2/verify", "2/audit"} {
		out := git(t, dir, "show", "refs/reverie/loops/kit:iterations/"+phase+".txt")
		if strings.Contains(out, "ESCAPED") || strings.HasSuffix(phase, "agent") && !strings.Contains(out, "end of the kit") {
			t.Errorf("%s: %s", phase, out)
		}
	}
	if found := processes(mark); len(found) > 0 {
		t.Errorf("processes are left: %v", found)
	}
	if after := snapshot(t, dir); after != before {
		t.Errorf("the checkout changed:\n%s\n%s", before, after)
	}
	none("status of the checkout")

	// The branch holds only plain files, and none that git obeys.
	for entry := range strings.SplitSeq(git(t, dir, "ls-tree", "-r", "-z", "reverie/loop/kit"), "\x00") {
		mode, name, _ := strings.Cut(entry, "\t")
		if entry != "" && (!strings.HasPrefix(mode, "100") || strings.Contains("/"+strings.ToLower(name), "/.git") || strings.HasPrefix(name, "bare/HEAD") || strings.Contains(name, "\n")) {
			t.Errorf("the branch has %s %q", mode, name)
		}
	}
	if got := git(t, dir, "show", "reverie/loop/kit:nested/file"); got != "x" {
		t.Errorf("what lay beside a .git did not come out: %q", got)
	}
	status := must(t, dir, "loop", "status", "kit")
	for _, name := range []string{"Makefile", ".envrc", ".vscode/tasks.json", ".claude/settings.json", ".gitattributes"} {
		if !strings.Contains(status, "look at    "+name+" ") {
			t.Errorf("status does not name %s:\n%s", name, status)
		}
	}
	tree := filepath.Join(dir, ".git", "reverie", "loops", "kit", "tree")
	if found, err := exec.Command("find", tree, "-name", ".git", "-o", "-type", "p").Output(); err != nil || len(found) > 0 {
		t.Errorf("in the work tree: %s %v", found, err)
	}

	// The host continues its work.
	write(t, filepath.Join(dir, "mine"), "x\n")
	for _, args := range [][]string{{"status"}, {"add", "mine"}, {"commit", "-qm", "mine"}, {"worktree", "list"}, {"submodule", "status"}, {"checkout", "-q", "reverie/loop/kit", "--"}, {"status"}, {"log", "-p", "--all"},
		{"checkout", "-q", "main"}, {"-c", "core.quotePath=false", "diff", "main...reverie/loop/kit"}, {"merge", "-q", "--no-edit", "reverie/loop/kit"}, {"status"}, {"fsck", "--strict", "--no-dangling"}} {
		if out, err := tryGit(dir, args...); err != nil && args[0] != "checkout" {
			t.Errorf("git %q: %v\n%s", args, err, out)
		}
		none(fmt.Sprint("git ", args))
	}
	tryGit(dir, "-C", tree, "status")
	must(t, dir, "loop", "status")
	none("the work tree")
	if a := reverie(t, dir, "loop", "cancel", "kit", "--remove-worktree"); a.code == 0 {
		t.Errorf("the work tree went with what is not committed: %s", a)
	}
	none("cancel")
}

// A turn that exceeds its limits is ended, and nothing of it is left.
func TestLoopDockerHoldsLimits(t *testing.T) {
	engineOfTests(t)
	mark := fmt.Sprintf("78%d", os.Getpid())
	for _, test := range []struct{ name, script, says, time string }{ // in says, either of two
		{"a fork bomb", `b() { b | b & }; sleep ` + mark + ` & while :; do b; done`, "took longer than 5s|ended with exit code", ""},
		{"processes", `i=0; while [ $i -lt 100 ]; do sleep ` + mark + ` & i=$((i+1)); done; exit 1`, "ended with exit code", ""},
		{"a full disk", `i=0; while :; do i=$((i+1)); head -c 10000000 /dev/zero >f$i; done`, "exit code 125: [ended: ", ""},
		{"a gigabyte of output", `sleep ` + mark + ` & head -c 1000000000 /dev/zero | tr '\0' x`, "exit code 125: [ended: it printed more than 1 MiB]", ""},
		{"memory", `sleep ` + mark + ` & head -c 400000000 /dev/zero | tail -c 390000000 | wc -c; exit 3`, "ended: it used more than 256 MiB of memory", "60s"},
		// and 5 more, because it ignores the request to end
		{"time", `trap '' TERM; sleep ` + mark, "took longer than 2s", "2s"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := newRepo(t)
			plan := filepath.Join(t.TempDir(), "plan.md")
			write(t, plan, "# Limits\n\n```verify\ntrue\n```\n")
			began := time.Now()
			a := reverie(t, dir, "loop", "start", plan, "--sandbox", loopEngine(), "--min-audits", "0", "--max-errors", "1", "--turn-time", cmp.Or(test.time, "5s"), "--", "sh", "-c", test.script)
			said := false
			for says := range strings.SplitSeq(test.says, "|") {
				said = said || strings.Contains(a.err, says)
			}
			if a.code != 22 || !said {
				t.Errorf("%s", a)
			}
			if found := processes(mark); len(found) > 0 {
				t.Errorf("processes are left: %v", found)
			}
			var most int64
			for _, name := range files(t, filepath.Join(dir, ".git", "reverie", "loops", "limits", "tree")) {
				if info, err := os.Stat(name); err == nil {
					most += info.Size()
				}
			}
			t.Logf("%v, %d bytes in the work tree", time.Since(began).Round(time.Second/10), most)
			if most > 1<<30 {
				t.Errorf("%d bytes in the work tree", most)
			}
		})
	}
}
