package sandbox

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// Scrub takes out of a folder what git on the host must not meet there: whatever is called .git,
// and the HEAD of a folder that git would take for a repository, both of which it would obey, and
// pipes, sockets and devices, at which it would wait; and the folders of other version controls.
// What git ignores is no exception. keep, if not nil, reports whether a folder with a HEAD, or of
// another version control, may stay as it is; "." is the top. It follows no link, has the owner
// look into folders that nobody may, and returns what is gone, in the order of paths. Nothing else
// may write there meanwhile. Set-user-ID bits and the like of files are cleared.
func Scrub(dir string, keep func(bare string) (bool, error)) ([]Change, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("scrub: %w", err)
	}
	defer root.Close()
	var gone []Change
	var heads []string
	bare := bareDirs{}
	err = look(root, func(p string, info fs.FileInfo, why error) (bool, error) {
		special := fs.ModeNamedPipe | fs.ModeSocket | fs.ModeDevice | fs.ModeCharDevice | fs.ModeIrregular
		switch {
		case why != nil:
			return false, nil // Collect tells of it
		case path.Base(p) == ".git":
			gone = append(gone, Change{p, "git would obey it"})
			return false, nil
		case info.Mode()&special != 0:
			gone = append(gone, Change{p, kind(info.Mode())})
			return false, nil
		case isOther(path.Base(p)): // the folder itself: what is in it is not looked at
			if keep != nil {
				if stays, err := keep(p); err != nil || stays {
					return false, err
				}
			}
			gone = append(gone, Change{p, OtherRepository})
			return false, nil
		case info.IsDir() && info.Mode()&0o700 != 0o700: // git can go through a folder that cannot be listed
			_ = root.Chmod(filepath.FromSlash(p), info.Mode().Perm()|0o700) // where it is not ours, Collect tells of it
		}
		disarm(dir, root, p, info)
		bare.see(p, info)
		if isHead(p) && !info.IsDir() {
			heads = append(heads, p)
		}
		return true, nil
	})
	if err != nil {
		return nil, fmt.Errorf("scrub: %w", err)
	}
	for _, p := range heads {
		if bare.runs(p) == "" {
			continue
		}
		if keep != nil {
			if stays, err := keep(path.Dir(p)); err != nil {
				return nil, fmt.Errorf("scrub: %w", err)
			} else if stays {
				continue
			}
		}
		gone = append(gone, Change{p, BareRepository})
	}
	slices.SortFunc(gone, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	for _, c := range gone {
		if err := root.RemoveAll(filepath.FromSlash(c.Path)); err != nil {
			return nil, fmt.Errorf("scrub: %w", err)
		}
	}
	return gone, nil
}
