package clone

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/redact"
)

// A person's own memory is a bare repository of the same format in the folder of the user's data.
// Every clone reads it beside its own memory, and no command on a clone writes or publishes it.

const ownRef = "refs/heads/reverie/memory"

// openOwn opens the person's own memory, within a repository or else within that of o.Dir, if any.
// NoOwn knows the error for a missing one. Without a scanner it scans for the repository's secrets.
func openOwn(ctx context.Context, o Options, within *git.Repo, scanner *redact.Scanner) (*Clone, error) {
	dir := config.OwnStore()
	if dir == "" {
		return nil, exit.New(exit.NoStore, fmt.Errorf("your own memory: %w", errNone), "set HOME or XDG_DATA_HOME")
	}
	open := func(context.Context, string) (*git.Repo, error) { return git.OpenBare(dir) }
	if o.Make {
		open = git.InitBare
	}
	if within == nil {
		within, _ = git.FindCached(ctx, o.Dir)
	}
	var err error
	if within != nil {
		err = outside(dir, within)
	}
	var repo *git.Repo
	if err == nil {
		repo, err = open(ctx, dir)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = exit.New(exit.NoStore, fmt.Errorf("your own memory: %w", errNone), `reverie remember --user "answer in short sentences"`)
	}
	if err != nil {
		return nil, err
	}
	if scanner == nil {
		scanner = redact.New()
		if within != nil {
			scanner = redact.New(someSecrets(ctx, within)...)
		}
	}
	o.Dir, o.Own = repo.CommonDir, true
	c := &Clone{Options: o, Repo: repo, Scanner: scanner}
	if c.Config, err = config.Load(config.UserFile(), SettingsFile(StateOf(repo))); err != nil {
		return nil, err
	}
	// one branch holds everything, of any author
	c.Config.Ref = ownRef
	c.Config.Private, c.Config.Trust.Everyone, c.Config.UserMemory = nil, true, false
	return connect(c), nil
}

// OpenOwn opens the person's own memory beside a clone, for the same asker. NoOwn knows the error
// for a missing one.
func OpenOwn(ctx context.Context, c *Clone) (*Clone, error) {
	return openOwn(ctx, c.Options, c.Repo, c.Scanner)
}

// MakeOwn is OpenOwn, but makes the memory's repository if it is missing.
func MakeOwn(ctx context.Context, c *Clone) (*Clone, error) {
	o := c.Options
	o.Make = true
	return openOwn(ctx, o, c.Repo, c.Scanner)
}

// outside refuses a folder for the person's own memory that may have come with a repository, or
// that git would commit there: the settings of an agent in that may name it.
func outside(dir string, repo *git.Repo) error {
	for at := dir; ; at = filepath.Dir(at) { // the folder may be missing
		if real, err := filepath.EvalSymlinks(at); err == nil {
			rest, _ := filepath.Rel(at, dir)
			dir = filepath.Join(real, rest)
			break
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	tops := []string{repo.WorkTree}
	if filepath.Base(repo.CommonDir) == ".git" { // of a linked work tree
		tops = append(tops, filepath.Dir(repo.CommonDir))
	}
	for _, top := range tops {
		if top == "" {
			continue
		}
		top, err := filepath.EvalSymlinks(top)
		if err != nil {
			return err
		}
		if rel, err := filepath.Rel(top, dir); err == nil && filepath.IsLocal(rel) {
			return fmt.Errorf("your own memory: %s lies in the repository %s, which may have brought it", dir, top)
		}
	}
	return nil
}

// OwnTip returns the commit of the person's own memory as a repository reads it, or "" if that is
// off or absent. The error means that it cannot be read.
func OwnTip(ctx context.Context, at *git.Repo, c config.Config) (string, error) {
	if !c.UserMemory {
		return "", nil
	}
	dir := config.OwnStore()
	repo, err := git.OpenBare(dir)
	if err == nil {
		err = outside(dir, at)
	}
	if err != nil {
		return "", absent(err, fs.ErrNotExist)
	}
	tip, err := repo.Refs().Read(ctx, ownRef)
	return tip, absent(err, git.ErrNoRef)
}

// absent returns nil for the error of a missing thing.
func absent(err, missing error) error {
	if errors.Is(err, missing) {
		return nil
	}
	return err
}

// errNone means that the person has no memory of their own.
var errNone = errors.New("not started yet")

// NoOwn reports whether an error means that the person has no memory of their own.
func NoOwn(err error) bool { return errors.Is(err, errNone) || NoMemory(err) }
