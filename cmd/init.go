package cmd

import (
	"context"
	_ "embed"

	"github.com/urfave/cli/v2"
)

// The first files of a memory branch.
var (
	//go:embed first/README.md
	firstReadme string
	//go:embed first/reverie.toml
	firstConfig string
)

func firstFiles() map[string]string {
	return map[string]string{"README.md": firstReadme, "reverie.toml": firstConfig}
}

func initCommand(env *Env) *cli.Command {
	var agentsMD bool
	return &cli.Command{
		Name:  "init",
		Usage: "start a memory in this repository, or adopt the one that origin has",
		Description: "Makes the memory branch without touching your branches, index or files. Doing it again is harmless.\n" +
			"learn, remember, import and ingest do it by themselves.",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "agents-md", Usage: "also write the managed block into AGENTS.md", Destination: &agentsMD}},
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return usage("to name a repository: reverie -C DIR init", "init takes no arguments")
			}
			return runInit(c.Context, env, agentsMD)
		},
	}
}

func runInit(ctx context.Context, env *Env, agentsMD bool) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	created, err := w.ensure(ctx)
	if err != nil {
		return err
	}
	if agentsMD {
		if err := runRender(ctx, env, renderOptions{view: "agents-md"}); err != nil {
			return err
		}
	}
	if env.JSON {
		return env.object(map[string]any{"branch": w.branch(), "created": created})
	}
	if !created {
		env.say("there is a memory on the branch %s already", w.branch())
	}
	return nil
}
