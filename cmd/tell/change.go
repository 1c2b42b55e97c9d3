// Package tell describes memories and pending operations for a terminal, with their authors, use
// and history. Begin with Memory, Commit, Blame and Operation. It reads nothing.
package tell

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/dossier"
	"github.com/reverie-memory/reverie/internal/history"
	"github.com/reverie-memory/reverie/internal/learn/inbox"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/term"
)

const (
	maxChanges = 100 // sentences of one commit
	maxSame    = 12  // unchanged words of a body in a row; the rest is left out
	shortID    = 8
)

// Commit writes what a commit changed, a sentence for each memory.
func Commit(t *term.Terminal, c history.Commit, files []history.Version) {
	lead := []term.Styled{term.Span(term.Bold, c.ID[:shortID]), term.Span(term.Dim, " "+c.Time.Local().Format("2006-01-02")+" ")}
	hang := 0
	for _, s := range lead {
		hang += len(s.Text)
	}
	files = memories(files)
	if len(files) == 0 {
		t.Lay(hang, append(lead, term.Span("", term.Visible(c.Author+": "+c.Subject)))...)
	}
	for i, f := range files {
		if i == maxChanges {
			t.Lay(hang, term.Span(term.Dim, strings.Repeat(" ", hang)+"… and "+plural.Count(len(files)-i, "more memory", "more memories")))
			break
		}
		Change(t, lead, hang, f)
		lead = []term.Styled{term.Span("", strings.Repeat(" ", hang))}
	}
}

// memories returns the versions of memories.
func memories(files []history.Version) []history.Version {
	return slices.DeleteFunc(slices.Clone(files), func(v history.Version) bool {
		_, ok := record.MemoryID(v.Path)
		return !ok
	})
}

// Change writes a memory's change as a sentence after lead, and other differences below it.
func Change(t *term.Terminal, lead []term.Styled, hang int, f history.Version) {
	v := dossier.Compare(f)
	verb := v.Verb()
	line := append(slices.Clone(lead), term.Span("", term.Visible(strings.TrimSpace(f.Author+" "+verb))+" "))
	m := cmp.Or(v.Now, v.Was)
	if m == nil {
		t.Lay(hang+2, append(line, term.Span("", term.Visible(f.Path)+", "+v.Unclear))...)
		return
	}
	line = append(line, term.Span("", string(m.Kind)+" "), term.Span(term.Bold, m.ID[:shortID]), term.Span("", ": "))
	if v.Words == nil {
		line = append(line, term.Span("", term.Visible(m.Text)))
	} else {
		line = append(line, words(v.Words, 0)...)
	}
	if verb == dossier.Retired {
		if why := m.Reasons(); len(why) > 0 {
			line = append(line, term.Span("", term.Visible("; reason: "+strings.Join(why, "; "))))
		}
	}
	if from := f.Behind(m.ID); len(from) > 0 {
		more := ""
		if n := len(from) - 1; n > 0 {
			more = " and " + plural.Count(n, "more", "more")
		}
		line = append(line, term.Span(term.Dim, "  (from "+term.Visible(from[0])+more+")"))
	}
	t.Lay(hang+2, line...)
	if v.Was != nil && v.Now != nil {
		details(t, hang+2, *v.Was, *v.Now, verb == dossier.Changed)
	}
}

// details writes the differences of body and fields; those of the status only on request.
func details(t *term.Terminal, indent int, was, now record.Memory, status bool) {
	lead := term.Span(term.Dim, strings.Repeat(" ", indent))
	if a, b := was.Revive().Body, now.Revive().Body; a != b {
		t.Lay(indent+2, append([]term.Styled{lead, term.Span(term.Dim, "why and how: ")}, words(inbox.Words(a, b), maxSame)...)...)
	}
	for _, field := range inbox.Compare(was, now).Lost {
		if status || !strings.HasPrefix(field, "status: ") {
			t.Lay(indent+2, lead, term.Span(term.Dim, term.Visible(field)))
		}
	}
}

// Edited writes the differences of a memory that a person has just edited, below its line.
func Edited(t *term.Terminal, was, now record.Memory) {
	if was.Text != now.Text {
		t.Lay(4, append([]term.Styled{term.Span("", "  ")}, words(inbox.Words(was.Text, now.Text), 0)...)...)
	}
	details(t, 2, was, now, true)
}

// words writes the runs of a word diff. It shortens unchanged runs of more than most words; 0 keeps
// all.
func words(runs []inbox.Run, most int) (out []term.Styled) {
	for i, r := range runs {
		if i > 0 {
			out = append(out, term.Span("", " "))
		}
		text := term.Visible(r.Text)
		switch {
		case r.Gone:
			out = append(out, term.Span(term.Red, "[-"+text+"-]"))
		case r.Fresh:
			out = append(out, term.Span(term.Green, "{+"+text+"+}"))
		default:
			if f := strings.Fields(text); most > 0 && len(f) > most {
				before, after := f[:most/2], f[len(f)-most/2:]
				if i == 0 {
					before = nil
				}
				if i == len(runs)-1 {
					after = nil
				}
				text = strings.Join(slices.Concat(before, []string{"…"}, after), " ")
			}
			out = append(out, term.Span("", text))
		}
	}
	return out
}

// Tally counts changes in words, such as "2 added, 1 changed".
func Tally(files []history.Version) string {
	var all []dossier.Version
	for _, f := range memories(files) {
		all = append(all, dossier.Compare(f))
	}
	return dossier.Tally(all)
}
