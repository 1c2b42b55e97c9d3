package term

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/clipperhouse/displaywidth"
	"github.com/reverie-memory/reverie/internal/plural"
)

// An answer longer than the screen goes through git's pager. The answer is held back until then,
// because a short one starts no pager. Messages keep their place in a short answer, and follow a
// long one.

// Paged runs fn, which may print a long answer.
func (t *Terminal) Paged(ctx context.Context, fn func() error) error {
	if t.Height <= 0 || t.JSON {
		return fn()
	}
	p := &pages{ctx: ctx, term: t, out: t.Out, err: t.Err}
	t.Out, t.Err = pagesAnswer{p}, pagesTalk{p}
	err := fn()
	t.Out, t.Err = p.out, p.err
	if ended := p.end(); err == nil || p.closed && errors.Is(err, errPagerClosed) {
		return ended
	}
	if p.pager != nil && Interrupted(err) { // Ctrl-C belongs to the pager, but git got it too
		return nil
	}
	return err
}

// pages holds an answer on its way to a screen.
type pages struct {
	ctx      context.Context
	term     *Terminal
	out, err io.Writer // the screen

	held   []chunk // not written yet, in order
	line   []byte  // the unfinished last line of the answer
	rows   int     // of the screen that the answer takes
	direct bool    // there is no pager
	pager  *exec.Cmd
	in     io.WriteCloser // of the pager
	closed bool           // the person closed it
}

type chunk struct {
	talk bool
	text []byte
}

var errPagerClosed = errors.New("the pager was closed")

type pagesAnswer struct{ *pages }

func (p pagesAnswer) Write(text []byte) (int, error) {
	if p.pager == nil && !p.direct {
		p.held = append(p.held, chunk{false, bytes.Clone(text)})
		if p.count(text); p.rows < p.term.Height {
			return len(text), nil
		}
		return len(text), p.begin()
	}
	return p.write(text)
}

type pagesTalk struct{ *pages }

func (p pagesTalk) Write(text []byte) (int, error) {
	if p.direct {
		return p.err.Write(text)
	}
	p.held = append(p.held, chunk{true, bytes.Clone(text)})
	return len(text), nil
}

// count adds the rows that text takes; overlong lines take several.
func (p *pages) count(text []byte) {
	p.line = append(p.line, text...)
	measure := displaywidth.Options{ControlSequences: true}
	for {
		line, rest, whole := bytes.Cut(p.line, []byte("\n"))
		if !whole {
			return
		}
		p.line = rest
		p.rows += max(1, (measure.Bytes(line)+7*bytes.Count(line, []byte("\t"))+p.term.Width-1)/p.term.Width)
	}
}

// begin starts the pager and sends it the answer so far. Without a pager, all goes to the screen.
func (p *pages) begin() error {
	p.pager = p.term.pager(p.ctx)
	if p.pager != nil {
		in, err := p.pager.StdinPipe()
		if err == nil {
			err = p.pager.Start()
		}
		if err != nil {
			p.term.Err = p.err
			p.term.Warn("start the pager: %v", err)
			p.term.Err = pagesTalk{p}
			p.pager = nil
		}
		p.in = in
	}
	if p.pager == nil {
		p.direct = true
		return p.release()
	}
	signal.Ignore(os.Interrupt) // the pager owns it from now on; earlier processes do not inherit that
	held := p.held
	p.held = nil
	for _, c := range held {
		if c.talk {
			p.held = append(p.held, c)
			continue
		}
		if _, err := p.write(c.text); err != nil {
			return err
		}
	}
	return nil
}

// write writes the answer once it is no longer held back.
func (p *pages) write(text []byte) (int, error) {
	if p.direct {
		return p.out.Write(text)
	}
	if p.closed {
		return 0, errPagerClosed
	}
	n, err := p.in.Write(text)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed) {
		p.closed, err = true, errPagerClosed
	}
	return n, err
}

// release writes the held output to the screen.
func (p *pages) release() error {
	held := p.held
	p.held = nil
	for _, c := range held {
		to := p.out
		if c.talk {
			to = p.err
		}
		if _, err := to.Write(c.text); err != nil {
			return err
		}
	}
	return nil
}

// end shows the rest of the held output, or waits until the person has closed the pager. The
// pager's exit status does not matter.
func (p *pages) end() error {
	if p.pager != nil {
		p.in.Close()
		_ = p.pager.Wait()
	}
	return p.release()
}

// pager returns the user's choice or git's own, not yet started, or nil. As in git, a shell runs
// anything but a plain command: it comes only from the user's own configuration and environment.
func (t *Terminal) pager(ctx context.Context) *exec.Cmd {
	if t.Program == nil {
		return nil
	}
	name, err := t.Program(ctx)
	if err != nil {
		return nil
	}
	words := strings.Fields(name)
	if len(words) == 0 || len(words) == 1 && words[0] == "cat" {
		return nil
	}
	if strings.ContainsAny(name, "|&;<>()$`\\\"'*?[#~=%") {
		words = []string{"sh", "-c", name}
	}
	cmd := exec.Command(words[0], words[1:]...) // it ends when the person ends it
	cmd.Stdout, cmd.Stderr, cmd.Env = os.Stdout, os.Stderr, os.Environ()
	for _, preset := range []string{"LESS=FRX", "LV=-c"} {
		if variable, _, _ := strings.Cut(preset, "="); os.Getenv(variable) == "" {
			cmd.Env = append(cmd.Env, preset)
		}
	}
	return cmd
}

// watched is one answer that a person waits for.
type watched struct {
	term  *Terminal
	name  string
	began time.Time
	said  atomic.Int64 // tokens
	end   chan struct{}
	ended sync.WaitGroup
	width int // of what was printed; the goroutine's until it has ended
}

// WatchAnswer shows a person who watches how far a model's answer is, from half a second on. Call
// tokens with the number of tokens so far, and done at the end. Nothing is printed if quiet.
func WatchAnswer(t *Terminal, model string, quiet bool) (tokens func(int), done func()) {
	w := &watched{term: t, name: model, began: time.Now(), end: make(chan struct{})}
	if t.Interactive && !t.Quiet && !quiet {
		w.ended.Go(w.tell)
	}
	return func(n int) { w.said.Store(int64(n)) }, w.done
}

func (t *watched) tell() {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-t.end:
			return
		}
		took := time.Since(t.began).Round(time.Second)
		line := fmt.Sprintf("%s is reading the question, %s", Visible(t.name), took)
		if n := t.said.Load(); n > 0 {
			line = fmt.Sprintf("%s: %s in %s", Visible(t.name), plural.Count(int(n), "token", "tokens"), took)
		}
		t.width = max(t.width, len(line))
		fmt.Fprintf(t.term.Err, "\r%-*s", t.width, line)
	}
}

// done takes away what was told. Nothing is told afterwards.
func (t *watched) done() {
	close(t.end)
	t.ended.Wait()
	if t.width > 0 {
		fmt.Fprintf(t.term.Err, "\r%s\r", strings.Repeat(" ", t.width))
	}
}
