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

// Scrub removes entries of a folder that are dangerous for git on the host, even ignored ones. It
// removes anything called .git and the HEAD of a folder that git would take for a repository, which
// git would obey. It removes pipes, sockets and devices, which would block git, and the folders of
// other version controls. It clears set-user-ID and similar bits of files.
//
// keep, if not nil, reports whether a folder with a HEAD, or of another version control, may stay;
// "." is the top. Scrub follows no link, makes unreadable folders readable for their owner, and
// returns the removed paths in order. Nothing else may write there meanwhile.
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
			return false, nil // Collect reports it
		case path.Base(p) == ".git":
			gone = append(gone, Change{p, "git would obey it"})
			return false, nil
		case info.Mode()&special != 0:
			gone = append(gone, Change{p, kind(info.Mode())})
			return false, nil
		case isOther(path.Base(p)): // the folder as a whole, without a look inside
			if keep != nil {
				if stays, err := keep(p); err != nil || stays {
					return false, err
				}
			}
			gone = append(gone, Change{p, OtherRepository})
			return false, nil
		case info.IsDir() && info.Mode()&0o700 != 0o700: // git can enter a folder that cannot be listed
			// If it is not ours, Collect reports it.
			_ = root.Chmod(filepath.FromSlash(p), info.Mode().Perm()|0o700)
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
