package sandbox

import (
	"cmp"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Change is something in a folder that was made or changed and that a person should look at before anything on the host does.
type Change struct {
	Path string // with slashes, from the top
	Why  string
}

// Changed finds what was made or changed in a folder since a moment and is dangerous to the host: files that it obeys, as Runs says, links that
// leave the folder, git directories, and folders that git takes for one. The time is the file system's own, which the command cannot set.
func Changed(dir string, since time.Time) ([]Change, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	since = since.Add(-20 * time.Millisecond) // a file's time may be as old as the clock's last tick
	var list []Change
	bare, young := bareDirs{}, []string{}
	err = look(root, func(p string, info fs.FileInfo, why error) (bool, error) {
		if why != nil {
			list = append(list, Change{p, reason(why)})
			return false, nil
		}
		git := isGit(path.Base(p))
		bare.see(p, info)
		if changeTime(info).Before(since) {
			return !git, nil
		}
		switch {
		case git:
			list = append(list, Change{p, "git obeys it"})
		case info.Mode()&fs.ModeSymlink != 0 && leaves(root, p):
			list = append(list, Change{p, "a link that leaves the folder"})
		case !info.IsDir() && Runs(p) != "":
			list = append(list, Change{p, Runs(p)})
		case !info.IsDir():
			young = append(young, p)
		}
		return !git, nil
	})
	for _, p := range young {
		if why := bare.runs(p); why != "" {
			list = append(list, Change{p, why})
		}
	}
	slices.SortFunc(list, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	return list, err
}

// leaves reports whether a link points out of the folder, as it is written.
func leaves(root *os.Root, p string) bool {
	target, err := root.Readlink(filepath.FromSlash(p))
	if err != nil || filepath.IsAbs(target) {
		return true
	}
	end := path.Join(path.Dir(p), filepath.ToSlash(target))
	return end == ".." || strings.HasPrefix(end, "../")
}
