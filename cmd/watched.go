package cmd

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reverie-memory/reverie/internal/model"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/term"
)

// watched tells a person who watches how far an answer is, from half a second on.
type watched struct {
	env   *Env
	name  string
	began time.Time
	said  atomic.Int64 // tokens
	end   chan struct{}
	ended sync.WaitGroup
	width int // of what was printed; the goroutine's until it has ended
}

// watch shows a person who watches how far the answer to a question is.
func watch(env *Env) model.Watch {
	return func(name string) (func(int), func()) {
		t := &watched{env: env, name: name, began: time.Now(), end: make(chan struct{})}
		if env.Interactive && !env.Quiet && !env.background {
			t.ended.Go(t.tell)
		}
		return func(n int) { t.said.Store(int64(n)) }, t.done
	}
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
		line := fmt.Sprintf("%s is reading the question, %s", term.Visible(t.name), took)
		if n := t.said.Load(); n > 0 {
			line = fmt.Sprintf("%s: %s in %s", term.Visible(t.name), plural.Count(int(n), "token", "tokens"), took)
		}
		t.width = max(t.width, len(line))
		fmt.Fprintf(t.env.Err, "\r%-*s", t.width, line)
	}
}

// done takes away what was told. Nothing is told afterwards.
func (t *watched) done() {
	close(t.end)
	t.ended.Wait()
	if t.width > 0 {
		fmt.Fprintf(t.env.Err, "\r%s\r", strings.Repeat(" ", t.width))
	}
}
