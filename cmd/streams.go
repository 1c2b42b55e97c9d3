package cmd

import (
	"context"
	"io"
	"os"
	"sync/atomic"

	"github.com/reverie-memory/reverie/internal/file"
)

// interruptible is a reader that gives up when its context ends, although a read that waits for a
// person or another process cannot be called off: it is left behind, and what it still gets is lost.
type interruptible struct {
	ctx  context.Context
	from io.Reader
	cut  atomic.Bool // a read was given up
}

type readResult struct {
	data []byte
	err  error
}

func (r *interruptible) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		r.cut.Store(true)
		return 0, r.ctx.Err()
	}
	done := make(chan readResult, 1)
	go func() {
		buf := make([]byte, min(len(p), 64<<10)) // p is the caller's again once we gave up
		n, err := r.from.Read(buf)
		done <- readResult{buf[:n], err}
	}()
	select {
	case got := <-done:
		return copy(p, got.data), got.err
	case <-r.ctx.Done():
		r.cut.Store(true)
		return 0, r.ctx.Err()
	}
}

// openFile opens a file for reading. Opening a FIFO waits for its writer, and gives up when ctx ends.
func openFile(ctx context.Context, name string) (*os.File, error) {
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

// openNamed is openFile for a file that a person named; its error is without the path, which the caller names.
func (env *Env) openNamed(ctx context.Context, name string) (*os.File, error) {
	f, err := openFile(ctx, env.path(name))
	return f, file.Bare(err)
}

// output is the writer of a command's answer. It keeps the first error, so that commands may print
// without asking, and writes nothing after it.
type output struct {
	to  io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.to.Write(p)
	o.err = err
	return n, err
}
