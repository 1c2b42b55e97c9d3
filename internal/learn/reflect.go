package learn

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/learn/inbox"
	"github.com/reverie-memory/reverie/reflect"
)

// SessionNames returns the names of all kept sessions, the oldest first.
func (l *Learner) SessionNames() []string {
	var names []string
	for _, k := range l.sessions() {
		names = append(names, k.Name())
	}
	return names
}

// sessions lists the kept sessions, and reports those that cannot be read.
func (l *Learner) sessions() []reflect.Kept {
	kept, err := l.Sessions.List()
	if err != nil {
		l.Note(inbox.Doubt{Err: err})
	}
	return kept
}

// Pending returns the names of kept sessions without a reflection of their present state, oldest
// first. It reads no events. It includes sessions whose file lacks a hash.
func (l *Learner) Pending(ctx context.Context) ([]string, error) {
	var all []record.Reflection // with the ids that Study would give them
	for _, k := range l.sessions() {
		all = append(all, record.Reflection{Client: k.Client, Session: k.ID, Started: k.Started, Hash: k.Hash})
	}
	all, err := l.Unkept(ctx, all)
	var names []string
	for _, r := range all {
		names = append(names, r.Client+"/"+r.Session)
	}
	return names, err
}

// Unkept returns the reflections that the journal lacks. One without a hash counts as lacking.
func (l *Learner) Unkept(ctx context.Context, all []record.Reflection) ([]record.Reflection, error) {
	var out []record.Reflection
	err := l.View(ctx, func(v *record.View, _ clone.Team) error {
		out = nil
		for _, r := range all {
			if len(r.Hash) < sha256.Size*2 || !v.Journal().Has(r) {
				out = append(out, r)
			}
		}
		return nil
	})
	if clone.NoMemory(err) {
		return all, nil
	}
	return out, err
}

// Study reads sessions and reflects on each. A lenient Study reports an unreadable session and
// continues.
func (l *Learner) Study(ctx context.Context, names []string, lenient bool) ([]record.Reflection, error) {
	var out []record.Reflection
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		kept, events, err := l.Sessions.Load(name)
		if err != nil && lenient {
			l.Note(inbox.Doubt{Err: err})
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reflect: %w", err)
		}
		out = append(out, reflect.Study(kept.Session, events))
	}
	return out, nil
}

// KeepReflections writes the reflections that the journal lacks in one commit, and returns them. A
// further reading by a model is written beside the earlier ones if it found something else. It
// writes none if a purge came since the mark, because they may quote purged text.
func (l *Learner) KeepReflections(ctx context.Context, studied []record.Reflection, purges string) ([]record.Reflection, error) {
	var fresh []record.Reflection
	err := l.Update(ctx, func(tx *record.Tx, _ clone.Team) error {
		fresh = nil
		if err := purge.Since(l.State, purges); err != nil {
			return fmt.Errorf("reflect: %w", err)
		}
		for _, r := range studied {
			if tx.Journal().Has(r) {
				further, err := further(l, tx.Journal(), r)
				if err != nil {
					return err
				}
				if further == nil {
					continue
				}
				r = *further
			}
			if err := tx.PutReflection(record.Journal, r); err != nil {
				return err
			}
			fresh = append(fresh, r)
		}
		tx.Describe(reflectionCommit(fresh))
		return nil
	})
	return fresh, err
}

// further returns a model's reading as a record beside the earlier ones by that model, with a hash
// of its own as the digest. It returns nil if they hold all of its candidates.
func further(l *Learner, j record.Records, r record.Reflection) (*record.Reflection, error) {
	if r.Model == "" {
		return nil, nil
	}
	earlier, err := j.ReflectionsOf(r.Client + "/" + r.Session)
	if err := l.Tolerate(err); err != nil {
		return nil, err
	}
	held := map[string]bool{}
	for _, e := range earlier {
		if e.Model == r.Model && e.Hash == r.Hash {
			for _, c := range e.Candidates {
				text, _ := json.Marshal(c)
				held[string(text)] = true
			}
		}
	}
	for _, c := range r.Candidates {
		if text, _ := json.Marshal(c); !held[string(text)] {
			text, err := r.Format()
			r.Digest = fmt.Sprintf("%x", sha256.Sum256(text))
			return &r, err
		}
	}
	return nil, nil
}

func reflectionCommit(fresh []record.Reflection) gitstore.Commit {
	c := gitstore.Commit{Subject: "reflect: " + inbox.Count(len(fresh), "session"), Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "reflect"}}}
	if len(fresh) == 1 {
		c.Subject = fmt.Sprintf("reflect: %s/%s", fresh[0].Client, fresh[0].Session)
	}
	for _, r := range fresh {
		c.Trailers = append(c.Trailers, gitstore.Trailer{Key: "Reverie-Session", Value: r.Client + "/" + r.Session})
		if r.Model != "" {
			c.Trailers = append(c.Trailers, gitstore.Trailer{Key: "Reverie-Model", Value: r.Model}, gitstore.Trailer{Key: "Reverie-Prompt", Value: r.Prompt})
		}
	}
	return c
}

// Tally counts the candidates of one reflection.
type Tally struct {
	Session        string
	Found, Refused int
}

// Tallies counts the candidates of reflections.
func Tallies(all []record.Reflection) Studied {
	var out Studied
	for _, r := range all {
		t := Tally{Session: r.Client + "/" + r.Session}
		for _, c := range r.Candidates {
			if c.Detector != record.Order { // dream counts these
				t.Found++
			}
		}
		for _, n := range r.Dropped {
			t.Refused += n
		}
		out = append(out, t)
	}
	return out
}
