package worktree

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A sign of another machine counts for a minute, before and after: its clock may be fast. A lease
// from next year is invalid.
func TestLeaseOfAnotherMachine(t *testing.T) {
	for name, c := range map[string]struct {
		off  time.Duration
		held bool
	}{
		"just now":           {0, true},
		"a while ago":        {-dead / 2, true},
		"long ago":           {-2 * dead, false},
		"a clock that's off": {dead / 2, true},
		"far in the future":  {10 * time.Hour, false},
		"a year ahead":       {365 * 24 * time.Hour, false},
		"beyond what counts": {200 * 365 * 24 * time.Hour, false},
	} {
		b := newBench(t, nil)
		text, err := json.Marshal(Holder{Host: "elsewhere.example", PID: 7, Beat: time.Now().Add(c.off)})
		if err != nil {
			t.Fatal(err)
		}
		dir, err := folder(b.repo, "one")
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, leaseFile), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if free := Free(t.Context(), b.repo, "one"); free == c.held {
			t.Errorf("%s: free %v", name, free)
		}
		if h := Held(t.Context(), b.repo, "one"); (h != nil) != c.held {
			t.Errorf("%s: held by %+v", name, h)
		}
		lease, err := TakeLease(t.Context(), b.repo, "one", "")
		if errors.Is(err, ErrHeld) != c.held {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			lease.Release()
		}
	}
}

// A name that leads out of the loops' folder, or into another loop's, cannot be viewed, held or
// taken.
func TestNamesThatLeadElsewhere(t *testing.T) {
	b := newBench(t, nil)
	loops := filepath.Join(b.repo.CommonDir, "reverie", "loops")
	for _, name := range []string{"../out", "one/tree", ".hidden", "..", ""} {
		dir := filepath.Join(loops, name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(Holder{Host: "elsewhere.example", PID: 7, Beat: time.Now()})
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, leaseFile), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if h := Held(t.Context(), b.repo, name); h != nil {
			t.Errorf("%q is held: %+v", name, h)
		}
		if err := os.Remove(filepath.Join(dir, leaseFile)); err != nil {
			t.Fatal(err)
		}
		if Free(t.Context(), b.repo, name) {
			t.Errorf("%q is free", name)
		}
		if _, err := os.Lstat(filepath.Join(dir, leaseLock)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%q has a lock: %v", name, err)
		}
		if _, err := TakeLease(t.Context(), b.repo, name, ""); err == nil || errors.Is(err, ErrHeld) {
			t.Errorf("%q is taken: %v", name, err)
		}
	}
}
