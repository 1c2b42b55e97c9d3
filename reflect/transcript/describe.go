package transcript

import (
	"fmt"
	"strings"
)

// Brief returns an event in short, for one line. It may hold line feeds.
func (e Event) Brief() string {
	switch e.Kind {
	case Call:
		if e.Command != "" {
			return "$ " + e.Command
		}
		return e.Tool + " " + strings.Join(e.Paths, " ")
	case Result:
		status := string(e.Outcome)
		if e.Exit != nil {
			status = fmt.Sprintf("exit %d", *e.Exit)
		}
		return "[" + status + "] " + e.Text
	case User:
		if e.Origin != Typed {
			return "(" + string(e.Origin) + ") " + e.Text
		}
	}
	return e.Text
}

// Whole returns the whole text of an event, below a line with its number.
func (e Event) Whole() string {
	var b strings.Builder
	fmt.Fprintf(&b, "#%d %s", e.N, e.Kind)
	if e.Origin != "" {
		fmt.Fprintf(&b, " (%s)", e.Origin)
	}
	if e.Tool != "" {
		b.WriteString(" " + e.Tool)
	}
	switch {
	case e.Exit != nil:
		fmt.Fprintf(&b, ", exit %d", *e.Exit)
	case e.Outcome != Unknown:
		fmt.Fprintf(&b, ", %s", e.Outcome)
	}
	b.WriteByte('\n')
	if e.Kind != Call {
		e.Command = "" // it stands on the call
	}
	for _, part := range []struct{ before, text string }{{"$ ", e.Command}, {"", strings.Join(e.Paths, "\n")}, {"", e.Text}, {"old:\n", e.Old}, {"new:\n", e.New}} {
		if part.text != "" {
			b.WriteString(part.before + strings.TrimSuffix(part.text, "\n") + "\n")
		}
	}
	b.WriteByte('\n')
	return b.String()
}
