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
	if err := os.Chtimes(filepath.Join(dir, "Makefile"), time.Unix(1, 0), time.Unix(1, 0)); err != nil { // as a command would hide it
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
