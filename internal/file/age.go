package file

import (
	"os"
	"path/filepath"
	"slices"
	"time"
)

// ByAge lists the files of a folder of ours whose names are wanted, with the folder before each,
// the newest first. A symbolic link in place of the folder has none, and nothing there that is no
// plain file is one.
func ByAge(dir string, want func(name string) bool) []string {
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return nil
	}
	entries, _ := os.ReadDir(dir)
	age := map[string]time.Time{}
	var files []string
	for _, e := range entries {
		if !want(e.Name()) {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			path := filepath.Join(dir, e.Name())
			age[path] = info.ModTime()
			files = append(files, path)
		}
	}
	slices.SortFunc(files, func(a, b string) int { return age[b].Compare(age[a]) })
	return files
}
