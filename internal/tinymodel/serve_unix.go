//go:build unix

package tinymodel

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Server is a running Ollama server.
type Server struct {
	URL string

	t      testing.TB
	pid    int           // of the server, and of its process group
	ended  chan struct{} // closed when the server has ended
	mu     sync.Mutex
	stderr strings.Builder
}

// Serve starts the Ollama binary on its own port, with its own home and models: "tiny" is Text,
// "tiny-random" RandomText, "tiny-vectors" Vectors. The test's end stops it and its children, and
// logs its output if the test failed.
func Serve(t testing.TB, binary string) *Server {
	t.Helper()
	home := t.TempDir()
	cmd := exec.Command(binary, "serve")
	cmd.Dir = home
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home, "OLLAMA_MODELS=" + home + "/models",
		"OLLAMA_HOST=127.0.0.1:0", "OLLAMA_NO_CLOUD=1", "OLLAMA_NUM_PARALLEL=1",
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = w
	err = cmd.Start()
	w.Close()
	if err != nil {
		t.Fatalf("start Ollama: %v", err)
	}
	s := &Server{t: t, pid: cmd.Process.Pid, ended: make(chan struct{})}
	address := make(chan string, 1)
	silent := make(chan struct{})
	go s.read(r, address, silent)
	go func() { cmd.Wait(); close(s.ended) }()
	t.Cleanup(func() {
		s.Signal(syscall.SIGKILL) // runners would outlive a server that ends in another way
		<-s.ended
		<-silent
		if t.Failed() {
			t.Logf("Ollama said:\n%s", s.said())
		}
	})
	select {
	case a := <-address:
		s.URL = "http://" + a
	case <-s.ended:
		t.Fatal("Ollama ended at once")
	case <-time.After(time.Minute):
		t.Fatal("Ollama does not say where it listens")
	}
	for name, file := range map[string][]byte{"tiny": Text(), "tiny-random": RandomText(), "tiny-vectors": Vectors()} {
		if err := Create(t.Context(), s.URL, name, file, nil); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// read reads the server's output until it and its runners have ended, and sends the address on.
func (s *Server) read(r io.ReadCloser, address chan<- string, done chan<- struct{}) {
	listening := regexp.MustCompile(`Listening on (127\.0\.0\.1:\d+)`)
	defer close(done)
	defer r.Close()
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		s.mu.Lock()
		if s.stderr.Len() < 1<<20 {
			s.stderr.WriteString(line)
		}
		s.mu.Unlock()
		if m := listening.FindStringSubmatch(line); m != nil {
			select {
			case address <- m[1]:
			default:
			}
		}
		if err != nil {
			return
		}
	}
}

func (s *Server) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stderr.String()
}

// Signal sends a signal to the server and its children.
func (s *Server) Signal(sig syscall.Signal) {
	s.t.Helper()
	if err := syscall.Kill(-s.pid, sig); err != nil && err != syscall.ESRCH {
		s.t.Errorf("signal %v to Ollama: %v", sig, err)
	}
}

// Kill ends the server like a power cut, and waits until it has ended.
func (s *Server) Kill() {
	s.Signal(syscall.SIGKILL)
	<-s.ended
}
