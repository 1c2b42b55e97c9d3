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

// agentJSON is a file of an agent in the answer of init --json.
type agentJSON struct {
	Agent   string `json:"agent"`
	File    string `json:"file"`
	Tools   bool   `json:"tools,omitempty"` // the file has the server of tools, and no hooks
	Changed bool   `json:"changed"`
}

// tellAgents says how each agent's file calls Reverie by now, or would after a dry run.
func tellAgents(w *workspace, p setup.AgentPlan, written []agents.Change, dry bool) {
	if p.None {
		w.env.Say("no supported agent was found on this machine; to name one anyway: reverie init --agent NAME")
	}
	for _, c := range written {
		if dry && w.env.JSON {
			continue
		}
		w.env.Say(agentLine(c, dry), c.Agent.Title, c.File)
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

// agentLine returns a format for the title of an agent and its file.
func agentLine(c agents.Change, dry bool) string {
	switch {
	case !c.Changed() && c.Hooks():
		return "%s calls Reverie already: %s"
	case !c.Changed():
		return "%s has Reverie's tools already: %s"
	case dry && c.Hooks():
		return "would have %s call Reverie: %s"
	case dry:
		return "would give %s Reverie's tools: %s"
	case c.Hooks():
		return "%s calls Reverie from now on: %s"
	}
	return "%s has Reverie's tools from now on: %s"
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
