package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func wantText(t *testing.T, path, want string) {
	t.Helper()
	if text, err := os.ReadFile(path); string(text) != want || err != nil {
		t.Errorf("%s: %q, %v, want %q", path, text, err, want)
	}
}

func TestBareLeavesThePathOut(t *testing.T) {
	_, err := os.Open(filepath.Join(t.TempDir(), "none"))
	if got := Bare(err); !errors.Is(got, fs.ErrNotExist) || strings.Contains(got.Error(), "none") {
		t.Errorf("%v of %v", got, err)
	}
	for _, other := range []error{nil, fs.ErrClosed} {
		if got := Bare(other); got != other {
			t.Errorf("%v of %v", got, other)
		}
	}
}

func TestExchangeThatIsNotReadyChangesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	write(t, path, "old", 0o644)
	no, seen := errors.New("no"), 0
	err := Exchange(path, []byte("new"), 0o600, func() error {
		seen = len(Unfinished(filepath.Dir(path)))
		return no
	})
	if !errors.Is(err, no) || seen != 1 {
		t.Errorf("%v, with %d unfinished files before", err, seen)
	}
	wantText(t, path, "old")
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestSweepTakesWhatIsUnfinishedAndNothingElse(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, Foreign+"12"), "half", 0o600)
	write(t, filepath.Join(dir, ".reverie"), "theirs", 0o600)
	Sweep(dir)
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || left[0].Name() != ".reverie" {
		t.Errorf("%v, %v", left, err)
	}
}

func TestRewriteKeepsLinkAndMode(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	write(t, target, "old", 0o640)
	if err := os.Symlink("target", link); err != nil {
		t.Skip(err)
	}
	if err := Rewrite(link, []byte("new")); err != nil {
		t.Fatal(err)
	}
	wantText(t, target, "new")
	if to, err := os.Readlink(link); to != "target" || err != nil {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	if info, err := os.Stat(target); err != nil || os.PathSeparator == '/' && info.Mode() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestSame(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"a", "b"} {
		if err := os.Mkdir(at(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, at("a/file"), "", 0o600)
	for _, link := range [][2]string{{"a", "link"}, {"gone", "dangling"}} {
		if err := os.Symlink(at(link[0]), at(link[1])); err != nil {
			t.Skip(err)
		}
	}
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"a", "a", true},
		{"a", "b", false},
		{"a", "link", true},
		{"link", "a", true},
		{"b", "link", false},
		{"a/file", "link/file", true},
		{"a", "a/file", false},
		{"gone", "gone", true},
		{"gone", "gone too", false},
		{"gone", "dangling", false},
		{"a", "gone", false},
	} {
		if got := Same(at(c.a), at(c.b)); got != c.want {
			t.Errorf("%s and %s: %v", c.a, c.b, got)
		}
	}
	if gone := at("gone"); !Same(gone, gone+string(filepath.Separator)) {
		t.Error("what is not there is not the same by another spelling")
	}
}
