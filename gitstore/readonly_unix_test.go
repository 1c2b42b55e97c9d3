//go:build unix

package gitstore_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/reverie-memory/reverie/internal/testrepo"
)

// asAnother makes a command run as a user who can read the test's files but not write them. As root
// it switches to another user for that.
func asAnother(t *testing.T, cmd *exec.Cmd, folders ...string) {
	t.Helper()
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	for _, folder := range folders {
		for _, private := range []string{filepath.Dir(folder), filepath.Dir(filepath.Dir(folder))} {
			// The test's own folders.
			if err := os.Chmod(private, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			mode := fs.FileMode(0o444)
			if d.IsDir() || d.Name() == filepath.Base(os.Args[0]) {
				mode = 0o555
			}
			return os.Chmod(path, mode)
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error { return os.Chmod(path, 0o755) })
		})
	}
}

func TestReadOnlyRepositoryIsSaidToBeOne(t *testing.T) {
	r := testrepo.New(t)
	create(t, r)
	if err := os.RemoveAll(filepath.Join(r.Dir, ".git", "reverie")); err != nil {
		t.Fatal(err)
	}
	cmd := command("append", r.Dir, "memories/aa/x", "1")
	bin := filepath.Join(t.TempDir(), "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	cmd.Path = filepath.Join(bin, filepath.Base(os.Args[0]))
	if err := os.WriteFile(cmd.Path, data, 0o755); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(bin, "gitconfig")
	if err := os.WriteFile(config, []byte("[safe]\n\tdirectory = *\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(cmd.Env, "GIT_CONFIG_GLOBAL="+config, "HOME="+bin)
	asAnother(t, cmd, r.Dir, bin)
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "state folder") || !strings.Contains(string(out), "permission denied") {
		t.Errorf("%v: %s", err, out)
	}
}
