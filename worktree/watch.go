package worktree

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"time"
)

// watch runs a phase's doer, and cancels it if the loop must end; ended is then the event. It
// returns when the doer has returned.
func (r *loop) watch(ctx context.Context, do Doer) (out Outcome, ended Event, err error) {
	l, err := r.record.LoadOwn(ctx)
	if err != nil {
		return out, ended, err
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	var heard atomic.Int64
	began := time.Now()
	heard.Store(began.UnixNano())
	seen := newTail(r.place.folder, r.record.scanner, r.state, began)
	defer forget(r.place.folder)
	defer r.lease.Began(0) // its number may be another's soon
	done := make(chan error, 1)
	go func() {
		err := errors.New("what does the phase gave up")
		defer func() { done <- err }()
		out, err = do(inner, Turn{
			Loop: l, Dir: r.place.Dir, Began: r.lease.Began,
			Heard: func() { heard.Store(time.Now().UnixNano()) },
			Live:  seen,
			Env: []string{
				"REVERIE_LOOP=" + r.state.Name, "REVERIE_PHASE=" + string(r.state.Phase), "REVERIE_ITERATION=" + strconv.Itoa(r.state.Iteration), r.mark(),
			},
		})
	}()
	set := r.state.Settings
	stalls := r.state.Stalls // of a process that was killed
	tick := time.NewTicker(look)
	defer tick.Stop()
	for looks := 1; ; looks++ {
		select {
		case err = <-done:
			return out, ended, err
		case <-tick.C:
		}
		if looks%liveLook == 0 {
			seen.keep(time.Unix(0, heard.Load()))
		}
		if ended.Kind != "" {
			continue
		}
		since := time.Since(time.Unix(0, heard.Load())).Seconds()
		silent := 0
		if set.StallTime > 0 {
			silent = int(since / set.StallTime)
		}
		switch {
		case r.cancelled():
			ended = Event{Kind: Halted, Reason: Cancelled}
		case set.TotalTime > 0 && r.state.Spent+time.Since(began).Seconds() >= set.TotalTime:
			ended = Event{Kind: Halted, Reason: TimeOver, Why: "the loop has had its " + plural(int(set.TotalTime), "second")}
		case silent != stalls: // less: something is heard again
			stalls = silent
			e := Event{Kind: Silent, Count: silent, Why: "no output for " + plural(int(since), "second")}
			if set.MaxStalls > 0 && silent >= set.MaxStalls {
				ended = e
			} else if err := r.take(ctx, Step{Event: e}); err != nil {
				cancel()
				<-done
				return out, ended, err
			}
		}
		if ended.Kind != "" {
			cancel()
		}
	}
}
