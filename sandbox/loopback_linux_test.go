package sandbox

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// builtReverie builds the program in a form that runs in any image, and returns its path.
func builtReverie(t *testing.T) string {
	t.Helper()
	reverie := filepath.Join(t.TempDir(), "reverie")
	build := exec.Command("go", "build", "-tags", "urfave_cli_no_docs", "-o", reverie, "../cmd/reverie")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return reverie
}

// TestDockerForwards: a program inside reaches the only allowed service of this machine, at its
// address outside.
func TestDockerForwards(t *testing.T) {
	e := realEngine(t)
	allowed, other := echo(t), echo(t)
	spec := Spec{Image: realImage, Workspace: place(t), Network: []string{allowed.String()}, Forward: []string{builtReverie(t), "sandbox", "forward"}}
	ask := func(port uint16) string {
		return fmt.Sprintf(`{ echo hello; sleep 1; } | nc 127.0.0.1 %d || echo no way; `, port)
	}
	byConnect := func(target string) string {
		return `{ printf 'CONNECT ` + target + ` HTTP/1.1\r\n\r\nhello\n'; sleep 1; } | nc 127.0.0.1 3128 | tr -d '\r' | grep -E '^HTTP|HELLO'; `
	}
	r := sh(t, e, spec, ask(allowed.Port())+ask(allowed.Port())+ask(other.Port())+byConnect(allowed.String())+byConnect(other.String())+
		byConnect(fmt.Sprintf("localhost:%d", allowed.Port()))+`ls /sys/class/net; echo "$NO_PROXY"`)
	want := "HELLO\nHELLO\nno way\nHTTP/1.1 200 Connection established\nHELLO\nHTTP/1.1 403 Forbidden\nHTTP/1.1 403 Forbidden\nlo\nlocalhost,127.0.0.1\n"
	if diff := cmp.Diff(want, string(r.Stdout)); diff != "" || r.Exit != 0 {
		t.Errorf("exit %d (-want +got):\n%s%s", r.Exit, diff, r.Stderr)
	}
	if want := []string{other.String() + ": it is not among what may be reached", fmt.Sprintf("localhost:%d: it is not among what may be reached", allowed.Port())}; cmp.Diff(want, r.Denied) != "" {
		t.Errorf("refused: %q", r.Denied)
	}

	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := gone.Addr().(*net.TCPAddr)
	gone.Close()
	spec.Network = []string{at.String()}
	r = sh(t, e, spec, ask(uint16(at.Port)))
	if want := []string{at.String() + ": nobody answers there"}; cmp.Diff(want, r.Denied) != "" || len(r.Stdout) > 0 {
		t.Errorf("%q, refused: %q", r.Stdout, r.Denied)
	}
}
