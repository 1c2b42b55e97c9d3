package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The container image of packaging/image has no root user and works on a mounted repository: on the
// owner's as the owner, on a fresh clone as anybody.
func TestDockerImageWorksOnAMountedRepository(t *testing.T) {
	if os.Getenv("REVERIE_DOCKER") == "" {
		t.Skip("REVERIE_DOCKER=$(.ci/docker) runs this")
	}
	t.Setenv("DOCKER_HOST", os.Getenv("REVERIE_DOCKER"))
	t.Setenv("DOCKER_BUILDKIT", "0") // the other builder wants a program of its own
	docker := func(args ...string) (string, error) {
		out, err := exec.Command("docker", args...).CombinedOutput()
		return string(out), err
	}
	sources := filepath.Join("..", "packaging", "image")
	built := t.TempDir()
	for from, to := range map[string]string{filepath.Join(sources, "gitconfig"): "gitconfig", binary: "reverie"} {
		if out, err := exec.Command("cp", from, filepath.Join(built, to)).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	const image = "reverie-image-of-test"
	if out, err := docker("build", "-q", "-t", image, "--build-arg", "BASE=reverie-git", "-f", filepath.Join(sources, "Containerfile"), built); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Cleanup(func() { docker("rmi", "--force", image) })
	if user, err := docker("image", "inspect", "--format", "{{.Config.User}}", image); err != nil || strings.TrimSpace(user) != "65532:65532" {
		t.Errorf("%v: the user is %q", err, user)
	}

	mine := filepath.Join(t.TempDir(), "mine")
	git(t, "", "init", "-q", mine)
	git(t, mine, "config", "user.name", "Ada")
	git(t, mine, "config", "user.email", "ada@example.org")
	fresh := filepath.Join(t.TempDir(), "fresh")
	if out, err := exec.Command("chown", "-R", "4321:4321", mine).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	run := func(volume string, args ...string) string {
		t.Helper()
		out, err := docker(append([]string{"run", "--rm", "--network", "none", "--read-only", "--tmpfs", "/tmp", "--volume", volume}, args...)...)
		if err != nil {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
		return out
	}
	run(mine+":/repo", "--user", "4321:4321", image, "remember", "-k", "fact", "The port is 8080")
	if log := run(mine+":/repo", "--user", "4321:4321", image, "log", "-n", "1"); !strings.Contains(log, "Ada added fact") {
		t.Errorf("log says %s", log)
	}
	if out, err := exec.Command("find", mine, "!", "-user", "4321").Output(); err != nil || len(out) > 0 {
		t.Errorf("%v: files of another owner:\n%s", err, out)
	}

	// a clone that no Reverie was in, for a job that only reads
	git(t, "", "init", "-q", fresh)
	if out, err := exec.Command("sh", "-c", `cp -R "$1/.git/objects" "$1/.git/refs" "$2/.git/" && chown -R 4321:4321 "$2"`, "sh", mine, fresh).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, args := range [][]string{{"list"}, {"log", "-n", "1"}} {
		if out := run(fresh+":/repo:ro", append([]string{image}, args...)...); !strings.Contains(out, "The port is 8080") {
			t.Errorf("%q says %s", args, out)
		}
	}
	if out, err := docker("run", "--rm", "--network", "none", "--volume", fresh+":/repo:ro", "--volume", "/dev/null:/etc/gitconfig:ro", image, "log", "-n", "1"); err == nil {
		t.Errorf("git trusts another's repository without our setting: the test proves nothing\n%s", out)
	}
}
