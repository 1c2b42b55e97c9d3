package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A team can close the sandbox further, and never open it.
func TestTeamCanOnlyCloseTheSandbox(t *testing.T) {
	user := Default()
	user.Sandbox = Sandbox{Mode: "podman", Image: "mine", Network: []string{"a.example.com:443", "b.example.com:443", "127.0.0.1:11434"}, Env: []string{"KEY", "OTHER"}, Caches: []string{"/a", "/b"},
		Memory: 1000, CPUs: 4, Processes: 100, Seconds: 60, Output: 8, Disk: 500}
	c := user
	if err := c.Restrict("reverie.toml", []byte(`format = 1
[sandbox]
mode = "docker"
network = ["b.example.com:443", "evil.example.com:443", "127.0.0.1:22", "[::1]:11434"]
env = ["KEY", "HOME"]
caches = []
memory = 2000
cpus = 1
processes = 50
seconds = 6000
output = 4
disk = 501
`)); err != nil {
		t.Fatal(err)
	}
	want := user.Sandbox
	want.Network, want.Env, want.Caches = []string{"b.example.com:443"}, []string{"KEY"}, []string{}
	want.CPUs, want.Processes, want.Output = 1, 50, 4
	if diff := cmp.Diff(want, c.Sandbox); diff != "" {
		t.Error(diff)
	}
	c = Default()
	if err := c.Restrict("reverie.toml", []byte("format = 1\nsandbox.mode = \"docker\"\n")); err != nil || c.Sandbox.Mode != "docker" {
		t.Errorf("a team asks for a sandbox: %q, %v", c.Sandbox.Mode, err)
	}
	for text, says := range map[string]string{
		"sandbox.mode = \"off\"":      "off is not one of docker, podman",
		"sandbox.image = \"evil\"":    "only a user's own settings",
		"sandbox.runtime = \"runc\"":  "only a user's own settings",
		"sandbox.memory = 1":          "1 is not a whole number from 16",
		"sandbox.network = [\"a\"]":   "is not one such as",
		"sandbox.network = \"a:443\"": "is not a list",
	} {
		if err := c.Restrict("reverie.toml", []byte("format = 1\n"+text+"\n")); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
	for _, text := range []string{"mode = \"docker\"", "image = \"x\"", "network = []", "network = [\"127.0.0.1:11434\"]", "env = []", "caches = []", "runtime = \"\"", "memory = 100", "cpus = 1", "processes = 10", "seconds = 1", "output = 1", "disk = 1"} {
		if _, err := Load(written(t, "[sandbox]\n"+text+"\n")); err != nil {
			t.Errorf("the user may not set %s: %v", text, err)
		}
		if _, err := Load(written(t, ""), written(t, "[sandbox]\n"+text+"\n")); err == nil || !strings.Contains(err.Error(), "only your own settings") {
			t.Errorf("a clone may set %s: %v", text, err)
		}
	}
}

func TestBadSandboxSettings(t *testing.T) {
	for text, says := range map[string]string{
		`mode = "chroot"`:                 "chroot is not one of off, docker, podman",
		`network = ["*.example.com:443"]`: "is not one such as",
		`network = ["example.com"]`:       "is not one such as",
		`network = ["example.com:0"]`:     "is not one such as",
		`network = ["u@example.com:1"]`:   "is not one such as",
		`env = ["A=b"]`:                   "is not one such as",
		`env = [""]`:                      "is not one such as",
		`env = ["A B"]`:                   "is not one such as",
		`caches = ["relative"]`:           "is not one such as",
		`processes = 0`:                   "is not a whole number",
	} {
		if _, err := Load(written(t, "[sandbox]\n"+text+"\n")); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
}
