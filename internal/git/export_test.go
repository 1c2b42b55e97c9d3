package git

import (
	"testing"
	"time"
)

// Settled sets how old the configuration has to be before an answer is kept.
func Settled(t testing.TB, d time.Duration) {
	old := settled
	settled = d
	t.Cleanup(func() { settled = old })
}
