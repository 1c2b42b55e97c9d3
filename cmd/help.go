package cmd

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/reverie-memory/reverie/cmd/help"
	"github.com/reverie-memory/reverie/cmd/usage"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

// helpOut is the writer that the command-line library gets for its help texts. It carries env to
// the printer below.
type helpOut struct{ env *Env }

func (h helpOut) Write(text []byte) (int, error) { return h.env.Out.Write(text) }

// init replaces the printer of the command-line library, and its templates with it.
func init() {
	cli.HelpPrinter = func(to io.Writer, _ string, about any) {
		h, ok := to.(helpOut)
		if !ok {
			return
		}
		switch about := about.(type) {
		case *cli.App:
			h.env.fitHelp(help.Program(about, false))
		case *cli.Command:
			h.env.fitHelp(help.Command(about))
		}
	}
}

// fitHelp writes a help text. On a screen, a line that is too long goes on under its second column.
func (env *Env) fitHelp(text string) {
	for line := range strings.Lines(help.Joined(text, env.Screen)) {
		line = strings.TrimRight(line, " \n")
		env.Lay(help.Column(line), term.Span("", line))
	}
}

// helpCommand replaces the parser's own, which suggests nothing.
func helpCommand(env *Env) *cli.Command {
	var all, markdown bool
	var man string
	return &cli.Command{
		Name:      "help",
		Aliases:   []string{"h"},
		Usage:     "list commands, or describe one",
		ArgsUsage: "[COMMAND]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", Usage: "list every command", Destination: &all},
			&cli.BoolFlag{Name: "markdown", Usage: "write docs/commands.md", Hidden: true, Destination: &markdown},
			&cli.StringFlag{Name: "man", Usage: "write a manual page for each command into `DIR`", Destination: &man},
		},
		Action: func(c *cli.Context) error {
			if man != "" {
				if err := os.MkdirAll(env.path(man), 0o755); err != nil {
					return err
				}
				for name, page := range help.Manual(newApp(env)) {
					if err := os.WriteFile(filepath.Join(env.path(man), name), []byte(page), 0o644); err != nil {
						return err
					}
				}
				return nil
			}
			if markdown {
				env.Print("%s", help.Markdown(c.App, func(text string) string {
					var out strings.Builder
					(&Env{Terminal: term.Terminal{Out: &out, Screen: true, Width: 100}}).fitHelp(text)
					return out.String()
				}))
				return nil
			}
			found, of := &cli.Command{Subcommands: c.App.Commands}, ""
			for _, word := range c.Args().Slice() {
				below := found.Command(word)
				switch {
				case below == nil && of == "":
					return usage.NoCommand(c.App, word)
				case below == nil:
					return exit.Usage("reverie help"+of, "%q is not a command of%s", word, of)
				}
				found, of = below, of+" "+below.Name
			}
			if of == "" {
				env.fitHelp(help.Program(c.App, all))
			} else {
				env.fitHelp(help.Command(found))
			}
			return nil
		},
	}
}
