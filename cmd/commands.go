package cmd

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// constructor makes a command.
type constructor struct {
	name string
	of   func(*Env) *cli.Command
}

// constructors are those of all commands, in the order of the help.
func constructors() []constructor {
	return []constructor{
		{"learn", learnCommand}, {"review", reviewCommand}, {"ui", uiCommand}, {"recall", recallCommand}, {"remember", rememberCommand},
		{"status", statusCommand}, {"doctor", doctorCommand}, {"init", initCommand}, {"accept", acceptCommand}, {"reject", rejectCommand},
		{"list", listCommand}, {"show", showCommand}, {"edit", editCommand}, {"forget", forgetCommand}, {"purge", purgeCommand},
		{"ingest", ingestCommand}, {"sessions", sessionsCommand}, {"reflect", reflectCommand}, {"dream", dreamCommand},
		{"distill", distillCommand}, {"eval", evalCommand}, {"context", contextCommand}, {"why", whyCommand},
		{"checkpoint", checkpointCommand}, {"kv", kvCommand}, {"compress", compressCommand}, {"expand", expandCommand}, {"log", logCommand},
		{"blame", blameCommand}, {"diff", diffCommand}, {"revert", revertCommand}, {"sync", syncCommand}, {"merge", mergeCommand},
		{"conflicts", conflictsCommand}, {"merge-driver", mergeDriverCommand}, {"trust", trustCommand}, {"loop", loopCommand},
		{"sandbox", sandboxCommand}, {"mcp", mcpCommand}, {"stale", staleCommand}, {"render", renderCommand}, {"import", importCommand},
		{"export", exportCommand}, {"check", checkCommand}, {"config", configCommand}, {"uninstall", uninstallCommand},
		{"hook", hookCommand}, {"worker", workerCommand}, {"version", versionCommand}, {"help", helpCommand},
	}
}

// commandsFor are the commands that a command line may need: the one that it names, where it asks for no help, or else all. Most
// commands live for milliseconds, and to lay out some fifty of them is a part of that.
func commandsFor(env *Env, args []string) (all []*cli.Command) {
	name := named(args)
	for _, c := range constructors() {
		if c.name == name {
			return []*cli.Command{c.of(env)}
		}
		if name == "" {
			all = append(all, c.of(env))
		}
	}
	if name != "" { // what was meant is found among all
		return commandsFor(env, nil)
	}
	return all
}

// named is the word of a command line that stands where a command's name does, or "" where all commands are asked for.
func named(args []string) string {
	if slices.ContainsFunc(args, isHelp) {
		return ""
	}
	for i := 1; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "--", arg == "help", arg == "h":
			return ""
		case len(arg) < 2 || arg[0] != '-':
			return arg
		case strings.TrimLeft(arg, "-") == "C": // the only option of the program with a value
			i++
		}
	}
	return ""
}
