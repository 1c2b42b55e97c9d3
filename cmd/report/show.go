package report

import (
	"bytes"
	_ "embed"
	"html/template"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/demo"
	"github.com/reverie-memory/reverie/internal/term"
)

// Show writes the report to a terminal.
func (r Report) Show(t *term.Terminal) {
	line := func(indent int, style, text string) {
		t.Lay(indent, term.Span("", strings.Repeat(" ", indent)), term.Span(style, oneLine(text)))
	}
	line(0, term.Bold, r.Headline)
	for _, remark := range r.Remarks {
		line(0, "", remark)
	}
	for _, s := range r.Sections {
		t.Print("\n")
		title := s.Title
		if s.Note != "" {
			title += ": " + s.Note
		}
		line(0, term.Bold, title)
		for _, i := range s.Items {
			line(2, "", i.Text)
			for _, about := range i.About {
				line(6, term.Dim, about)
			}
		}
		if s.More > 0 {
			t.Print("  … and %d more\n", s.More)
		}
	}
	t.Print("\n")
	width := 0
	for _, n := range r.Next {
		width = max(width, len(n.Command))
	}
	for _, n := range r.Next {
		t.Lay(width+8, term.Span("", "next: "+term.Pad(n.Command, width)+"  "), term.Span(term.Dim, n.Does))
	}
}

// maxLine bounds a line of a report, in cells. A quote is at most 400 bytes long.
const maxLine = 400

func oneLine(text string) string { return term.OneLine(text, maxLine) }

//go:embed page.html
var page string

// HTML returns the report as a page that needs no other file, no network and no script.
func (r Report) HTML(now time.Time) ([]byte, error) {
	var out bytes.Buffer
	parsed := template.Must(template.New("page").Funcs(template.FuncMap{"line": oneLine}).Parse(page))
	err := parsed.Execute(&out, struct {
		Report
		Day string
	}{r, now.Format(time.DateOnly)})
	return out.Bytes(), err
}

// Scene writes a scene of the demo, or its end, to a terminal.
func Scene(t *term.Terminal, n demo.Note) {
	line := func(who, text string) {
		t.Lay(12, term.Span(term.Dim, "    "+term.Pad(who, 8)), term.Span("", term.OneLine(text, maxLine)))
	}
	switch n := n.(type) {
	case demo.Opened:
		t.Print("A new repository with a memory: %s\n", string(n))
	case demo.Session:
		t.Print("\nA session of %s, recorded:\n\n", n.Agent)
	case demo.Line:
		line(n.Speaker, n.Text)
	case demo.Learned:
		t.Print("\nIts hooks ran, and the worker learned from it:\n\n")
		for _, s := range n.Kept {
			line("kept", s.Text+" ("+s.Why+")")
		}
		for _, s := range n.Waiting {
			line("waits", s.Text+" ("+s.Why+")")
		}
	case demo.Result:
		t.Print("\nThe next session, of any agent, begins with this block:\n\n")
		t.Indent("    ", strings.TrimSpace(n.Context))
	}
}
