package cmd

import (
	"fmt"
	"io"
	"time"
)

// progress reads a file and, when that takes longer than half a second and a person watches,
// tells how far it is.
type progress struct {
	io.Reader
	env         *Env
	name        string
	size, read  int64
	began, told time.Time
}

// newProgress is for a reader of size bytes; of unknown size, 0, it tells nothing.
func newProgress(env *Env, name string, r io.Reader, size int64) *progress {
	return &progress{Reader: r, env: env, name: name, size: size, began: time.Now()}
}

func (p *progress) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	p.read += int64(n)
	if p.env.Interactive && !p.env.Quiet && p.size > 0 && time.Since(p.began) > 500*time.Millisecond && time.Since(p.told) > 100*time.Millisecond {
		p.told = time.Now()
		fmt.Fprintf(p.env.Err, "\r%s %3d%%", visible(p.name), 100*p.read/p.size)
	}
	return n, err
}

func (p *progress) done() {
	if !p.told.IsZero() {
		fmt.Fprintf(p.env.Err, "\r%*s\r", len(p.name)+5, "")
	}
}

// steps tells a person who watches how far a long work is.
type steps struct {
	env         *Env
	all         int
	width       int
	began, told time.Time
}

func newSteps(env *Env, all int) *steps { return &steps{env: env, all: all, began: time.Now()} }

func (s *steps) step(n int, what string) {
	if !s.env.Interactive || s.env.Quiet || time.Since(s.began) < 500*time.Millisecond || time.Since(s.told) < 100*time.Millisecond {
		return
	}
	s.told = time.Now()
	line := fmt.Sprintf("session %d of %d (%s)", n+1, s.all, what)
	s.width = max(s.width, len(line))
	fmt.Fprintf(s.env.Err, "\r%-*s", s.width, line)
}

func (s *steps) done() {
	if s.width > 0 {
		fmt.Fprintf(s.env.Err, "\r%*s\r", s.width, "")
	}
}
