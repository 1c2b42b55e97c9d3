//go:build unix

package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// always returns the arguments of every container except its name, user and limits.
func always(user string) []string {
	return []string{"create", "--name", "NAME", "--pull", "never", "--init", "--network", "none",
		"--user", user, "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--read-only",
		"--pids-limit", "256", "--memory", "2147483648", "--memory-swap", "2147483648", "--cpus", "2",
		"--ulimit", "nofile=4096:4096", "--ulimit", "core=0:0", "--ulimit", "fsize=4294967296:4294967296",
		"--tmpfs", "/tmp:rw,exec,nosuid,nodev,mode=1777,size=536870912", "--shm-size", "67108864",
		"--ipc", "private", "--cgroupns", "private", "--hostname", "sandbox", "--log-driver", "none", "--no-healthcheck",
		"--stop-signal", "SIGTERM", "--stop-timeout", "10", "--restart", "no"}
}

var labels = []string{"--label", "reverie.sandbox=1", "--label", "reverie.owner=HOST", "--label", "reverie.pid=PID", "--label", "reverie.started=STARTED"}

func TestCreateArguments(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, made := range []string{"tree/.git", "tree/vendor/lib", "cache"} {
		if err := os.MkdirAll(filepath.Join(dir, made), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, made := range []string{"tree/vendor/lib/.git", "reverie"} {
		if err := os.WriteFile(filepath.Join(dir, made), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// The test's folders are ours, even as root.
	me := strconv.Itoa(os.Getuid()) + ":" + strconv.Itoa(os.Getgid())
	work := "type=bind,src=DIR/tree,dst=DIR/tree,bind-propagation=private"
	masks := []string{"--mount", "type=bind,src=GIVEN/folder,dst=DIR/tree/.git,readonly,bind-propagation=private",
		"--mount", "type=bind,src=GIVEN/file,dst=DIR/tree/vendor/lib/.git,readonly,bind-propagation=private"}
	tail := func(command ...string) []string {
		return append([]string{"--interactive", "--entrypoint", command[0], fakeID}, command[1:]...)
	}
	for _, test := range []struct {
		name   string
		engine *Engine
		spec   Spec
		argv   []string
		want   []string
		env    []string
	}{
		{"the narrowest", &Engine{Name: "docker", facts: facts{cpus: 8}}, Spec{}, []string{"go", "test", "./..."},
			slices.Concat(always(me), labels, []string{"--mount", work}, masks, []string{"--workdir", "DIR/tree", "--env", "HOME=/tmp"}, tail("go", "test", "./...")), nil},
		{"no shell reads an argument", &Engine{Name: "docker"}, Spec{}, []string{"printf", "%s", "$(id); `id` && --privileged"},
			slices.Concat(always(me), labels, []string{"--mount", work}, masks, []string{"--workdir", "DIR/tree", "--env", "HOME=/tmp"}, tail("printf", "%s", "$(id); `id` && --privileged")), nil},
		{"everything", &Engine{Name: "docker", facts: facts{cpus: 8, remapped: true}},
			Spec{ReadOnly: true, Dir: "DIR/tree/vendor", Caches: []string{"DIR/cache"}, Loop: "fix", Runtime: "runsc",
				Env: []string{"API_KEY=s3cret", "PATH=/opt/bin", "DOCKER_HOST=tcp://inside"}, Network: []string{"proxy.example.com:443"}, Forward: []string{"DIR/reverie", "forward"}},
			[]string{"true"},
			slices.Concat(always(me), []string{"--userns", "host", "--runtime", "runsc"}, labels, []string{"--label", "reverie.loop=fix",
				"--mount", "type=bind,src=DIR/tree,dst=DIR/tree,readonly,bind-propagation=private"}, masks, []string{
				"--mount", "type=bind,src=DIR/cache,dst=DIR/cache,readonly,bind-propagation=private",
				"--mount", "type=bind,src=GIVEN/proxy,dst=/run/reverie/proxy,readonly,bind-propagation=private",
				"--mount", "type=bind,src=DIR/reverie,dst=/run/reverie/forward,readonly,bind-propagation=private",
				"--workdir", "DIR/tree/vendor", "--env", "HOME=/tmp",
				"--env", "HTTPS_PROXY=http://127.0.0.1:3128", "--env", "https_proxy=http://127.0.0.1:3128", "--env", "HTTP_PROXY=http://127.0.0.1:3128", "--env", "http_proxy=http://127.0.0.1:3128",
				"--env", "NO_PROXY=localhost,127.0.0.1", "--env", "no_proxy=localhost,127.0.0.1",
				"--env", "API_KEY", "--env", "PATH=/opt/bin", "--env", "DOCKER_HOST=tcp://inside"}, tail("/run/reverie/forward", "forward", "--", "true")),
			[]string{"API_KEY=s3cret"}},
		{"services of this machine", &Engine{Name: "docker", facts: facts{cpus: 8}},
			Spec{Network: []string{"127.0.0.1:011434", "proxy.example.com:443", "[0::1]:80", "127.0.0.1:11434"}, Forward: []string{"DIR/reverie", "forward"}}, []string{"true"},
			slices.Concat(always(me), labels, []string{"--mount", work}, masks, []string{
				"--mount", "type=bind,src=GIVEN/proxy,dst=/run/reverie/proxy,readonly,bind-propagation=private",
				"--mount", "type=bind,src=DIR/reverie,dst=/run/reverie/forward,readonly,bind-propagation=private",
				"--workdir", "DIR/tree", "--env", "HOME=/tmp",
				"--env", "HTTPS_PROXY=http://127.0.0.1:3128", "--env", "https_proxy=http://127.0.0.1:3128", "--env", "HTTP_PROXY=http://127.0.0.1:3128", "--env", "http_proxy=http://127.0.0.1:3128",
				"--env", "NO_PROXY=localhost,127.0.0.1,::1", "--env", "no_proxy=localhost,127.0.0.1,::1"},
				tail("/run/reverie/forward", "forward", "127.0.0.1:11434", "[::1]:80", "--", "true")), nil},
		{"rootless docker", &Engine{Name: "docker", facts: facts{rootless: true}}, Spec{}, []string{"true"},
			slices.Concat(always("0:0"), labels, []string{"--mount", work}, masks, []string{"--workdir", "DIR/tree", "--env", "HOME=/tmp"}, tail("true")), nil},
		{"rootless podman", &Engine{Name: "podman", facts: facts{rootless: true, filter: "/usr/share/containers/seccomp.json"}}, Spec{}, []string{"true"},
			slices.Concat(always(me), []string{"--http-proxy=false", "--env-host=false", "--read-only-tmpfs=false", "--no-hosts", "--userns", "keep-id", "--security-opt", "seccomp=GIVEN/filter"}, labels, []string{"--mount", work}, masks,
				[]string{"--mount", "type=bind,src=GIVEN/hosts,dst=/etc/hosts,readonly,bind-propagation=private", "--workdir", "DIR/tree", "--env", "HOME=/tmp"}, tail("true")), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			here := strings.NewReplacer("DIR", dir)
			s := test.spec
			s.Workspace, s.Image, s.Dir = filepath.Join(dir, "tree"), fakeID, here.Replace(s.Dir)
			for _, list := range []*[]string{&s.Caches, &s.Forward} {
				*list = slices.Clone(*list)
				for i := range *list {
					(*list)[i] = here.Replace((*list)[i])
				}
			}
			s, err := s.complete(test.engine.facts.cpus)
			if err != nil {
				t.Fatal(err)
			}
			hidden, err := gitEntries(s.Workspace)
			if err != nil {
				t.Fatal(err)
			}
			c, err := test.engine.plan("NAME", fakeID, s, given{filepath.Join(dir, "given")}, hidden, test.argv)
			if err != nil {
				t.Fatal(err)
			}
			got, env := test.engine.args(c)
			if i := slices.IndexFunc(got, func(a string) bool { return strings.HasPrefix(a, "nproc=") }); i > 0 {
				// The number is the maximum that the machine allows a user.
				got = slices.Delete(got, i-1, i+1)
			}
			me := self()
			there := strings.NewReplacer(filepath.Join(dir, "given"), "GIVEN", dir, "DIR", "reverie.owner="+me.Host, "reverie.owner=HOST",
				"reverie.pid="+strconv.Itoa(me.PID), "reverie.pid=PID", "reverie.started="+me.Started, "reverie.started=STARTED")
			for i := range got {
				got[i] = there.Replace(got[i])
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.env, env); diff != "" {
				t.Errorf("environment of the client (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSpecRefusesWhatIsNotSafe(t *testing.T) {
	dir := t.TempDir()
	work := filepath.Join(dir, "tree")
	for _, d := range []string{work, filepath.Join(dir, "a,b"), filepath.Join(dir, "new\nline"), filepath.Join(dir, "home", "x")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", filepath.Join(dir, "home"))
	t.Setenv("DOCKER_HOST", "unix://"+filepath.Join(dir, "run", "docker.sock"))
	if err := os.MkdirAll(filepath.Join(dir, "run"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		spec Spec
		says string
	}{
		{Spec{Workspace: "work"}, "absolute"},
		{Spec{Workspace: filepath.Join(dir, "none")}, "no such file"},
		{Spec{Workspace: "/"}, "too much"},
		{Spec{Workspace: "/usr"}, "too much"},
		{Spec{Workspace: "/proc/self"}, "system"},
		{Spec{Workspace: filepath.Join(dir, "link")}, "too much"},
		{Spec{Workspace: filepath.Join(dir, "home")}, "holds"},
		{Spec{Workspace: dir}, "holds"},
		{Spec{Workspace: filepath.Join(dir, "run")}, "docker.sock"},
		{Spec{Workspace: filepath.Join(dir, "a,b")}, "comma"},
		{Spec{Workspace: filepath.Join(dir, "new\nline")}, "control"},
		{Spec{Workspace: work, Dir: work + "er"}, "not in the workspace"},
		{Spec{Workspace: work, Dir: work + "/../home"}, "not in the workspace"},
		{Spec{Workspace: work, Caches: []string{"/dev/null"}}, "system"},
		{Spec{Workspace: work, Caches: []string{work}}, "overlaps"},
		{Spec{Workspace: work, Caches: []string{filepath.Join(dir, "home")}}, "holds"},
		{Spec{Workspace: work, Env: []string{"NAME"}}, "NAME=VALUE"},
		{Spec{Workspace: work, Env: []string{"A B=c"}}, "NAME=VALUE"},
		{Spec{Workspace: work, Runtime: "--privileged"}, "runtime"},
		{Spec{Workspace: work, Network: []string{"a:1"}}, "forwards"},
		{Spec{Workspace: work, Limits: Limits{Memory: 1}}, "memory"},
		{Spec{Workspace: work, Limits: Limits{Processes: -1}}, "less than zero"},
		{Spec{Workspace: work, Limits: Limits{CPUs: -1}}, "processors"},
	} {
		if _, err := test.spec.complete(2); !errors.Is(err, ErrBadSpec) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%+v: %v, want one with %q", test.spec, err, test.says)
		}
	}
}
