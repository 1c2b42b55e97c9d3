//go:build unix

package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestMain runs the tests, or acts as a client that records its calls, or as a process to be
// killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("REVERIE_FAKE_ENGINE"); dir != "" {
		os.Exit(fakeClient(dir, os.Args[1:]))
	}
	if dir := os.Getenv("REVERIE_SANDBOX_CHILD"); dir != "" {
		os.Exit(killedChild(dir, os.Getenv("REVERIE_SANDBOX_MARK")))
	}
	os.Exit(m.Run())
}

// killedChild is a process that is killed while it runs a container.
func killedChild(dir, mark string) int {
	e, err := Find(context.Background(), realName())
	if err == nil {
		_, err = e.Run(context.Background(), Spec{Image: realImage, Workspace: dir, Loop: "REVERIE_CHILD_" + mark}, []string{"sleep", mark}, nil)
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// realName returns the engine for the tests: Podman if REVERIE_PODMAN asks for it.
func realName() string {
	if os.Getenv("REVERIE_PODMAN") != "" {
		return "podman"
	}
	return "docker"
}

// realImage is the image that .ci/docker and .ci/podman build: busybox, and nothing else.
const realImage = "reverie-busybox"

// call is one call of the client.
type call struct{ Args, Env []string }

// fake is a folder with a client in it.
type fake struct{ dir string }

// newFake puts a client on PATH. info is the engine's description of itself.
func newFake(t *testing.T, name, info string) fake {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f := fake{t.TempDir()}
	// The race detector would wait a second at each end.
	script := "#!/bin/sh\nREVERIE_FAKE_ENGINE='" + f.dir + "' GORACE=atexit_sleep_ms=0 exec '" + self + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(f.dir, name), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	f.write(t, "info", info)
	t.Setenv("PATH", f.dir)
	t.Setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
	t.Setenv("TMPDIR", t.TempDir())
	return f
}

func (f fake) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// calls returns the calls with a verb, in order; "" selects all.
func (f fake) calls(t *testing.T, verb string) []call {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(f.dir, "log"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var out []call
	for line := range strings.Lines(string(text)) {
		var c call
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		if c.Args = bare(c.Args); verb == "" || c.Args[0] == verb {
			out = append(out, c)
		}
	}
	return out
}

// bare returns a call without the arguments that name the engine.
func bare(args []string) []string {
	for len(args) > 2 && (args[0] == "--config" || args[0] == "--host") {
		args = args[2:]
	}
	return args
}

const (
	dockerInfo = `{"ServerVersion":"99.1","OSType":"linux","NCPU":4,"MemoryLimit":true,"PidsLimit":true,"CpuCfsQuota":true,"SecurityOptions":["name=seccomp,profile=default","name=cgroupns"]}`
	podmanInfo = `{"host":{"cpus":4,"os":"linux","cgroupControllers":["cpu","memory","pids"],"security":{"rootless":true,"seccompEnabled":true,"seccompProfilePath":"/usr/share/containers/seccomp.json"}},"version":{"Version":"99.2"}}`
	fakeID     = "sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
)

// fakeClient answers one call. Files in its folder control it: info, ended (the state of a finished
// container), patch (changes to inspect), and fail-VERB (the error of a verb).
func fakeClient(dir string, args []string) int {
	note, _ := json.Marshal(call{args, os.Environ()})
	log, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 99
	}
	fmt.Fprintf(log, "%s\n", note)
	log.Close()
	args = bare(args)
	if why, err := os.ReadFile(filepath.Join(dir, "fail-"+args[0])); err == nil {
		os.Stderr.Write(why)
		return 1
	}
	made := filepath.Join(dir, "made")
	switch args[0] {
	case "info":
		text, _ := os.ReadFile(filepath.Join(dir, "info"))
		os.Stdout.Write(text)
	case "image":
		fmt.Println(fakeID)
	case "create":
		text, _ := json.Marshal(args)
		os.WriteFile(made, text, 0o600)
		fmt.Println("0123456789ab")
	case "start":
		os.WriteFile(filepath.Join(dir, "started"), nil, 0o600)
		io.Copy(os.Stdout, os.Stdin)
		fmt.Fprint(os.Stderr, "talk")
	case "container":
		text, err := os.ReadFile(made)
		if err != nil {
			fmt.Fprintln(os.Stderr, "Error: No such container: "+args[len(args)-1])
			return 1
		}
		var created []string
		json.Unmarshal(text, &created)
		answer := fakeInspect(created)
		if _, err := os.Stat(filepath.Join(dir, "started")); err == nil {
			answer["State"] = map[string]any{"Status": "exited", "ExitCode": 7, "StartedAt": "2026-11-22T08:00:00Z"}
		}
		for _, file := range []string{"patch", "ended"} {
			if text, err := os.ReadFile(filepath.Join(dir, file)); err == nil {
				patch := map[string]any{}
				json.Unmarshal(text, &patch)
				merge(answer, patch)
			}
		}
		json.NewEncoder(os.Stdout).Encode([]any{answer})
	case "rm":
		os.Remove(made)
	case "ps", "kill", "stop":
	default:
		fmt.Fprintf(os.Stderr, "unknown command %q", args[0])
		return 1
	}
	return 0
}

// fakeInspect returns an engine's report on a container made as requested.
func fakeInspect(args []string) map[string]any {
	option := func(name string) string {
		if i := slices.Index(args, name); i >= 0 {
			return args[i+1]
		}
		return ""
	}
	number := func(name string) int64 {
		n, _ := strconv.ParseInt(option(name), 10, 64)
		return n
	}
	var mounts []any
	labels := map[string]any{}
	for i, a := range args {
		switch a {
		case "--mount":
			at := map[string]string{}
			for field := range strings.SplitSeq(args[i+1], ",") {
				k, v, _ := strings.Cut(field, "=")
				at[k] = v
			}
			_, readOnly := at["readonly"]
			mounts = append(mounts, map[string]any{"Type": at["type"], "Source": at["src"], "Destination": at["dst"], "RW": !readOnly})
		case "--label":
			k, v, _ := strings.Cut(args[i+1], "=")
			labels[k] = v
		}
	}
	return map[string]any{
		"Id": "0123456789ab", "Name": "/" + option("--name"),
		"State": map[string]any{"Status": "created", "StartedAt": "0001-01-01T00:00:00Z"},
		"HostConfig": map[string]any{
			"NetworkMode": option("--network"), "IpcMode": option("--ipc"), "ReadonlyRootfs": slices.Contains(args, "--read-only"),
			"CapDrop": []any{option("--cap-drop")}, "SecurityOpt": []any{option("--security-opt")},
			"Memory": number("--memory"), "MemorySwap": number("--memory-swap"), "NanoCpus": 2e9, "PidsLimit": number("--pids-limit"),
			"Tmpfs": map[string]any{"/tmp": "rw"},
		},
		"Mounts": mounts,
		"Config": map[string]any{"User": option("--user"), "Labels": labels},
	}
}

// merge overwrites to with the values of patch.
func merge(to, patch map[string]any) {
	for k, v := range patch {
		inner, ok := v.(map[string]any)
		old, ok2 := to[k].(map[string]any)
		if ok && ok2 {
			merge(old, inner)
			continue
		}
		to[k] = v
	}
}
