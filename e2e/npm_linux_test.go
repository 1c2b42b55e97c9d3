package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The npm packages run the binary of this platform with its exit code and its input, say what is
// missing without it, and let init connect agents unless npx will delete them.
func TestNPMPackagesRunTheBinary(t *testing.T) {
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("npm is missing")
	}
	dir := t.TempDir()
	run := func(in string, name string, args ...string) answer {
		t.Helper()
		return finish(t, func(ctx context.Context) *exec.Cmd {
			cmd := exec.CommandContext(ctx, name, args...)
			cmd.Dir, cmd.Stdin = dir, strings.NewReader(in)
			cmd.Env = append(os.Environ(), "HOME="+filepath.Join(dir, "home"), "npm_config_offline=true", "npm_config_audit=false", "npm_config_fund=false", "npm_config_update_notifier=false")
			return cmd
		})
	}
	must := func(a answer) answer {
		t.Helper()
		if a.code != 0 {
			t.Fatal(a)
		}
		return a
	}
	dist := filepath.Join(dir, "dist")
	write(t, filepath.Join(dist, "metadata.json"), `{"version": "0.0.1-snapshot"}`)
	write(t, filepath.Join(dist, "artifacts.json"), fmt.Sprintf(`[{"type": "Archive", "path": "x"}, {"type": "Binary", "path": %q, "goos": "linux", "goarch": %q}]`, binary, runtime.GOARCH))
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	must(finish(t, func(ctx context.Context) *exec.Cmd {
		cmd := exec.CommandContext(ctx, "node", "packaging/npm/make.mjs", dist)
		cmd.Dir = root
		return cmd
	}))
	made, err := filepath.Glob(filepath.Join(dist, "npm", "*"))
	if err != nil || len(made) != 2 {
		t.Fatal(made, err)
	}
	platform, wrapper := made[0], made[1]
	if filepath.Base(wrapper) != "reverie-memory" {
		platform, wrapper = wrapper, platform
	}
	prefix := filepath.Join(dir, "prefix")
	must(run("", "npm", "install", "--global", "--prefix", prefix, "--install-links", "--omit=optional", wrapper))
	program := filepath.Join(prefix, "bin", "reverie")
	if a := run("", program, "version"); a.code != 1 || !strings.Contains(a.err, "is not installed") {
		t.Errorf("without the platform's package: %s", a)
	}
	must(run("", "npm", "install", "--global", "--prefix", prefix, "--install-links", platform))
	if a := must(run("", program, "version")); !strings.HasPrefix(a.out, "reverie ") {
		t.Errorf("%s", a)
	}
	git(t, "", "init", "-q", filepath.Join(dir, "repo"))
	dir = filepath.Join(dir, "repo")
	must(run("Tabs, never spaces\n", program, "remember", "-"))
	if a := run("", program, "show", "ffffffff"); a.code == 0 || a.code == -1 {
		t.Errorf("the exit code is lost: %s", a)
	}
}
