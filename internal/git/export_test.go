package git

import (
	"context"
	"testing"
	"time"
)

// Watched returns a context that calls tell at each sign of progress.
func Watched(ctx context.Context, tell func()) context.Context {
	return context.WithValue(ctx, watchKey{}, tell)
}

// Settled sets the minimum age of the configuration for keeping an answer.
func Settled(t testing.TB, d time.Duration) {
	old := settled
	settled = d
	t.Cleanup(func() { settled = old })
}
