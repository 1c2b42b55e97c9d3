package git

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestWatch(t *testing.T) {
	const limit = time.Minute
	for name, c := range map[string]struct {
		work func(context.Context, *Watch)
		ends time.Duration
		why  string
	}{
		"still": {func(context.Context, *Watch) {}, limit, "not done within 1m0s of the last progress"},
		"stops": {func(ctx context.Context, _ *Watch) {
			for range 5 {
				time.Sleep(limit * 9 / 10)
				progress(ctx)
			}
		}, 5*limit*9/10 + limit, "not done within 1m0s of the last progress"},
		"feigns": {func(ctx context.Context, _ *Watch) {
			for ctx.Err() == nil {
				time.Sleep(time.Second)
				progress(ctx)
			}
		}, 10 * limit, "not done within 10m0s"},
		"asks": {func(ctx context.Context, w *Watch) {
			w.Pause()
			time.Sleep(100 * limit)
			progress(ctx) // by other work: the watch stays paused
			time.Sleep(100 * limit)
			w.Resume()
		}, 201 * limit, "not done within 1m0s of the last progress"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				ctx, w := NewWatch(t.Context(), limit)
				defer w.Stop()
				var working sync.WaitGroup
				working.Go(func() { c.work(ctx, w) })
				<-ctx.Done()
				took := time.Since(began)
				working.Wait()
				if why := context.Cause(ctx).Error(); took != c.ends || why != c.why {
					t.Errorf("after %s: %s; want %s: %s", took, why, c.ends, c.why)
				}
			})
		})
	}
}

// A limit near the largest duration must not overflow to one in the past.
func TestWatchTakesAnyLimit(t *testing.T) {
	ctx, w := NewWatch(t.Context(), 1<<63-1)
	defer w.Stop()
	if w.all < 1<<62 || ctx.Err() != nil {
		t.Errorf("%s: %v", w.all, context.Cause(ctx))
	}
}
