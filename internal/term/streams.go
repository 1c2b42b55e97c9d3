package term

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
)

// Interruptible is a reader that gives up when its context ends. A read that waits for a person or
// another process cannot be cancelled: it is abandoned, and its input is lost.
type Interruptible struct {
	Ctx  context.Context
	From io.Reader
	Cut  atomic.Bool // a read was given up
}

type readResult struct {
	data []byte
	err  error
}

func (r *Interruptible) Read(p []byte) (int, error) {
	if r.Ctx.Err() != nil {
		r.Cut.Store(true)
		return 0, r.Ctx.Err()
	}
	done := make(chan readResult, 1)
	go func() {
		buf := make([]byte, min(len(p), 64<<10)) // p is the caller's again after we gave up
		n, err := r.From.Read(buf)
		done <- readResult{buf[:n], err}
	}()
	select {
	case got := <-done:
		return copy(p, got.data), got.err
	case <-r.Ctx.Done():
		r.Cut.Store(true)
		return 0, r.Ctx.Err()
	}
}

// OpenFile opens a file for reading. Opening a FIFO waits for its writer, and gives up when ctx
// ends.
func OpenFile(ctx context.Context, name string) (*os.File, error) {
	type opened struct {
		file *os.File
		err  error
	}
	done := make(chan opened, 1)
	go func() {
		f, err := os.Open(name)
		done <- opened{f, err}
	}()
	select {
	case got := <-done:
		return got.file, got.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Output is the writer of a command's answer. It keeps the first error, so that commands need not
// check each write, and writes nothing after it.
type Output struct {
	To  io.Writer
	Err error
}

func (o *Output) Write(p []byte) (int, error) {
	if o.Err != nil {
		return 0, o.Err
	}
	n, err := o.To.Write(p)
	o.Err = err
	return n, err
}

// Interrupted reports whether an error comes from an interrupt: of this process, or of its git.
func Interrupted(err error) bool {
	var program *exec.ExitError
	return errors.Is(err, context.Canceled) || errors.As(err, &program) && !program.Exited()
}
