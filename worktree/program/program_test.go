package program

import (
	"runtime"
	"testing"

	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

func TestMissing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes of files are those of Unix")
	}
	r := testrepo.New(t)
	r.Write("tool", "#!/bin/sh\n")
	r.Write("dir/text", "text\n")
	r.Commit("files")
	r.Run("update-index", "--chmod=+x", "tool")
	r.Run("commit", "-qm", "a program")
	repo, err := git.Find(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	place := Place{Repo: repo, Commit: r.Run("rev-parse", "HEAD")}
	for _, test := range []struct {
		word          string
		shell, inside bool
		why           string
	}{
		{"", true, false, ""},
		{"./tool", false, false, ""},
		{"./nosuch", false, false, "./nosuch is no file of the commit"},
		{"dir/text", false, true, "dir/text is not executable in the commit"},
		{"./dir", true, false, "./dir is a folder"},
		{"../tool", false, false, "../tool lies outside of the loop's work tree"},
		{"git", false, false, ""},
		{"nosuch-program", false, false, "there is no program nosuch-program"},
		{"nosuch-program", false, true, ""},
		{"nosuch-program", true, false, "there is no program nosuch-program in PATH"},
		{"cd", true, false, ""},
	} {
		place.Inside = test.inside
		if why, hint := place.Missing(t.Context(), test.word, test.shell); why != test.why || (why == "") != (hint == "") {
			t.Errorf("%q, by a shell %v, inside %v: %q, %q", test.word, test.shell, test.inside, why, hint)
		}
	}
}
