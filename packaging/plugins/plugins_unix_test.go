//go:build unix

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The committed files are those of today's tables. Run go generate ./packaging/plugins after a
// change of them.
func TestPluginsAreCurrent(t *testing.T) {
	changes, err := os.ReadFile(filepath.Join(top, "CHANGELOG.md"))
	if err != nil {
		t.Fatal(err)
	}
	made, err := files(string(changes))
	if err != nil {
		t.Fatal(err)
	}
	want, got := map[string]string{}, map[string]string{}
	for name, text := range made {
		want[name] = string(text)
		if text, err := os.ReadFile(name); err == nil {
			got[name] = string(text)
		}
	}
	for _, dir := range folders { // also files that nothing writes any more
		if err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() && want[filepath.ToSlash(name)] == "" {
				got[name] = "needless"
			}
			return err
		}); err != nil {
			t.Error(err)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("out of date (-want +got); run go generate ./packaging/plugins\n%s", d)
	}
}
