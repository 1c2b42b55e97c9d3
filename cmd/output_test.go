package cmd

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/term"
)

type fullDevice struct{}

func (fullDevice) Write([]byte) (int, error) { return 0, errors.New("no room") }

// An answer that could not be written is a failure, whatever the command.
func TestAnswerThatCannotBeWrittenIsAFailure(t *testing.T) {
	r := newRepo(t)
	reverie(t, r.Dir, "remember", "One")
	for _, command := range []string{"list", "status", "render memory-md", "log", "diff", "config", "export", "recall one", "version", "list --json", "log --json", "help"} {
		var talk bytes.Buffer
		env := &Env{Terminal: term.Terminal{In: strings.NewReader(""), Out: fullDevice{}, Err: &talk, Width: 80}, Now: time.Now}
		code := Run(context.Background(), env, append([]string{"reverie", "-C", r.Dir}, strings.Fields(command)...))
		if code != exit.Failed || !strings.Contains(talk.String(), "write the answer: no room") {
			t.Errorf("%s: exit code %d, says %q", command, code, &talk)
		}
	}
}

// A reader that closes the pipe has seen enough: the command ends without a word.
func TestClosedPipeEndsQuietly(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there pipes end otherwise")
	}
	r := newRepo(t)
	reverie(t, r.Dir, "remember", "One")
	for _, command := range []string{"list", "status", "log", "log --json", "diff"} {
		pr, pw, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		pr.Close()
		var talk bytes.Buffer
		cmd := exec.Command("reverie", strings.Fields(command)...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = r.Dir, pw, &talk
		if err := cmd.Run(); err != nil || talk.Len() > 0 {
			t.Errorf("%s: %v, says %q", command, err, &talk)
		}
		pw.Close()
	}
}
