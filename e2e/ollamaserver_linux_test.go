package e2e

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ollama/ollama/api"
)

// server is a running Ollama server.
type server struct {
	url string
	api *api.Client

	t      *testing.T
	pid    int           // of the server, and of its process group
	ended  chan struct{} // closed when the server has ended
	mu     sync.Mutex
	stderr strings.Builder
}

// serveTiny starts the server that REVERIE_OLLAMA names, with tiny models: "tiny" is leaningText,
// "tiny-random" randomText, "tiny-vectors" vectorModel. Commands of the test ask it.
func serveTiny(t *testing.T) *server {
	t.Helper()
	s := serve(t, "")
	for name, m := range map[string]*tinyModel{"tiny": leaningText(), "tiny-random": randomText(), "tiny-vectors": vectorModel()} {
		file := m.bytes(t)
		digest := fmt.Sprintf("sha256:%x", sha256.Sum256(file))
		// One thread computes the model, because more threads would only wait for one another.
		err := errors.Join(s.api.CreateBlob(t.Context(), digest, bytes.NewReader(file)), s.create(t, &api.CreateRequest{
			Model: name, Files: map[string]string{"model.gguf": digest}, Parameters: map[string]any{"num_thread": 1},
			Template: "{{ if .System }}{{ .System }}\n{{ end }}{{ .Prompt }}\n",
		}))
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// create makes a model of a file or of another model.
func (s *server) create(t *testing.T, r *api.CreateRequest) error {
	return s.api.Create(t.Context(), r, func(api.ProgressResponse) error { return nil })
}

// serve starts the server that REVERIE_OLLAMA names on its own port, with its own home and the
// models of a folder, or none if that is empty. The test's end stops it and its children, and logs
// its output if the test failed.
func serve(t *testing.T, models string) *server {
	t.Helper()
	binary := os.Getenv("REVERIE_OLLAMA")
	if binary == "" {
		t.Skip("REVERIE_OLLAMA does not name a server: .ci/ollama builds one and prints it")
	}
	home := t.TempDir()
	models = cmp.Or(models, home+"/models")
	cmd := exec.Command(binary, "serve")
	cmd.Dir = home
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home, "OLLAMA_MODELS=" + models,
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
	s := &server{t: t, pid: cmd.Process.Pid, ended: make(chan struct{})}
	address := make(chan string, 1)
	silent := make(chan struct{})
	go s.read(r, address, silent)
	go func() { cmd.Wait(); close(s.ended) }()
	t.Cleanup(func() {
		s.signal(syscall.SIGKILL) // runners would outlive a server that ends in another way
		<-s.ended
		<-silent
		if t.Failed() {
			t.Logf("Ollama said:\n%s", s.said())
		}
	})
	select {
	case a := <-address:
		s.url = "http://" + a
		s.api = api.NewClient(&url.URL{Scheme: "http", Host: a}, http.DefaultClient)
		t.Setenv("OLLAMA_HOST", a)
	case <-s.ended:
		t.Fatal("Ollama ended at once")
	case <-time.After(time.Minute):
		t.Fatal("Ollama does not say where it listens")
	}
	return s
}

// read reads the server's output until it and its runners have ended, and sends the address on.
func (s *server) read(r io.ReadCloser, address chan<- string, done chan<- struct{}) {
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

func (s *server) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stderr.String()
}

// signal sends a signal to the server and its children.
func (s *server) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := syscall.Kill(-s.pid, sig); err != nil && err != syscall.ESRCH {
		s.t.Errorf("signal %v to Ollama: %v", sig, err)
	}
}

// kill ends the server like a power cut, and waits until it has ended.
func (s *server) kill() {
	s.signal(syscall.SIGKILL)
	<-s.ended
}
