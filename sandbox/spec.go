package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
)

// Spec describes the surroundings of a command. The zero value of each field except Image and
// Workspace is the narrowest, or the default.
type Spec struct {
	Image     string   // a name, or better an id as Image returns it
	Workspace string   // absolute path of the writable folder, the same inside
	ReadOnly  bool     // the workspace can only be read
	Dir       string   // start folder in the workspace; "" is its top
	Env       []string // NAME=VALUE; nothing else of the host's environment is inside
	Caches    []string // absolute paths of readable folders and files, the same inside
	// Network lists host:port targets, reached by CONNECT through a proxy or, on loopback, at the same
	// address inside. Empty means no network.
	Network []string
	// Forward is required with Network: a host program with first arguments, which calls Forward with
	// the rest.
	Forward []string
	Loop    string // name of its loop, for the label
	Runtime string // the engine's runtime, such as runsc; "" is its default
	Limits  Limits

	// Stdout and Stderr receive the output as it comes. nil keeps it for the Result.
	Stdout, Stderr io.Writer
}

// Limits bound the resources of a command. Zero is the default in defaultLimits.
type Limits struct {
	Time      time.Duration // of the whole command
	Grace     time.Duration // from the request to end until the kill; negative means none
	Memory    int64         // bytes, of all processes, /tmp and /dev/shm together; there is no swap
	CPUs      float64
	Processes int   // and threads
	OpenFiles int   // of one process
	Output    int64 // bytes of standard output and standard error together
	Disk      int64 // bytes of growth of the workspace, and
	Files     int   // that may be added to the workspace
	Temp      int64 // bytes in /tmp
}

// defaultLimits suffice for the tests of most projects.
func defaultLimits() Limits {
	return Limits{Time: 10 * time.Minute, Grace: 5 * time.Second, Memory: 2 << 30, CPUs: 2, Processes: 256, OpenFiles: 4096,
		Output: 16 << 20, Disk: 4 << 30, Files: 500_000, Temp: 512 << 20}
}

// orDefault fills in zero fields.
func (l Limits) orDefault() Limits {
	d := defaultLimits()
	return Limits{cmp.Or(l.Time, d.Time), cmp.Or(l.Grace, d.Grace), cmp.Or(l.Memory, d.Memory), cmp.Or(l.CPUs, d.CPUs), cmp.Or(l.Processes, d.Processes),
		cmp.Or(l.OpenFiles, d.OpenFiles), cmp.Or(l.Output, d.Output), cmp.Or(l.Disk, d.Disk), cmp.Or(l.Files, d.Files), cmp.Or(l.Temp, d.Temp)}
}

// check returns an error for an ineffective limit.
func (l Limits) check() error {
	const leastMemory = 6 << 20 // Docker's minimum
	switch {
	case l.Time <= 0, l.Processes <= 0, l.OpenFiles <= 0, l.Output <= 0, l.Disk <= 0, l.Files <= 0, l.Temp <= 0:
		return fmt.Errorf("%w: a limit is less than zero", ErrBadSpec)
	case l.Memory < leastMemory:
		return fmt.Errorf("%w: %d bytes of memory are less than %d", ErrBadSpec, l.Memory, leastMemory)
	case l.CPUs < 0.01 || l.CPUs > 1e4:
		return fmt.Errorf("%w: %v processors", ErrBadSpec, l.CPUs)
	}
	return nil
}

// complete checks a Spec and fills in the defaults.
func (s Spec) complete(cpus int) (Spec, error) {
	var err error
	if s.Workspace, err = workspace(s.Workspace); err != nil {
		return s, err
	}
	s.Dir = cmp.Or(s.Dir, s.Workspace)
	if !filepath.IsAbs(s.Dir) || !within(filepath.Clean(s.Dir), s.Workspace) {
		return s, fmt.Errorf("%w: %s is not in the workspace %s", ErrBadSpec, s.Dir, s.Workspace)
	}
	s.Dir = filepath.Clean(s.Dir)
	s.Caches = slices.Clone(s.Caches)
	for i, c := range s.Caches {
		if s.Caches[i], err = readable(c, s.Workspace); err != nil {
			return s, err
		}
	}
	for _, v := range s.Env {
		name, _, ok := strings.Cut(v, "=")
		if !ok || name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) || strings.Contains(v, "\x00") {
			return s, fmt.Errorf("%w: %q is not a variable such as NAME=VALUE", ErrBadSpec, name)
		}
	}
	if strings.HasPrefix(s.Runtime, "-") || strings.ContainsFunc(s.Loop+s.Runtime, unicode.IsControl) {
		return s, fmt.Errorf("%w: loop %q, runtime %q", ErrBadSpec, s.Loop, s.Runtime)
	}
	if len(s.Network) > 0 && len(s.Forward) == 0 {
		return s, fmt.Errorf("%w: a network without a program that forwards to it", ErrBadSpec)
	}
	s.Limits = s.Limits.orDefault()
	if cpus > 0 {
		s.Limits.CPUs = min(s.Limits.CPUs, float64(cpus)) // the engine refuses more than there are
	}
	return s, s.Limits.check()
}

// workspace returns the real path of a folder that a container may use.
func workspace(dir string) (string, error) {
	real, err := mountable(dir)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%w: the workspace %s is not a folder", ErrBadSpec, dir)
	}
	return real, nil
}

// readable returns the real path of a cache that a container may read.
func readable(path, workspace string) (string, error) {
	real, err := mountable(path)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return "", fmt.Errorf("%w: %w", ErrBadSpec, err)
	case !info.IsDir() && !info.Mode().IsRegular(): // a socket is a way out
		return "", fmt.Errorf("%w: %s is neither a folder nor a file", ErrBadSpec, path)
	case within(real, workspace) || within(workspace, real):
		return "", fmt.Errorf("%w: %s overlaps the workspace", ErrBadSpec, path)
	}
	return real, nil
}

// mountable returns the real path of a folder that is safe to mount. It is not a system folder or a
// home, and contains neither a home nor an engine's socket.
func mountable(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("%w: %q is not an absolute path", ErrBadSpec, path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrBadSpec, err)
	}
	if strings.ContainsAny(real, `,"`) || strings.ContainsFunc(real, unicode.IsControl) {
		return "", fmt.Errorf("%w: %q has a comma, a quote or a control character, which engines take for something else", ErrBadSpec, real)
	}
	if strings.Count(real, "/") < 2 {
		return "", fmt.Errorf("%w: %s is too much: give a folder of a project", ErrBadSpec, real)
	}
	for _, system := range []string{"/dev", "/proc", "/sys", "/boot", "/etc"} {
		if within(real, system) {
			return "", fmt.Errorf("%w: %s belongs to the system", ErrBadSpec, real)
		}
	}
	private := []string{"/var/run/docker.sock", "/run/docker.sock", "/run/podman/podman.sock"}
	if home, err := os.UserHomeDir(); err == nil {
		private = append(private, home)
	}
	if run := os.Getenv("XDG_RUNTIME_DIR"); run != "" {
		private = append(private, run)
	}
	if socket, ok := strings.CutPrefix(os.Getenv("DOCKER_HOST"), "unix://"); ok {
		private = append(private, socket)
	}
	for _, p := range private {
		if within(p, real) {
			return "", fmt.Errorf("%w: %s holds %s", ErrBadSpec, real, p)
		}
		if r, err := filepath.EvalSymlinks(p); err == nil && within(r, real) {
			return "", fmt.Errorf("%w: %s holds %s", ErrBadSpec, real, p)
		}
	}
	return real, nil
}

// within reports whether a clean path is a folder or below it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// FromSettings returns the Spec for a command from the settings. It takes the values of variables
// from this process.
func FromSettings(c config.Sandbox) (Spec, error) {
	s := Spec{Image: c.Image, Caches: c.Caches, Network: c.Network, Runtime: c.Runtime, Limits: Limits{
		Memory: int64(c.Memory) << 20, CPUs: float64(c.CPUs), Processes: c.Processes, Time: time.Duration(c.Seconds) * time.Second,
		Output: int64(c.Output) << 20, Disk: int64(c.Disk) << 20,
	}}
	for _, name := range c.Env {
		if v, ok := os.LookupEnv(name); ok {
			s.Env = append(s.Env, name+"="+v)
		}
	}
	if len(s.Network) > 0 {
		self, err := os.Executable()
		if err != nil {
			return s, err
		}
		s.Forward = []string{self, "sandbox", "forward"}
	}
	return s, nil
}

// Folders returns the writable folder of a command, and its start folder there: dir, or the top if
// dir is outside.
func Folders(top, dir string) (workspace, start string, err error) {
	if workspace, err = resolved(top); err != nil {
		return "", "", err
	}
	if start, err = resolved(dir); err != nil {
		return "", "", err
	}
	if in, err := filepath.Rel(workspace, start); err != nil || !filepath.IsLocal(in) {
		start = workspace
	}
	return workspace, start, nil
}

func resolved(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// Hint returns advice about an error of this package, or "".
func Hint(err error) string {
	switch {
	case errors.Is(err, ErrLeft):
		return "when the engine answers again: reverie sandbox prune"
	case errors.Is(err, ErrMissing):
		return "nothing was run; install it, or name the other one: --engine docker or podman"
	case errors.Is(err, ErrSilent):
		return "nothing was run; start the engine, and see whether '" + strings.Join(Engines(), " info' or '") + " info' answers"
	case errors.Is(err, ErrNoImage):
		return "nothing was run; make it: reverie sandbox build, or without a registry: reverie sandbox build --from-rootfs PATH"
	case errors.Is(err, ErrWeak), errors.Is(err, ErrBadSpec):
		return "nothing was run"
	}
	return ""
}

// Explain adds the exit code and Hint to an error of this package. nil stays nil.
func Explain(err error) error {
	if err == nil {
		return nil
	}
	return exit.New(exit.Failed, err, Hint(err))
}

// Choose finds the named engine, or with "" that of the settings. It never uses another one
// instead.
func Choose(ctx context.Context, c config.Sandbox, name string) (*Engine, error) {
	name = cmp.Or(name, c.Mode)
	if name == config.Off {
		return nil, exit.New(exit.Failed, errors.New("the sandbox is off: sandbox.mode"), "to turn it on: reverie config --user sandbox.mode docker, or podman; for one run: --engine docker")
	}
	e, err := Find(ctx, name)
	return e, Explain(err)
}

// Exit codes for a command that did not end by itself, as timeout(1) and shells have them.
const (
	ExitTime  = 124 // its time was up
	ExitLimit = 125 // it printed or wrote too much, or used too much memory
)

// Failure returns the error of a command that exceeded a limit, or nil. most is the time that the
// settings allow.
func (l Limits) Failure(r Result, most time.Duration) error {
	switch r.Ended {
	case TimedOut:
		hint := "the setting sandbox.seconds sets the limit"
		if l.Time < most {
			hint = fmt.Sprintf("--time sets the limit, up to the setting sandbox.seconds: %s", most)
		}
		return exit.New(ExitTime, fmt.Errorf("the command was ended after %s", l.Time), hint)
	case TooLong:
		return exit.New(ExitLimit, fmt.Errorf("the command was ended: it printed more than %d MiB", l.Output>>20), "the setting sandbox.output sets the limit")
	case TooBig:
		return exit.New(ExitLimit, fmt.Errorf("the command was ended: %s", r.Why), "the setting sandbox.disk sets the limit")
	case NoMemory:
		return exit.New(ExitLimit, fmt.Errorf("the command used more than %d MiB of memory", l.Memory>>20), "the setting sandbox.memory sets the limit")
	}
	return nil
}
