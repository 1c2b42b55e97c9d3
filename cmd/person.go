package cmd

import (
	"cmp"
	"fmt"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/clone"
)

// agentShell names the session whose agent runs this command; "" for a person.
func (env *Env) agentShell() string { return cmp.Or(env.caller, clone.Shell()) }

// tellShielded says how much an agent is not shown.
func (w *workspace) tellShielded(n int) {
	if n > 0 {
		w.env.Say("%d withheld: a person decides with 'reverie trust'", n)
	}
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

// tellAnchors says what a memory rests on.
func (env *Env) tellAnchors(anchors []string) {
	for _, text := range anchors {
		a, err := record.ParseAnchor(text)
		switch {
		case err != nil:
		case a.Snippet == "":
			env.Say("rests on %s", a.Path)
		default:
			env.Say("rests on %s: %s", a.Path, a.Snippet)
		}
	}
}

// sideText says on which branch alone a memory holds, for people.
func sideText(m record.Memory) string {
	s := record.ParseSide(m.Branch)
	if s.Tip == "" {
		return s.Name
	}
	return fmt.Sprintf("%s, until %s lands", s.Name, s.Tip[:min(10, len(s.Tip))])
}
