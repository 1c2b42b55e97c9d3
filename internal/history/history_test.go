package history

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/reverie-memory/reverie/internal/git"
)

// More commits than a first batch arrive in order, each with its own texts. A way back names no
// commit.
func TestChangesComeWithTheirTexts(t *testing.T) {
	dir := t.TempDir()
	run := func(args ...string) {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=Ada", "-c", "user.email=ada@example.com"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	run("init", "-q", "-b", "main")
	const n = 3*firstBatch + 1
	for i := range n {
		if err := os.WriteFile(filepath.Join(dir, "a file"), fmt.Append(nil, "text ", i, "\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		run("add", ".")
		run("commit", "-qm", fmt.Sprint("change ", i))
	}
	repo, err := git.Find(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	at := n
	err = Changes(t.Context(), repo, "main", 0, nil, func(c Commit, files []Version) error {
		at--
		before := fmt.Sprint("text ", at-1, "\n")
		if at == 0 {
			before = ""
		}
		if c.Subject != fmt.Sprint("change ", at) || len(files) != 1 || files[0].Path != "a file" ||
			string(files[0].Before) != before || string(files[0].After) != fmt.Sprint("text ", at, "\n") {
			t.Errorf("change %d: %q %q", at, c.Subject, files)
		}
		return nil
	})
	if err != nil || at != 0 {
		t.Errorf("%d changes were missing: %v", at, err)
	}
	for _, test := range []struct{ from, to, author, before, after string }{
		{"main~4", "main", "Ada", fmt.Sprint("text ", n-5, "\n"), fmt.Sprint("text ", n-1, "\n")},
		{"main", "main~4", "", fmt.Sprint("text ", n-1, "\n"), fmt.Sprint("text ", n-5, "\n")},
	} {
		files, err := Between(t.Context(), repo, test.from, test.to)
		if err != nil || len(files) != 1 || files[0].Author != test.author || string(files[0].Before) != test.before || string(files[0].After) != test.after {
			t.Errorf("%s..%s: %q %v", test.from, test.to, files, err)
		}
	}
}
