// Package usage checks the words of a command line and explains usage errors. Begin with Takes. It
// holds no state.
package usage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/cmd/help"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/shell"
	"github.com/urfave/cli/v2"
)

// NameCommands gives every command below c its full name, our wording of usage errors, and a check
// of its numbers.
func NameCommands(c *cli.Command, name string) {
	c.OnUsageError, c.Before = Error, noneNegative
	c.HideHelpCommand = true
	for _, sub := range c.Subcommands {
		sub.HelpName = name + " " + sub.Name
		NameCommands(sub, sub.HelpName)
	}
}

// noneNegative refuses a whole number below 0: every option counts something.
func noneNegative(c *cli.Context) error {
	for _, f := range c.Command.Flags {
		var n int64
		switch f := f.(type) {
		case *cli.IntFlag:
			n = int64(f.Get(c))
		case *cli.Int64Flag:
			n = f.Get(c)
		}
		if n < 0 {
			name := help.Name(c.Command)
			return exit.Usage("'reverie help "+name+"' describes it", "%s: %s is %d, but must be 0 or more", name, help.Option(f.Names()[0]), n)
		}
	}
	return nil
}

// NoVerb is the action of a command that has others below it.
func NoVerb(c *cli.Context) error {
	var names []string
	for _, sub := range c.Command.Subcommands {
		if !sub.Hidden {
			names = append(names, sub.Name)
		}
	}
	hint := "'reverie help " + c.Command.Name + "' describes it"
	wants := strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
	word := c.Args().First()
	if word == "" {
		return exit.Usage(hint, "%s takes %s", c.Command.Name, wants)
	}
	if name := help.Nearest(names, word); name != "" {
		hint = fmt.Sprintf("did you mean 'reverie %s %s'? %s", c.Command.Name, name, hint)
	}
	return exit.Usage(hint, "%s takes %s, not %q", c.Command.Name, wants, word)
}

// Words splits the arguments of a command at "--". It is an error if no command follows.
func Words(c *cli.Context) (words, command []string, err error) {
	words = c.Args().Slice()
	if !help.TakesCommand(c.Command) {
		return words, nil, nil
	}
	at := slices.Index(words, "--")
	if at < 0 {
		return words, nil, nil
	}
	if words, command = words[:at], words[at+1:]; len(command) == 0 {
		err = exit.Usage(fmt.Sprintf("'reverie help %s' describes it", help.Name(c.Command)), "%s: there is no command after --", help.Name(c.Command))
	}
	return words, command, err
}

// Takes is the action of a command that takes at least so many words, and at most so many; command
// is what stands behind "--".
func Takes(least, most int, run func(c *cli.Context, words, command []string) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		words, command, err := Words(c)
		if err == nil && (len(words) < least || len(words) > most) {
			err = wrongWords(c, words)
		}
		if err != nil {
			return err
		}
		return run(c, words, command)
	}
}

// Alone is Takes for a command without arguments.
func Alone(run cli.ActionFunc) cli.ActionFunc {
	return Takes(0, 0, func(c *cli.Context, _, _ []string) error { return run(c) })
}

// One is Takes for a command with one argument.
func One(run func(c *cli.Context, word string) error) cli.ActionFunc {
	return Takes(1, 1, func(c *cli.Context, words, _ []string) error { return run(c, words[0]) })
}

// wrongWords is the error of a command that got too few words, or too many.
func wrongWords(c *cli.Context, words []string) error {
	name := help.Name(c.Command)
	wants := strings.TrimSpace(c.Command.ArgsUsage)
	hint := fmt.Sprintf("'reverie help %s' describes it", name)
	if help.TakesCommand(c.Command) && len(words) > 1 {
		return exit.Usage(fmt.Sprintf("put the command after --: reverie %s %s … -- %s", name, words[0], strings.Join(words[1:], " ")), "%s takes %s, not %q", name, wants, words)
	}
	if wants == "" {
		return exit.Usage(hint, "%s takes no arguments", name)
	}
	if len(words) == 0 {
		return exit.Usage(hint, "%s takes %s", name, wants)
	}
	return exit.Usage(hint, "%s takes %s, not %q", name, wants, words)
}

// NoCommand is the failure for a word that names no command.
func NoCommand(app *cli.App, word string) error {
	hint := "reverie help"
	if name := help.Meant(app, word); name != "" {
		hint = fmt.Sprintf("did you mean 'reverie %s'?", name)
	}
	return exit.Usage(hint, "%q is not a command", word)
}

// Typed is the key in App.Metadata of the command line as it was typed.
const Typed = "args"

// Again returns the command line as it was typed, with more options.
func Again(c *cli.Context, more ...string) string {
	args, _ := c.App.Metadata[Typed].([]string)
	return "reverie " + shell.Join(append(slices.Clone(args[1:]), more...))
}

// Error words an error of the flag parser.
func Error(c *cli.Context, err error, _ bool) error {
	args, _ := c.App.Metadata[Typed].([]string)
	says, hint := help.Misuse(c, err, args)
	return exit.Usage(hint, "%s", says)
}
