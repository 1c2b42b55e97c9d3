package ollama

import (
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"testing"
)

func TestOpen(t *testing.T) {
	tests := []struct{ host, want string }{
		{"", "http://127.0.0.1:11434"},
		{"localhost", "http://localhost:11434"},
		{"127.0.0.1:8080", "http://127.0.0.1:8080"},
		{" '127.0.0.1:8080' ", "http://127.0.0.1:8080"},
		{`"127.0.0.1"`, "http://127.0.0.1:11434"},
		{":9", "http://127.0.0.1:9"},
		{"0.0.0.0", "http://127.0.0.1:11434"},
		{"http://0.0.0.0:7", "http://127.0.0.1:7"},
		{"[::]:7", "http://[::1]:7"},
		{"::1", "http://[::1]:11434"},
		{"[::1]", "http://[::1]:11434"},
		{"http://localhost", "http://localhost:80"},
		{"https://LOCALHOST", "https://localhost:443"},
		{"http://localhost/ollama", "http://localhost:80/ollama"},
		{"127.9.9.9:1/", "http://127.9.9.9:1"},

		{"192.168.1.5", "not on this machine"},
		{"box.example:11434", "not on this machine"},
		{"http://localhost.example", "not on this machine"},
		{"ollama.com", "not on this machine"},
		{"localhost:0", "no port"},
		{"localhost:65536", "no port"},
		{"localhost:http", "no port"},
		{"localhost:-1", "no port"},
		{"1:2:3", "no host and port"},
		{"unix:///run/ollama.sock", "neither http nor https"},
		{"http://ann:pass@localhost:1", "more than a host"},
		{"http://localhost:1?key=pass", "more than a host"},
		{"local host", "no host"},
	}
	for _, tt := range tests {
		t.Setenv("OLLAMA_HOST", tt.host)
		stderr := capture(t, func() {
			c, err := Open(Options{})
			switch {
			case err == nil && c.Host() != tt.want:
				t.Errorf("%q: %s", tt.host, c.Host())
			case err != nil && (!strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "OLLAMA_HOST")):
				t.Errorf("%q: %v", tt.host, err)
			case err != nil && strings.Contains(err.Error(), "pass"):
				t.Errorf("%q: says a password: %v", tt.host, err)
			case errors.Is(err, ErrRemote) != (tt.want == "not on this machine"):
				t.Errorf("%q: %v", tt.host, err)
			}
		})
		if stderr != "" {
			t.Errorf("%q: printed %s", tt.host, stderr)
		}
	}
}

func TestOpenRemote(t *testing.T) {
	if c, err := Open(Options{Host: "box.example", Remote: true}); err != nil || c.Host() != "http://box.example:11434" {
		t.Errorf("Open = %v", err)
	}
	// the API would sign requests
	for _, host := range []string{"ollama.com", "https://OLLAMA.com", "api.ollama.com"} {
		if _, err := Open(Options{Host: host, Remote: true}); !errors.Is(err, ErrRemote) {
			t.Errorf("Open %s: %v", host, err)
		}
	}
	t.Setenv("OLLAMA_AUTH", "1")
	if _, err := Open(Options{}); err == nil || !strings.Contains(err.Error(), "OLLAMA_AUTH") {
		t.Errorf("with OLLAMA_AUTH: %v", err)
	}
}

// TestNamesDoNotLeadElsewhere uses a name for this machine with another machine's address.
func TestNamesDoNotLeadElsewhere(t *testing.T) {
	for _, address := range []string{"192.0.2.1:80", "[2001:db8::1]:80", "10.0.0.1:11434"} {
		if err := onlyLoopback("tcp", address, nil); !errors.Is(err, ErrRemote) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if err := onlyLoopback("tcp", "[::1]:80", nil); err != nil {
		t.Error(err)
	}
	t.Setenv("HTTP_PROXY", "http://192.0.2.1:3128")
	c := fake{}.client(t)
	if _, err := c.Models(t.Context()); err != nil {
		t.Error(err)
	}
}

// capture returns what f wrote to stderr.
func capture(t *testing.T, f func()) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	old := os.Stderr
	os.Stderr = w
	f()
	os.Stderr = old
	w.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// FuzzOpen looks for a host that counts as this machine but connects to another.
func FuzzOpen(f *testing.F) {
	for _, host := range []string{"127.0.0.1:1", "http://localhost/x", "[::1]:2", `"0.0.0.0"`, "http://a@localhost", "localhost%2eexample:1", "[::1%25eth0]:1", "127.1", "0x7f.1"} {
		f.Add(host)
	}
	f.Fuzz(func(t *testing.T, host string) {
		c, err := Open(Options{Host: host})
		if err != nil {
			return
		}
		u, err := url.Parse(c.Host())
		if err != nil {
			t.Fatalf("%q: %v", host, err)
		}
		if ip := net.ParseIP(u.Hostname()); u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) || u.Host != c.base.Host || u.User != nil {
			t.Errorf("%q is %s", host, u)
		}
	})
}
