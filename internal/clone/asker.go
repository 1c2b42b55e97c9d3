package clone

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// A person decides what becomes memory. A file, page or tool output may tell an agent to "remember"
// something, and an agent can type every command. So a command checks its caller, by variables that
// agents set for their shells. A deceitful agent can remove them: this guides honest agents and is
// no wall.

// Shell names the session whose agent runs this process as "<agent>/<session>", or the agent alone.
// It returns "" for an apparent person.
func Shell() string {
	agent, session := hooks.InShell(os.Getenv)
	if session == "" {
		return agent
	}
	return agent + "/" + transcript.SafeID(session)
}

// WantPerson returns an error if an agent runs a command reserved for persons. caller is the agent
// behind a tool's call, or "".
func WantPerson(caller, command string) error {
	agent := cmp.Or(caller, Shell())
	if agent == "" {
		return nil
	}
	return exit.New(exit.NeedsPerson, fmt.Errorf("%s: a person decides this, and it was called from a shell of %s", command, agent), otherwise(caller, "run it in a terminal of your own"))
}

// otherwise adds to a hint how a person mistaken for an agent can go on.
func otherwise(caller, hint string) string {
	if caller != "" {
		return hint
	}
	return hint + ", or, if this is one, take away what says otherwise: unset " + strings.Join(hooks.Marks(os.Getenv), " ") +
		"\nto let agents decide: reverie config --user agents.decide true"
}

// Agent names the session whose agent asks, or "" for a person. A tool's caller takes precedence
// over the environment.
func (c *Clone) Agent() string { return cmp.Or(c.Caller, Shell()) }

// AgentsDecide reports whether the user lets agents decide. Through a tool they only ask: the
// person who allowed the call saw no change of memory.
func (c *Clone) AgentsDecide() bool { return c.Config.AgentsDecide && c.Caller == "" }

// WantPerson returns an error if an agent runs a deciding command, unless the user lets agents
// decide.
func (c *Clone) WantPerson(command string) error {
	if c.AgentsDecide() {
		return nil
	}
	return WantPerson(c.Caller, command)
}

// Asker names the session whose agent runs this command and may not decide, or returns "".
// Background work has no asker: it follows the sessions that it reads.
func (c *Clone) Asker() string {
	if c.Background || c.AgentsDecide() {
		return ""
	}
	return c.Agent()
}

// Shields reports whether an agent asks. Every way of reading, except git itself, then withholds
// changes by people not trusted here.
func (c *Clone) Shields() bool { return c.Agent() != "" && !c.AgentsDecide() }

// WantTrust returns an error if an agent asks for memories withheld for their author.
func (c *Clone) WantTrust(what string) error {
	if !c.Shields() {
		return nil
	}
	return exit.New(exit.NeedsPerson, fmt.Errorf("%s: withheld from agents until a person trusts who changed it, and this was called by %s", what, c.Agent()),
		otherwise(c.Caller, "a person decides with 'reverie trust' in a terminal of their own"))
}
