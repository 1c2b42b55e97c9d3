package cmd

import (
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/urfave/cli/v2"
)

// helpCommand is in place of the parser's own, which cannot say what was meant.
func helpCommand(*Env) *cli.Command {
	return &cli.Command{
		Name:      "help",
		Aliases:   []string{"h"},
		Usage:     "list the commands, or say what one takes",
		ArgsUsage: "[COMMAND]",
		Action: func(c *cli.Context) error {
			var parent *cli.Command
			found, of := &cli.Command{Subcommands: c.App.Commands}, ""
			for _, word := range c.Args().Slice() {
				below := found.Command(word)
				switch {
				case below == nil && parent == nil:
					return noCommand(c.App, word)
				case below == nil:
					return exit.Usage("'reverie help"+of+"' shows what it takes", "%q is no command of%s", word, of)
				}
				parent, found, of = found, below, of+" "+below.Name
			}
			if parent == nil {
				return cli.ShowAppHelp(c)
			}
			in := cli.NewContext(c.App, nil, c)
			if in.Command = parent; len(found.Subcommands) > 0 {
				in.Command = found
				return found.Run(in, found.Name, "--help") // which lists them
			}
			return cli.ShowCommandHelp(in, found.Name)
		},
	}
}

// noCommand is the failure for a word that is no command.
func noCommand(app *cli.App, word string) error {
	hint := "'reverie help' lists the commands"
	var names []string
	for _, c := range app.Commands {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	if name := nearest(names, word); name != "" {
		hint = fmt.Sprintf("did you mean 'reverie %s'? %s", name, hint)
	}
	return exit.Usage(hint, "%q is not a command", word)
}

// nearest is the name that was meant by a word: one that it begins, or else that it is like but for a slip of the
// hand, or two in a longer word. It is "" where there is none.
func nearest(names []string, word string) string {
	word = strings.ToLower(word)
	best, least := "", 3
	if len(word) <= 4 {
		least = 2
	}
	for _, name := range names {
		if len(word) >= 3 && strings.HasPrefix(name, word) {
			return name
		}
		if d := slips(name, word); d < least {
			best, least = name, d
		}
	}
	return best
}

// slips is how many letters were put in, left out, replaced or swapped with the next to make b of a. It looks
// at no more than the first 30 bytes.
func slips(a, b string) int {
	a, b = a[:min(30, len(a))], b[:min(30, len(b))]
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
		for j := range rows[i][1:] {
			j++
			if i == 0 {
				rows[i][j] = j
				continue
			}
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
