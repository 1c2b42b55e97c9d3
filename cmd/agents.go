package cmd

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/hooks/setup"
	"github.com/reverie-memory/reverie/hooks/setup/agents"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/rogpeppe/go-internal/diff"
)

// tellAgents says how each agent's file calls Reverie by now, or would after a dry run.
func tellAgents(w *workspace, p setup.AgentPlan, written []agents.Change, dry bool) {
	if p.None {
		w.env.Say("no supported agent was found on this machine; to name one anyway: reverie init --agent NAME")
	}
	for _, why := range p.Kept {
		w.env.Say("%s; it stays", why)
	}
	said := ""
	for _, c := range written {
		if dry && w.env.JSON {
			continue
		}
		if line := setup.Outcome(c, dry); line != said { // one for all commands
			w.env.Say("%s", line)
			said = line
		}
		if dry {
			if c.Changed() {
				tellPatch(w, c)
			}
			continue
		}
		for _, line := range setup.Advice(c) {
			w.env.Say("  %s", line)
		}
	}
}

// tellPatch prints a change of a file as a diff without secrets.
func tellPatch(w *workspace, c agents.Change) {
	from := c.File
	if c.Fresh {
		from = "/dev/null"
		if !w.env.Verbose {
			w.env.Print("%s\n", term.Visible(fmt.Sprintf("new file %s, %d bytes; -v shows it", c.File, len(c.New))))
			return
		}
	}
	old, _ := w.Scanner.Text(string(c.Old))
	now, _ := w.Scanner.Text(string(c.New))
	patch := diff.Diff(from, []byte(old.String()), c.File, []byte(now.String()))
	_, patch, _ = bytes.Cut(patch, []byte("\n")) // without the line "diff", which no other diff has
	w.env.Print("%s", term.Visible(string(patch)))
}

// claimAgents records that this clone relies on the agents' settings. A failure stops nothing.
func (w *workspace) claimAgents(ctx context.Context) { tellUnclaimed(w, setup.Claim(ctx, w.Clone)) }

func tellUnclaimed(w *workspace, err error) {
	if err != nil {
		w.env.Warn("note that this clone relies on the agents' settings: %v", err)
	}
}

// genericText is a format for our command and the names of the events.
//
//go:embed generic.txt
var genericText string

// tellGeneric prints how an agent without a row of its own calls us.
func tellGeneric(env *Env, program string) {
	a, _ := hooks.Find("generic")
	var events []string
	for _, d := range slices.Concat(a.Deliveries, a.Calls) {
		events = append(events, d.Name)
	}
	env.Print(genericText, agents.Command(program, a.Name), strings.Join(events, ", "))
}
