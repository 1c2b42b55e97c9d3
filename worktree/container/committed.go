package container

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/reverie-memory/reverie/internal/git"
)

// committed is a file of a commit.
type committed struct {
	mode string // as git writes it: "100644"
	blob string // id
	size int64  // bytes; -1 of a submodule
}

// committedAt returns the files of a commit in a folder, by path; "." means the whole commit.
func committedAt(ctx context.Context, repo *git.Repo, commit, folder string) (map[string]committed, error) {
	out, err := repo.Git(ctx, nil, "ls-tree", "-r", "-z", "--full-tree", "--format=%(objectmode) %(objectname) %(objectsize)%x09%(path)", commit, "--", ":(literal)"+folder)
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

// asCommitted reports whether all files in a folder of the work tree are in the loop's base commit,
// with the same content and mode.
func (t Tree) asCommitted(ctx context.Context, folder string) (bool, error) {
	all, err := committedAt(ctx, t.Repo, t.Base, folder)
	if err != nil || len(all) == 0 {
		return false, err
	}
	root, err := os.OpenRoot(t.Dir)
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
		if mode != want.mode || t.Repo.ObjectFormat.NewObject(git.Blob, data).ID != want.blob {
			return errOther
		}
		return nil
	})
	if errors.Is(err, errOther) {
		return false, nil
	}
	return err == nil, err
}

// errOther ends a walk at a file that differs from the commit.
var errOther = errors.New("it is not as it was")
