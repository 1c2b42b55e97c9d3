// Package git finds the repository as real git sees it, runs git without the caller's environment,
// moves refs by git's own lock protocol, and reads and writes objects. Begin with Find. The parts
// of a Repo are types of their own: Config, State, Refs, History, Recent and Upkeep.
//
// A Repo is safe for concurrent use; an Objects handle is not.
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/pattern"
)

// MinVersion is the oldest git that Reverie works with.
const MinVersion = "2.38"

var (
	// ErrNotRepository is returned when no repository holds the directory.
	ErrNotRepository = errors.New("not a git repository")
	// ErrUnsafe is returned when git refuses the repository because another user owns it.
	ErrUnsafe = errors.New("repository belongs to another user")
	// ErrGitMissing is returned when there is no git program.
	ErrGitMissing = errors.New("git is not installed, or not in PATH")
	// ErrGitTooOld is returned when git is older than MinVersion.
	ErrGitTooOld = errors.New("git is too old: " + MinVersion + " or newer is needed")
)

// Repo is a repository as real git sees it from one directory.
type Repo struct {
	CommonDir    string // absolute, symlinks resolved: the folder that all worktrees share
	GitDir       string // of this worktree, absolute
	WorkTree     string // top of this worktree; empty in a bare repository and inside a git directory
	Bare         bool
	Shallow      bool
	Partial      bool // objects may be missing until git fetches them from a promisor remote
	ObjectFormat Format
	RefFormat    string // files or reftable

	config   *Config
	mayFetch func() bool // of a partial clone, see lazyFetch
	offline  bool
}

// Config returns the repository's configuration. It is read at its first use.
func (r *Repo) Config() *Config { return r.config }

// Offline returns the same repository with gits that never fetch: a partial clone's absent objects
// are missing.
func (r *Repo) Offline() *Repo {
	o := *r
	o.offline = true
	return &o
}

// Find asks git for the repository that holds dir, with the caller's environment (GIT_DIR and the
// like) and git's own rules on ownership. It costs one git process. Errors wrap ErrNotRepository,
// ErrUnsafe, ErrGitMissing or ErrGitTooOld if one of them is the cause.
func Find(ctx context.Context, dir string) (*Repo, error) {
	answers, err := ask(ctx, dir, "--is-bare-repository", "--git-common-dir", "--is-shallow-repository",
		"--git-dir", "--show-object-format", "--show-ref-format", "--show-toplevel")
	if err != nil {
		if info, none := os.Stat(dir); none != nil {
			err = file.Bare(none)
		} else if !info.IsDir() {
			err = errors.New("not a folder")
		}
		return nil, fmt.Errorf("find repository of %s: %w", dir, err)
	}
	r := &Repo{
		Bare:         answers[0] == "true",
		CommonDir:    answers[1],
		Shallow:      answers[2] == "true",
		GitDir:       answers[3],
		ObjectFormat: Format(answers[4]),
		RefFormat:    answers[5],
		WorkTree:     answers[6],
	}
	if r.RefFormat == "--show-ref-format" { // git before 2.45 echoes unknown options
		r.RefFormat = "files"
	}
	if r.CommonDir, err = filepath.EvalSymlinks(r.CommonDir); err != nil {
		return nil, fmt.Errorf("find repository of %s: %w", dir, err)
	}
	r.Partial = r.isPartial(ctx)
	r.prepare(nil)
	return r, nil
}

// prepare sets up values that are computed at first use. cached may hold the settings already.
func (r *Repo) prepare(cached settings) {
	r.config = &Config{gitDir: r.GitDir, workTree: r.WorkTree, cached: cached}
	r.mayFetch = sync.OnceValue(r.lazyFetch)
}

// ask passes questions to git rev-parse in dir. The last one may stay unanswered: a bare repository
// has no top level. It costs one process. If a path holds a newline, the answers are ambiguous, and
// each question is asked alone.
func ask(ctx context.Context, dir string, questions ...string) ([]string, error) {
	out, err := revParse(ctx, dir, questions...)
	if err != nil && !bytes.Contains(err.(*Error).all, []byte("must be run in a work tree")) {
		return nil, explainFind(ctx, err.(*Error))
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if lines[0] == "--path-format=absolute" {
		return nil, ErrGitTooOld
	}
	if err != nil && len(lines) == len(questions)-1 {
		return append(lines, ""), nil
	}
	if err == nil && len(lines) == len(questions) {
		return lines, nil
	}
	answers := make([]string, len(questions))
	for i, q := range questions {
		out, err := revParse(ctx, dir, q)
		if err != nil && i < len(questions)-1 {
			return nil, err
		}
		answers[i] = strings.TrimSuffix(string(out), "\n")
	}
	return answers, nil
}

func revParse(ctx context.Context, dir string, questions ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"rev-parse", "--path-format=absolute"}, questions...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "LANGUAGE=")
	return run(cmd)
}

// explainFind maps git's refusal to one of our sentinels.
func explainFind(ctx context.Context, err *Error) error {
	switch {
	case errors.Is(err, ErrGitMissing), ctx.Err() != nil:
		return err
	case bytes.Contains(err.all, []byte("not a git repository")):
		return ErrNotRepository
	case bytes.Contains(err.all, []byte("dubious ownership")), bytes.Contains(err.all, []byte("safe.bareRepository")):
		return fmt.Errorf("%w: %s", ErrUnsafe, err.Line)
	case bytes.Contains(err.all, []byte("unknown option")):
		return ErrGitTooOld
	}
	return err
}

var version = pattern.New(`^git version (\d+)\.(\d+)`)

// CheckVersion returns an error wrapping ErrGitTooOld if git is older than MinVersion.
func CheckVersion(ctx context.Context) error {
	is, enough, err := atLeast(ctx, 2, 38)
	if err == nil && !enough {
		err = fmt.Errorf("%w; this is %s", ErrGitTooOld, is)
	}
	return err
}

// ConfiguresHooks reports whether git runs the hooks of its configuration, as it does since 2.54.
// is names git's version.
func ConfiguresHooks(ctx context.Context) (is string, does bool, err error) {
	return atLeast(ctx, 2, 54)
}

// atLeast reports whether git's version is at least major.minor. is names the version.
func atLeast(ctx context.Context, major, minor int) (is string, enough bool, err error) {
	cmd := exec.CommandContext(ctx, "git", "version")
	cmd.Env = cleanEnviron()
	out, err := run(cmd)
	if err != nil {
		return "", false, err
	}
	var has [2]int
	if m := version.FindStringSubmatch(string(out)); m != nil {
		fmt.Sscan(m[1]+" "+m[2], &has[0], &has[1])
	}
	return strings.TrimSpace(string(out)), has[0] > major || has[0] == major && has[1] >= minor, nil
}

var promisor = pattern.New(`(?i)promisor|partialclone|include|worktreeconfig`)

// isPartial reports whether the repository's own configuration names a promisor remote. It asks
// git, which costs a process, only if the file config contains a telling word or includes other
// files. git decides because values, section heads and keys have many spellings. An unreadable
// configuration counts as partial.
func (r *Repo) isPartial(ctx context.Context) bool {
	text, err := os.ReadFile(filepath.Join(r.CommonDir, "config"))
	if err != nil || !promisor.Match(text) {
		return false
	}
	c, err := r.remoteConfig(ctx)
	return err != nil || c.promisorNames() != nil
}

// OpenBare opens a bare repository in a known folder, as InitBare makes it. It starts no git and
// ignores the environment's repository. The error wraps fs.ErrNotExist if there is no folder, and
// costs one lookup then.
func OpenBare(dir string) (*Repo, error) {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("open %s: not a folder but %s", dir, info.Mode().Type())
	case !ownedByUs(info):
		return nil, fmt.Errorf("open %s: %w", dir, ErrUnsafe)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	config, err := os.ReadFile(filepath.Join(dir, "config"))
	if err == nil {
		_, err = os.Lstat(filepath.Join(dir, "HEAD"))
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("open %s: %w", dir, ErrNotRepository)
	case err != nil:
		return nil, err
	case bytes.Contains(bytes.ToLower(config), []byte("[extensions")):
		return nil, fmt.Errorf("open %s: a repository with extensions is not supported here", dir)
	}
	r := &Repo{CommonDir: dir, GitDir: dir, Bare: true, ObjectFormat: "sha1", RefFormat: "files"}
	r.prepare(nil)
	return r, nil
}

// InitBare makes a bare repository that only its owner can read, and the folders above it. It opens
// one that is there, and several processes may make it at once.
func InitBare(ctx context.Context, dir string) (*Repo, error) {
	r, err := OpenBare(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return r, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return nil, err
	}
	fresh, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+"-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(fresh)
	cmd := exec.CommandContext(ctx, "git", "-c", "init.defaultRefFormat=files", "init", "--quiet", "--bare", "--template=", "--object-format=sha1", "--initial-branch=main", fresh)
	cmd.Dir, cmd.Env = fresh, cleanEnviron()
	if _, err := run(cmd); err != nil {
		return nil, fmt.Errorf("make %s: %w", dir, err)
	}
	if err := os.Rename(fresh, dir); err != nil {
		if r, lost := OpenBare(dir); lost == nil { // another process was first
			return r, nil
		}
		return nil, err
	}
	return OpenBare(dir)
}

// WorkTrees returns the folders of all work trees that git has on record, this one's first. It
// includes missing ones that git has not pruned yet. For a bare repository it lists only the added
// ones.
func (r *Repo) WorkTrees(ctx context.Context) ([]string, error) {
	out, err := r.Git(ctx, nil, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return nil, err
	}
	var all []string
	// the second for a submodule, which git does not report
	seen := map[string]bool{"": true, r.CommonDir: true}
	add := func(dir string) {
		if !seen[dir] {
			seen[dir] = true
			all = append(all, dir)
		}
	}
	add(r.WorkTree)
	for entry := range strings.SplitSeq(string(out), "\x00\x00") {
		dir, bare := "", false
		for line := range strings.SplitSeq(entry, "\x00") {
			if path, ok := strings.CutPrefix(line, "worktree "); ok {
				dir = filepath.FromSlash(path)
			}
			bare = bare || line == "bare"
		}
		if !bare {
			add(dir)
		}
	}
	return all, nil
}
