package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/reverie-memory/reverie/internal/file"
)

// workplace is the folder of one question.
type workplace struct {
	dir  string // empty; always the same, since some agents note each folder for good
	task string // file beside it
	done func()
}

// open waits until no other process asks the agent, and makes the folder. Other users cannot write
// to any folder above it, where some agents look for settings.
func open(ctx context.Context, name string) (w workplace, err error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return w, fmt.Errorf("there is no folder for the question: %w", err)
	}
	base = filepath.Join(base, "reverie", "questions")
	if err = os.MkdirAll(base, 0o700); err == nil {
		base, err = filepath.EvalSymlinks(base)
	}
	if err != nil {
		return w, err
	}
	if top := repository(base); top != "" {
		return w, fmt.Errorf("%s is inside the repository %s, to which an agent's record of the question would belong; XDG_CACHE_HOME can name another folder", base, top)
	}
	unlock, err := file.LockPath(ctx, filepath.Join(base, name+".lock"))
	for held := new(file.LockError); errors.As(err, &held) && ctx.Err() == nil; {
		// which gives up before ctx does
		unlock, err = file.LockPath(ctx, filepath.Join(base, name+".lock"))
	}
	if err != nil {
		return w, err
	}
	w = workplace{filepath.Join(base, name), filepath.Join(base, name+".md"), unlock}
	if err := errors.Join(os.RemoveAll(w.dir), os.Mkdir(w.dir, 0o700)); err != nil {
		w.close()
		return w, err
	}
	return w, nil
}

// close removes the folder.
func (w workplace) close() {
	os.RemoveAll(w.dir)
	os.Remove(w.task)
	w.done()
}

// repository returns the folder of the repository in which a folder lies, or "".
func repository(dir string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}
