package cmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/cmd/wire"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/learn/inbox"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/term"
)

// looks are those of some operations, by id.
func looks(ctx context.Context, w *workspace, ops ...record.Operation) (map[string]inbox.Outlook, error) {
	all := map[string]inbox.Outlook{}
	err := w.View(ctx, func(v *record.View) error {
		l := inbox.NewViewer(w.Clone, v)
		for _, o := range ops {
			all[o.ID] = l.Look(o)
		}
		return nil
	})
	return all, err
}

// newChangeJSON is the JSON form of a change.
func newChangeJSON(c inbox.Change) wire.Change {
	j := wire.Change{ID: c.ID, Goes: c.Goes, Words: c.Words, Lost: wire.List(c.Lost)}
	if c.Held {
		m := wire.OfMemory(c.Was)
		j.Was = &m
	}
	return j
}

// maxShownQuotes bounds the quotes shown of an operation; JSON has them all.
const maxShownQuotes = 8

// maxShownQuote bounds a shown quote, in cells.
const maxShownQuote = 240

// showOperation writes an operation with what it rests on and what it would change.
func showOperation(w *workspace, o record.Operation, waits string, l inbox.Outlook) {
	env := w.env
	m := o.Memory
	env.Lay(2, term.Span(term.Bold, o.ID[:8]), term.Span("", fmt.Sprintf(" %s %s · %s%s", o.Verb(), m.Kind, o.How, seenIn(o))))
	tell := func(name, text string) { env.Labelled(2, term.Dim, name, text) }
	if l.Model != "" {
		edited := ""
		if o.How == record.Written {
			edited = ", then edited"
		}
		tell("proposed by", l.Model+", a model"+edited)
	}
	if o.Op == record.Retire {
		if reasons := m.Reasons(); len(reasons) > 0 {
			tell("reason", strings.Join(reasons, " "))
		}
	} else {
		env.LayIn(min(env.Width, term.MaxMeasure), 2, "", []term.Styled{term.Span("", "  "), term.Span(term.Bold, term.Visible(m.Text))})
		if m.Body != "" {
			env.Indent("  ", m.Body)
		}
	}
	if o.Op == record.Skill {
		tell("file", o.Path)
		env.Indent("    ", strings.TrimSuffix(o.File, "\n"))
	}
	if len(m.Paths) > 0 && o.Op != record.Retire {
		tell("paths", strings.Join(m.Paths, " "))
	}
	if line := triggerLine(m); line != "" && o.Op != record.Retire {
		tell("guards", line)
	}
	if m.Branch != "" {
		tell("only on", record.ParseSide(m.Branch).Label())
	}
	if !m.Expires.IsZero() && o.Op != record.Retire {
		tell("until", m.Expires.Format("2006-01-02"))
	}
	showChanges(w, l.Changes)
	showGrounds(w, o, waits, l, maxShownQuotes)
}

// showGrounds writes what an operation rests on, with at most so many quotes, and what speaks
// against it.
func showGrounds(w *workspace, o record.Operation, waits string, l inbox.Outlook, quotes int) {
	env := w.env
	tell := func(name, text string) { env.Labelled(2, term.Dim, name, text) }
	says := ""
	for i, q := range l.Quotes {
		if i == quotes {
			env.Lay(4, term.Span("", "  "), term.Span(term.Dim, "… and "+plural.Count(len(l.Quotes)-i, "more quote", "more quotes")))
			break
		}
		if q.Says != says && q.Says != "" {
			tell("a session's own words", q.Says)
		}
		says = q.Says
		by := cmp.Or(q.By, "somebody") + ", " + q.How
		if q.Model != "" {
			by += " " + q.Model
		}
		tell(q.Client+"/"+short(q.Session)+" "+eventMark(q.Event)+": "+by, term.OneLine(q.Quote, max(maxShownQuote, env.Width)))
	}
	if o.Why != "" {
		tell("because", o.Why)
	}
	for _, id := range l.Contradicts {
		env.Labelled(2, term.Red, "contradicts", id[:8]+" "+l.Texts[id])
		if slices.Contains(l.Retires, id) {
			env.Labelled(2, term.Red, "accepting retires", id[:8])
		}
	}
	for _, id := range o.Alike {
		tell("much like", id[:8]+" "+l.Texts[id])
	}
	if waits != "" {
		tell("waits because", waits)
	}
}

// seenIn says in how many sessions, where it was one at all.
func seenIn(o record.Operation) string {
	n := record.Sessions(o.Sightings)
	if n == 0 {
		return ""
	}
	return ", " + plural.Count(n, "session", "sessions")
}

// showChanges writes what becomes of the memories that an operation is about: all that they would
// lose.
func showChanges(w *workspace, changes []inbox.Change) {
	env := w.env
	for _, c := range changes {
		what := "changes"
		if c.Goes {
			what = "takes out of force"
		}
		if !c.Held {
			env.Labelled(2, term.Dim, what, c.ID[:8]+", which is missing here")
			continue
		}
		env.Labelled(2, term.Dim, what, c.ID[:8]+" "+string(c.Was.Kind))
		env.Lay(6, term.Span("", "    "), term.Span(term.Red, "-"), term.Span("", " "+term.Visible(c.Was.Text)))
		if c.Words != "" {
			env.Labelled(4, term.Dim, "words", c.Words)
		}
		if c.Goes && c.Words == "" && c.Was.Body != "" || c.Body {
			env.Indent("    - ", c.Was.Body)
		}
		if c.Goes && c.Words == "" && len(c.Was.Paths) > 0 {
			env.Labelled(4, term.Dim, "paths", strings.Join(c.Was.Paths, " "))
		}
		for _, field := range c.Lost {
			env.Lay(6, term.Span("", "    "+term.Visible(field)))
		}
	}
}

// lookJSON is an operation with all that a person has to see of it.
func lookJSON(o record.Operation, waits string, l inbox.Outlook) wire.Operation {
	j := wire.OfOperation(o, waits)
	j.Model, j.Quotes, j.Contradicts = l.Model, l.Quotes, wire.List(l.Contradicts)
	for _, c := range l.Changes {
		j.Changes = append(j.Changes, newChangeJSON(c))
	}
	return j
}
