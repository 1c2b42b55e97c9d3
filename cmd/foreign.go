package cmd

import (
	"context"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/trust"
)

// withheldOf is what was withheld of a view when that was asked last.
type withheldOf struct {
	view *record.View
	*trust.Withheld
}

// foreign is what of a view is withheld for who changed it. If history cannot be read, all that nobody approved is.
func (w *workspace) foreign(ctx context.Context, v *record.View) (*trust.Withheld, error) {
	if w.strangers.view != v {
		c, err := w.restrict(v)
		if err != nil { // of an old state; that of the newest was read before
			c = w.config
		}
		held, err := w.judge.Withheld(ctx, v, c.Trust)
		if held != nil {
			for _, doubt := range held.Doubts {
				w.env.warn("%v; all that nobody approved is withheld", doubt)
			}
		}
		if err != nil {
			return nil, err
		}
		w.strangers = withheldOf{v, held}
	}
	return w.strangers.Withheld, nil
}

// isForeign reports whether a memory of the view that foreign was asked of last is withheld for its author.
func (w *workspace) isForeign(m record.Memory) bool { return len(w.strangers.Whose(m)) > 0 }

// whyWithheld says in a few words for whom something is withheld; nothing for nobody.
func (w *workspace) whyWithheld(by []string) string {
	if len(by) == 0 {
		return ""
	}
	names := make([]string, len(by))
	for i, name := range by {
		names[i] = visible(name)
	}
	why := "last changed by " + strings.Join(names, " and ")
	if w.narrowed.Trust.Signed {
		return why + ", without a signature that is trusted here"
	}
	return why + ", not trusted here"
}

// tellHidden says that something is left out.
func (w *workspace) tellHidden(n int) {
	switch {
	case n == 1:
		w.env.say("1 memory of people not trusted here is left out; next: reverie trust")
	case n > 1:
		w.env.say("%d memories of people not trusted here are left out; next: reverie trust", n)
	}
}

// searchTrusted is search on two indexes: one as if what is withheld for its authors had never been there, so that it can neither
// be found, nor hide what says the same, nor make a word common; and one of that alone, which is made when it is asked for. withheld is nil
// where nothing is.
func (w *workspace) searchTrusted(ctx context.Context, v *record.View, past bool, limit recall.Limits, fn func(trusted *recall.Index, withheld func() *recall.Index) error) error {
	return w.search(ctx, v, past, limit, func(x *recall.Index) error {
		held, err := w.foreign(ctx, v)
		if err != nil {
			return err
		}
		if held.None() {
			return fn(x, nil)
		}
		is := func(blob string, private bool) bool { return len(held.WhoseFile(gitstore.ID(blob), private)) > 0 }
		trusted := x.Only(func(blob string, private bool) bool { return !is(blob, private) })
		defer trusted.Close()
		return fn(trusted, func() *recall.Index { return x.Only(is) })
	})
}
