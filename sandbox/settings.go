package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
)

// FromSettings returns the Spec for a command from the settings. It takes the values of variables
// from this process.
func FromSettings(c config.Sandbox) (Spec, error) {
	s := Spec{Image: c.Image, Caches: c.Caches, Network: c.Network, Runtime: c.Runtime, Limits: Limits{
		Memory: int64(c.Memory) << 20, CPUs: float64(c.CPUs), Processes: c.Processes, Time: time.Duration(c.Seconds) * time.Second,
		Output: int64(c.Output) << 20, Disk: int64(c.Disk) << 20,
	}}
	for _, name := range c.Env {
		if v, ok := os.LookupEnv(name); ok {
			s.Env = append(s.Env, name+"="+v)
		}
	}
	if len(s.Network) > 0 {
		self, err := os.Executable()
		if err != nil {
			return s, err
		}
		s.Forward = []string{self, "sandbox", "forward"}
	}
	return s, nil
}

// Folders returns the writable folder of a command, and its start folder there: dir, or the top if
// dir is outside.
func Folders(top, dir string) (workspace, start string, err error) {
	if workspace, err = resolved(top); err != nil {
		return "", "", err
	}
	if start, err = resolved(dir); err != nil {
		return "", "", err
	}
	if in, err := filepath.Rel(workspace, start); err != nil || !filepath.IsLocal(in) {
		start = workspace
	}
	return workspace, start, nil
}

func resolved(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// Hint returns advice about an error of this package, or "".
func Hint(err error) string {
	switch {
	case errors.Is(err, ErrLeft):
		return "when the engine answers again: reverie sandbox prune"
	case errors.Is(err, ErrMissing):
		return "nothing was run; install it, or name the other one: --engine docker or podman"
	case errors.Is(err, ErrSilent):
		return "nothing was run; start the engine, and see whether '" + strings.Join(Engines(), " info' or '") + " info' answers"
	case errors.Is(err, ErrNoImage):
		return "nothing was run; make it: reverie sandbox build, or without a registry: reverie sandbox build --from-rootfs PATH"
	case errors.Is(err, ErrWeak), errors.Is(err, ErrBadSpec):
		return "nothing was run"
	}
	return ""
}

// Explain adds the exit code and Hint to an error of this package. nil stays nil.
func Explain(err error) error {
	if err == nil {
		return nil
	}
	return exit.New(exit.Failed, err, Hint(err))
}

// Choose finds the named engine, or with "" that of the settings. It never uses another one
// instead.
func Choose(ctx context.Context, c config.Sandbox, name string) (*Engine, error) {
	if name == "" {
		name = c.Mode
	}
	if name == config.Off {
		return nil, exit.New(exit.Failed, errors.New("the sandbox is off: sandbox.mode"), "to turn it on: reverie config --user sandbox.mode docker, or podman; for one run: --engine docker")
	}
	e, err := Find(ctx, name)
	return e, Explain(err)
}

// Exit codes for a command that did not end by itself, as timeout(1) and shells have them.
const (
	ExitTime  = 124 // its time was up
	ExitLimit = 125 // it printed or wrote too much, or used too much memory
)

// Failure returns the error of a command that exceeded a limit, or nil. most is the time that the
// settings allow.
func (l Limits) Failure(r Result, most time.Duration) error {
	switch r.Ended {
	case TimedOut:
		hint := "the setting sandbox.seconds sets the limit"
		if l.Time < most {
			hint = fmt.Sprintf("--time sets the limit, up to the setting sandbox.seconds: %s", most)
		}
		return exit.New(ExitTime, fmt.Errorf("the command was ended after %s", l.Time), hint)
	case TooLong:
		return exit.New(ExitLimit, fmt.Errorf("the command was ended: it printed more than %d MiB", l.Output>>20), "the setting sandbox.output sets the limit")
	case TooBig:
		return exit.New(ExitLimit, fmt.Errorf("the command was ended: %s", r.Why), "the setting sandbox.disk sets the limit")
	case NoMemory:
		return exit.New(ExitLimit, fmt.Errorf("the command used more than %d MiB of memory", l.Memory>>20), "the setting sandbox.memory sets the limit")
	}
	return nil
}
