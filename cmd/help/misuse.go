package help

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// Meant guesses the command that a wrong word stands for, or "".
func Meant(app *cli.App, word string) string {
	if name := synonym(word); name != "" {
		return name
	}
	var names []string
	for _, c := range app.Commands {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	return Nearest(names, word)
}

// Misuse words an error of the flag parser for the command line args, and says what to do.
func Misuse(c *cli.Context, err error, args []string) (says, hint string) {
	name, of := "", ""
	flags := c.App.Flags
	if c.Command != nil && c.Command.Name != "" && c.Command.Name != c.App.Name {
		name, of = Name(c.Command)+": ", " "+Name(c.Command)
		flags = append(slices.Clone(c.Command.Flags), flags...)
	}
	hint, says = "reverie help"+of, err.Error()
	if unknown, found := strings.CutPrefix(says, "flag provided but not defined: -"); found {
		switch near := nearestFlag(flags, unknown); {
		case near != "":
			hint = fmt.Sprintf("did you mean %s? %s lists the options", near, hint)
		case TakesText(c.Command):
			hint = fmt.Sprintf("for a text that begins with -: reverie %s -- '%s …'", c.Command.Name, dashed(args, unknown))
		case TakesCommand(c.Command):
			hint = fmt.Sprintf("put the agent's or tool's own command behind --; %s lists the options", hint)
		}
		return fmt.Sprintf("%sunknown option %s", name, dashed(args, unknown)), hint
	}
	if bare, found := strings.CutPrefix(says, "flag needs an argument: -"); found {
		return fmt.Sprintf("%s%s needs a value", name, dashed(args, bare)), hint
	}
	var value, flag string
	if n, _ := fmt.Sscanf(says, "invalid value %q for flag -%s", &value, &flag); n == 2 {
		flag = strings.TrimSuffix(flag, ":")
		switch FindFlag(flags, flag).(type) {
		case *cli.DurationFlag:
			says = fmt.Sprintf("--%s %s: not a time such as 90s, 5m or 2h", flag, value)
		case *cli.IntFlag, *cli.Int64Flag:
			says = fmt.Sprintf("%s %s: not a whole number", Option(flag), value)
		}
	}
	return name + says, hint
}

// dashed returns an option with the dashes that were typed.
func dashed(args []string, name string) string {
	for _, arg := range args {
		typed, _, _ := strings.Cut(arg, "=")
		if strings.HasPrefix(arg, "-") && strings.TrimLeft(typed, "-") == name {
			return typed
		}
	}
	return Option(name)
}

// Option is a flag's name with its usual dashes.
func Option(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// nearestFlag returns the option that a misspelt one stands for, or "".
func nearestFlag(flags []cli.Flag, name string) string {
	var names []string
	for _, f := range flags {
		if Listed(f) {
			names = append(names, f.Names()...)
		}
	}
	if near := Nearest(names, name); near != "" && len(name) > 1 {
		return Option(near)
	}
	return ""
}

// TakesFilters reports whether a command takes recall's filters, such as -tag:build.
func TakesFilters(c *cli.Command) bool {
	return c != nil && (strings.Contains(c.ArgsUsage, "QUERY") || strings.Contains(c.ArgsUsage, "FILTER"))
}

// TakesLine reports whether the arguments of a command, from the second on, are a command line.
func TakesLine(c *cli.Command) bool {
	return c != nil && strings.Contains(c.ArgsUsage, "test COMMAND")
}

// TakesText reports whether an argument of a command is text that a person types or pastes.
func TakesText(c *cli.Command) bool {
	return c != nil && (strings.Contains(c.ArgsUsage, "QUERY") || strings.Contains(c.ArgsUsage, "TEXT"))
}

// FindFlag returns the flag of a name, or nil.
func FindFlag(flags []cli.Flag, name string) cli.Flag {
	i := slices.IndexFunc(flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
	if i < 0 {
		return nil
	}
	return flags[i]
}

// TakesCommand reports whether a command takes another one behind "--".
func TakesCommand(c *cli.Command) bool {
	return c != nil && strings.Contains(c.ArgsUsage, "-- COMMAND")
}
