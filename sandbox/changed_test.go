//go:build unix

package sandbox

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestChangedNamesWhatTheHostWouldObey(t *testing.T) {
	dir := t.TempDir()
	tr := tree{t, dir}
	tr.file(".vscode/tasks.json", "old")
	tr.file("Makefile", "old")
	tr.file("main.go", "old")
	tr.file(".git/config", "old")
	tr.link("/etc", "old")
	time.Sleep(60 * time.Millisecond) // more than a tick of the file system's clock
	since := time.Now()
	tr.file("Makefile", "new")
	if err := os.Chtimes(filepath.Join(dir, "Makefile"), time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		// A command would hide its change like this.
		t.Fatal(err)
	}
	tr.file("main.go", "new")
	tr.file(".envrc", "new")
	tr.file("sub/.git/config", "new")
	tr.link("../../x", "sub/out")
	tr.link("../main.go", "sub/in")
	tr.file("like/HEAD", "ref: refs/heads/x")
	tr.file("like/config", "[core]\n\tfsmonitor = x\n")
	tr.file("like/objects/x", "")
	tr.file("like/refs/x", "")
	tr.file("worktree/HEAD", "")
	tr.file("worktree/commondir", "/elsewhere")
	tr.file("no/HEAD", "")
	tr.file("no/refs/x", "")
	got, err := Changed(dir, since)
	if err != nil {
		t.Fatal(err)
	}
	const bare = "git takes its folder for a repository"
	want := []Change{
		{".envrc", "a shell obeys it when somebody enters the folder"}, {"Makefile", "building the project runs it"},
		{"like/HEAD", bare}, {"like/config", bare}, {"sub/.git", "git obeys it"}, {"sub/out", "a link that leaves the folder"},
		{"worktree/HEAD", bare}, {"worktree/commondir", bare},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	files, _, err := Collect(t.Context(), dir, Collecting{})
	if err != nil {
		t.Fatal(err)
	}
	marked := map[string]string{}
	for _, f := range files {
		marked[f.Path] = f.Runs
	}
	if marked["like/config"] != bare || marked["worktree/HEAD"] != bare || marked["no/HEAD"] != "" {
		t.Errorf("Collect marks %v", marked)
	}
}

// A file with more rights than its user's, left by the command, loses them and is reported. Earlier
// files stay as they were.
func TestChangedDisarms(t *testing.T) {
	dir := t.TempDir()
	tr := tree{t, dir}
	mode := func(name string, mode os.FileMode) {
		t.Helper()
		tr.must(os.Chmod(filepath.Join(dir, name), mode))
	}
	for _, name := range []string{"before", "shared/x", "again"} {
		tr.file(name, "x")
	}
	mode("before", 0o755|os.ModeSetuid)
	mode("shared", 0o775|os.ModeSetgid)
	time.Sleep(60 * time.Millisecond)
	since := time.Now()
	for _, name := range []string{"uid", "gid", "both", "sticky", "hidden", "plain", "Makefile", "shared/new", "deep/er/uid", "sub/.git/x/uid", ".git/uid", "closed/uid"} {
		tr.file(name, "x")
	}
	mode("uid", 0o755|os.ModeSetuid)
	mode("gid", 0o750|os.ModeSetgid)
	mode("both", 0o711|os.ModeSetuid|os.ModeSetgid)
	mode("sticky", 0o644|os.ModeSticky)
	mode("hidden", os.ModeSetuid)
	mode("plain", 0o755)
	mode("Makefile", 0o755|os.ModeSetuid)
	mode("again", 0o755|os.ModeSetuid)
	mode("shared/new", 0o755|os.ModeSetuid)
	mode("deep/er/uid", 0o755|os.ModeSetuid)
	mode("sub/.git/x/uid", 0o755|os.ModeSetuid)
	mode(".git/uid", 0o755|os.ModeSetuid)
	mode("closed/uid", 0o755|os.ModeSetuid)
	mode("closed", 0o111)
	tr.must(os.Mkdir(filepath.Join(dir, "ours"), 0o755))
	mode("ours", 0o755|os.ModeSetgid)
	tr.link("before", "link")
	got, err := Changed(dir, since)
	if err != nil {
		t.Fatal(err)
	}
	const had = "it had set-user-ID, set-group-ID or sticky bits, which were cleared"
	want := []Change{{".git", "git obeys it"}, {".git/uid", had}, {"Makefile", had}, {"Makefile", "building the project runs it"}, {"again", had}, {"both", had}, {"closed/uid", had},
		{"deep/er/uid", had}, {"gid", had}, {"hidden", had}, {"shared/new", had}, {"sticky", had}, {"sub/.git", "git obeys it"}, {"sub/.git/x/uid", had}, {"uid", had}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	modes := map[string]os.FileMode{"before": 0o755 | os.ModeSetuid, "shared": 0o775 | os.ModeSetgid | os.ModeDir, "ours": 0o755 | os.ModeSetgid | os.ModeDir, "uid": 0o755, "gid": 0o750,
		"both": 0o711, "sticky": 0o644, "hidden": 0, "plain": 0o755, "again": 0o755, "shared/new": 0o755, "deep/er/uid": 0o755, "sub/.git/x/uid": 0o755, ".git/uid": 0o755, "closed/uid": 0o755}
	for name, want := range modes {
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || info.Mode() != want {
			t.Errorf("%s: %v %v, want %v", name, info.Mode(), err, want)
		}
	}
	mode("uid", 0o755|os.ModeSetuid)
	if _, err := Scrub(dir, nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"uid", "before"} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || info.Mode() != 0o755 {
			t.Errorf("scrubbed %s: %v %v", name, info.Mode(), err)
		}
	}
}
