//go:build unix

package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFindFailsClosed(t *testing.T) {
	replace := func(old, new string) string { return strings.Replace(dockerInfo, old, new, 1) }
	for _, test := range []struct {
		name, engine, info string
		fail               string
		host               string
		is                 error
		says               string
	}{
		{name: "another engine", engine: "lxc", is: ErrMissing, says: "docker, podman"},
		{name: "no answer", engine: "docker", fail: "Cannot connect to the Docker daemon", is: ErrSilent, says: "Cannot connect"},
		{name: "no JSON", engine: "docker", info: "hello", is: ErrSilent, says: "docker info"},
		{name: "an engine that says errors", engine: "docker", info: `{"ServerErrors":["permission denied"]}`, is: ErrSilent, says: "permission denied"},
		{name: "elsewhere", engine: "docker", info: dockerInfo, host: "tcp://10.0.0.1:2375", is: ErrWeak, says: "not a socket of this machine"},
		{name: "by ssh", engine: "docker", info: dockerInfo, host: "ssh://box", is: ErrWeak, says: "not a socket of this machine"},
		{name: "Windows containers", engine: "docker", info: replace(`"linux"`, `"windows"`), is: ErrWeak, says: "containers of Linux"},
		{name: "no limit of memory", engine: "docker", info: replace(`"MemoryLimit":true`, `"MemoryLimit":false`), is: ErrWeak, says: "limit of memory"},
		{name: "no limit of processes", engine: "docker", info: replace(`"PidsLimit":true,`, ``), is: ErrWeak, says: "limit of processes"},
		{name: "no limit of processors", engine: "docker", info: replace(`"CpuCfsQuota":true`, `"CpuCfsQuota":false`), is: ErrWeak, says: "limit of processors"},
		{name: "no seccomp", engine: "docker", info: replace(`"name=seccomp,profile=default",`, ``), is: ErrWeak, says: "seccomp"},
		{name: "seccomp off", engine: "docker", info: replace(`profile=default`, `profile=unconfined`), is: ErrWeak, says: "seccomp"},
		{name: "podman without control groups", engine: "podman", info: strings.Replace(podmanInfo, `"cpu","memory","pids"`, ``, 1), is: ErrWeak, says: "lacks a limit of memory, a limit of processes"},
		{name: "podman without a filter", engine: "podman", info: strings.Replace(podmanInfo, `"seccompEnabled":true`, `"seccompEnabled":false`, 1), is: ErrWeak, says: "seccomp"},
		{name: "podman elsewhere", engine: "podman", info: strings.Replace(podmanInfo, `"cpus"`, `"serviceIsRemote":true,"cpus"`, 1), is: ErrWeak, says: "another machine"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFake(t, test.engine, test.info)
			if test.fail != "" {
				f.write(t, "fail-info", test.fail)
			}
			if test.host != "" {
				t.Setenv("DOCKER_HOST", test.host)
			}
			if _, err := Find(t.Context(), test.engine); !errors.Is(err, test.is) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v, want one with %q", err, test.says)
			}
		})
	}
	t.Run("no program", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		if _, err := Find(t.Context(), "docker"); !errors.Is(err, ErrMissing) {
			t.Error(err)
		}
	})
}

// found returns the engine that Find finds, and its fake client.
func found(t *testing.T, name, info string) (*Engine, fake) {
	t.Helper()
	f := newFake(t, name, info)
	e, err := Find(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return e, f
}

func verbs(calls []call) []string {
	var out []string
	for _, c := range calls {
		out = append(out, c.Args[0])
	}
	return out
}

func TestRunMakesLooksStartsLooksAndRemoves(t *testing.T) {
	t.Setenv("SECRET_OF_THE_HOST", "x")
	t.Setenv("HTTPS_PROXY", "http://user:password@proxy.example.com")
	e, f := found(t, "docker", dockerInfo)
	r, err := e.Run(t.Context(), Spec{Image: "tools", Workspace: t.TempDir(), Env: []string{"API_KEY=s3cret"}}, []string{"true"}, strings.NewReader("in"))
	if err != nil {
		t.Fatal(err)
	}
	if r.Exit != 7 || r.Ended != Exited || string(r.Stdout) != "in" || string(r.Stderr) != "talk" || r.Image != fakeID {
		t.Errorf("%+v", r)
	}
	all := f.calls(t, "")
	want := []string{"info", "ps", "image", "create", "container", "start", "container", "rm"}
	if diff := cmp.Diff(want, verbs(all)); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	for _, c := range all {
		text := strings.Join(c.Args, " ")
		if strings.Contains(text, "s3cret") {
			t.Errorf("the value of a variable is an argument: %s", text)
		}
		for _, v := range c.Env {
			if strings.Contains(v, "SECRET_OF_THE_HOST") || strings.Contains(v, "password") {
				t.Errorf("%s got the host's %s", c.Args[0], v)
			}
			if strings.HasPrefix(v, "API_KEY=") && c.Args[0] != "create" {
				t.Errorf("%s got %s", c.Args[0], v)
			}
		}
	}
	if env := f.calls(t, "create")[0].Env; !slices.Contains(env, "API_KEY=s3cret") {
		t.Errorf("create did not get the variable: %q", env)
	}
	if left, _ := os.ReadDir(e.folder); len(left) > 0 {
		t.Errorf("left in %s: %v", e.folder, left)
	}
}

// TestRunStartsNothingElse changes the made container: nothing starts, and it is removed.
func TestRunStartsNothingElse(t *testing.T) {
	for _, test := range []struct{ name, patch, says string }{
		{"a network", `{"HostConfig":{"NetworkMode":"bridge"}}`, "a network: bridge"},
		{"privileged", `{"HostConfig":{"Privileged":true}}`, "privileged"},
		{"a root to write", `{"HostConfig":{"ReadonlyRootfs":false}}`, "root can be written"},
		{"capabilities kept", `{"HostConfig":{"CapDrop":[]}}`, "capabilities"},
		{"capabilities added", `{"HostConfig":{"CapAdd":["SYS_ADMIN"]}}`, "capabilities"},
		{"new privileges", `{"HostConfig":{"SecurityOpt":[]}}`, "new privileges"},
		{"unconfined", `{"HostConfig":{"SecurityOpt":["no-new-privileges","seccomp=unconfined"]}}`, "unconfined"},
		{"processes of the host", `{"HostConfig":{"PidMode":"host"}}`, "processes"},
		{"a device", `{"HostConfig":{"Devices":[{"PathOnHost":"/dev/kvm"}]}}`, "devices"},
		{"another user", `{"Config":{"User":""}}`, "its user"},
		{"memory", `{"HostConfig":{"Memory":0}}`, "memory"},
		{"swap", `{"HostConfig":{"MemorySwap":-1}}`, "memory"},
		{"processes", `{"HostConfig":{"PidsLimit":null}}`, "processes are not limited"},
		{"processors", `{"HostConfig":{"NanoCpus":0}}`, "processors"},
		{"a volume of the image", `{"Mounts":[{"Type":"volume","Source":"/var/lib/x","Destination":"/data","RW":true}]}`, "a volume that was not asked for: /data"},
		{"a mount of the host", `{"Mounts":[{"Type":"bind","Source":"/","Destination":"/host","RW":true}]}`, "a bind that was not asked for: /host"},
		{"no workspace", `{"Mounts":[]}`, "missing"},
		{"more tmpfs", `{"HostConfig":{"Tmpfs":{"/tmp":"","/run":""}}}`, "not asked for: /run"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, f := found(t, "docker", dockerInfo)
			f.write(t, "patch", test.patch)
			_, err := e.Run(t.Context(), Spec{Image: "tools", Workspace: t.TempDir()}, []string{"true"}, nil)
			if !errors.Is(err, ErrWeak) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v, want one with %q", err, test.says)
			}
			if got := verbs(f.calls(t, "")); slices.Contains(got, "start") || !slices.Contains(got, "rm") {
				t.Errorf("calls: %q", got)
			}
		})
	}
}

func TestRunTellsWhatFailed(t *testing.T) {
	for _, test := range []struct {
		name, file, text string
		is               error
		says             string
	}{
		{"no image", "fail-image", "Error: No such image: tools", ErrNoImage, "tools"},
		{"no image of Podman's", "fail-image", "Error: inspecting object: tools: image not known", ErrNoImage, "tools"},
		{"the image went away", "fail-create", "Error: No such image: " + fakeID, ErrNoImage, fakeID},
		{"not made", "fail-create", "Error response from daemon: no space left on device", nil, "no space left"},
		{"not removed", "fail-rm", "Error response from daemon: device busy", ErrLeft, "device busy"},
		{"the client went away", "ended", `{"State":{"Status":"running","Running":true}}`, ErrSilent, "ended before the container"},
		{"not started", "ended", `{"State":{"Error":"exec: \"x\": not found","ExitCode":127}}`, nil, "not found"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, f := found(t, "docker", dockerInfo)
			f.write(t, test.file, test.text)
			_, err := e.Run(t.Context(), Spec{Image: "tools", Workspace: t.TempDir()}, []string{"true"}, nil)
			if err == nil || test.is != nil && !errors.Is(err, test.is) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v, want one with %q", err, test.says)
			}
		})
	}
}

func TestPrivateFolderIsOurs(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	name, err := privateFolder("docker")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := privateFolder("docker"); !errors.Is(err, ErrBadSpec) {
		t.Errorf("a folder that others read: %v", err)
	}
	if err := errors.Join(os.Remove(name), os.Symlink(t.TempDir(), filepath.Join(temp, filepath.Base(name)))); err != nil {
		t.Fatal(err)
	}
	if _, err := privateFolder("docker"); !errors.Is(err, ErrBadSpec) {
		t.Errorf("a link: %v", err)
	}
}

// Only Podman can remove its own leftovers, so another engine keeps their folder.
func TestSweepLeavesWhatAnotherEngineHas(t *testing.T) {
	podman, f := found(t, "podman", podmanInfo)
	podman.facts.filter = ""
	g, err := podman.give("reverie-0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	nobody := func(Owner) bool { return false }
	if err := os.Link(filepath.Join(f.dir, "podman"), filepath.Join(f.dir, "docker")); err != nil {
		t.Fatal(err)
	}
	f.write(t, "info", dockerInfo)
	docker, err := Find(t.Context(), "docker")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := docker.Prune(t.Context(), nobody); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(g.dir); err != nil {
		t.Errorf("after another engine's turn: %v", err)
	}
	if _, err := podman.Prune(t.Context(), nobody); err != nil {
		t.Fatal(err)
	}
	removed := f.calls(t, "rm")
	if _, err := os.Stat(g.dir); !os.IsNotExist(err) || len(removed) != 1 || !slices.Contains(removed[0].Args, "reverie-0123456789abcdef") {
		t.Errorf("it is not removed: %v, %v", err, removed)
	}
}

// A container that could not be removed keeps its folder, for the next attempt.
func TestRunKeepsWhatTellsOfOneThatIsLeft(t *testing.T) {
	e, f := found(t, "docker", dockerInfo)
	f.write(t, "fail-rm", "Error response from daemon: device busy")
	if _, err := e.Run(t.Context(), Spec{Image: "tools", Workspace: t.TempDir()}, []string{"true"}, nil); !errors.Is(err, ErrLeft) {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(e.folder, "reverie-*", "owner"))
	if err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
}
