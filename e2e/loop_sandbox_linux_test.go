package e2e

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// insideEnv lists the variables that a user names in sandbox.env for an agent.
var insideEnv = map[string][]string{
	"claude": {"ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"},
	"codex":  {"SCRIPTED_KEY"},
	"gemini": {"GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"},
}

// wantsDocker skips a test if no engine is named.
func wantsDocker(t *testing.T) {
	t.Helper()
	if os.Getenv("REVERIE_DOCKER") == "" {
		t.Skip("REVERIE_DOCKER=$(.ci/docker) runs this")
	}
}

// newInSandbox is newInLoop with all of the loop's commands in containers. Inside are the image of
// .ci/docker, the agents, and this user's settings for them, as caches; the agent's home is
// otherwise empty. Only the model's address is reachable.
func newInSandbox(l *lab) inLoop {
	t := l.t
	t.Helper()
	host := os.Getenv("REVERIE_DOCKER")
	p := newInLoop(l)
	p.box, p.more = "docker", []string{"DOCKER_HOST=" + host, "SECRET_OF_THE_HOST=s3cret"}
	settings := filepath.Join(p.bin, "settings")
	if err := os.MkdirAll(settings, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".codex", ".gemini", ".config/opencode"} {
		from := filepath.Join(l.home, name)
		if _, err := os.Stat(from); errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err := os.CopyFS(filepath.Join(settings, name), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(p.bin, l.c.Name)
	write(t, program, strings.Replace(read(t, program), "exec ", "cp -R '"+settings+"/.' ~ || exit\nexec ", 1))
	at, err := url.Parse(l.model.URL)
	if err != nil {
		t.Fatal(err)
	}
	l.write(".config/reverie/config.toml", fmt.Sprintf("[sandbox]\nmode = \"docker\"\nimage = \"reverie-clients\"\nnetwork = [%q]\ncaches = [%q, %q]\nenv = %s\n",
		at.Host, l.folder, p.bin, asJSON(append([]string{"PATH"}, insideEnv[l.c.Name]...))))
	t.Cleanup(func() {
		cmd := exec.Command("docker", "--host", host, "ps", "--all", "--no-trunc", "--filter", "label=reverie.sandbox", "--format", "{{.Names}} {{.Mounts}}")
		out, err := cmd.Output()
		if err != nil || strings.Contains(string(out), filepath.Dir(l.repo)) {
			t.Errorf("containers are left: %v\n%s", err, out)
		}
	})
	return p
}

// looking is a command that prints its view of the host. Quotes within its words distinguish them
// from its output.
func (p inLoop) looking(other net.Listener) string {
	host, port, _ := net.SplitHostPort(other.Addr().String())
	return strings.NewReplacer("@repo@", p.repo, "@home@", p.home, "@host@", host, "@port@", port, "@engine@", strings.TrimPrefix(os.Getenv("REVERIE_DOCKER"), "unix://")).Replace(
		`cat @repo@/.git/config && echo se''en repository; [ -s .git ] && echo se''en git; [ -e @repo@/calc.sh ] && echo se''en checkout; ` +
			`[ -e @home@/canary ] && echo se''en home; [ -e @engine@ ] && echo se''en engine; [ -n "$SECRET_OF_THE_HOST" ] && echo se''en variable; ` +
			`bash -c 'echo >/dev/tcp/@host@/@port@' && echo se''en service; ls /sys/class/net | grep -vx lo && echo se''en network; echo it has lo''oked`)
}

// The loop of TestClientsCarryALoop, in containers: an agent in one reaches only the model on this
// machine.
func TestClientsCarryALoopInTheSandbox(t *testing.T) {
	wantsDocker(t)
	inClients(t, looping, func(l *lab) {
		t := l.t
		l.install()
		p := newInSandbox(l)
		l.must("remember", "The answer is never odd in this repository.")
		write(t, filepath.Join(l.home, "canary"), "of the host")
		write(t, filepath.Join(l.repo, "calc.sh"), "what the user is at\n")
		other := l.net.listen(t)
		defer other.Close()
		looking := p.looking(other)
		out := finish(t, func(ctx context.Context) *exec.Cmd { // on this machine it sees all of them, but not another network
			cmd := exec.CommandContext(ctx, "sh", "-c", looking)
			cmd.Dir, cmd.Env = l.repo, append(l.env(), p.more...)
			return cmd
		}).out
		for _, what := range []string{"repository", "checkout", "home", "engine", "variable", "network"} {
			if !strings.Contains(out, "seen "+what) {
				t.Errorf("the command does not tell of the %s:\n%s", what, out)
			}
		}
		first := p.carried(looking)
		for _, want := range []string{"You are in a sandbox", "Put the number of the answer", "The answer is never odd in this repository."} {
			if got := first[0].text("user"); !strings.Contains(html.UnescapeString(got), want) {
				t.Errorf("the first iteration was not told %q, but\n%s", want, got)
			}
		}
		if told := first[len(first)-1].text("tool", "user"); !strings.Contains(told, "it has looked") || strings.Contains(told, "seen ") {
			t.Errorf("the command of the model saw\n%s", told)
		}
		l.eventually("the loop's session is kept; inside there is nobody to deliver the agent's", func() bool {
			kept := l.kept()
			return len(kept) == 1 && strings.HasPrefix(kept[0], "loop/answer-")
		})
		if told := l.story(l.kept()[0]); !slices.Contains(told, "assistant: It is 41.") {
			t.Errorf("the loop's session does not have what the agent said:\n%q", told)
		}
	})
}

// An auditing agent in a container gets the change from its prompt, and its files are removed
// again. These two are called differently there.
func TestClientsAuditALoopInTheSandbox(t *testing.T) {
	wantsDocker(t)
	inClients(t, []string{"claude", "codex"}, func(l *lab) {
		t := l.t
		l.install()
		p := newInSandbox(l)
		asked := p.audited()
		if !slices.ContainsFunc(asked[0].Said, func(s said) bool { return s.Role == "user" && strings.Contains(s.Text, "+41") }) {
			t.Fatal("the auditor did not get to see the change")
		}
		if got := git(t, l.repo, "diff", "--name-status", "main", "reverie/loop/answer"); got != "A\tanswer.txt" {
			t.Errorf("the branch changes\n%s", got)
		}
	})
}
