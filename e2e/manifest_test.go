package e2e

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// manifest returns every file below a folder, except Reverie's in the repositories directly there,
// with its mode and a checksum.
func manifest(t *testing.T, dir string) map[string]string {
	t.Helper()
	ours := []string{".git/objects", ".git/reverie", ".git/refs/heads/reverie", ".git/refs/reverie", ".git/logs/refs/heads/reverie", ".git/logs/refs/reverie"}
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		inside := filepath.ToSlash(name)
		if i := strings.Index(inside, ".git/"); i >= 0 {
			inside = inside[i:]
		}
		if slices.Contains(ours, inside) {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		all[name] = info.Mode().String()
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			all[name] += fmt.Sprintf(" %x", sha256.Sum256(data))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func sameManifest(t *testing.T, before, after map[string]string) {
	t.Helper()
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("written outside our refs and state (-before +after):\n%s", diff)
	}
}
