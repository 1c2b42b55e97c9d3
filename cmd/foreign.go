package cmd

import (
	"cmp"
	"context"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/trust"
	"github.com/reverie-memory/reverie/internal/term"
)

// withheldOf is what was withheld of a view when that was asked last.
type withheldOf struct {
	view *record.View
	*trust.Withheld
}

// foreign is what of a view is withheld for who changed it. If history cannot be read, all that nobody approved is.
func (w *workspace) foreign(ctx context.Context, v *record.View) (*trust.Withheld, error) {
	v = v.Actual()
	if w.strangers.view != v {
		c, err := w.restrict(ctx, v)
		if err != nil { // of an old state; that of the newest was read before
			c = w.Config
		}
		held, err := w.Judge.Withheld(ctx, v, c.Trust)
		if held != nil {
			for _, doubt := range held.Doubts {
				w.env.Warn("%v; all that nobody approved is withheld", doubt)
			}
		}
		if err != nil {
			return nil, err
		}
		w.strangers = withheldOf{v, held}
	}
	return w.strangers.Withheld, nil
}

// agents is the view of what agents are given of v.
func (w *workspace) agents(ctx context.Context, v *record.View) (*record.View, error) {
	held, err := w.foreign(ctx, v)
	if err != nil {
		return nil, err
	}
	return held.Given(v), nil
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
		names[i] = term.Visible(name)
	}
	why := "last changed by " + strings.Join(names, " and ")
	if w.narrowed.Trust.Signed {
		return why + ", without a signature that is trusted here"
	}
	return why + ", not trusted here"
}

// whyOlder says in a few words for people why a memory is given as it was.
func (w *workspace) whyOlder(c trust.Changed, now record.Memory) string {
	return changeOf(c, now) + strings.TrimPrefix(w.whyWithheld(c.By), "last changed") + ": agents are given " + versionOf(c)
}

// changeOf says what was done to a memory, which says something else now.
func changeOf(c trust.Changed, now record.Memory) string {
	switch {
	case c.Gone:
		return "removed"
	case now.Status == record.Retired:
		return "retired"
	}
	return "changed"
}

// versionOf names the version that agents are given.
func versionOf(c trust.Changed) string {
	if c.When.IsZero() {
		return "the version before"
	}
	return "the version of " + c.When.Format("2006-01-02")
}

// olderLabel is what agents read behind an older version. It names nobody: who changed it chose the name.
func olderLabel(c trust.Changed, now record.Memory) string {
	return " (" + changeOf(c, now) + " by somebody not trusted here: this is " + versionOf(c) + ")"
}

// tellHidden says that something is left out.
func (w *workspace) tellHidden(n int) {
	switch {
	case n == 1:
		w.env.Say("1 memory of people not trusted here is left out; next: reverie trust")
	case n > 1:
		w.env.Say("%d memories of people not trusted here are left out; next: reverie trust", n)
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
		is := func(d recall.Version) bool {
			return !d.Given && len(held.WhoseFile(gitstore.ID(d.Blob), d.Private)) > 0
		}
		trusted := x.Only(func(d recall.Version) bool { return !is(d) })
		defer trusted.Close()
		return fn(trusted, func() *recall.Index { return x.Only(is) })
	})
}

// searchAll is search on all that there is as it is.
func (w *workspace) searchAll(ctx context.Context, v *record.View, past bool, fn func(*recall.Index) error) error {
	return w.search(ctx, v, past, recall.Limits{}, func(x *recall.Index) error {
		if held, err := w.foreign(ctx, v); err != nil || held.None() {
			return cmp.Or(err, fn(x))
		}
		newest := x.Only(func(d recall.Version) bool { return !d.Given })
		defer newest.Close()
		return fn(newest)
	})
}
