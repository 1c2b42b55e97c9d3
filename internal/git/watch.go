package git

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"
)

// longest limits watched work to this multiple of its time limit, whatever its progress: a remote
// can feign progress forever.
const longest = 10

// Watch ends work on repositories that makes no progress. It is safe for concurrent use.
type Watch struct {
	limit, all time.Duration
	cancel     context.CancelCauseFunc

	mu         sync.Mutex
	still, end *time.Timer // both stopped while paused
	paused     bool
}

// watchKey marks a watched context; its value is a func() to call on progress.
type watchKey struct{}

// NewWatch returns a context that is cancelled, with a telling cause, after limit without progress
// or after ten times limit. Progress means an object read or saved, the end of a git process, and
// output of one that talks to a remote. The caller ends the watch with Stop.
func NewWatch(ctx context.Context, limit time.Duration) (context.Context, *Watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &Watch{limit: limit, cancel: cancel, all: longest * min(limit, math.MaxInt64/longest)}
	w.still = time.AfterFunc(w.limit, func() { cancel(fmt.Errorf("not done within %s of the last progress", w.limit)) })
	w.end = time.AfterFunc(w.all, func() { cancel(fmt.Errorf("not done within %s", w.all)) })
	return context.WithValue(ctx, watchKey{}, w.progress), w
}

// Stop ends the watch and its context.
func (w *Watch) Stop() {
	w.Pause()
	w.cancel(nil)
}

// Pause stops the watch, for example while a person thinks.
func (w *Watch) Pause() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.paused = true
	w.still.Stop()
	w.end.Stop()
}

// Resume restarts a paused watch with its full limit.
func (w *Watch) Resume() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.paused = false
	w.still.Reset(w.limit)
	w.end.Reset(w.all)
}

// progress notifies the watch of ctx, if it has one.
func progress(ctx context.Context) {
	if tell, ok := ctx.Value(watchKey{}).(func()); ok {
		tell()
	}
}

func (w *Watch) progress() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.paused {
		w.still.Reset(w.limit)
	}
}
