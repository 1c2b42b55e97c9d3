package container

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/reverie-memory/reverie/sandbox"
	"github.com/reverie-memory/reverie/worktree"
)

// longest bounds a command without a limit.
const longest = 7 * 24 * time.Hour

// Runner runs commands, each in its own container.
type Runner struct {
	Tree   Tree
	Engine *sandbox.Engine
	Spec   sandbox.Spec // except for the work tree's and the command's parts
}

// Run is a worktree.Runner. The command gets the environment given with it and that of Spec. On
// return the work tree is scrubbed. A failure of the sandbox gives an error that wraps
// worktree.ErrSandbox.
func (r *Runner) Run(ctx context.Context, c worktree.Command) (worktree.Result, error) {
	var res worktree.Result
	spec := r.Spec
	spec.Workspace = r.Tree.Dir
	spec.Env = slices.Concat(spec.Env, c.Env)
	if spec.Limits.Time = c.Time; c.Time <= 0 {
		spec.Limits.Time = longest
	}
	out, text := worktree.Keep(c)
	spec.Stdout, spec.Stderr = out, out
	var stdin io.Reader
	if len(c.Stdin) > 0 {
		stdin = bytes.NewReader(c.Stdin)
	}
	ran, err := r.Engine.Run(ctx, spec, c.Args, stdin)
	if err == nil {
		for _, d := range ran.Denied {
			fmt.Fprintf(out, "\n[not reached: %s]", d)
		}
		res.Code, res.TimedOut = ran.Exit, ran.Ended == sandbox.TimedOut
		switch l := spec.Limits; ran.Ended {
		case sandbox.TooLong:
			fmt.Fprintf(out, "\n[ended: it printed more than %d MiB]\n", l.Output>>20)
		case sandbox.TooBig:
			fmt.Fprintf(out, "\n[ended: %s]\n", ran.Why)
		case sandbox.NoMemory:
			fmt.Fprintf(out, "\n[ended: it used more than %d MiB of memory]\n", l.Memory>>20)
		}
		if ran.Ended != sandbox.Exited && !res.TimedOut {
			res.Code = sandbox.ExitLimit
		}
	}
	res.Output = text()
	switch {
	case errors.Is(err, sandbox.ErrLeft): // it may still write
		return res, fmt.Errorf("%w: %w", worktree.ErrSandbox, err)
	case ctx.Err() != nil:
		return res, ctx.Err()
	case err != nil:
		return res, fmt.Errorf("%w: %w", worktree.ErrSandbox, err)
	}
	return res, r.Tree.scrub(ctx)
}

// lookFor prints the first of its arguments that is not a program.
const lookFor = `for p; do command -v "$p" >/dev/null || { echo "$p"; exit 1; }; done`

// Has runs a container with an empty folder as work tree, and reports whether all programs exist.
// said is the first missing one, or the reason why that is unknown.
func (r *Runner) Has(ctx context.Context, dir string, programs []string, most time.Duration) (has bool, said string, err error) {
	spec := r.Spec
	spec.Workspace, spec.ReadOnly, spec.Network, spec.Limits.Time = dir, true, nil, most
	ran, err := r.Engine.Run(ctx, spec, append([]string{"sh", "-c", lookFor, "sh"}, programs...), nil)
	return err == nil && ran.Exit == 0 && ran.Ended == sandbox.Exited, string(ran.Stdout) + string(ran.Stderr), err
}
