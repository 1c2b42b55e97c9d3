package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/process"
)

// clientDelay bounds the time that a client's pipes stay open after its end.
const clientDelay = 5 * time.Second

// clientError is the failure of a client of the engine, with its message.
type clientError struct {
	verb string
	said string
	err  error
}

func (c *clientError) Error() string {
	if c.said == "" {
		return c.verb + ": " + c.err.Error()
	}
	return c.verb + ": " + c.said
}
func (c *clientError) Unwrap() error { return c.err }

// said reports whether the engine failed with one of these messages.
func said(err error, words ...string) bool {
	var c *clientError
	return errors.As(err, &c) && slices.ContainsFunc(words, func(w string) bool { return strings.Contains(strings.ToLower(c.said), w) })
}

// missing reports whether the engine lacks the object, and noImage whether it lacks the image.
func missing(err error) bool { return said(err, "no such") || noImage(err) }
func noImage(err error) bool { return said(err, "no such image", "image not known") }

// client returns a call of the engine's program, ready to start. Its environment holds the
// variables that the program needs to find the engine, and then given, as NAME=VALUE.
//
// Docker's engine is named by its socket. The user's configuration is replaced by an empty folder,
// because it would put the host's proxies into every container and can replace commands. A Podman
// client is the engine itself, so it outlives us: otherwise its half-made containers would be lost.
func (e *Engine) client(ctx context.Context, given []string, args ...string) *exec.Cmd {
	if e.Name == "docker" {
		args = append([]string{"--config", filepath.Join(e.folder, "none"), "--host", e.host}, args...)
	}
	cmd := exec.CommandContext(ctx, e.program, args...)
	tame(cmd)
	if e.Name == "docker" {
		endWithUs(cmd)
	}
	cmd.Env = e.environment(given)
	return cmd
}

// clientNames returns the variables that an engine's client reads.
func clientNames() []string {
	return []string{"PATH", "HOME", "USER", "TMPDIR", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "DBUS_SESSION_BUS_ADDRESS", "CONTAINER_HOST", "CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF"}
}

func (e *Engine) environment(given []string) []string {
	env := []string{"LC_ALL=C"}
	for _, name := range clientNames() {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return append(env, given...)
}

// tame puts a client into a process group of its own, out of reach of a terminal's keys, which ends
// with its context.
func tame(cmd *exec.Cmd) {
	process.Alone(cmd)
	cmd.WaitDelay = clientDelay
}

// ask makes the engine do one thing, and returns its answer.
func (e *Engine) ask(ctx context.Context, most time.Duration, args ...string) ([]byte, error) {
	return e.askWith(ctx, most, nil, args...)
}

func (e *Engine) askWith(ctx context.Context, most time.Duration, given []string, args ...string) ([]byte, error) {
	soon, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	out, err := output(e.client(soon, given, args...))
	var c *clientError
	if errors.As(err, &c) {
		c.verb = e.Name + " " + args[0]
	}
	if err != nil && soon.Err() != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%s %s: no answer in %s", e.Name, args[0], most)
	}
	return out, err
}

// maxAnswer bounds the kept output of a client, in bytes.
const maxAnswer = 8 << 20

// output runs a client and returns its standard output. The error is a *clientError with its
// standard error.
func output(cmd *exec.Cmd) ([]byte, error) {
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &atMost{&out, maxAnswer}, &atMost{&said, 4 << 10}
	err := cmd.Run()
	if err != nil {
		return nil, &clientError{cmd.Path, firstLines(said.String()), err}
	}
	return out.Bytes(), nil
}

// firstLines returns an engine's message on one line.
func firstLines(text string) string {
	text = strings.TrimSpace(strings.ReplaceAll(text, "Error response from daemon: ", ""))
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	return strings.Join(lines[:min(len(lines), 3)], "; ")
}

// atMost is a writer that drops the excess.
type atMost struct {
	to   *bytes.Buffer
	most int
}

func (a *atMost) Write(p []byte) (int, error) {
	a.to.Write(p[:min(len(p), max(0, a.most-a.to.Len()))])
	return len(p), nil
}

// remove removes a container in any state, and returns when it is gone or a timeout has passed.
func (e *Engine) remove(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), orderTime+orderTime/2)
	defer cancel()
	var err error
	for wait := 100 * time.Millisecond; wait < 2*time.Second; wait *= 2 {
		_, err = e.ask(ctx, orderTime, "rm", "--force", "--volumes", name)
		if err == nil || missing(err) {
			return nil
		}
		time.Sleep(wait) // another call may be about to remove it
	}
	return err
}
