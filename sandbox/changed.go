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

// Change is a made or changed entry of a folder that a person should check before the host uses it.
type Change struct {
	Path string `json:"path"` // with slashes, from the top
	Why  string `json:"why"`
}

// Changed finds dangerous files that were made or changed in a folder since a moment. They are
// files that the host obeys (see Runs), links out of the folder, git directories, folders that git
// takes for one, and devices. It clears and reports the set-user-ID and set-group-ID bits and
// capabilities of files. It uses the file system's change time, which the command cannot set.
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
		if git && info.IsDir() {
			list = append(list, disarmBelow(dir, p, since)...)
		}
		if changeTime(info).Before(since) {
			return !git, nil
		}
		if info.IsDir() && info.Mode()&0o700 != 0o700 { // others may enter a folder that cannot be listed
			_ = root.Chmod(filepath.FromSlash(p), info.Mode().Perm()|0o700)
		}
		if why := disarm(dir, root, p, info); why != "" {
			list = append(list, Change{p, why})
		}
		switch {
		case git:
			list = append(list, Change{p, "git obeys it"})
		case info.Mode()&fs.ModeDevice != 0:
			list = append(list, Change{p, kind(info.Mode())})
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
	slices.SortStableFunc(list, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	return list, err
}

// disarmBelow disarms all files of a folder that changed since a moment.
func disarmBelow(dir, p string, since time.Time) (list []Change) {
	dir = filepath.Join(dir, filepath.FromSlash(p))
	root, err := os.OpenRoot(dir)
	if err != nil {
		return []Change{{p, reason(err)}}
	}
	defer root.Close()
	err = look(root, func(in string, info fs.FileInfo, why error) (bool, error) {
		switch {
		case why != nil:
			list = append(list, Change{path.Join(p, in), reason(why)})
		case changeTime(info).Before(since):
			return true, nil
		default:
			if had := disarm(dir, root, in, info); had != "" {
				list = append(list, Change{path.Join(p, in), had})
			}
		}
		return why == nil, nil
	})
	if err != nil {
		list = append(list, Change{p, reason(err)})
	}
	return list
}

// disarm removes the bits and capabilities of a regular file that give more rights than those of
// its user. It returns their description, or "". Folders keep theirs, which only set the owner of
// new files.
func disarm(dir string, root *os.Root, p string, info fs.FileInfo) (had string) {
	const bits = fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky
	if !info.Mode().IsRegular() {
		return ""
	}
	if info.Mode()&bits != 0 {
		had = "it had set-user-ID, set-group-ID or sticky bits, which were cleared"
		if err := root.Chmod(filepath.FromSlash(p), info.Mode().Perm()); err != nil {
			had = "it has set-user-ID, set-group-ID or sticky bits, which could not be cleared: " + reason(err)
		}
	}
	switch there, err := dropCapabilities(filepath.Join(dir, filepath.FromSlash(p))); {
	case there && err != nil:
		had = "it has capabilities, which could not be cleared: " + reason(err)
	case there:
		had = "it had capabilities, which were cleared"
	}
	return had
}

// leaves reports whether a link's text points out of the folder.
func leaves(root *os.Root, p string) bool {
	target, err := root.Readlink(filepath.FromSlash(p))
	if err != nil || filepath.IsAbs(target) {
		return true
	}
	end := path.Join(path.Dir(p), filepath.ToSlash(target))
	return end == ".." || strings.HasPrefix(end, "../")
}
