package ingest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/reflect"
	"github.com/reverie-memory/reverie/reflect/transcript"
	"github.com/reverie-memory/reverie/reflect/transcript/past"
)

// Found sums up one agent's store of this repository's sessions.
type Found struct {
	Agent    string   `json:"agent"`
	Places   []string `json:"places"` // folders and files that were searched
	Sessions int      `json:"sessions"`
	New      int      `json:"new"`  // not taken yet, or changed since
	Size     int64    `json:"size"` // of the new ones, in bytes; 0 if the store does not tell
}

// Past holds the sessions of this repository in the agents' stores.
type Past struct {
	Found []Found
	All   []past.Session // oldest first
	New   []past.Session // of All, those not taken in their present state

	Partial bool // not every store was searched until the query's time

	// Results of Take.
	Sessions []reflect.Kept
	Events   int
	Secrets  int
	BadLines int
	Unread   int // sessions

	in     *Ingester
	ledger *ledger
	until  time.Time // when Take begins no further session; zero: never
}

// LookBack finds the sessions of this repository in the agents' stores. It uses Since, Agents and
// Until of the query. It writes nothing. A limit other than 0 bounds the new sessions.
func (in *Ingester) LookBack(ctx context.Context, q past.Query, limit int) (*Past, error) {
	p, err := in.lookBack(ctx, q, in.Asker() != "")
	if err == nil && limit > 0 && len(p.New) > limit {
		p.New = p.New[:limit]
	}
	return p, err
}

// lookBack is LookBack for an agent, if the sessions are offered, or for a person.
func (in *Ingester) lookBack(ctx context.Context, q past.Query, offered bool) (*Past, error) {
	homes, err := Homes()
	if err != nil {
		return nil, err
	}
	p := &Past{in: in, ledger: readLedger(in.State)}
	p.ledger.offered = offered
	trees, err := in.Repo.WorkTrees(ctx)
	if err != nil {
		return nil, err
	}
	for _, dir := range trees {
		text, _ := in.Scanner.Text(dir)
		p.ledger.addTree(text.String())
	}
	homes[transcript.Aider] = trees
	q.Dirs = append(slices.Clone(trees), p.ledger.goneTrees()...)
	all, failed := past.Find(ctx, homes, q)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(failed) > 0 && errors.Is(failed[0], past.ErrUntil) {
		p.Partial, failed = true, failed[1:]
	}
	for i, err := range failed {
		if i == maxTold {
			in.note(MorePassed(len(failed) - i))
			break
		}
		in.note(Passed{err})
	}
	p.All = slices.DeleteFunc(all, func(s past.Session) bool { return in.tracked(ctx, s) })
	p.count(homes, q.Agents, p.All)
	return p, nil
}

// tracked reports whether a session is in a file of the work tree that git tracks. Such a file may
// have come with the repository, and hold the words of strangers.
func (in *Ingester) tracked(ctx context.Context, s past.Session) bool {
	if s.Client != string(transcript.Aider) {
		return false
	}
	repo, err := git.FindCached(ctx, s.Dir)
	if err != nil {
		return true
	}
	out, err := repo.Git(ctx, nil, "-C", s.Dir, "--git-dir="+repo.GitDir, "--work-tree="+s.Dir, "ls-files", "-z", "--", filepath.Base(s.File))
	return err != nil || len(out) > 0
}

// count sums up each store, and selects the new sessions.
func (p *Past) count(homes past.Homes, agents []string, all []past.Session) {
	at := map[string]int{}
	for _, s := range homes.Stores() {
		if agents != nil && !slices.Contains(agents, s.Client) {
			continue
		}
		i, ok := at[s.Client]
		if !ok {
			i = len(p.Found)
			at[s.Client] = i
			p.Found = append(p.Found, Found{Agent: s.Client, Places: []string{}})
		}
		p.Found[i].Places = append(p.Found[i].Places, s.Path)
	}
	for _, s := range all {
		f := &p.Found[at[s.Client]]
		f.Sessions++
		if !p.ledger.has(s) {
			f.New++
			f.Size += s.Size
			p.New = append(p.New, s)
		}
	}
}

// A batch is studied and dropped before the next is read. That bounds memory, and an interruption
// loses one batch.
const (
	batchSessions = 50
	batchBytes    = 64 << 20
)

// Take ingests the new sessions in batches, and calls study on each batch.
func (p *Past) Take(ctx context.Context, study func(context.Context, []string) error) error {
	if len(p.New) == 0 {
		if p.ledger.lines == 0 {
			return nil // a repository without sessions gets no state folder
		}
		return p.ledger.write(p.in.Repo)
	}
	sessions := p.in.sessions(ctx)
	sessions.Offered = p.ledger.offered
	defer func() { p.in.note(Step{N: len(p.New), All: len(p.New)}) }()
	next := 0
	late := func() bool { return next > 0 && !p.until.IsZero() && time.Now().After(p.until) }
	for next < len(p.New) && !late() {
		var names []string
		size := int64(0)
		for first := next; next < len(p.New) && next-first < batchSessions && size < batchBytes && !late(); next++ {
			s := p.New[next]
			p.in.note(Step{next, len(p.New), s.Client})
			kept, err := p.take(ctx, sessions, s)
			if err != nil {
				return err
			}
			for _, k := range kept {
				names = append(names, k.Name())
				p.Events += k.Events
				p.Secrets += k.Redacted.Found
				k.Redacted = redact.Report{Found: k.Redacted.Found}
				p.Sessions = append(p.Sessions, k)
			}
			size += s.Size
		}
		if err := study(ctx, names); err != nil {
			return err
		}
		if err := p.ledger.write(p.in.Repo); err != nil {
			return err
		}
	}
	p.Partial = p.Partial || next < len(p.New)
	return nil
}

// take ingests one session. It counts and skips an unreadable one. It fails only at the end of ctx,
// or if the state folder is not writable.
func (p *Past) take(ctx context.Context, sessions reflect.Sessions, s past.Session) ([]reflect.Kept, error) {
	got, err := ingest(ctx, sessions, s)
	p.BadLines += got.Skipped
	var path *os.PathError
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil:
		p.ledger.add(s, p.in.Now())
	case errors.Is(err, transcript.ErrEmpty), errors.Is(err, transcript.ErrUnknownFormat), errors.Is(err, transcript.ErrBinary):
		p.ledger.add(s, p.in.Now()) // until it changes
		p.Unread++
	case errors.As(err, &path) && strings.HasPrefix(path.Path, p.in.State):
		return nil, err
	default:
		if p.Unread++; p.Unread <= maxTold {
			p.in.note(Passed{fmt.Errorf("%s/%s: %w", s.Client, s.ID, err)})
		}
	}
	return got.Sessions, nil
}

// Read reads a session of a store and keeps nothing. It passes the session to each, with its events
// without the secrets that a scanner finds. Several goroutines may call it.
func Read(ctx context.Context, c *clone.Clone, scan *redact.Scanner, s past.Session, each func(transcript.Session, []transcript.Event) error) error {
	sessions := c.Sessions
	sessions.Scanner = scan
	r, err := s.Open(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	return sessions.Read(ctx, named{r, s.File}, transcript.Format(s.Client), each)
}

func ingest(ctx context.Context, sessions reflect.Sessions, s past.Session) (reflect.Ingested, error) {
	r, err := s.Open(ctx)
	if err != nil {
		return reflect.Ingested{}, err
	}
	defer r.Close()
	return sessions.Ingest(ctx, named{r, s.File}, transcript.Format(s.Client), nil)
}
