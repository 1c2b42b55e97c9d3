package brief

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/internal/testrepo"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// Concurrent injections into sessions do not mix, and none loses a line.
func TestLedgerOfParallelSessions(t *testing.T) {
	r := testrepo.New(t)
	repo, err := git.Find(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	l := Ledger{Repo: repo, Scanner: redact.New()}
	const each = 40
	var wg sync.WaitGroup
	for s := range 4 {
		for half := range 2 {
			wg.Go(func() {
				for i := range each / 2 {
					in := Injection{Session: fmt.Sprintf("claude/s%d", s), For: Prompt, Items: []Given{{ID: fmt.Sprintf("%d-%d-%d", s, half, i)}}}
					in.SetText(strings.Repeat("x", i))
					if err := l.Add(&in, noon.Add(time.Duration(half*each+i)*time.Second)); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
	ids := map[string]bool{}
	for s := range 4 {
		name := fmt.Sprintf("claude/s%d", s)
		all := l.Session(name)
		for _, in := range all {
			if in.Session != name || !strings.HasPrefix(in.Items[0].ID, fmt.Sprintf("%d-", s)) {
				t.Errorf("%s has %+v", name, in)
			}
			ids[in.ID] = true
		}
		if len(all) != each {
			t.Errorf("%s: %d lines, want %d", name, len(all), each)
		}
	}
	if len(ids) != 4*each {
		t.Errorf("%d ids, want %d", len(ids), 4*each)
	}
	if err := l.Expire(time.Now().Add(time.Hour)); err != nil || len(l.All(0)) != 0 {
		t.Errorf("%v; %d stay", err, len(l.All(0)))
	}
}

// A requested budget replaces that of the settings, unless the settings disable it.
func TestBudgetOfARequest(t *testing.T) {
	for _, c := range []struct{ asked, setting, want int }{
		{0, 1500, 1500}, {80, 1500, 80}, {9000, 1500, 9000}, {-1, 1500, 0},
		{0, 0, 0}, {80, 0, 0}, {-1, 0, 0},
	} {
		if got := (Request{Budget: c.asked}).budget(c.setting); got != c.want {
			t.Errorf("asked for %d where the settings give %d: %d, want %d", c.asked, c.setting, got, c.want)
		}
	}
}
