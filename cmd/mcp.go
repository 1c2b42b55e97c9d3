package cmd

import (
	"context"
	"io"
	"strings"

	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/mcp"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

func mcpCommand(env *Env) *cli.Command {
	var agent string
	var readOnly bool
	return &cli.Command{
		Name:  "mcp",
		Usage: "serve the memory to an agent over the Model Context Protocol",
		Description: "Agents start it after 'reverie init --agent NAME'. It serves the repository of the current folder,\n" +
			"and ends with its input. An agent's requests to remember or forget wait in the inbox.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "agent", Usage: "use `NAME` for a calling agent whose client gives no name that Reverie knows", Destination: &agent},
			&cli.BoolFlag{Name: "read-only", Usage: "leave out tools that request changes", Destination: &readOnly},
		},
		Action: func(c *cli.Context) error {
			switch {
			case c.NArg() > 0:
				return exit.Usage("reverie mcp --agent claude", "mcp takes no arguments")
			case agent != "" && !isAgent(agent):
				return exit.Usage("it is one of "+hooks.Names(), "%q is not an agent", agent)
			}
			git.LeaveRepository() // the folder decides, not the environment of another git
			s := mcpServer(env, agent, readOnly)
			own, err := config.Load(config.UserFile())
			s.Loops = err == nil && own.AgentsLoop // each call reports the error
			return s.Serve(c.Context, env.In, env.Out)
		},
	}
}

// mcpServer returns the server of the agents' tools.
func mcpServer(env *Env, agent string, readOnly bool) mcp.Server {
	return mcp.Server{Agent: agent, ReadOnly: readOnly, Version: version(), Log: env.Err,
		Open: func(ctx context.Context, caller string, notes io.Writer) (*mcp.Desk, error) {
			call := &Env{Terminal: term.Terminal{In: strings.NewReader(""), Out: io.Discard, Err: notes, Width: 80},
				Dir: hooks.Served(env.Dir), Now: env.Now, caller: caller, embedder: env.embedder}
			w, err := call.open(ctx)
			if err != nil {
				return nil, err
			}
			return &mcp.Desk{Reader: w.Reader, Learner: w.learner(), Loops: loops(w), Create: w.create, Tidy: w.tidy}, nil
		}}
}
