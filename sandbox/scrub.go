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

// Scrub takes out of a folder what git on the host must not meet there: whatever is called .git, which it would obey, and pipes, sockets and devices, at which it
// would wait. It follows no link, and returns what is gone, in the order of paths. Nothing else may write there meanwhile.
func Scrub(dir string) ([]Change, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("scrub: %w", err)
	}
	defer root.Close()
	var gone []Change
	err = look(root, func(p string, info fs.FileInfo, why error) (bool, error) {
		special := fs.ModeNamedPipe | fs.ModeSocket | fs.ModeDevice | fs.ModeCharDevice | fs.ModeIrregular
		switch {
		case why != nil:
			return false, nil // Collect tells of it
		case path.Base(p) == ".git":
			gone = append(gone, Change{p, "git would obey it"})
		case info.Mode()&special != 0:
			gone = append(gone, Change{p, kind(info.Mode())})
		default:
			return true, nil
		}
		return false, nil
	})
	if err != nil {
		return nil, fmt.Errorf("scrub: %w", err)
	}
	slices.SortFunc(gone, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	for _, c := range gone {
		if err := root.RemoveAll(filepath.FromSlash(c.Path)); err != nil {
			return nil, fmt.Errorf("scrub: %w", err)
		}
	}
	return gone, nil
}
