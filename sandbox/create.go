package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// bind mounts one folder or file of the host.
type bind struct {
	from, to string
	write    bool
}

// arg returns a bind in the syntax of --mount. Paths have no comma.
func (b bind) arg() string {
	arg := "type=bind,src=" + b.from + ",dst=" + b.to
	if !b.write {
		return arg + ",readonly,bind-propagation=private"
	}
	return arg + ",bind-propagation=private"
}

// container describes a container before it is made.
type container struct {
	name   string
	image  string // its id
	user   string
	binds  []bind
	filter string // file with the filter of system calls; "" is the engine's own
	folder string // Podman: work folder of the container's monitor, which leaves files there; else ""
	spec   Spec
	argv   []string
}

// ranOut reports whether Podman's monitor recorded a kill for lack of memory. With control groups
// of version 1, inspect does not show it.
func (c container) ranOut() bool {
	if c.folder == "" {
		return false
	}
	_, err := os.Lstat(filepath.Join(c.folder, "oom"))
	return err == nil
}

// insideHome is the home folder inside, the only writable place besides the workspace.
const insideHome = "/tmp"

// plan returns the container for a complete Spec.
func (e *Engine) plan(name, image string, s Spec, g given, hidden []hidden, argv []string) (container, error) {
	c := container{name: name, image: image, spec: s, argv: argv}
	if len(argv) == 0 || argv[0] == "" {
		return c, fmt.Errorf("%w: there is no command", ErrBadSpec)
	}
	if slices.ContainsFunc(argv, func(a string) bool { return strings.Contains(a, "\x00") }) {
		return c, fmt.Errorf("%w: an argument holds a zero byte", ErrBadSpec)
	}
	var err error
	if c.user, err = e.user(s); err != nil {
		return c, err
	}
	c.binds = []bind{{s.Workspace, s.Workspace, !s.ReadOnly}}
	for _, h := range hidden {
		from := g.emptyFile()
		if h.dir {
			from = g.emptyFolder()
		}
		c.binds = append(c.binds, bind{from, h.path, false})
	}
	for _, path := range s.Caches {
		c.binds = append(c.binds, bind{path, path, false})
	}
	if e.Name == "podman" {
		c.binds = append(c.binds, bind{g.hosts(), "/etc/hosts", false})
		c.folder = g.dir
	}
	if e.facts.filter != "" {
		c.filter = g.filter()
	}
	if len(s.Network) > 0 {
		program, err := mountable(s.Forward[0])
		if err != nil {
			return c, err
		}
		c.binds = append(c.binds, bind{g.socket(), insideSocket, false}, bind{program, insideForward, false})
		services, err := loopbacks(s.Network)
		if err != nil {
			return c, err
		}
		c.argv = append([]string{insideForward}, s.Forward[1:]...)
		for _, at := range services {
			c.argv = append(c.argv, at.String())
		}
		c.argv = slices.Concat(c.argv, []string{"--"}, argv)
	}
	return c, nil
}

// user returns the user for the command, who owns the files that it makes: the current one, or for
// root the owner of the workspace.
func (e *Engine) user(s Spec) (string, error) {
	if e.Name == "docker" && e.facts.rootless {
		return "0:0", nil // the engine's own user outside, with only the user's rights
	}
	uid, gid := os.Getuid(), os.Getgid()
	if uid == 0 {
		info, err := os.Stat(s.Workspace)
		if err != nil {
			return "", err
		}
		var ok bool
		if uid, gid, ok = ownerOfFile(info); !ok {
			return "", fmt.Errorf("%w: whose %s is cannot be told", ErrBadSpec, s.Workspace)
		}
	}
	return strconv.Itoa(uid) + ":" + strconv.Itoa(gid), nil
}

// mostOfPodman is Podman's own limit of a user's processes, inside or outside of containers.
// Without the option Podman raises the limit for a container, which root without the capability may
// not do.
const mostOfPodman = 32 << 10

// args returns the arguments of create and the environment of the client. The environment carries
// the values of variables, because every user of the machine can read arguments.
func (e *Engine) args(c container) (args, env []string) {
	s, l := c.spec, c.spec.Limits
	bytes := func(n int64) string { return strconv.FormatInt(n, 10) }
	args = []string{"create", "--name", c.name, "--pull", "never", "--init", "--network", "none",
		"--user", c.user, "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--read-only",
		"--pids-limit", strconv.Itoa(l.Processes), "--memory", bytes(l.Memory), "--memory-swap", bytes(l.Memory),
		"--cpus", strconv.FormatFloat(l.CPUs, 'f', -1, 64),
		"--ulimit", fmt.Sprintf("nofile=%d:%d", l.OpenFiles, l.OpenFiles), "--ulimit", "core=0:0", "--ulimit", fmt.Sprintf("fsize=%d:%d", l.Disk, l.Disk),
		"--tmpfs", "/tmp:rw,exec,nosuid,nodev,mode=1777,size=" + bytes(l.Temp), "--shm-size", bytes(min(64<<20, l.Temp)),
		"--ipc", "private", "--cgroupns", "private", "--hostname", "sandbox", "--log-driver", "none", "--no-healthcheck",
		"--stop-signal", "SIGTERM", "--stop-timeout", "10", "--restart", "no"}
	switch {
	case e.Name == "podman":
		args = append(args, "--http-proxy=false", "--env-host=false", "--read-only-tmpfs=false", "--no-hosts")
		if n := min(hardProcesses(), mostOfPodman); n > 0 {
			args = append(args, "--ulimit", fmt.Sprintf("nproc=%d:%d", n, n))
		}
		if e.facts.rootless {
			args = append(args, "--userns", "keep-id")
		}
	case e.facts.remapped: // another user could not write the workspace
		args = append(args, "--userns", "host")
	}
	if c.filter != "" {
		args = append(args, "--security-opt", "seccomp="+c.filter)
	}
	if s.Runtime != "" {
		args = append(args, "--runtime", s.Runtime)
	}
	for _, label := range self().labels() {
		args = append(args, "--label", label)
	}
	if s.Loop != "" {
		args = append(args, "--label", labelLoop+"="+s.Loop)
	}
	for _, b := range c.binds {
		args = append(args, "--mount", b.arg())
	}
	args = append(args, "--workdir", s.Dir)
	for _, v := range s.environment() {
		name, _, _ := strings.Cut(v, "=")
		if clientReads(name) {
			args = append(args, "--env", v)
			continue
		}
		args, env = append(args, "--env", name), append(env, v)
	}
	args = append(args, "--interactive", "--entrypoint", c.argv[0], c.image)
	return append(args, c.argv[1:]...), env
}

// environment returns the variables of the command: the required ones, then those of the Spec.
func (s Spec) environment() []string {
	env := []string{"HOME=" + insideHome}
	if len(s.Network) > 0 {
		at, no := "http://"+insideProxy, "localhost,127.0.0.1"
		services, _ := loopbacks(s.Network) // plan has checked them
		for _, service := range services {
			if address := service.Addr().String(); !slices.Contains(strings.Split(no, ","), address) {
				no += "," + address
			}
		}
		env = append(env, "HTTPS_PROXY="+at, "https_proxy="+at, "HTTP_PROXY="+at, "http_proxy="+at, "NO_PROXY="+no, "no_proxy="+no)
	}
	return append(env, s.Env...)
}

// clientReads reports whether the engine's client itself would read a variable, which is then
// passed as an argument.
func clientReads(name string) bool {
	return slices.Contains(clientNames(), name) || strings.HasPrefix(name, "DOCKER_") || strings.HasPrefix(name, "CONTAINER") || strings.HasPrefix(name, "BUILDKIT") ||
		strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_") || strings.HasPrefix(name, "GO") || strings.HasPrefix(name, "LC_") || strings.HasSuffix(strings.ToLower(name), "_proxy")
}

// inspected is an engine's report on a container.
type inspected struct {
	ID    string `json:"Id"`
	Name  string
	State struct {
		Status     string
		Running    bool
		OOMKilled  bool
		ExitCode   int
		Error      string
		StartedAt  time.Time
		FinishedAt time.Time
	}
	EffectiveCaps []string // Podman's
	HostConfig    struct {
		NetworkMode, IpcMode, PidMode, UTSMode string
		Privileged, ReadonlyRootfs             bool
		CapAdd, CapDrop, SecurityOpt           []string
		Memory, MemorySwap, NanoCpus           int64
		PidsLimit                              *int64
		Devices, DeviceRequests                []json.RawMessage
		Tmpfs                                  map[string]string
	}
	Mounts []struct {
		Type, Source, Destination string
		RW                        bool
	}
	Config struct {
		User   string
		Labels map[string]string
	}
}

func (e *Engine) inspect(ctx context.Context, id string) (inspected, error) {
	out, err := e.ask(ctx, orderTime, "container", "inspect", id)
	if err != nil {
		return inspected{}, err
	}
	var list []inspected
	if err := json.Unmarshal(out, &list); err != nil {
		return inspected{}, fmt.Errorf("%s inspect: %w", e.Name, err)
	}
	if len(list) != 1 {
		return inspected{}, fmt.Errorf("%s inspect: %d containers for one id", e.Name, len(list))
	}
	return list[0], nil
}

// verify compares a container with the request. An image can ask for volumes, a configuration can
// add mounts, and an engine can ignore an unknown option.
func (e *Engine) verify(c container, made inspected) error {
	h, l := made.HostConfig, c.spec.Limits
	var wrong []string
	must := func(ok bool, what string) {
		if !ok {
			wrong = append(wrong, what)
		}
	}
	must(h.NetworkMode == "none", "it has a network: "+h.NetworkMode)
	must(!h.Privileged, "it is privileged")
	must(h.ReadonlyRootfs, "its root can be written")
	must(len(h.CapAdd) == 0 && (slices.Contains(h.CapDrop, "ALL") || e.Name == "podman" && len(made.EffectiveCaps) == 0), "it has capabilities")
	must(slices.ContainsFunc(h.SecurityOpt, func(o string) bool {
		return strings.HasPrefix(o, "no-new-privileges") && !strings.HasSuffix(o, "false")
	}), "it can get new privileges")
	must(!slices.ContainsFunc(h.SecurityOpt, func(o string) bool { return strings.Contains(o, "unconfined") }), "it is unconfined")
	must(c.filter == "" || slices.Contains(h.SecurityOpt, "seccomp="+c.filter), "its filter of system calls is another")
	must(h.PidMode != "host" && h.IpcMode != "host" && h.UTSMode != "host", "it shares processes, memory or the name of the host")
	must(len(h.Devices) == 0 && len(h.DeviceRequests) == 0, "it has devices")
	must(made.Config.User == c.user, "its user is "+made.Config.User)
	must(h.Memory == l.Memory && (h.MemorySwap == l.Memory || h.MemorySwap == -1 && e.facts.rootless), "its memory is not limited")
	must(h.PidsLimit != nil && *h.PidsLimit == int64(l.Processes), "its processes are not limited")
	must(h.NanoCpus > 0, "its processors are not limited")
	for path := range h.Tmpfs {
		must(path == "/tmp", "it has a folder that was not asked for: "+path)
	}
	found := 0
	for _, m := range made.Mounts {
		i := slices.IndexFunc(c.binds, func(b bind) bool {
			return m.Type == "bind" && b.to == m.Destination && b.from == m.Source && b.write == m.RW
		})
		if i < 0 {
			must(m.Type == "tmpfs" && m.Destination == "/tmp", fmt.Sprintf("it has a %s that was not asked for: %s", m.Type, m.Destination))
			continue
		}
		found++
	}
	must(found == len(c.binds), "a folder is missing in it")
	if len(wrong) > 0 {
		return fmt.Errorf("%w: the container was not made as it was asked for: %s", ErrWeak, strings.Join(wrong, ", "))
	}
	return nil
}
