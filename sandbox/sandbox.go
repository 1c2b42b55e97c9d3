// Package sandbox runs one command in one container of Docker or Podman, or refuses.
//
// Find an Engine by its name, call Run, and collect the command's files with Collect. Nothing ever
// falls back to the host. A missing program or image, an engine that does not answer or cannot
// enforce a limit, and a container that differs from the request are errors, and then nothing has
// run.
//
// The container has a read-only image and one folder of the host, at the same path as outside and
// without a git directory. It has an environment of named variables, no capability, no new
// privileges, no network but the one in the Spec, and limits for all resources. Labels record the
// container's Spec and owner, so that Prune finds the containers of a killed process.
//
// An Engine may be used by several goroutines. Every process has a deadline, and is gone when its
// function returns.
package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

var (
	// ErrMissing means that the engine's program is not on PATH.
	ErrMissing = errors.New("the program is not there")
	// ErrSilent means that the engine does not answer in time, or answers with an error.
	ErrSilent = errors.New("the engine does not answer")
	// ErrWeak means that the engine cannot enforce a limit, or does not filter system calls.
	ErrWeak = errors.New("the engine cannot contain a command")
	// ErrNoImage means that an image is not on this machine. Images are never pulled.
	ErrNoImage = errors.New("there is no such image")
	// ErrBadSpec means that a request cannot be sandboxed safely.
	ErrBadSpec = errors.New("not to be sandboxed")
	// ErrLeft means that a container could not be removed. Prune removes it once the engine answers
	// again.
	ErrLeft = errors.New("a container may be left")
)

// Engines returns the names that Find accepts.
func Engines() []string { return []string{"docker", "podman"} }

// Timeouts for one answer of the engine.
const (
	infoTime = 5 * time.Second // to answer that it is there
	// tellTime is for Podman, which has no daemon and asks the package manager about each of its
	// parts.
	tellTime  = 30 * time.Second
	orderTime = 60 * time.Second // to make, stop or remove a container
)

// Engine is a container engine on this machine that answered and enforces every limit.
type Engine struct {
	Name    string // docker or podman
	Version string

	program string // absolute path
	host    string // Docker: the address of the engine, a socket of this machine
	folder  string // private folder for our files in a container
	facts   facts

	pruned sync.Once
	proxy  proxy // replaces the real network in tests
}

// facts are an engine's description of itself.
type facts struct {
	cpus     int
	rootless bool   // the engine runs as the user, who has id 0 inside
	remapped bool   // the engine's configuration maps ids inside to others
	filter   string // Podman on this machine: the file with its filter of system calls
}

// Find finds an engine by its name. The error wraps ErrMissing, ErrSilent or ErrWeak, and names the
// missing part.
func Find(ctx context.Context, name string) (*Engine, error) {
	if !slices.Contains(Engines(), name) {
		return nil, fmt.Errorf("%w: %q is not one of %s", ErrMissing, name, strings.Join(Engines(), ", "))
	}
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		return nil, fmt.Errorf("%w: on %s the sandbox is not supported, only on Linux and macOS", ErrWeak, runtime.GOOS)
	}
	program, err := exec.LookPath(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %s is not on PATH", ErrMissing, name)
	}
	if program, err = filepath.Abs(program); err != nil {
		return nil, err
	}
	e := &Engine{Name: name, program: program}
	if e.folder, err = privateFolder(name); err != nil {
		return nil, err
	}
	if name == "docker" {
		if e.host, err = e.address(ctx); err != nil {
			return nil, err
		}
	}
	most := infoTime
	if name == "podman" {
		most = tellTime
	}
	out, err := e.ask(ctx, most, "info", "--format", "{{json .}}")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSilent, err)
	}
	if name == "docker" {
		err = e.readDocker(out)
	} else {
		err = e.readPodman(out)
	}
	return e, err
}

// address returns the socket of the user's Docker. It refuses a remote one, which would mount
// folders of its own machine.
func (e *Engine) address(ctx context.Context) (string, error) {
	host := os.Getenv("DOCKER_HOST")
	if host == "" {
		ctx, cancel := context.WithTimeout(ctx, infoTime)
		defer cancel()
		ask := exec.CommandContext(ctx, e.program, "context", "inspect", "--format", "{{.Endpoints.docker.Host}}")
		tame(ask)
		endWithUs(ask)
		out, err := output(ask)
		if err != nil {
			return "", fmt.Errorf("%w: which engine is meant: %w", ErrSilent, err)
		}
		host = strings.TrimSpace(string(out))
	}
	at, err := url.Parse(host)
	if err != nil || at.Scheme != "unix" || !filepath.IsAbs(at.Path) {
		return "", fmt.Errorf("%w: docker is at %q, which is not a socket of this machine", ErrWeak, host)
	}
	return host, nil
}

// readDocker parses Docker's description of itself.
func (e *Engine) readDocker(out []byte) error {
	var info struct {
		ServerVersion, OSType    string
		ServerErrors             []string
		NCPU                     int
		MemoryLimit, PidsLimit   bool
		CPUCfsQuota, CpuCfsQuota bool // the spelling depends on the version
		SecurityOptions          []string
	}
	if err := json.Unmarshal(out, &info); err != nil {
		return fmt.Errorf("%w: docker info: %w", ErrSilent, err)
	}
	if len(info.ServerErrors) > 0 || info.ServerVersion == "" {
		return fmt.Errorf("%w: %s", ErrSilent, strings.Join(info.ServerErrors, "; "))
	}
	e.Version, e.facts = info.ServerVersion, facts{cpus: info.NCPU}
	filtered := false
	for _, o := range info.SecurityOptions { // name=seccomp,profile=default
		name, rest, _ := strings.Cut(strings.TrimPrefix(o, "name="), ",")
		switch name {
		case "seccomp":
			filtered = !strings.Contains(rest, "unconfined")
		case "rootless":
			e.facts.rootless = true
		case "userns":
			e.facts.remapped = true
		}
	}
	return e.strong(info.OSType, filtered, info.MemoryLimit, info.PidsLimit, info.CPUCfsQuota || info.CpuCfsQuota)
}

// readPodman parses Podman's description of itself.
func (e *Engine) readPodman(out []byte) error {
	var info struct {
		Host struct {
			CPUs              int      `json:"cpus"`
			OS                string   `json:"os"`
			CgroupControllers []string `json:"cgroupControllers"`
			ServiceIsRemote   bool     `json:"serviceIsRemote"`
			Security          struct {
				Rootless       bool   `json:"rootless"`
				SeccompEnabled bool   `json:"seccompEnabled"`
				SeccompProfile string `json:"seccompProfilePath"`
			} `json:"security"`
		} `json:"host"`
		Version struct{ Version string } `json:"version"`
	}
	if err := json.Unmarshal(out, &info); err != nil {
		return fmt.Errorf("%w: podman info: %w", ErrSilent, err)
	}
	h := info.Host
	if h.ServiceIsRemote && runtime.GOOS == "linux" {
		return fmt.Errorf("%w: podman asks one on another machine", ErrWeak)
	}
	e.Version, e.facts = info.Version.Version, facts{cpus: h.CPUs, rootless: h.Security.Rootless}
	filtered := h.Security.SeccompEnabled
	if runtime.GOOS == "linux" { // elsewhere the file and the containers are in another machine
		e.facts.filter = h.Security.SeccompProfile
		filtered = filtered && filepath.IsAbs(e.facts.filter)
	}
	has := func(c string) bool { return slices.Contains(h.CgroupControllers, c) }
	return e.strong(h.OS, filtered, has("memory"), has("pids"), has("cpu"))
}

// strong returns an error that names the missing features of an engine.
func (e *Engine) strong(system string, filtered, memory, pids, cpu bool) error {
	var lacks []string
	for _, need := range []struct {
		has  bool
		what string
	}{
		{system == "linux", "containers of Linux"},
		{filtered, "a seccomp profile"},
		{memory, "a limit of memory"},
		{pids, "a limit of processes"},
		{cpu, "a limit of processors"},
	} {
		if !need.has {
			lacks = append(lacks, need.what)
		}
	}
	if len(lacks) > 0 {
		return fmt.Errorf("%w: this %s lacks %s", ErrWeak, e.Name, strings.Join(lacks, ", "))
	}
	return nil
}

// Image returns the full id, sha256:…, of a local image. A container is made by id, because a name
// may change its meaning.
func (e *Engine) Image(ctx context.Context, name string) (string, error) {
	if name == "" || strings.HasPrefix(name, "-") {
		return "", fmt.Errorf("%w: %q is not a name", ErrNoImage, name)
	}
	out, err := e.ask(ctx, orderTime, "image", "inspect", "--format", "{{.Id}}", name)
	if err != nil {
		if missing(err) {
			return "", fmt.Errorf("%w: %s", ErrNoImage, name)
		}
		return "", fmt.Errorf("look at image %s: %w", name, err)
	}
	id := strings.TrimSpace(string(out))
	if !strings.HasPrefix(id, "sha256:") {
		id = "sha256:" + id // Podman's
	}
	if !isImageID(id) {
		return "", fmt.Errorf("look at image %s: %q is not an id", name, id)
	}
	return id, nil
}

// isImageID reports whether a name is a full id.
func isImageID(name string) bool {
	hex, ok := strings.CutPrefix(name, "sha256:")
	return ok && len(hex) == 64 && strings.Trim(hex, "0123456789abcdef") == ""
}
