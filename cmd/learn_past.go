package cmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/learn/ingest"
	"github.com/reverie-memory/reverie/internal/period"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/reflect/transcript/past"
)

// Learning from what the agents kept of earlier sessions, in their own stores on this machine.

// backfillOptions say which of the past sessions are learned from.
type backfillOptions struct {
	since  string
	limit  int
	agents []string
	dryRun bool
}

// given reports whether one was asked for.
func (o backfillOptions) given() bool {
	return o.since != "" || o.limit != 0 || len(o.agents) > 0 || o.dryRun
}

// query returns the query for the agents' stores.
func (o backfillOptions) query(now time.Time) (q past.Query, err error) {
	for _, name := range o.agents {
		if !slices.Contains(past.Agents(), name) {
			return q, exit.Usage("it is one of "+strings.Join(past.Agents(), ", "), "%q is not an agent whose sessions learn can find", name)
		}
		q.Agents = append(q.Agents, name)
	}
	q.Since, err = parseSince(o.since, now)
	return q, err
}

// parseSince reads a date, or how long ago.
func parseSince(text string, now time.Time) (time.Time, error) {
	t, ok := period.Since(text, now)
	if !ok {
		return t, exit.Usage("use 2026-11-01, 30d, 2w or 12h", "--since: %q is not a time", text)
	}
	return t, nil
}

// lookBack finds the sessions of this repository in the agents' stores.
func lookBack(ctx context.Context, w *workspace, o backfillOptions) (*ingest.Past, error) {
	q, err := o.query(w.env.Now())
	if err != nil {
		return nil, err
	}
	return ingester(w).LookBack(ctx, q, o.limit)
}

// tellFound says what each store has, or where was looked in vain.
func tellFound(w *workspace, found []ingest.Found) {
	total := 0
	for _, f := range found {
		if f.Sessions == 0 {
			continue
		}
		total += f.Sessions
		line := fmt.Sprintf("found    %s: %s, %d new", f.Agent, plural.Count(f.Sessions, "session", "sessions"), f.New)
		if f.Size > 0 {
			line += ", " + megabytes(f.Size)
		}
		stage(w, false, "%s", line)
	}
	if total > 0 {
		return
	}
	var places []string
	for _, f := range found {
		places = append(places, f.Places...)
	}
	tellNowhere(w, places)
}

// tellNowhere says where sessions were searched in vain.
func tellNowhere(w *workspace, places []string) {
	if home, err := os.UserHomeDir(); err == nil {
		for i, place := range places {
			if rest, ok := strings.CutPrefix(place, home+string(filepath.Separator)); ok {
				places[i] = filepath.Join("~", rest)
			}
		}
	}
	w.env.Say("no agent session of this repository was found; searched %s", strings.Join(places, ", "))
}

func megabytes(n int64) string {
	if n < 1e6 {
		return fmt.Sprintf("%d kB", (n+999)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// maxFresh bounds the sessions that a dry run names.
const maxFresh = 15

// tellFresh lists what would be learned from.
func tellFresh(w *workspace, fresh []past.Session) {
	for i, s := range fresh {
		if i == maxFresh {
			w.env.Print("… and %s\n", plural.Count(len(fresh)-i, "more session", "more sessions"))
			break
		}
		started := s.Started
		if started.IsZero() {
			started = s.Changed
		}
		w.env.Print("%s\t%s\t%s\n", started.Format(time.DateOnly), term.Visible(s.Client+"/"+s.ID), term.Visible(s.Dir))
	}
}

// tellPast sums up what was read from the stores.
func tellPast(w *workspace, p *ingest.Past) {
	if len(p.New) == 0 {
		return
	}
	line := ingested{len(p.Sessions), p.Events, p.Secrets, p.BadLines}.String()
	if p.Unread > 0 {
		line += fmt.Sprintf(", %s without a transcript that can be read", plural.Count(p.Unread, "session", "sessions"))
	}
	stage(w, p.Secrets+p.Unread > 0, "ingest   %s", line)
}
