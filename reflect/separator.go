package reflect

import (
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// refusedAnd matches PowerShell's message about the `&&` of a line, in any language.
var refusedAnd = lazy(`(?m)^[^+\n]*\W&&\W.*$`)

// findSeparators looks for a command line that Windows PowerShell refused for its `&&`. It is weak
// unless a later line with `;` passed. A session in which `&&` passes has another shell too, and
// teaches nothing.
func findSeparators(v *view) []finding {
	calls := map[string]int{} // by agent and id
	var c record.Candidate
	from := -1 // the refused call
	for i := range v.events {
		e := &v.events[i]
		switch id := e.Agent + "\x00" + e.CallID; {
		case e.Kind == transcript.Call && strings.Contains(e.Command, "&&"):
			calls[id] = i
		case e.Kind == transcript.Result && from < 0 && strings.Contains(e.Text, unreadable):
			call, found := calls[id]
			if line := strings.TrimSpace(refusedAnd.FindString(e.Text)); found && line != "" {
				from = call
				c = record.Candidate{
					Kind: record.Failure, How: record.Seen, Weak: true, Topic: "shell",
					Text:     "In Windows PowerShell, separate commands with `;`, not `&&`: it refuses that.",
					Evidence: []record.Evidence{v.quote(i, line)},
				}
			}
		}
	}
	if from < 0 {
		return nil
	}
	for _, a := range v.acts {
		command := v.events[a.call].Command
		switch {
		case a.edit || a.outcome != transcript.OK:
		case strings.Contains(command, "&&"):
			return nil
		case c.Weak && a.call > from && strings.Contains(command, ";"):
			c.Weak = false
			c.Evidence = append(c.Evidence, v.quoteCommand(a))
		}
	}
	return []finding{{Candidate: c}}
}
