package cmd

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/term"
)

// A command that waits for its input is stopped by the end of its context, whatever it reads for.
func TestWaitingForInputCanBeInterrupted(t *testing.T) {
	r := newRepo(t)
	example, err := filepath.Abs("../examples/claude-code.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	reverie(t, r.Dir, "learn", example)
	cases := [][]string{{"learn", "-"}, {"remember", "-"}, {"review"}, {"uninstall"}}
	if fifo := filepath.Join(t.TempDir(), "fifo"); exec.Command("mkfifo", fifo).Run() == nil {
		cases = append(cases, []string{"learn", fifo})
	} else if runtime.GOOS != "windows" {
		t.Error("mkfifo failed")
	}
	for _, args := range cases {
		ctx, cancel := context.WithCancel(context.Background())
		in, w := io.Pipe()
		var talk bytes.Buffer
		env := &Env{Terminal: term.Terminal{In: &waited{in, cancel}, Out: io.Discard, Err: &talk, Interactive: true, Width: 80}, Now: time.Now}
		if len(args) > 1 && args[1] != "-" {
			time.AfterFunc(50*time.Millisecond, cancel)
		}
		if code := Run(ctx, env, append([]string{"reverie", "-C", r.Dir}, args...)); code != exit.Signal {
			t.Errorf("%v: exit code %d\n%s", args, code, &talk)
		}
		if !strings.Contains(talk.String(), stopped) {
			t.Errorf("%v: says %q", args, &talk)
		}
		cancel()
		w.Close()
	}
}

// waited calls reached at the first read, and then keeps the reader waiting.
type waited struct {
	io.Reader
	reached func()
}

func (w *waited) Read(p []byte) (int, error) {
	w.reached()
	return w.Reader.Read(p)
}

// The same for a process and a signal.
func TestFirstSignalEndsAProcessThatWaits(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there a process cannot be sent an interrupt")
	}
	r := newRepo(t)
	cmd := exec.Command("reverie", "ingest", "--format", "claude", "-")
	cmd.Dir = r.Dir
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	// More than a pipe holds: once it is written, the process is reading.
	if _, err := io.WriteString(in, strings.Repeat("\n", 1<<20)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != exit.Signal {
		t.Errorf("exit code %d, want %d", got, exit.Signal)
	}
}
