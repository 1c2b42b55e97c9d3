// Package argv orders the arguments of a command line for the flag parser. Begin with Order. It
// holds no state.
package argv

import (
	"slices"
	"strings"
	"unicode"

	"github.com/reverie-memory/reverie/cmd/help"
	"github.com/urfave/cli/v2"
)

// IsVersion reports whether an argument asks for the version.
func IsVersion(arg string) bool { return arg == "-V" || arg == "--version" }

// IsHelp reports whether an argument asks for help.
func IsHelp(arg string) bool { return arg == "-h" || arg == "--help" }

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
		if len(rest) > 1 && help.TakesLine(command) {
			rest = append(rest, arg)
			continue
		}
		if arg == "--" {
			if help.TakesCommand(command) {
				rest = append(rest, arg)
			}
			rest = append(rest, args[i+1:]...)
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			if command == nil {
				if command = app.Command(arg); command == nil {
					return args // help, or an error that the parser words
				}
				names = append(names, command.Name)
			} else if below := command.Command(arg); below != nil && len(rest) == 0 {
				command = below
				names = append(names, below.Name)
			} else {
				rest = append(rest, arg)
			}
			continue
		}
		name, _, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		to := &local
		var flag cli.Flag
		if command != nil {
			flag = help.FindFlag(command.Flags, name)
			for _, below := range command.Subcommands {
				if flag == nil {
					flag = help.FindFlag(below.Flags, name)
				}
			}
		}
		if flag == nil {
			if flag = help.FindFlag(app.Flags, name); flag != nil || command == nil {
				to = &global
			}
		}
		spaced := strings.ContainsFunc(name, unicode.IsSpace)
		filter := help.TakesFilters(command) && strings.Contains(name, ":") && !spaced
		if flag == nil && (filter || spaced && help.TakesText(command)) {
			rest = append(rest, arg) // no option is called so: "--- FAIL: TestX (0.00s)", -tag:old
			continue
		}
		*to = append(*to, arg)
		if flag != nil && !hasValue && TakesValue(flag) && i+1 < len(args) {
			i++
			*to = append(*to, args[i])
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
