package term

import (
	"fmt"
	"io"
	"time"
)

// progress reads a file and, after half a second, shows its progress to a watching person.
type progress struct {
	io.Reader
	term        *Terminal
	name        string
	size, read  int64
	began, told time.Time
}

// NewProgress is for a reader of size bytes. Size 0 means unknown, and no progress is shown.
func NewProgress(term *Terminal, name string, r io.Reader, size int64) *progress {
	return &progress{Reader: r, term: term, name: name, size: size, began: time.Now()}
}

func (p *progress) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	p.read += int64(n)
	if p.term.Interactive && !p.term.Quiet && p.size > 0 && time.Since(p.began) > 500*time.Millisecond && time.Since(p.told) > 100*time.Millisecond {
		p.told = time.Now()
		fmt.Fprintf(p.term.Err, "\r%s %3d%%", Visible(p.name), 100*p.read/p.size)
	}
	return n, err
}

func (p *progress) Done() {
	if !p.told.IsZero() {
		fmt.Fprintf(p.term.Err, "\r%*s\r", len(p.name)+5, "")
	}
}

// steps shows the progress of long work to a watching person.
type steps struct {
	term        *Terminal
	all         int
	width       int
	began, told time.Time
}

func NewSteps(term *Terminal, all int) *steps { return &steps{term: term, all: all, began: time.Now()} }

func (s *steps) Step(n int, what string) {
	if !s.term.Interactive || s.term.Quiet || time.Since(s.began) < 500*time.Millisecond || time.Since(s.told) < 100*time.Millisecond {
		return
	}
	s.told = time.Now()
	line := fmt.Sprintf("session %d of %d (%s)", n+1, s.all, what)
	s.width = max(s.width, len(line))
	fmt.Fprintf(s.term.Err, "\r%-*s", s.width, line)
}

func (s *steps) Done() {
	if s.width > 0 {
		fmt.Fprintf(s.term.Err, "\r%*s\r", s.width, "")
	}
}
