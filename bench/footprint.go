package main

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// areas lists the places in which files are counted, most special first.
var areas = []struct{ dir, name string }{{"repo/.git/", ".git"}, {"repo/", "the work tree"}, {"home/", "the home folder"}}

// footprint maps each file below a folder to the hash of its mode and text. It leaves out the
// objects of git.
func footprint(dir string) (map[string][32]byte, error) {
	files := map[string][32]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && name == "repo/.git/objects":
			return filepath.SkipDir
		case d.IsDir():
			return nil
		}
		info, err := d.Info()
		text, readErr := os.ReadFile(path)
		if err = errors.Join(err, readErr); err == nil {
			files[name] = sha256.Sum256(append([]byte(info.Mode().String()+"\n"), text...))
		}
		return err
	})
	return files, err
}

// changed lists, for each area, the files of two footprints that are in one only or differ.
func changed(a, b map[string][32]byte) [3][]string {
	var out [3][]string
	names := maps.Clone(a)
	maps.Copy(names, b)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		x, inA := a[name]
		y, inB := b[name]
		if inA == inB && x == y {
			continue
		}
		for i, area := range areas {
			if rest, ok := strings.CutPrefix(name, area.dir); ok {
				out[i] = append(out[i], rest)
				break
			}
		}
	}
	return out
}
