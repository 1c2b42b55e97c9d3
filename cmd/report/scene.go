package report

import (
	"strings"

	"github.com/reverie-memory/reverie/internal/demo"
	"github.com/reverie-memory/reverie/internal/term"
)

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
