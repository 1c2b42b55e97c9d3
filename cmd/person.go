package cmd

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// A person decides what becomes memory. An agent that is told by a file, a page or a tool's output to "remember" something can type
// every command that a person can, so a command looks at who runs it. What it goes by are variables that agents set for the
// shells they start; an agent that wants to deceive can take them away, so this keeps apart the honest, and is no wall.

// agentShell names the session whose agent runs this command as "<agent>/<session>", or as the agent alone; "" when a person
// does, as far as can be seen. What comes through a tool is an agent's, whatever the environment says.
func (env *Env) agentShell() string {
	if env.caller != "" {
		return env.caller
	}
	agent, session := hooks.InShell(os.Getenv)
	if session == "" {
		return agent
	}
	return agent + "/" + transcript.SafeID(session)
}

// wantsPerson refuses a command that decides what is known where an agent runs it, unless the user lets agents decide.
func (w *workspace) wantsPerson(command string) error {
	if w.agentsDecide() {
		return nil
	}
	return w.env.wantsPerson(command)
}

// agentsDecide reports whether the user lets agents decide. By a tool they only ever ask: who allowed its call saw no memory change.
func (w *workspace) agentsDecide() bool { return w.config.AgentsDecide && w.env.caller == "" }

func (env *Env) wantsPerson(command string) error {
	agent := env.agentShell()
	if agent == "" {
		return nil
	}
	return exit.New(exit.NeedsPerson, fmt.Errorf("%s: a person decides this, and it was called from a shell of %s", command, agent), env.otherwise("run it in a terminal of your own"))
}

// otherwise is a hint for a person who was taken for an agent.
func (env *Env) otherwise(hint string) string {
	if env.caller != "" {
		return hint
	}
	return hint + ", or, if this is one, take away what says otherwise: unset " + strings.Join(hooks.Marks(os.Getenv), " ") +
		"\nto let agents decide: reverie config --user agents.decide true"
}

// asker names the session whose agent runs this command and may not decide; "" where a person does, or agents decide.
// Background work has no asker and follows the sessions that it reads.
func (w *workspace) asker() string {
	if w.env.background || w.agentsDecide() {
		return ""
	}
	return w.env.agentShell()
}

// What people who are not trusted here have changed is kept from an agent by whatever way it asks, but for git itself.

// shields reports whether an agent asks, which is not shown what is withheld for who changed it.
func (w *workspace) shields() bool { return w.env.agentShell() != "" && !w.agentsDecide() }

// asked returns the view for the asker: agents see only what agents are given.
func (w *workspace) asked(ctx context.Context, v *record.View) (*record.View, error) {
	if !w.shields() {
		return v, nil
	}
	return w.agents(ctx, v)
}

// wantsTrust refuses to show an agent what is withheld for who changed it.
func (w *workspace) wantsTrust(what string) error {
	if !w.shields() {
		return nil
	}
	return exit.New(exit.NeedsPerson, fmt.Errorf("%s: withheld from agents until a person trusts who changed it, and this was called by %s", what, w.env.agentShell()),
		w.env.otherwise("a person decides with 'reverie trust' in a terminal of their own"))
}

// tellShielded says how much an agent is not shown.
func (w *workspace) tellShielded(n int) {
	if n > 0 {
		w.env.Say("%d withheld: a person decides with 'reverie trust'", n)
	}
}
