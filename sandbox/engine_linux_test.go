package sandbox

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// realEngine returns the Docker in REVERIE_DOCKER, which .ci/docker starts, or the Podman in
// REVERIE_PODMAN, which .ci/podman sets up. Only the tests use it.
func realEngine(t *testing.T) *Engine {
	t.Helper()
	host, settings := os.Getenv("REVERIE_DOCKER"), os.Getenv("REVERIE_PODMAN")
	switch {
	case os.Getenv("REVERIE_E2E") == "" || host+settings == "":
		t.Skip("REVERIE_E2E=1 and REVERIE_DOCKER=$(.ci/docker) or REVERIE_PODMAN=$(.ci/podman) run this")
	case settings != "":
		t.Setenv("CONTAINERS_CONF", filepath.Join(settings, "containers.conf"))
		t.Setenv("CONTAINERS_STORAGE_CONF", filepath.Join(settings, "storage.conf"))
	default:
		t.Setenv("DOCKER_HOST", host)
	}
	e, err := Find(t.Context(), realName())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		left, err := e.List(context.Background())
		if err != nil {
			t.Error(err)
		}
		for _, c := range left {
			if c.Owner == self() {
				t.Errorf("container %s is left, %s", c.Name, c.Status)
			}
		}
		if entries, _ := os.ReadDir(e.folder); len(entries) > 0 {
			for _, f := range entries {
				if text, err := os.ReadFile(filepath.Join(e.folder, f.Name(), "owner")); err == nil && bytes.Contains(text, []byte(self().Started)) {
					t.Errorf("folder %s is left", f.Name())
				}
			}
		}
	})
	return e
}

// place returns a workspace that its user may write.
func place(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "work")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		if err := os.Chown(dir, 1234, 2345); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// sh runs a script of busybox.
func sh(t *testing.T, e *Engine, s Spec, script string) Result {
	t.Helper()
	r, err := e.Run(t.Context(), s, []string{"sh", "-c", script}, nil)
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, r.Stderr)
	}
	return r
}

func TestEngineRunsACommand(t *testing.T) {
	e := realEngine(t)
	dir := place(t)
	for _, test := range []struct {
		name, script, in string
		out, err         string
		exit             int
	}{
		{"both streams", "echo out; echo err >&2", "", "out\n", "err\n", 0},
		{"exit code", "exit 125", "", "", "", 125},
		{"signal", "kill -9 $$", "", "", "", 137},
		{"standard input", "cat; echo end", "one\ntwo", "one\ntwoend\n", "", 0},
		{"same path", "pwd", "", dir + "\n", "", 0},
		{"home can be written", "echo x > ~/f && cat ~/f", "", "x\n", "", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, err := e.Run(t.Context(), Spec{Image: realImage, Workspace: dir}, []string{"sh", "-c", test.script}, strings.NewReader(test.in))
			if err != nil {
				t.Fatal(err)
			}
			if r.Ended != Exited || r.Exit != test.exit || string(r.Stdout) != test.out || string(r.Stderr) != test.err {
				t.Errorf("%s %d\nout %q\nerr %q", r.Ended, r.Exit, r.Stdout, r.Stderr)
			}
		})
	}
}

func TestEngineEndsWhatTakesTooMuch(t *testing.T) {
	e := realEngine(t)
	for _, test := range []struct {
		name, script string
		limits       Limits
		ended        Ended
	}{
		{"time", "trap '' TERM; sleep 600", Limits{Time: time.Second, Grace: time.Second}, TimedOut},
		{"a gigabyte of output", "head -c 1000000000 /dev/zero", Limits{Output: 1 << 20}, TooLong},
		{"both streams together", "head -c 600000 /dev/zero; head -c 600000 /dev/zero >&2", Limits{Output: 1 << 20}, TooLong},
		{"memory", "head -c 200000000 /dev/zero | tail -c 190000000 | wc -c; exit 3", Limits{Memory: 32 << 20}, NoMemory},
		{"disk", "i=0; while :; do i=$((i+1)); head -c 10000000 /dev/zero > f$i; done", Limits{Disk: 100 << 20}, TooBig},
		{"files", "i=0; while :; do i=$((i+1)); : > f$i; done", Limits{Files: 1000}, TooBig},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := place(t)
			began := time.Now()
			r := sh(t, e, Spec{Image: realImage, Workspace: dir, Limits: test.limits}, test.script)
			if r.Ended != test.ended {
				t.Errorf("ended by %q, exit %d, %s", r.Ended, r.Exit, r.Stderr)
			}
			if n := int64(len(r.Stdout) + len(r.Stderr)); test.limits.Output > 0 && n != test.limits.Output {
				t.Errorf("%d bytes of output were kept, of at most %d", n, test.limits.Output)
			}
			t.Log(time.Since(began), r.Why, r.Exit)
		})
	}
}

func TestEngineEndsWithItsContext(t *testing.T) {
	e := realEngine(t)
	ctx, cancel := context.WithCancel(t.Context())
	ready := &signalling{on: "ready", then: cancel}
	r, err := e.Run(ctx, Spec{Image: realImage, Workspace: place(t), Stdout: ready}, []string{"sh", "-c", "trap '' TERM; echo ready; sleep 600"}, nil)
	if !errors.Is(err, context.Canceled) || r.Ended != Cancelled {
		t.Errorf("%v, %q", err, r.Ended)
	}
}

// TestEngineBuildsOurImage makes the image of our Dockerfile from a base whose apt-get only records
// its arguments. It uses no registry.
func TestEngineBuildsOurImage(t *testing.T) {
	e := realEngine(t)
	const base, tag = "reverie-test-base", "reverie-test-ours"
	apt := `printf '#!/bin/sh\necho "$@" >>/installed\n' >/bin/apt-get; chmod 755 /bin/apt-get; touch /bin/raised; chmod 6755 /bin/raised; mkdir -p /usr/local/bin`
	for _, r := range []Recipe{
		{Tag: base, Base: realImage, Dockerfile: []byte("ARG BASE\nFROM ${BASE}\nRUN " + apt + "\n")},
		{Tag: tag, Base: base},
	} {
		if _, err := e.Build(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		defer raw(t, "rmi", "--force", r.Tag)
	}
	r := sh(t, e, Spec{Image: tag, Workspace: place(t)}, `cat /installed; find / -xdev -perm /6000 -type f 2>/dev/null; stat -c %a /bin/raised; readlink /usr/local/bin/fd; echo $LANG`)
	updated, rest, _ := strings.Cut(string(r.Stdout), "\n")
	installed, rest, _ := strings.Cut(rest, "\n")
	if want := "755\n/usr/bin/fdfind\nC.UTF-8\n"; updated != "update" || rest != want || r.Exit != 0 {
		t.Errorf("%d\n%s\nwant %q at the end\n%s", r.Exit, r.Stdout, want, r.Stderr)
	}
	for _, name := range []string{"install", "build-essential", "ca-certificates", "golang-go", "nodejs", "npm", "patch", "python3", "ripgrep"} {
		if !slices.Contains(strings.Fields(installed), name) {
			t.Errorf("%q does not have %s", installed, name)
		}
	}
}

// signalling calls a function when a text is written.
type signalling struct {
	on   string
	then func()
	all  bytes.Buffer
}

func (s *signalling) Write(p []byte) (int, error) {
	s.all.Write(p)
	if strings.Contains(s.all.String(), s.on) {
		s.then()
	}
	return len(p), nil
}
