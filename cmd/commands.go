package cmd

import (
	"github.com/reverie-memory/reverie/cmd/argv"
	"github.com/urfave/cli/v2"
)

// constructor makes a command of a group.
type constructor struct {
	name  string
	group string
	of    func(*Env) *cli.Command
}

// constructors has all commands, in the order of the help. Its first groups are in everyday.
func constructors() []constructor {
	return []constructor{
		{"look", "Begin", lookCommand},
		{"init", "Begin", initCommand},
		{"status", "Begin", statusCommand},
		{"doctor", "Begin", doctorCommand},
		{"learn", "Learn", learnCommand},
		{"review", "Learn", reviewCommand},
		{"ui", "Learn", uiCommand},
		{"web", "Learn", webCommand},
		{"recall", "Use", recallCommand},
		{"remember", "Use", rememberCommand},
		{"list", "Use", listCommand},
		{"show", "Use", showCommand},
		{"edit", "Use", editCommand},
		{"forget", "Use", forgetCommand},
		{"sync", "Share", syncCommand},
		{"ingest", "Pipeline", ingestCommand},
		{"sessions", "Pipeline", sessionsCommand},
		{"reflect", "Pipeline", reflectCommand},
		{"dream", "Pipeline", dreamCommand},
		{"accept", "Pipeline", acceptCommand},
		{"reject", "Pipeline", rejectCommand},
		{"distill", "Pipeline", distillCommand},
		{"eval", "Pipeline", evalCommand},
		{"context", "Agents", contextCommand},
		{"why", "Agents", whyCommand},
		{"guard", "Agents", guardCommand},
		{"statusline", "Agents", statuslineCommand},
		{"checkpoint", "Agents", checkpointCommand},
		{"kv", "Agents", kvCommand},
		{"mcp", "Agents", mcpCommand},
		{"hook", "Agents", hookCommand},
		{"log", "History", logCommand},
		{"blame", "History", blameCommand},
		{"diff", "History", diffCommand},
		{"revert", "History", revertCommand},
		{"undo", "History", undoCommand},
		{"trust", "Team", trustCommand},
		{"conflicts", "Team", conflictsCommand},
		{"merge", "Team", mergeCommand},
		{"merge-driver", "Team", mergeDriverCommand},
		{"check", "Team", checkCommand},
		{"stale", "Code", staleCommand},
		{"render", "Code", renderCommand},
		{"loop", "Loops", loopCommand},
		{"sandbox", "Loops", sandboxCommand},
		{"import", "Data", importCommand},
		{"export", "Data", exportCommand},
		{"purge", "Data", purgeCommand},
		{"compress", "Data", compressCommand},
		{"expand", "Data", expandCommand},
		{"demo", "Setup", demoCommand},
		{"config", "Setup", configCommand},
		{"uninstall", "Setup", uninstallCommand},
		{"completion", "Setup", completionCommand},
		{"complete", "Setup", completeCommand},
		{"worker", "Setup", workerCommand},
		{"version", "Setup", versionCommand},
		{"help", "Setup", helpCommand},
	}
}

func (c constructor) make(env *Env) *cli.Command {
	command := c.of(env)
	command.Category = c.group
	return command
}

// commandsFor returns the command that a command line names, or all if it asks for help or names
// none. Most commands live for milliseconds, and building all fifty is a part of that.
func commandsFor(env *Env, args []string) (all []*cli.Command) {
	name := argv.Command(args)
	for _, c := range constructors() {
		if c.name == name {
			return []*cli.Command{c.make(env)}
		}
		if name == "" {
			all = append(all, c.make(env))
		}
	}
	if name != "" { // misspelt: all are candidates
		return commandsFor(env, nil)
	}
	return all
}
