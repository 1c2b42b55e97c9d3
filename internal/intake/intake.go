// Package intake imports statements from files and other tools' stores into a clone: into the
// inbox, or into memory if a person has reviewed them. Begin with Read or Intake.Store.
package intake

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/record/transfer"
	"github.com/reverie-memory/reverie/hooks/setup/agents"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/foreign"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/internal/redact"
)

// Intake imports statements of files and of other tools' stores into a clone.
type Intake struct {
	*reader.Reader
	Create func(context.Context) error // creates the memory branch if it is missing
	Report func(Note)                  // hears notes as they come
}

// Note reports a step of an intake, or something that it skipped. cmd words it.
type Note interface{}

// Notes of this package.
type (
	Redacted   int // secrets that were taken out
	Unreadable struct {
		Tool string
		N    int
	} // entries that cannot be read
	Doubled struct{ Tool, Key string } // a second entry with a key, skipped
	Refused struct {
		Tool, Key string
		Err       error
	} // an entry that makes no memory, skipped
	Shortened struct {
		Tool   string
		N, Max int
	} // texts that were cut after Max characters
	Nothing struct{ Tool, Place string } // a store without any wanted entry
	Missing struct{ Err error }          // one of all stores does not exist
	Failed  struct{ Err error }          // one of all stores cannot be read
)

// Options control an import.
type Options struct {
	Accept   bool   // they were reviewed: into memory, not the inbox
	DryRun   bool   // nothing is written
	Filter   string // only texts of a store that contain it, in any case
	MaxChars int    // of one statement of a store, including its body
}

// Batch is the content of one import.
type Batch struct {
	Memories []record.Memory // as Clean returns them
	Why      string          // the reason that each operation gives
	From     string          // the tool that owns the store; empty for a file

	gone  func(*record.View) []record.Memory
	apart bool // identified by their words alone, which others may repeat; see markNear
}

// Clean returns memories without their secrets.
func (in *Intake) Clean(memories []record.Memory) []record.Memory {
	memories = slices.Clone(memories)
	found := redact.Report{}
	for i, m := range memories {
		var report redact.Report
		memories[i], report = transfer.Clean(m, in.Book, in.Scanner)
		found.Add(report)
	}
	if found.Found > 0 {
		in.Report(Redacted(found.Found))
	}
	return memories
}

// Take puts a batch into the inbox or, if it was reviewed, into memory. Removals from a store
// always wait in the inbox, because they have had no review.
func (in *Intake) Take(ctx context.Context, b Batch, o Options) (transfer.Result, error) {
	var p planned
	plan := func(v *record.View) (err error) {
		p, err = in.plan(v, b, o)
		return err
	}
	if o.DryRun {
		err := in.View(ctx, plan)
		if errors.Is(err, gitstore.ErrNoStore) {
			return transfer.Result{Added: len(b.Memories)}, nil
		}
		return p.result, err
	}
	if err := in.Create(ctx); err != nil {
		return p.result, err
	}
	err := in.Update(ctx, func(tx *record.Tx, _ clone.Team) error {
		if err := plan(tx.View); err != nil {
			return err
		}
		put := tx.PutOperation
		if o.Accept {
			put = tx.Accept
		}
		for _, op := range p.ops {
			if err := put(op); err != nil {
				return err
			}
		}
		for _, op := range p.gone {
			if err := tx.PutOperation(op); err != nil {
				return err
			}
		}
		tx.Describe(gitstore.Commit{Subject: b.subject(len(p.ops) + len(p.gone)), Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "import"}}})
		return nil
	})
	return p.result, err
}

// subject returns the subject of the commit that adds n operations.
func (b Batch) subject(n int) string {
	s := fmt.Sprintf("import: %d statements", n)
	if n == 1 {
		s = "import: 1 statement"
	}
	if b.From != "" {
		s += " from " + b.From
	}
	return s
}

// planned is the plan of a batch for one view.
type planned struct {
	ops, gone []record.Operation
	result    transfer.Result
}

func (in *Intake) plan(v *record.View, b Batch, o Options) (p planned, err error) {
	memories, known := b.Memories, 0
	if b.apart {
		var waiting []record.Operation
		if !o.Accept { // else they are accepted
			waiting, err = v.Inbox().Operations()
			if err := in.Tolerate(err); err != nil {
				return p, err
			}
		}
		memories = slices.DeleteFunc(slices.Clone(memories), repeats(v, waiting, in.Now()))
		known = len(b.Memories) - len(memories)
	}
	if p.ops, p.result, err = in.operations(v, memories, o.Accept, b.Why); err != nil {
		return p, err
	}
	p.result.Known += known
	if b.apart {
		if err := in.markNear(v, p.ops); err != nil {
			return p, err
		}
	}
	if b.gone == nil {
		return p, nil
	}
	var left transfer.Result
	if p.gone, left, err = in.operations(v, b.gone(v), false, b.Why); err != nil {
		return p, err
	}
	p.result.Known, p.result.Refused = p.result.Known+left.Known, p.result.Refused+left.Refused
	if o.Accept {
		p.result.Waiting = left.Retired
	} else {
		p.result.Retired += left.Retired
	}
	return p, nil
}

// operations compares imported memories with known and pending ones.
func (in *Intake) operations(v *record.View, memories []record.Memory, reviewed bool, why string) ([]record.Operation, transfer.Result, error) {
	pending, err := v.Inbox().Operations()
	rejected, err2 := v.Inbox().Rejections()
	if err := in.Tolerate(errors.Join(err, err2)); err != nil {
		return nil, transfer.Result{}, err
	}
	ops, res := transfer.Plan(v, memories, transfer.Options{Pending: pending, Rejections: rejected, Private: clone.Private(in.Settings.Config), Reviewed: reviewed, Why: why})
	return ops, res, nil
}

// Written counts the statements of files that the memory lacks, if this clone never imported them.
type Written struct {
	From  string   `json:"from"`
	Files []string `json:"files"`
	Items int      `json:"items"`
}

// FindWritten looks for such files and changes nothing. It skips unreadable ones; an import reports
// the reason.
func FindWritten(ctx context.Context, c *clone.Clone) []Written {
	q, err := Query(ctx, c)
	if err != nil || c.Repo.WorkTree == "" {
		return nil
	}
	var all []Written
	for _, tool := range foreign.Files {
		if _, err := os.Lstat(filepath.Join(c.State, folder, tool+".json")); err == nil {
			continue
		}
		found, err := foreign.Read(ctx, tool, q)
		if err != nil || len(found.Items) == 0 {
			continue
		}
		one := Written{From: tool}
		for _, i := range lacking(ctx, c, found.Items) {
			one.Items++
			if name := i.At[:max(0, strings.LastIndexByte(i.At, ':'))]; !slices.Contains(one.Files, name) {
				one.Files = append(one.Files, name)
			}
		}
		if one.Items > 0 {
			all = append(all, one)
		}
	}
	return all
}

// lacking returns the items whose statements the memory of a clone does not have.
func lacking(ctx context.Context, c *clone.Clone, items []foreign.Item) (lacks []foreign.Item) {
	err := c.View(ctx, func(v *record.View, _ clone.Team) error {
		known := repeats(v, nil, c.Now())
		lacks = slices.DeleteFunc(slices.Clone(items), func(i foreign.Item) bool {
			m, err := lineOf(i).Memory("import", c.Now())
			m, _ = transfer.Clean(m, c.Book, c.Scanner)
			return err == nil && known(m)
		})
		return nil
	})
	if err != nil {
		return items // there is no memory yet
	}
	return lacks
}

// Query returns the query about a clone for the stores of tools. The caller adds Place and Remote.
func Query(ctx context.Context, c *clone.Clone) (foreign.Query, error) {
	m, err := agents.ThisMachine()
	if err != nil {
		return foreign.Query{}, err
	}
	q := foreign.Query{Home: m.Home, Folder: m.Folder, Token: os.Getenv("OPENCODE_MEM_TOKEN")}
	if q.Dirs, err = c.Repo.WorkTrees(ctx); err != nil {
		return foreign.Query{}, err
	}
	if remote, err := c.Repo.Remote(ctx, "", ""); err == nil {
		q.Remotes = []string{remote.URL}
	}
	return q, nil
}
