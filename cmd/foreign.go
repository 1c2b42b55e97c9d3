package cmd

import (
	"context"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/record"
)

// untrusted returns why a memory of a view is withheld for its author, or "".
func (w *workspace) untrusted(ctx context.Context, v *record.View) (func(record.Memory) (why string), error) {
	foreign, err := w.foreign(ctx, v)
	if err != nil {
		return nil, err
	}
	return func(m record.Memory) string { return w.whyWithheld(foreign(m)) }, nil
}

// whyWithheld says in a few words for whom something is withheld; nothing for nobody.
func (w *workspace) whyWithheld(by []string) string {
	switch why := "last changed by " + strings.Join(by, " and "); {
	case len(by) == 0:
		return ""
	case w.narrowed.Trust.Signed:
		return why + ", without a signature that is trusted here"
	default:
		return why + ", not trusted here"
	}
}

// foreign returns the names of those for whom a memory of a view is withheld, none where it is not. Where only this
// clone's own identity ever wrote, that costs two small files. If history cannot be read, all that nobody approved is
// withheld.
func (w *workspace) foreign(ctx context.Context, v *record.View) (func(record.Memory) []string, error) {
	whose, err := w.whose(ctx, v)
	if err != nil {
		return nil, err
	}
	if whose == nil {
		return func(record.Memory) []string { return nil }, nil
	}
	return func(m record.Memory) []string {
		blob, _ := v.Blob(m.ID)
		return whose(blob, m.Private)
	}, nil
}

// whoseFile names those for whom a file of a memory is withheld, private ones from the journal.
type whoseFile func(blob gitstore.ID, private bool) []string

// strangers is the answer of whose for one view.
type strangers struct {
	of *record.View
	by whoseFile
}

// whose is foreign by the file of a memory, and nil where nothing is withheld.
func (w *workspace) whose(ctx context.Context, v *record.View) (whoseFile, error) {
	if w.strangers.of != v {
		by, err := w.findForeign(ctx, v)
		if err != nil {
			return nil, err
		}
		w.strangers = strangers{v, by}
	}
	return w.strangers.by, nil
}

// isForeign reports whether a memory of the view whose standings were asked for is withheld for its author.
func (w *workspace) isForeign(m record.Memory) bool {
	if w.strangers.by == nil {
		return false
	}
	blob, _ := w.strangers.of.Blob(m.ID)
	return len(w.strangers.by(blob, m.Private)) > 0
}

func (w *workspace) findForeign(ctx context.Context, v *record.View) (whoseFile, error) {
	c, err := w.restrict(v)
	if err != nil { // of an old state; that of the newest was read before
		c = w.config
	}
	if c.Trust.Everyone {
		return nil, nil
	}
	memory, journal, err := w.assess(ctx, v, c.Trust)
	if err != nil {
		return nil, err
	}
	if memory.known == nil && len(memory.Withheld)+len(journal.Withheld) == 0 {
		return nil, nil
	}
	return func(blob gitstore.ID, private bool) []string {
		j := memory
		if private {
			j = journal
		}
		if i, ok := j.Withheld[blob]; ok {
			return j.People[i]
		}
		if j.known != nil && !j.known[blob] {
			return []string{"somebody whom a tree without a commit does not name"}
		}
		return nil
	}, nil
}

// searchTrusted is search on two indexes: one as if what is withheld for its authors had never been there, so that it can neither
// be found, nor hide what says the same, nor make a word common; and one of that alone, which is made when it is asked for. withheld is nil
// where nothing is.
func (w *workspace) searchTrusted(ctx context.Context, v *record.View, past bool, limit recall.Limits, fn func(trusted *recall.Index, withheld func() *recall.Index) error) error {
	return w.search(ctx, v, past, limit, func(x *recall.Index) error {
		whose, err := w.whose(ctx, v)
		if err != nil {
			return err
		}
		if whose == nil {
			return fn(x, nil)
		}
		is := func(blob string, private bool) bool { return len(whose(gitstore.ID(blob), private)) > 0 }
		trusted := x.Only(func(blob string, private bool) bool { return !is(blob, private) })
		defer trusted.Close()
		return fn(trusted, func() *recall.Index { return x.Only(is) })
	})
}
