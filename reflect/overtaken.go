package reflect

import (
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/record/wording"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// overtaken reports whether the session changed the code of a statement after it was made, so that
// it is stale at birth. A rule is stale only if an edit removed a name that it wants. A fact is
// stale once a line with one of its names changed, and an agent's diagnosis if one changed since
// the failure.
func overtaken(v *view, c record.Candidate) bool {
	if c.How == record.Seen {
		return false
	}
	names := wording.Read(c.Text).Names()
	if len(names) == 0 {
		return false
	}
	describes := c.How == record.Model || c.Kind == record.Fact
	said := c.Evidence[0].Event
	if c.How == record.Model { // an agent also names a cause after repairing it
		for _, e := range c.Evidence {
			said = min(said, e.Event)
		}
	}
	for i := range v.acts {
		a := &v.acts[i]
		e := &v.events[a.call]
		if !a.edit || e.N <= said || e.Old == "" || slices.ContainsFunc(e.Paths, testFile.MatchString) {
			continue
		}
		for _, name := range names {
			if name = strings.TrimSuffix(name, "()"); len(name) < 4 {
				continue
			}
			gone := mentions(e.Old, name) && !mentions(e.New, name) && !mentionedLater(v, i, name)
			// pool.Close is defined elsewhere
			if gone || describes && !strings.Contains(name, ".") && lineChanged(e, name) {
				return true
			}
		}
	}
	return false
}

// testFile matches files that change with the code that they test, and not the other way round.
var testFile = lazy(`(?i)(?:^|[/_.-])(?:tests?|spec|e2e|testdata|__tests__)(?:[/_.-]|$)`)

// mentionedLater reports whether an edit after act i puts a name into a file.
func mentionedLater(v *view, i int, name string) bool {
	return slices.ContainsFunc(v.acts[i+1:], func(a act) bool { return a.edit && mentions(v.events[a.call].New, name) })
}

// lineChanged reports whether an edit changed a line that contains a name.
func lineChanged(e *transcript.Event, name string) bool {
	was, now := changedLines(e.Old, e.New)
	return slices.ContainsFunc(append(was, now...), func(line string) bool { return mentions(line, name) })
}
