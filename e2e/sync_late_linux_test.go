package e2e

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A remote that never answers is left at the deadline, and one that only feigns progress at ten
// times that. Nothing that was started is left, and nothing has changed.
func TestSyncLeavesRemotesThatHang(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	go func() {
		var held []net.Conn
		for {
			c, err := silent.Accept()
			if err != nil {
				break
			}
			held = append(held, c)
		}
		for _, c := range held {
			c.Close()
		}
	}()
	for name, c := range map[string]struct{ url, ssh, says string }{
		"git":    {"git://" + silent.Addr().String() + "/x", "", "not done within 2s of the last progress"},
		"http":   {"http://" + silent.Addr().String() + "/x", "", "not done within 2s of the last progress"},
		"ssh":    {"ssh://nowhere.example/x", "exec sleep 600 #", "not done within 2s of the last progress"},
		"feigns": {"ssh://nowhere.example/x", "while echo progress >&2; do sleep 0.05; done #", "not done within 20s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, _ := cloneOf(t)
			config := filepath.Join(t.TempDir(), "config")
			write(t, config, read(t, os.Getenv("GIT_CONFIG_GLOBAL"))+"[ssh]\n\tvariant = simple\n[core]\n\tsshCommand = \""+c.ssh+"\"\n")
			git(t, dir, "remote", "set-url", "origin", c.url)
			tip, mark := git(t, dir, "rev-parse", "reverie/memory"), "LATE="+filepath.Base(filepath.Dir(dir))+name
			began := time.Now()
			a := finish(t, func(ctx context.Context) *exec.Cmd {
				cmd := exec.CommandContext(ctx, binary, "sync", "--yes", "--timeout", "2s")
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL="+config, mark)
				return cmd
			})
			if a.code != 128 || !strings.Contains(a.err, c.says+"\n") {
				t.Errorf("after %s: %s", time.Since(began), a)
			}
			if now := git(t, dir, "rev-parse", "reverie/memory"); now != tip {
				t.Errorf("the branch moved from %s to %s", tip, now)
			}
			for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
				left := marked(mark)
				if len(left) == 0 {
					return
				}
				if time.Now().After(end) {
					t.Fatalf("left running: %v", left)
				}
			}
		})
	}
}

// marked lists the processes that have a variable in their environment.
func marked(variable string) []string {
	var left []string
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range all {
		text, _ := os.ReadFile(path)
		if bytes.Contains(text, []byte(variable+"\x00")) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
			left = append(left, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return left
}
