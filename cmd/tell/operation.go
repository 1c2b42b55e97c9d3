package tell

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/learn/inbox"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/term"
)

// maxShownQuotes bounds the quotes shown of an operation; JSON has them all.
const maxShownQuotes = 8

// maxShownQuote bounds a shown quote, in cells.
const maxShownQuote = 240

// Operation writes an operation with what it rests on and what it would change.
func Operation(t *term.Terminal, o record.Operation, waits string, l inbox.Outlook) {
	m := o.Memory
	t.Lay(2, term.Span(term.Bold, o.ID[:shortID]), term.Span("", fmt.Sprintf(" %s %s · %s%s", o.Verb(), m.Kind, o.How, seenIn(o))))
	tell := func(name, text string) { t.Labelled(2, term.Dim, name, text) }
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
		statement(t, "  ", m.Text)
		if m.Body != "" {
			t.Indent("  ", m.Body)
		}
	}
	if o.Op == record.Skill {
		tell("file", o.Path)
		t.Indent("    ", strings.TrimSuffix(o.File, "\n"))
	}
	if len(m.Paths) > 0 && o.Op != record.Retire {
		tell("paths", strings.Join(m.Paths, " "))
	}
	if line := guards(m); line != "" && o.Op != record.Retire {
		tell("guards", line)
	}
	if m.Branch != "" {
		tell("only on", record.ParseSide(m.Branch).Label())
	}
	if !m.Expires.IsZero() && o.Op != record.Retire {
		tell("until", m.Expires.Format("2006-01-02"))
	}
	Changes(t, l.Changes)
	Grounds(t, o, waits, l, maxShownQuotes)
}

// Decided writes an operation that no longer waits, with its end. It returns the next step.
func Decided(t *term.Terminal, o record.Operation, d inbox.Decision) (next string) {
	m := o.Memory
	verb := ""
	if o.Op != "" { // else only its rejection is left
		verb = strings.TrimRight(fmt.Sprintf(" %s %s", o.Verb(), m.Kind), " ")
	}
	t.Lay(2, term.Span(term.Bold, o.ID[:shortID]), term.Span("", verb))
	statement(t, "  ", m.Text)
	if m.Body != "" && o.Op != record.Retire {
		t.Indent("  ", m.Body)
	}
	end := ""
	if !d.Time.IsZero() {
		end = d.Time.Local().Format("2006-01-02 15:04")
	}
	switch {
	case d.Outcome == inbox.Removed:
		next = "next: reverie review"
	case d.Outcome == inbox.Withdrawn:
		end, next = end+", because a later statement replaced it", "next: reverie review"
	case d.Outcome != inbox.Accepted:
		if next = "next: reverie reject --undo " + o.ID[:shortID] + "; reverie review --rejected lists all"; d.Model != "" {
			end += ", by " + d.Model + ", a model"
		}
	case o.Op == record.Skill:
		end, next = end+", as "+o.Path, "next: reverie show "+strings.TrimSuffix(o.Path, "/SKILL.md")
	default:
		end, next = end+", as "+m.ID[:shortID], "next: reverie show "+m.ID[:shortID]
	}
	t.Labelled(2, term.Dim, string(d.Outcome), strings.TrimPrefix(end, ", "))
	if d.Reason != "" {
		t.Labelled(2, term.Dim, "reason", d.Reason)
	}
	return next
}

// Grounds writes what an operation rests on, with at most so many quotes, and what speaks
// against it.
func Grounds(t *term.Terminal, o record.Operation, waits string, l inbox.Outlook, quotes int) {
	tell := func(name, text string) { t.Labelled(2, term.Dim, name, text) }
	says := ""
	for i, q := range l.Quotes {
		if i == quotes {
			t.Lay(4, term.Span("", "  "), term.Span(term.Dim, "… and "+plural.Count(len(l.Quotes)-i, "more quote", "more quotes")))
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
		tell(q.Client+"/"+term.Visible(q.Session[:min(12, len(q.Session))])+" "+"#"+strconv.Itoa(q.Event)+": "+by, term.OneLine(q.Quote, max(maxShownQuote, t.Width)))
	}
	if o.Why != "" {
		tell("because", o.Why)
	}
	for _, id := range l.Contradicts {
		t.Labelled(2, term.Red, "contradicts", id[:8]+" "+l.Texts[id])
		if slices.Contains(l.Retires, id) {
			t.Labelled(2, term.Red, "accepting retires", id[:8])
		}
	}
	for _, id := range o.Alike {
		tell("much like", id[:8]+" "+l.Texts[id])
	}
	if l.Attack != "" {
		t.Labelled(2, term.Red, "looks like", l.Attack)
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

// Changes writes what becomes of the memories that an operation is about: all that they would
// lose.
func Changes(t *term.Terminal, changes []inbox.Change) {
	for _, c := range changes {
		what := "changes"
		if c.Goes {
			what = "takes out of force"
		}
		if !c.Held {
			t.Labelled(2, term.Dim, what, c.ID[:8]+", which is missing here")
			continue
		}
		t.Labelled(2, term.Dim, what, c.ID[:8]+" "+string(c.Was.Kind))
		t.Lay(6, term.Span("", "    "), term.Span(term.Red, "-"), term.Span("", " "+term.Visible(c.Was.Text)))
		if c.Words != "" {
			t.Labelled(4, term.Dim, "words", c.Words)
		}
		if c.Goes && c.Words == "" && c.Was.Body != "" || c.Body {
			t.Indent("    - ", c.Was.Body)
		}
		if c.Goes && c.Words == "" && len(c.Was.Paths) > 0 {
			t.Labelled(4, term.Dim, "paths", strings.Join(c.Was.Paths, " "))
		}
		for _, field := range c.Lost {
			t.Lay(6, term.Span("", "    "+term.Visible(field)))
		}
	}
}
