package hooks

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Variables by which an agent that sets none of its own says who runs a shell. Our plugins set
// them.
const (
	AgentVariable   = "REVERIE_AGENT"
	SessionVariable = "REVERIE_SESSION"
)

// PluginFlag is the first argument of the hook command in plugins, as opposed to hooks of init.
const PluginFlag = "--plugin"

// InShell returns the agent in whose shell a program runs, and its session's id, if known. It reads
// the environment by get; without an agent both are "". Variables with a session come first. Among
// those, our own precede those of Agents in order.
func InShell(get func(variable string) string) (agent, session string) {
	own := get(AgentVariable)
	if session = get(SessionVariable); session != "" {
		if own == "" {
			own = "generic"
		}
		return own, session
	}
	for _, a := range Agents {
		for _, variable := range a.Sessions {
			if session = get(variable); session != "" {
				return a.Name, session
			}
		}
	}
	for _, a := range Agents {
		if a.Mark != "" && get(a.Mark) != "" {
			return a.Name, ""
		}
	}
	return own, ""
}

// Served returns the folder that a tool server serves if it was started in dir. Copilot CLI starts
// a plugin's server in the plugin's folder, with Copilot's own folder in PWD.
func Served(dir string) string {
	if here := os.Getenv("PWD"); os.Getenv("COPILOT_PLUGIN_ROOT") != "" && filepath.IsAbs(here) {
		return here
	}
	return dir
}

// Marks returns the variables for InShell that are set.
func Marks(get func(variable string) string) []string {
	all := []string{AgentVariable, SessionVariable}
	for _, a := range Agents {
		all = append(append(all, a.Mark), a.Sessions...)
	}
	return slices.DeleteFunc(all, func(name string) bool { return name == "" || get(name) == "" })
}

// Quote writes a text as one word for a POSIX shell.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// Names returns the agents' names as a readable list.
func Names() string {
	var names []string
	for _, a := range Agents {
		names = append(names, a.Name)
	}
	return strings.Join(names, ", ")
}
