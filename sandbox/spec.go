package sandbox

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
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
	User    string // uid:gid; "" is the current user, or for root the owner of the workspace
	Runtime string // the engine's runtime, such as runsc; "" is its default
	Limits  Limits

	// Stdout and Stderr receive the output as it comes. nil keeps it for the Result.
	Stdout, Stderr interface{ Write([]byte) (int, error) }
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
	if s.Dir == "" {
		s.Dir = s.Workspace
	}
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
	if s.User != "" && !isUser(s.User) {
		return s, fmt.Errorf("%w: user %q is not uid:gid", ErrBadSpec, s.User)
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

// isUser reports whether s is two numbers separated by a colon.
func isUser(s string) bool {
	uid, gid, ok := strings.Cut(s, ":")
	_, err := strconv.ParseUint(uid, 10, 31)
	_, err2 := strconv.ParseUint(gid, 10, 31)
	return ok && err == nil && err2 == nil
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
