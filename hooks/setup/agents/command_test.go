package agents

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestProgramIsThePathThatStays(t *testing.T) {
	dir := t.TempDir()
	put := func(path string) string {
		file := filepath.Join(dir, path)
		os.MkdirAll(filepath.Dir(file), 0o755)
		if err := os.WriteFile(file, []byte(path), 0o755); err != nil {
			t.Fatal(err)
		}
		return file
	}
	version := put("cellar/reverie-1.2/reverie")
	other := put("other/reverie")
	once := put("go-build123/b001/exe/reverie")
	npx := put("_npx/1a2b/node_modules/@x/linux-x64/bin/reverie")
	global := put("lib/node_modules/x/node_modules/@x/linux-x64/bin/reverie")
	strange := put("x/cmd.test")
	bin := filepath.Join(dir, "bin")
	os.Mkdir(bin, 0o755)
	if err := os.Symlink(version, filepath.Join(bin, "reverie")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(once, filepath.Join(dir, "cellar", "git-reverie")); err != nil {
		t.Fatal(err)
	}
	path := []string{"", ".", filepath.Dir(other), bin}
	for _, c := range []struct {
		exe, want string
	}{
		{version, filepath.Join(bin, "reverie")},
		{other, other},
		{once, ""},
		{npx, ""},
		{global, global},
		{strange, ""},
	} {
		got, err := program(c.exe, path)
		if got != c.want || (c.want == "") != errors.Is(err, ErrPassing) {
			t.Errorf("%s: %q, %v, want %q", c.exe, got, err, c.want)
		}
	}
}
