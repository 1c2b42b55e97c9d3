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
)

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
