package cmd

import (
	"strings"

	"github.com/reverie-memory/reverie/cmd/complete"
	"github.com/reverie-memory/reverie/cmd/usage"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

func completionCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:        "completion",
		Usage:       "print the completion script of a shell",
		ArgsUsage:   strings.Join(complete.Shells(), "|"),
		Description: "For bash: 'source <(reverie completion bash)'. For zsh, the same after compinit. For fish:\n'reverie completion fish | source'.",
		Action: usage.One(func(c *cli.Context, word string) error {
			script := complete.Script(word)
			if script == "" {
				return exit.Usage("it is one of "+strings.Join(complete.Shells(), ", "), "%q is not a shell with completions", word)
			}
			env.Raw(script)
			return nil
		}),
	}
}

// completeCommand answers the scripts with lines of a word, a tab and a description.
func completeCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name: "complete", Hidden: true, SkipFlagParsing: true,
		Action: func(c *cli.Context) error {
			words := c.Args().Slice()
			if len(words) > 0 && words[0] == "--" {
				words = words[1:]
			}
			known := func(s complete.Subject) []complete.Word {
				if w, err := env.open(c.Context); err == nil {
					return complete.Known(c.Context, w.Reader, s)
				}
				return complete.Known(c.Context, nil, s)
			}
			for _, word := range complete.Next(newApp(env), words, known) {
				env.Print("%s\t%s\n", word.Text, term.OneLine(word.About, 80))
			}
			return nil
		},
	}
}
