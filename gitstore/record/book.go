package record

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/catalog"
	"github.com/reverie-memory/reverie/internal/redact"
)

// Book gives typed access to all records: memories on the branch, this clone's own in the journal,
// and pending operations in the inbox.
type Book struct {
	memory, journal, inbox *gitstore.Store
	fallback               *gitstore.Store // read instead of memory before that exists; may be nil
	cache                  string          // path of the catalog
	scanner                *redact.Scanner
	triggered              *atomic.Bool
}

// Triggered reports whether an Update wrote a memory that has, or had, a trigger.
func (b *Book) Triggered() bool { return b.triggered.Load() }

// Stores are the refs of a Book. Fallback may be nil.
type Stores struct{ Memory, Journal, Inbox, Fallback *gitstore.Store }

// Open opens a Book without I/O. The catalog is in the folder dir. The scanner, which may be nil,
// redacts all written text.
func Open(s Stores, dir string, scanner *redact.Scanner) *Book {
	return &Book{memory: s.Memory, journal: s.Journal, inbox: s.Inbox, fallback: s.Fallback,
		cache: filepath.Join(dir, "cache"), scanner: scanner, triggered: new(atomic.Bool)}
}

// View runs fn on the newest state. Without a store the error wraps gitstore.ErrNoStore.
func (b *Book) View(ctx context.Context, fn func(*View) error) error {
	return b.view(ctx, func(v *View) error { return fn(v) })
}

// ViewAt runs fn on the branch at a revision, without private and pending records.
func (b *Book) ViewAt(ctx context.Context, rev string, fn func(*View) error) error {
	return b.memory.ViewAt(ctx, rev, func(tree *gitstore.Tree) error {
		v := &View{memory: tree, shelves: func() ([2]shelf, error) {
			s, _, err := shelf{}.load(tree)
			return [2]shelf{s}, err
		}}
		return errors.Join(fn(v), v.done())
	})
}

func (b *Book) view(ctx context.Context, fn func(*View) error) error {
	f := catalog.Open(b.cache) // before the trees: see there
	defer f.Close()
	fallback := false
	run := func(memory *gitstore.Tree) error {
		return optional(ctx, b.journal, func(journal *gitstore.Tree) error {
			return optional(ctx, b.inbox, func(inbox *gitstore.Tree) error {
				v := &View{memory: memory, journal: journal, inbox: inbox, fallback: fallback}
				c := &catalog.Catalog{}
				v.shelves = func() ([2]shelf, error) {
					c = f.Read()
					return shelves(c, memory, journal)
				}
				err := fn(v)
				if c.Err() != nil {
					_ = catalog.Drop(b.cache) // the next reader makes it again
				}
				c.Close()
				if damage := v.done(); err == nil {
					err = damage
				}
				return err
			})
		})
	}
	called := false
	err := b.memory.View(ctx, func(t *gitstore.Tree) error { called = true; return run(t) })
	if called || b.fallback == nil || !errors.Is(err, gitstore.ErrNoStore) || errors.Is(err, gitstore.ErrDeleted) {
		return err
	}
	fallback = true
	if ferr := b.fallback.View(ctx, run); !errors.Is(ferr, gitstore.ErrNoStore) {
		return ferr
	}
	return err
}

// optional runs fn on the store's tree, or on nil if the store does not exist yet. If the store was
// deleted or cannot be opened, fn runs on nil, so that the other stores are read, and optional
// returns the error.
func optional(ctx context.Context, s *gitstore.Store, fn func(*gitstore.Tree) error) error {
	called := false
	err := s.View(ctx, func(t *gitstore.Tree) error { called = true; return fn(t) })
	switch {
	case called, err == nil, ctx.Err() != nil:
		return err
	case errors.Is(err, gitstore.ErrNoStore) && !errors.Is(err, gitstore.ErrDeleted):
		return fn(nil)
	}
	if ferr := fn(nil); ferr != nil {
		return ferr
	}
	return err
}

// Create makes the memory branch with the given first files. The journal and the inbox begin with
// their first write.
func (b *Book) Create(ctx context.Context, files map[string]string) error {
	redacted := map[string]redact.Redacted{}
	for path, text := range files {
		redacted[path], _ = b.scanner.Text(text)
	}
	_, err := b.memory.Create(ctx, redacted, gitstore.Commit{Subject: "init: start a memory"})
	return err
}

// Clean redacts secrets in every text of a memory and makes misleading characters visible. For a
// new memory call it before New, because an id, a slug or a commit message must not reveal a
// secret.
func (b *Book) Clean(m Memory) (Memory, redact.Report) {
	var found redact.Report
	one := func(s *string) {
		text, report := b.scanner.Text(readable(*s))
		*s = text.String()
		found.Add(report)
	}
	each := func(list []string) []string {
		list = slices.Clone(list)
		for i := range list {
			one(&list[i])
		}
		return list
	}
	for _, s := range []*string{&m.Text, &m.Body, &m.Ref, &m.Topic, &m.Branch} {
		one(s)
	}
	m.Paths, m.Tags, m.Anchors = each(m.Paths), each(m.Tags), each(m.Anchors)
	m.Variants = slices.Clone(m.Variants)
	for i := range m.Variants {
		one(&m.Variants[i].Text)
		one(&m.Variants[i].Body)
	}
	return m, found
}

// races bounds how often Update retries after plain git was faster.
const races = 10

// Update runs fn on the newest state and commits its writes. It commits to the branch first, then
// to the journal, then to the inbox, each durable before the next. It holds off other Reverie
// processes from the read to the last commit. If plain git moves a ref meanwhile, fn runs again, so
// it must have no effect outside tx.
//
// After an interruption a later store may lack the writes that an earlier one has, so repeating fn
// must be harmless.
func (b *Book) Update(ctx context.Context, fn func(*Tx) error) error {
	ctx, unlock, err := b.memory.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	for try := 1; ; try++ {
		err := b.update(ctx, fn)
		if !errors.Is(err, errMoved) || try == races {
			return err
		}
	}
}

func (b *Book) update(ctx context.Context, fn func(*Tx) error) error {
	tx := &Tx{book: b, written: map[string]bool{}}
	ran := false
	err := b.view(ctx, func(v *View) error {
		tx.View = v
		err := fn(tx)
		ran = err == nil
		return err
	})
	if err != nil && !(ran && errors.Is(err, gitstore.ErrDeleted)) {
		// A missing journal or inbox stops only readers.
		return err
	}
	wrote := false
	for i, store := range []*gitstore.Store{b.memory, b.journal, b.inbox} {
		w := tx.writes[i]
		if len(w.files) == 0 {
			continue
		}
		if i > 0 {
			if err := begin(ctx, store); err != nil {
				return err
			}
		}
		res, err := store.Update(ctx, w.commit, func(t *gitstore.Tx) error {
			if i == 0 && !wrote && t.ID() != tx.Tree() {
				return errMoved
			}
			for _, f := range w.files {
				if err := f.apply(t); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		tx.Results[i], wrote = res, true
	}
	return nil
}

// begin makes a store if it does not exist.
func begin(ctx context.Context, s *gitstore.Store) error {
	if _, err := s.Tip(ctx); !errors.Is(err, gitstore.ErrNoStore) || errors.Is(err, gitstore.ErrDeleted) {
		return err
	}
	_, err := s.Create(ctx, nil, gitstore.Commit{})
	return err
}

// Tidy packs the loose objects of all our refs if there are many.
func (b *Book) Tidy(ctx context.Context) error {
	_, err := b.memory.Tidy(ctx)
	return err
}
