package kv

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

// clock is a store's time, which a test moves.
type clock struct{ time.Time }

func (c *clock) now() time.Time { return c.Time }

func newStore(t *testing.T) (Store, *clock) {
	t.Helper()
	r := testrepo.New(t)
	repo, err := git.Find(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	c := &clock{time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	return Store{Repo: repo, Scanner: redact.New(), Now: c.now}, c
}

func (s Store) set(t *testing.T, key, value string, ttl time.Duration) {
	t.Helper()
	if _, err := s.Set(t.Context(), key, value, ttl); err != nil {
		t.Fatal(err)
	}
}

func (s Store) keys(t *testing.T, prefix string) (keys []string) {
	t.Helper()
	all, err := s.List(prefix)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		keys = append(keys, e.Key)
	}
	return keys
}

func (s Store) files(t *testing.T) int {
	t.Helper()
	names, err := s.names()
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

func TestValuesComeBackByteForByte(t *testing.T) {
	s, _ := newStore(t)
	for name, value := range map[string]string{
		"empty": "", "text": "a\n\tb  \r\n", "JSON": "{ \"a\" : [1, 2.50, \"<&>\"],\n \"é\":null }\n", "a number": "7", "odd": "\x00\u2028\ufffd\\u0041",
	} {
		t.Run(name, func(t *testing.T) {
			s.set(t, "k", value, TTL)
			e, err := s.Get("k")
			if err != nil || e.Value != value {
				t.Errorf("got %q, %v; want %q", e.Value, err, value)
			}
		})
	}
}

func TestPrefixIsLiteralAndTheNewestFirst(t *testing.T) {
	s, c := newStore(t)
	for _, key := range []string{"a%b", "axb", "a_b", "A%b", "a%b/c"} {
		s.set(t, key, "v", TTL)
		c.Time = c.Add(time.Second)
	}
	if diff := cmp.Diff([]string{"a%b/c", "a%b"}, s.keys(t, "a%")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a%b/c", "A%b", "a_b", "axb", "a%b"}, s.keys(t, "")); diff != "" {
		t.Error(diff)
	}
}

func TestExpiredIsInvisibleAtOnceAndSweptLater(t *testing.T) {
	s, c := newStore(t)
	s.set(t, "short", "v", time.Minute)
	s.set(t, "long", "v", time.Hour)
	c.Time = c.Add(time.Minute - time.Nanosecond)
	if diff := cmp.Diff([]string{"long", "short"}, s.keys(t, "")); diff != "" {
		t.Fatal(diff)
	}
	c.Time = c.Add(time.Nanosecond)
	if _, err := s.Get("short"); !errors.Is(err, ErrNoKey) {
		t.Errorf("Get of what has expired: %v", err)
	}
	if diff := cmp.Diff([]string{"long"}, s.keys(t, "")); diff != "" {
		t.Error(diff)
	}
	if n := s.files(t); n != 2 {
		t.Fatalf("%d files before the sweep, want 2", n)
	}
	s.set(t, "other", "v", TTL)
	if n := s.files(t); n != 2 { // long and other
		t.Errorf("%d files after the sweep, want 2", n)
	}
}

func TestSweepWaitsForADay(t *testing.T) {
	s, c := newStore(t)
	c.Time = time.Now()
	s.set(t, "k", "v", time.Minute)
	for _, step := range []struct {
		after time.Duration
		files int
	}{{time.Hour, 1}, {24 * time.Hour, 0}} {
		c.Time = c.Add(step.after)
		if err := s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := s.files(t); n != step.files {
			t.Errorf("after %v: %d files, want %d", step.after, n, step.files)
		}
	}
}

func TestClockGoesBack(t *testing.T) {
	s, c := newStore(t)
	real := c.Time
	c.Time = real.AddDate(50, 0, 0) // it was wrong when this was written
	s.set(t, "future", "v", time.Hour)
	c.Time = real
	e, err := s.Get("future")
	if err != nil || !e.Set.Equal(real) || !e.Expires.Equal(real.Add(time.Hour)) {
		t.Fatalf("got %+v, %v; want it as new", e, err)
	}
	s.set(t, "other", "v", TTL) // sweeps
	c.Time = real.Add(time.Hour)
	if _, err := s.Get("future"); !errors.Is(err, ErrNoKey) {
		t.Errorf("it outlives its time, counted from the sweep: %v", err)
	}
}

func TestSecretsAreTakenOut(t *testing.T) {
	s, _ := newStore(t)
	const secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"
	for _, value := range []string{"token " + secret, `{"token": "` + secret + `"}`} {
		e, err := s.Set(t.Context(), "k", value, TTL)
		if err != nil || e.Redacted != 1 || strings.Contains(e.Value, secret) {
			t.Errorf("%s: kept %q, found %d, %v", value, e.Value, e.Redacted, err)
		}
		got, err := s.Get("k")
		if err != nil || got.Value != e.Value {
			t.Errorf("Get gives %q, Set gave %q; %v", got.Value, e.Value, err)
		}
	}
	for key, value := range map[string]string{"AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYnQ3vLwT2Xz", "db_password": "hunter2correcthorse"} {
		if e, err := s.Set(t.Context(), key, value, TTL); err != nil || e.Redacted != 1 || strings.Contains(e.Value, value) {
			t.Errorf("%s: %q, %d, %v", key, e.Value, e.Redacted, err)
		}
	}
	if e, err := s.Set(t.Context(), "password", `{"length": 12}`, TTL); err != nil || e.Value != `{"length": 12}` {
		t.Errorf("JSON under a telling key: %q, %v", e.Value, err)
	}
	if _, err := s.Set(t.Context(), secret, "v", TTL); !errors.Is(err, ErrBad) || strings.Contains(err.Error(), secret) {
		t.Errorf("a secret as key: %v", err)
	}
}

func TestBounds(t *testing.T) {
	s, _ := newStore(t)
	tests := map[string]struct {
		key, value string
		ttl        time.Duration
	}{
		"empty key": {"", "v", TTL}, "long key": {strings.Repeat("k", MaxKey+1), "v", TTL}, "spaces": {" k", "v", TTL}, "two lines": {"a\nb", "v", TTL},
		"hidden": {"a\u202eb", "v", TTL}, "long value": {"k", strings.Repeat("v ", MaxValue/2+1), TTL}, "bytes": {"k", "\xff", TTL},
		"no time": {"k", "v", 0}, "back in time": {"k", "v", -time.Hour}, "for ever": {"k", "v", MaxTTL + time.Second},
	}
	for name, tt := range tests {
		if _, err := s.Set(t.Context(), tt.key, tt.value, tt.ttl); !errors.Is(err, ErrBad) {
			t.Errorf("%s: %v, want ErrBad", name, err)
		}
	}
	if n := s.files(t); n != 0 {
		t.Errorf("%d files, want none", n)
	}
	s.set(t, strings.Repeat("k", MaxKey), strings.Repeat("v ", MaxValue/2), MaxTTL)
}

func TestNoRoomForMore(t *testing.T) {
	s, c := newStore(t)
	big := strings.Repeat("v ", MaxValue/2)
	var full error
	n := 0
	for ; full == nil && n <= MaxTotal/MaxValue; n++ {
		_, full = s.Set(t.Context(), strings.Repeat("k", n+1), big, time.Hour)
	}
	if !errors.Is(full, ErrFull) {
		t.Fatalf("after %d values: %v", n, full)
	}
	s.set(t, "k", big, time.Hour) // in the place of one
	c.Time = c.Add(time.Hour)
	s.set(t, "more", big, time.Hour) // what has expired takes no room
}

func TestDamagedFileHidesNothingElse(t *testing.T) {
	s, _ := newStore(t)
	s.set(t, "good", "v", TTL)
	s.set(t, "bad", "value", TTL)
	path := s.path(nameOf("bad"))
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), "value", "other", 2)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get("bad"); !errors.Is(err, ErrDamaged) {
		t.Errorf("Get: %v", err)
	}
	all, err := s.List("")
	if len(all) != 1 || all[0].Key != "good" || !errors.Is(err, ErrDamaged) {
		t.Errorf("List: %v, %v", all, err)
	}
	if err := s.Delete(t.Context(), "bad"); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"good"}, s.keys(t, "")); diff != "" {
		t.Error(diff)
	}
	if err := s.Delete(t.Context(), "bad"); !errors.Is(err, ErrNoKey) {
		t.Errorf("the second Delete: %v", err)
	}
}

func TestLinkInPlaceOfTheFolderIsNotFollowed(t *testing.T) {
	s, _ := newStore(t)
	s.set(t, "k", "v", TTL)
	elsewhere := filepath.Join(t.TempDir(), "kv")
	if err := os.Rename(s.path(""), elsewhere); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Clean(s.path(""))); err != nil {
		t.Skip(err)
	}
	if _, err := s.Get("k"); !errors.Is(err, ErrNoKey) {
		t.Errorf("Get: %v", err)
	}
	if _, err := s.Set(context.Background(), "k", "v", TTL); err == nil {
		t.Error("Set wrote through a link")
	}
}
