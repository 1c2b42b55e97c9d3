package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/reflect"
	"github.com/reverie-memory/reverie/reflect/transcript"
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

// foundJSON is what one agent's store has of this repository.
type foundJSON struct {
	Agent    string   `json:"agent"`
	Places   []string `json:"places"` // that were looked at
	Sessions int      `json:"sessions"`
	New      int      `json:"new"`  // not taken in yet, or changed since
	Size     int64    `json:"size"` // of the new ones, in bytes; 0 where the store does not tell
}

// backfill is one reading of the agents' stores.
type backfill struct {
	w     *workspace
	taken *taken
	found []foundJSON
	fresh []past.Session // oldest first

	// What came of it.
	sessions []reflect.Kept
	events   int
	secrets  int
	bad      int // lines
	unread   int // sessions
}

// lookBack finds the sessions of this repository in the agents' stores.
func (w *workspace) lookBack(ctx context.Context, o backfillOptions) (*backfill, error) {
	q := past.Query{}
	for _, name := range o.agents {
		if !slices.Contains(past.Agents(), name) {
			return nil, exit.Usage("it is one of "+strings.Join(past.Agents(), ", "), "%q is no agent whose sessions can be found", name)
		}
		q.Agents = append(q.Agents, name)
	}
	var err error
	if q.Since, err = parseSince(o.since, w.env.Now()); err != nil {
		return nil, err
	}
	if o.limit < 0 {
		return nil, exit.Usage("give a number of sessions", "--limit wants 1 or more")
	}
	homes, err := agentHomes()
	if err != nil {
		return nil, err
	}
	b := &backfill{w: w, taken: readTaken(w.State)}
	b.taken.offered = w.Asker() != ""
	trees, err := w.Repo.WorkTrees(ctx)
	if err != nil {
		return nil, err
	}
	for _, dir := range trees {
		text, _ := w.Scanner.Text(dir)
		b.taken.addTree(text.String())
	}
	q.Dirs = append(trees, b.taken.goneTrees()...)
	all, failed := past.Find(ctx, homes, q)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i, err := range failed {
		if i == maxBadLines {
			w.env.Warn("%d more of the agents' files cannot be read", len(failed)-i)
			break
		}
		w.env.Warn("passed over: %v", err)
	}
	b.count(homes, q.Agents, all)
	if o.limit > 0 && len(b.fresh) > o.limit {
		b.fresh = b.fresh[:o.limit]
	}
	return b, nil
}

// count sorts out what is new.
func (b *backfill) count(homes past.Homes, agents []string, all []past.Session) {
	at := map[string]int{}
	for _, s := range homes.Stores() {
		if agents != nil && !slices.Contains(agents, s.Client) {
			continue
		}
		i, ok := at[s.Client]
		if !ok {
			i = len(b.found)
			at[s.Client] = i
			b.found = append(b.found, foundJSON{Agent: s.Client, Places: []string{}})
		}
		b.found[i].Places = append(b.found[i].Places, s.Path)
	}
	for _, s := range all {
		f := &b.found[at[s.Client]]
		f.Sessions++
		if !b.taken.has(s) {
			f.New++
			f.Size += s.Size
			b.fresh = append(b.fresh, s)
		}
	}
}

// tellFound says what each store has, or where was looked in vain.
func (b *backfill) tellFound() {
	total := 0
	for _, f := range b.found {
		if f.Sessions == 0 {
			continue
		}
		total += f.Sessions
		line := fmt.Sprintf("found    %s: %s, %d new", f.Agent, term.Count(f.Sessions, "session", "sessions"), f.New)
		if f.Size > 0 {
			line += ", " + megabytes(f.Size)
		}
		b.w.env.Say("%s", line)
	}
	if total > 0 {
		return
	}
	var looked []string
	home, _ := os.UserHomeDir()
	for _, f := range b.found {
		for _, place := range f.Places {
			if rest, ok := strings.CutPrefix(place, home+string(filepath.Separator)); ok && home != "" {
				place = filepath.Join("~", rest)
			}
			looked = append(looked, place)
		}
	}
	b.w.env.Say("no session that an agent kept of this repository was found; looked in %s", strings.Join(looked, ", "))
}

func megabytes(n int64) string {
	if n < 1e6 {
		return fmt.Sprintf("%d kB", (n+999)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// maxFresh is how many sessions a dry run names.
const maxFresh = 15

// tellFresh lists what would be learned from.
func (b *backfill) tellFresh() {
	for i, s := range b.fresh {
		if i == maxFresh {
			b.w.env.Print("… and %s\n", term.Count(len(b.fresh)-i, "more session", "more sessions"))
			break
		}
		started := s.Started
		if started.IsZero() {
			started = s.Changed
		}
		b.w.env.Print("%s\t%s\t%s\n", started.Format(time.DateOnly), term.Visible(s.Client+"/"+s.ID), term.Visible(s.Dir))
	}
}

// A batch is reflected on and forgotten before the next is read, so that memory stays bounded and an interruption loses little.
const (
	batchSessions = 50
	batchBytes    = 64 << 20
)

// learn takes in what is new, a batch at a time, and reflects on it.
func (b *backfill) learn(ctx context.Context, l *lesson) error {
	if len(b.fresh) == 0 {
		if b.taken.lines == 0 {
			return nil // a repository without sessions gets no folder of ours
		}
		return b.taken.write(b.w)
	}
	if _, err := b.w.ensure(ctx); err != nil {
		return err
	}
	b.w.Sessions.Scanner = redact.New(b.w.AllSecrets(ctx)...)
	b.w.Sessions.Offered = b.taken.offered
	shown := term.NewSteps(&b.w.env.Terminal, len(b.fresh))
	defer shown.Done()
	for next := 0; next < len(b.fresh); {
		var names []string
		size := int64(0)
		first := next
		for ; next < len(b.fresh) && next-first < batchSessions && size < batchBytes; next++ {
			s := b.fresh[next]
			shown.Step(next, s.Client)
			kept, err := b.take(ctx, s)
			if err != nil {
				return err
			}
			for _, k := range kept {
				names = append(names, k.Name())
				b.events += k.Events
				b.secrets += k.Redacted.Found
				k.Redacted = redact.Report{Found: k.Redacted.Found}
				b.sessions = append(b.sessions, k)
			}
			size += s.Size
		}
		if err := b.w.reflectOn(ctx, names, l); err != nil {
			return err
		}
		if err := b.taken.write(b.w); err != nil {
			return err
		}
	}
	return nil
}

// take ingests one session. One that cannot be read is counted and passed over; only the end of ctx, and a folder of ours that
// cannot be written, are errors.
func (b *backfill) take(ctx context.Context, s past.Session) ([]reflect.Kept, error) {
	in, err := b.ingest(ctx, s)
	b.bad += in.Skipped
	var path *os.PathError
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil:
		b.taken.add(s, b.w.env.Now())
	case errors.Is(err, transcript.ErrEmpty), errors.Is(err, transcript.ErrUnknownFormat), errors.Is(err, transcript.ErrBinary):
		b.taken.add(s, b.w.env.Now()) // until it changes
		b.unread++
	case errors.As(err, &path) && strings.HasPrefix(path.Path, b.w.State):
		return nil, err
	default:
		if b.unread++; b.unread <= maxBadLines {
			b.w.env.Warn("passed over: %s/%s: %v", s.Client, s.ID, err)
		}
	}
	return in.Sessions, nil
}

func (b *backfill) ingest(ctx context.Context, s past.Session) (reflect.Ingested, error) {
	r, err := s.Open(ctx)
	if err != nil {
		return reflect.Ingested{}, err
	}
	defer r.Close()
	return b.w.Sessions.Ingest(ctx, transcriptOf{r, s.File}, transcript.Format(s.Client), nil)
}

// transcriptOf is a transcript with the name of its file.
type transcriptOf struct {
	io.Reader
	name string
}

func (t transcriptOf) Name() string { return t.name }

// tell says what was taken in.
func (b *backfill) tell() {
	if len(b.fresh) == 0 {
		return
	}
	line := fmt.Sprintf("ingest   %s, %s", term.Count(len(b.sessions), "session", "sessions"), term.Count(b.events, "event", "events"))
	if b.secrets > 0 {
		line += fmt.Sprintf(", %s redacted", term.Count(b.secrets, "secret", "secrets"))
	}
	if b.bad > 0 {
		line += fmt.Sprintf(", %s skipped", term.Count(b.bad, "bad line", "bad lines"))
	}
	if b.unread > 0 {
		line += fmt.Sprintf(", %s without a transcript that can be read", term.Count(b.unread, "session", "sessions"))
	}
	b.w.env.Say("%s", line)
}
