package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// asking is a client of the SDK with its own server process.
type asking struct {
	*mcp.ClientSession
	pid int
}

func newAsking(t *testing.T, dir string, args ...string) asking {
	t.Helper()
	cmd := exec.Command(binary, append([]string{"mcp"}, args...)...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	s, err := mcp.NewClient(&mcp.Implementation{Name: "e2e", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd, TerminateDuration: patience}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return asking{s, cmd.Process.Pid}
}

// size holds the resources of a process.
type size struct{ files, threads, kilobytes int }

// size returns zero if /proc is not available.
func (a asking) size(t *testing.T) (s size) {
	t.Helper()
	proc := filepath.Join("/proc", strconv.Itoa(a.pid))
	open, err := os.ReadDir(filepath.Join(proc, "fd"))
	if err != nil && runtime.GOOS != "linux" {
		return s
	}
	status, err2 := os.ReadFile(filepath.Join(proc, "status"))
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	s.files = len(open)
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		value, _, _ = strings.Cut(strings.TrimSpace(value), " ")
		n, _ := strconv.Atoi(strings.TrimSpace(value))
		switch name {
		case "Threads":
			s.threads = n
		case "VmRSS":
			s.kilobytes = n
		}
	}
	return s
}

// Two clients, each with a server, call all the tools, several at once. Meanwhile another process
// adds memories and git repacks. No call fails, and a server's resources at the end equal those
// after its warm-up.
func TestServersStandBesideGitAndWriters(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	calls := 200
	if full || every {
		calls = 1000
	}
	dir := newRepo(t)
	id := strings.TrimSpace(must(t, dir, "remember", "-k", "convention", "Use pnpm, never npm, in web/"))
	for i := range 30 {
		must(t, dir, "remember", fmt.Sprintf("Package %d is built by make target number %d", i, i*i))
	}
	clients := []asking{newAsking(t, dir), newAsking(t, dir, "--agent", "codex")}
	ask := func(ctx context.Context, a asking, n int) error {
		tools := []struct {
			name string
			args fields
			want string
		}{
			{"recall", fields{"query": fmt.Sprintf("how is package %d built", n%30)}, "is built by make"},
			{"recall", fields{"query": "pnpm or npm", "kind": "convention", "limit": 1}, "Use pnpm"},
			{"show", fields{"id": id}, "Use pnpm"},
			{"context", fields{}, "Use pnpm"},
			{"context", fields{"query": "may I use npm in web?"}, "Use pnpm"},
			{"status", fields{}, `"memories"`},
			{"remember", fields{"text": fmt.Sprintf("Module %d of %d wants care with locks", n, a.pid), "kind": "fact"}, "waits for a person"},
			{"forget", fields{"id": id, "reason": "to see what comes of it"}, "wait"},
		}
		c := tools[n%len(tools)]
		res, err := a.CallTool(ctx, &mcp.CallToolParams{Name: c.name, Arguments: c.args})
		if err != nil {
			return err
		}
		text, err := json.Marshal(res.Content)
		if err != nil || res.IsError || !strings.Contains(strings.ReplaceAll(string(text), `\"`, `"`), c.want) {
			return fmt.Errorf("%s %v: %s, %v", c.name, c.args, text, err)
		}
		return nil
	}
	for i := range 40 { // until they are warm
		for _, a := range clients {
			if err := ask(t.Context(), a, 8000+i); err != nil {
				t.Fatal(err)
			}
		}
	}
	before := []size{clients[0].size(t), clients[1].size(t)}

	ctx, stop := context.WithCancel(t.Context())
	var beside, all sync.WaitGroup
	var kept, packed, done atomic.Int64
	beside.Go(func() {
		for ctx.Err() == nil {
			if a := reverie(t, dir, "remember", fmt.Sprintf("Beside the servers thing %d was kept", kept.Load())); a.code != 0 {
				t.Error(a)
			}
			kept.Add(1)
		}
	})
	beside.Go(func() {
		for ctx.Err() == nil {
			if out, err := tryGit(dir, "gc", "-q"); err != nil {
				t.Errorf("git gc: %v %s", err, out)
			}
			packed.Add(1)
		}
	})
	for i, a := range clients {
		for lane := range 4 {
			all.Go(func() {
				for n := lane; n < calls/len(clients) || kept.Load() < 5 || packed.Load() < 2; n += 4 {
					done.Add(1)
					if err := ask(t.Context(), a, n); err != nil {
						t.Errorf("client %d, call %d: %v", i, n, err)
						return
					}
				}
			})
		}
	}
	all.Wait()
	stop()
	beside.Wait()
	t.Logf("%d calls beside %d memories kept and %d times git gc", done.Load(), kept.Load(), packed.Load())
	for i, a := range clients {
		after := a.size(t)
		t.Logf("server %d: %+v, then %+v", i, before[i], after)
		if after.files > before[i].files+4 || after.threads > before[i].threads+16 || after.kilobytes > before[i].kilobytes+48<<10 {
			t.Errorf("server %d grew: %+v, then %+v", i, before[i], after)
		}
		began := time.Now()
		if err := a.Close(); err != nil {
			t.Errorf("server %d: %v", i, err)
		}
		if took := time.Since(began); took > patience/2 {
			t.Errorf("server %d outlived its input by %v", i, took)
		}
	}
	must(t, dir, "check", "--deep")
	git(t, dir, "fsck", "--strict")
}

// An agent in a folder without a repository can start the server, and end it at any time.
func TestServerEndsWithItsInput(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	for _, input := range []string{"", "garbage\n", `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n" + `{"jsonrpc":"2.0","id":2,"meth`} {
		a := finish(t, func(ctx context.Context) *exec.Cmd {
			cmd := exec.CommandContext(ctx, binary, "mcp")
			cmd.Dir, cmd.Stdin = t.TempDir(), strings.NewReader(input)
			return cmd
		})
		if a.code != 0 || a.err != "" {
			t.Errorf("%q: %s", input, a)
		}
		for line := range strings.Lines(a.out) {
			if !json.Valid([]byte(line)) {
				t.Errorf("%q: not a message: %s", input, line)
			}
		}
	}
}

// The server's output carries only its answers; messages go elsewhere.
func TestOutputCarriesMessagesAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long")
	}
	dir := newRepo(t)
	a := newAsking(t, dir)
	// which talks
	res, err := a.CallTool(t.Context(), &mcp.CallToolParams{Name: "remember", Arguments: fields{"text": "Starts the memory itself"}})
	if err != nil || res.IsError {
		t.Fatal(res, err)
	}
	list, err := a.ListTools(t.Context(), nil)
	if err != nil || !slices.ContainsFunc(list.Tools, func(tool *mcp.Tool) bool { return tool.Name == "recall" }) {
		t.Fatal(list, err)
	}
	if out := must(t, dir, "--json", "list"); out != "" {
		t.Errorf("memories: %s", out)
	}
}
