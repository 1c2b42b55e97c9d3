//go:build unix

package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Entries that git would obey, or block on, are removed; nothing beyond a link is.
func TestScrub(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	tr := tree{t, dir}
	tr.file(".git/config", "x")
	tr.file("sub/.git", "gitdir: /elsewhere\n")
	tr.file("sub/file", "x")
	tr.file(".github/x", "x")
	tr.file(".gitignore", "x")
	tree{t, outside}.file(".git/config", "x")
	tr.link(outside, "away")
	tr.must(os.Mkdir(filepath.Join(dir, "linked"), 0o755))
	tr.link(filepath.Join(outside, ".git"), "linked/.git")
	tr.must(syscall.Mkfifo(filepath.Join(dir, "sub", ".gitattributes"), 0o600))
	gone, err := Scrub(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, g := range gone {
		names = append(names, g.Path)
		if _, err := os.Lstat(filepath.Join(dir, g.Path)); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", g.Path, err)
		}
	}
	if got := strings.Join(names, " "); got != ".git linked/.git sub/.git sub/.gitattributes" {
		t.Errorf("gone: %s", got)
	}
	for _, name := range []string{"sub/file", ".github/x", ".gitignore", "away/.git/config"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if again, err := Scrub(dir, nil); len(again) > 0 || err != nil {
		t.Errorf("%v %v", again, err)
	}
}

// A folder that git takes for a repository loses its HEAD, even at the top or in a folder that only
// its owner could read. A folder that may stay keeps it.
func TestScrubTakesHeadsOfRepositories(t *testing.T) {
	dir := t.TempDir()
	tr := tree{t, dir}
	git := func(at string) error {
		cmd := exec.Command("git", "rev-parse", "--git-dir")
		cmd.Dir, cmd.Env = filepath.Join(dir, at), append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
		return cmd.Run()
	}
	repository := func(at string) {
		tr.file(at+"/HEAD", "ref: refs/heads/main\n")
		tr.file(at+"/config", "[core]\n\tbare = true\n")
		tr.file(at+"/objects/x", "x")
		tr.file(at+"/refs/x", "x")
	}
	tr.file(".gitignore", "*\n")
	repository(".")
	repository("closed/deep")
	repository("kept")
	tr.file("linked/HEAD", "ref: refs/heads/main\n")
	tr.link("../kept/objects", "linked/objects")
	tr.link("../kept/refs", "linked/refs")
	tr.file("by/HEAD", "ref: refs/heads/main\n")
	tr.file("by/commondir", "../kept\n")
	tr.file("no/HEAD", "x")
	tr.file("no/objects/x", "x")
	for _, at := range []string{".", "closed/deep", "kept", "linked", "by"} {
		if err := git(at); err != nil {
			t.Fatalf("git does not take %s for a repository: %v", at, err)
		}
	}
	tr.must(os.Chmod(filepath.Join(dir, "closed/deep"), 0o100))
	tr.must(os.Chmod(filepath.Join(dir, "closed"), 0o100))
	gone, err := Scrub(dir, func(bare string) (bool, error) { return bare == "kept", nil })
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, g := range gone {
		names = append(names, g.Path+": "+g.Why)
	}
	const why = ": git takes its folder for a repository"
	if diff := cmp.Diff([]string{"HEAD" + why, "by/HEAD" + why, "closed/deep/HEAD" + why, "linked/HEAD" + why}, names); diff != "" {
		t.Error(diff)
	}
	for _, at := range []string{".", "closed/deep", "linked", "by"} {
		if git(at) == nil {
			t.Errorf("git takes %s for a repository", at)
		}
	}
	if err := git("kept"); err != nil {
		t.Error(err)
	}
}

// Folders that another version control would obey are removed, unless they may stay.
func TestScrubTakesOtherVersionControls(t *testing.T) {
	dir := t.TempDir()
	tr := tree{t, dir}
	tr.file(".hg/hgrc", "[hooks]\npre-status = id\n")
	tr.file("sub/.jj/repo/config.toml", "x")
	tr.file("kept/.hg/hgrc", "x")
	tr.file(".hgignore", "x")
	gone, err := Scrub(dir, func(at string) (bool, error) { return at == "kept/.hg", nil })
	if diff := cmp.Diff([]Change{{".hg", OtherRepository}, {"sub/.jj", OtherRepository}}, gone); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for name, want := range map[string]bool{".hg": false, "sub/.jj": false, "kept/.hg/hgrc": true, ".hgignore": true} {
		if _, err := os.Lstat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
