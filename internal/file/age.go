package file

import (
	"os"
	"path/filepath"
	"slices"
	"time"
)

// ByAge lists the wanted files of one of our folders, newest first, each with the folder's path. It
// ignores everything but plain files, and returns nothing if a symbolic link replaces the folder.
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
