package term

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reverie-memory/reverie/internal/plural"
)

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
