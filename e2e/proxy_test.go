package e2e

import (
	"io"
	"math/rand/v2"
	"net"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// network is the way from clones to a remote: a git daemon behind a proxy that can be made to cut
// connections in the middle, for good, as a cable does.
type network struct {
	URL string // of the folder of repositories

	listener net.Listener
	daemon   func() *exec.Cmd
	rnd      *rand.Rand
	mu       sync.Mutex // of rnd
	group    sync.WaitGroup

	broken                  atomic.Bool // connections are cut
	connections, cuts, into atomic.Int32
}

// newNetwork serves the repositories of a folder, to be read and written, on this machine alone.
func newNetwork(t *testing.T, dir string) *network {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &network{listener: listener, URL: "git://" + listener.Addr().String(), rnd: rand.New(rand.NewPCG(*seed, 2))}
	n.daemon = func() *exec.Cmd {
		cmd := exec.Command("git", "daemon", "--inetd", "--export-all", "--enable=receive-pack", "--base-path="+dir, dir)
		cmd.Dir = filepath.Dir(dir)
		return cmd
	}
	n.group.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			n.group.Go(func() { n.serve(client.(*net.TCPConn)) })
		}
	})
	t.Cleanup(n.close)
	return n
}

func (n *network) close() {
	n.listener.Close()
	n.group.Wait()
}

// serve is one connection, with a git daemon of its own that ends with it.
func (n *network) serve(client *net.TCPConn) {
	defer client.Close()
	n.connections.Add(1)
	cmd := n.daemon()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return
	}
	if err := cmd.Start(); err != nil {
		return
	}
	up, down := n.budget(), n.budget()
	var cut sync.Once
	end := func() {
		cut.Do(func() {
			n.cuts.Add(1)
			client.SetLinger(0) // a reset, not an end
			client.Close()
			stdin.Close()
			stdout.Close()
		})
	}
	var copies sync.WaitGroup
	copies.Go(func() {
		if !carry(stdin, client, up) {
			n.into.Add(1)
			end()
		}
		stdin.Close()
	})
	if !carry(client, stdout, down) {
		end()
	}
	client.CloseWrite()
	late := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait() // of a connection that was cut it fails
	late.Stop()
	client.Close()
	copies.Wait()
}

// budget returns the bytes that may pass in one direction: mostly all, and often only a part.
func (n *network) budget() int64 {
	if !n.broken.Load() {
		return 1 << 62
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	switch n.rnd.IntN(8) {
	case 0:
		return n.rnd.Int64N(400) // within the greeting
	case 1:
		return n.rnd.Int64N(6000) // within the objects
	}
	return 1 << 62
}

// carry copies until the end of from, and reports whether it came to it within the budget.
func carry(to io.Writer, from io.Reader, budget int64) bool {
	n, err := io.CopyN(to, from, budget)
	return err != nil || n < budget
}
