package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/sandbox"
	"github.com/reverie-memory/reverie/worktree"
)

// scrub takes out of a work tree what git must not meet there, and says so. A folder that git takes for a repository stays as it is where the base has it
// just so: it is part of the project, and in the user's own work tree as well.
func (w *workspace) scrub(ctx context.Context, base, dir string) error {
	gone, err := sandbox.Scrub(dir, func(bare string) (bool, error) { return w.asCommitted(ctx, base, dir, bare) })
	for i, g := range gone {
		if i == 20 {
			w.env.warn("removed %d more like these", len(gone)-i)
			break
		}
		w.env.warn("removed %s, which was made inside: %s", visible(g.Path), g.Why)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", worktree.ErrSandbox, err)
	}
	return nil
}

// committed is a file of a commit.
type committed struct {
	mode string // as git writes it: "100644"
	blob string // id
	size int64  // bytes; -1 of a submodule
}

// committedAt are the files that a commit has in a folder, by path; "" is all of it.
func (w *workspace) committedAt(ctx context.Context, commit, folder string) (map[string]committed, error) {
	args := []string{"ls-tree", "-r", "-z", "--format=%(objectmode) %(objectname) %(objectsize)%x09%(path)", commit}
	if folder != "" {
		args = append(args, "--", ":(literal)"+folder)
	}
	out, err := w.repo.Git(ctx, nil, args...)
	if err != nil {
		return nil, err
	}
	all := map[string]committed{}
	for line := range strings.SplitSeq(string(out), "\x00") {
		head, name, _ := strings.Cut(line, "\t")
		if part := strings.Fields(head); len(part) == 3 {
			size, err := strconv.ParseInt(part[2], 10, 64)
			if err != nil {
				size = -1
			}
			all[name] = committed{part[0], part[1], size}
		}
	}
	return all, nil
}

// asCommitted reports whether all that lies in a folder of a work tree is in a commit, with the same content and mode.
func (w *workspace) asCommitted(ctx context.Context, commit, dir, folder string) (bool, error) {
	in := folder
	if in == "." {
		in = ""
	}
	all, err := w.committedAt(ctx, commit, in)
	if err != nil || len(all) == 0 {
		return false, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false, err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), folder, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return errOther
		}
		if d.IsDir() {
			return nil
		}
		want, known := all[p]
		info, err := d.Info()
		if !known || err != nil {
			return errOther
		}
		mode, data := "100644", []byte(nil)
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := root.Readlink(filepath.FromSlash(p))
			if err != nil {
				return errOther
			}
			mode, data = "120000", []byte(target)
		case !info.Mode().IsRegular() || info.Size() != want.size:
			return errOther
		default:
			if info.Mode()&0o111 != 0 {
				mode = "100755"
			}
			if data, err = root.ReadFile(filepath.FromSlash(p)); err != nil {
				return errOther
			}
		}
		if mode != want.mode || w.repo.NewObject(git.Blob, data).ID != want.blob {
			return errOther
		}
		return nil
	})
	if errors.Is(err, errOther) {
		return false, nil
	}
	return err == nil, err
}

// errOther ends a walk at a file that is not as the commit has it.
var errOther = errors.New("it is not as it was")

// uncommittedHint says what to do about work of a loop that is not committed. What a container has written, nothing of the host is to run in.
func uncommittedHint(s worktree.State) string {
	if !sandboxed(s.Settings) {
		return "commit it there, take it away, or go on: reverie loop resume " + s.Name
	}
	return "take it away, or have the loop commit it: reverie loop resume " + s.Name + "; run nothing there, git included: it was written in a sandbox"
}
