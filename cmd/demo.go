package cmd

import (
	"context"

	"github.com/reverie-memory/reverie/cmd/report"
	"github.com/reverie-memory/reverie/cmd/usage"
	"github.com/reverie-memory/reverie/internal/demo"
	"github.com/urfave/cli/v2"
)

func demoCommand(env *Env) *cli.Command {
	var keep bool
	return &cli.Command{
		Name:  "demo",
		Usage: "play two recorded sessions in a temporary repository",
		Description: "Shows in seconds how one session teaches the next: a person states rules, a command fails and\n" +
			"is repaired, another agent meets the failure again, and the next session is told. The hooks and the\n" +
			"worker are real. The repository and its home folder are temporary; yours are not touched.",
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "keep", Usage: "keep the repository to look around", Destination: &keep}},
		Action: usage.Alone(func(c *cli.Context) error { return runDemo(c.Context, env, keep) }),
	}
}

func runDemo(ctx context.Context, env *Env, keep bool) error {
	res, err := demo.Play(ctx, demo.Options{Keep: keep, Report: func(n demo.Note) {
		if !env.JSON {
			report.Scene(&env.Terminal, n)
		}
	}})
	if err != nil {
		return err
	}
	if env.JSON {
		return env.Object(res)
	}
	report.Scene(&env.Terminal, res)
	if keep {
		env.Say("to look around: cd %s", res.Dir)
	}
	env.Say("next, in your own repository: reverie look")
	return nil
}
