package tell

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/dossier"
	"github.com/reverie-memory/reverie/internal/history"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/internal/term"
)

const (
	maxQuotes = 3  // of a statement's author
	factWidth = 12 // of the longest name of a fact
)

// Memory writes a memory as a block of facts and its text. commits describes those that its session
// made.
func Memory(t *term.Terminal, f reader.Found, d dossier.Dossier, commits []string) {
	m := f.Memory
	t.Lay(2, term.Span(term.Bold, m.ID), term.Span("", " "+string(m.Kind)+remarks(m)))
	for _, why := range f.Caveats.Why {
		if why != string(m.Status) { // the first line says it
			t.Lay(2, term.Span(term.Red, term.Visible(why)))
		}
	}
	field := func(name, value string) {
		if value != "" {
			t.Row(factWidth, name+":", value)
		}
	}
	field("source", m.Source.String())
	if !f.Shadow {
		past(field, d)
	}
	field("paths", strings.Join(m.Paths, " "))
	field("guards", guards(m))
	field("tags", strings.Join(m.Tags, " "))
	field("topic", m.Topic)
	field("ref", m.Ref)
	field("branch", record.ParseSide(m.Branch).Label())
	for _, anchor := range m.Anchors {
		field("anchor", strings.TrimSuffix(anchor, ` ""`)) // of a whole file
	}
	field("supersedes", strings.Join(m.Supersedes, " "))
	if !m.Expires.IsZero() {
		field("expires", m.Expires.Format(time.DateOnly))
	}
	for _, o := range d.Related {
		field("related", o.ID[:shortID]+" "+o.Text)
	}
	field("file", m.Path())
	for _, c := range f.Models {
		field("a model's", c.Day+" "+strings.Join(c.Models, ", ")+", in "+c.ID[:10])
	}
	for _, line := range commits {
		field("its commit", t.Beside(factWidth+1, line))
	}
	texts(t, record.Variant{Text: m.Text, Body: m.Body})
	for _, v := range m.Variants {
		t.Print("\n")
		statement(t, "or: ", v.Text)
		if v.Body != "" {
			t.Indent("", v.Body)
		}
	}
	if g := d.Given; g != nil {
		t.Print("\n")
		t.Lay(2, term.Span(term.Bold, "given to agents meanwhile"), term.Span("", " "+string(g.Kind)+remarks(*g)))
		texts(t, record.Variant{Text: g.Text, Body: g.Body})
	}
	if d.Next != "" {
		t.Say("%s", d.Next)
	}
}

// texts writes a statement and its body.
func texts(t *term.Terminal, v record.Variant) {
	t.Print("\n")
	statement(t, "", v.Text)
	if v.Body != "" {
		t.Print("\n")
		t.Indent("", v.Body)
	}
}

// statement writes a statement that is shown whole.
func statement(t *term.Terminal, lead, text string) {
	t.LayIn(min(t.Width, term.MaxMeasure), len(lead), "", []term.Styled{term.Span("", lead), term.Span(term.Bold, term.Visible(text))})
}

// past writes the author, the edits and the use of a memory.
func past(field func(name, value string), d dossier.Dossier) {
	if a := d.Author(); a != nil {
		field("author", a.Author+", "+day(a.Time))
	}
	if n, by, last := d.Edits(); n > 0 {
		text := plural.Count(n, "time", "times") + " by " + strings.Join(by, ", ") + ", the last on " + day(last.Time)
		if len(by) > 1 {
			text += " by " + last.Author
		}
		field("edits", text)
	}
	given := "not to any agent yet"
	if n := len(d.Uses); n > 0 {
		given = fmt.Sprintf("%s in %s, the last on %s", plural.Count(n, "time", "times"), plural.Count(d.Sessions, "session", "sessions"), day(d.Uses[0].Injection.Time))
		if d.Heed.Acted > 0 {
			given += "; at calls: " + d.Heed.String()
		}
	}
	field("given", given)
	field("incomplete", d.Doubt)
}

func remarks(m record.Memory) string {
	out := ""
	if m.Status != record.Active {
		out += " · " + string(m.Status)
	}
	if m.Private {
		out += " · private"
	}
	if m.Own {
		out += " · " + reader.OwnLabel
	}
	return out
}

// guards describes at which calls a memory acts, or is "".
func guards(m record.Memory) string {
	t := m.Trigger()
	if len(t.Guards) == 0 {
		return ""
	}
	return strings.Join(t.Guards, ", ") + ": " + string(t.Strength)
}

func day(t time.Time) string { return t.Local().Format(time.DateOnly) }

// Blame writes the statements of a memory's file, each with its author, day and session. Front
// matter is left out.
func Blame(t *term.Terminal, m record.Memory, lines []history.Line, d dossier.Dossier) {
	commits := map[string]dossier.Version{}
	for _, v := range d.History {
		commits[v.ID] = v
	}
	inHead := false
	var text []string
	for i, l := range lines {
		if l.Text == "+++" && (i == 0 || inHead) {
			inHead = !inHead
			continue
		}
		if inHead || strings.TrimSpace(l.Text) == "" {
			continue
		}
		text = append(text, l.Text)
		if i+1 < len(lines) && lines[i+1].Commit == l.Commit && strings.TrimSpace(lines[i+1].Text) != "" {
			continue
		}
		t.Indent("", strings.Join(text, "\n"))
		v := commits[l.Commit]
		line := "    " + l.Author + ", " + day(l.Time) + " · " + l.Commit[:shortID]
		if v.Op != "" {
			line += " " + v.Op
		}
		for _, s := range v.Behind(m.ID) {
			line += " · " + s
		}
		if l.Model != "" {
			line += " · proposed by " + l.Model + ", a model"
		}
		t.Lay(6, term.Span(term.Dim, term.Visible(line)))
		if slices.ContainsFunc(m.Texts(), func(v record.Variant) bool { return v.Text == strings.Join(text, "\n") }) {
			for _, q := range d.Evidence[:min(maxQuotes, len(d.Evidence))] {
				t.Lay(6, term.Span(term.Dim, fmt.Sprintf("    %s in %s #%d: ", q.How, term.Visible(q.Session), q.Event)), term.Span("", "“"+term.OneLine(q.Quote, 240)+"”"))
			}
		}
		text = nil
	}
}

// Reasons words why a memory was given.
func Reasons(why []string) string {
	var out []string
	for _, one := range why {
		switch {
		case one == string(record.Constraint):
			one = "a constraint, which always goes first"
		case record.Kind(one).Valid():
			one = "a " + one + " for this code"
			if strings.HasPrefix(one, "a a") {
				one = "an" + one[1:]
			}
		case one == "corrects an agent":
			one = "a person corrected an agent with it"
		case one == "stale":
			one = "labelled, because its code is gone"
		case one == "contested":
			one = "a merge left it undecided"
		case strings.HasSuffix(one, "session"), strings.HasSuffix(one, "sessions"):
			if !strings.Contains(one, "prompts") {
				one = "seen in " + one
			}
		}
		out = append(out, one)
	}
	return term.Visible(strings.Join(out, " · "))
}
