// Package argv orders the arguments of a command line for the flag parser. Begin with Order. It
// holds no state.
package argv

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/reverie-memory/reverie/cmd/help"
	"github.com/urfave/cli/v2"
)

// IsVersion reports whether an argument asks for the version.
func IsVersion(arg string) bool { return arg == "-V" || arg == "--version" }

// IsHelp reports whether an argument asks for help.
func IsHelp(arg string) bool { return arg == "-h" || arg == "--help" }

// WantsJSON reports whether a command line that the parser refused has --json.
func WantsJSON(args []string) bool {
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		yes, err := strconv.ParseBool(value)
		switch {
		case arg == "--":
			return false
		case (name == "--json" || name == "-json") && (yes || err != nil):
			return true
		}
	}
	return false
}

// Order orders a command line for the flag parser: flags of the program, the command and its
// subcommand, their flags, and after "--" everything else. So flags may stand anywhere, as with
// git, and after "--" nothing is a flag. A command that runs another one gets that "--", too.
// An argument that is a command line keeps all its words, from the second one on. A command line
// that asks for help keeps only the command.
func Order(app *cli.App, args []string) []string {
	var global, names, local, rest []string
	var command *cli.Command
	for i := 1; i < len(args); i++ {
		arg := args[i]
		switch {
		case len(rest) > 1 && help.TakesLine(command):
			rest = append(rest, arg)
		case arg == "--":
			if help.TakesCommand(command) {
				rest = append(rest, arg)
			}
			rest = append(rest, args[i+1:]...)
			i = len(args)
		case len(arg) >= 2 && arg[0] == '-':
			name, _, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
			flag, isGlobal := find(app, command, name)
			if flag == nil && isText(command, name) {
				rest = append(rest, arg)
				continue
			}
			words := args[i : i+1]
			if flag != nil && !hasValue && TakesValue(flag) && i+1 < len(args) {
				words = args[i : i+2]
				i++
			}
			if isGlobal {
				global = append(global, words...)
			} else {
				local = append(local, words...)
			}
		case command == nil:
			if command = app.Command(arg); command == nil {
				if slices.ContainsFunc(args, IsHelp) {
					global = slices.DeleteFunc(global, IsHelp)
					return append(append([]string{args[0]}, global...), "help", arg)
				}
				return args // an error that the parser words
			}
			names = append(names, command.Name)
		case len(rest) == 0 && command.Command(arg) != nil:
			command = command.Command(arg)
			names = append(names, command.Name)
		default:
			rest = append(rest, arg)
		}
	}
	if slices.ContainsFunc(local, IsHelp) {
		local, rest = []string{"--help"}, nil
	}
	out := append([]string{args[0]}, global...)
	if command != nil && !slices.ContainsFunc(global, IsVersion) {
		out = append(append(out, names...), local...)
		if len(rest) > 0 {
			out = append(append(out, "--"), rest...)
		}
	}
	return out
}

// find returns a flag of a command or of the program, or nil, and whether it is the program's.
func find(app *cli.App, command *cli.Command, name string) (flag cli.Flag, global bool) {
	if command != nil {
		for _, c := range append([]*cli.Command{command}, command.Subcommands...) {
			if flag := help.FindFlag(c.Flags, name); flag != nil {
				return flag, false
			}
		}
	}
	flag = help.FindFlag(app.Flags, name)
	return flag, flag != nil || command == nil
}

// isText reports whether an argument of a command is no flag although it looks like one, as
// "--- FAIL: TestX (0.00s)" and -tag:old do.
func isText(command *cli.Command, name string) bool {
	if strings.ContainsFunc(name, unicode.IsSpace) {
		return help.TakesText(command)
	}
	return help.TakesFilters(command) && strings.Contains(name, ":")
}

// TakesValue reports whether a flag has a value.
func TakesValue(f cli.Flag) bool {
	d, ok := f.(cli.DocGenerationFlag)
	return ok && d.TakesValue()
}

// Command returns the command's name in a command line, or "" if the line needs all commands.
func Command(args []string) string {
	if slices.ContainsFunc(args, IsHelp) {
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
