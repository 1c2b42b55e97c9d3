package cmd

import (
	"context"
	"os"

	"github.com/reverie-memory/reverie/cmd/usage"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/worker"
	"github.com/urfave/cli/v2"
)

// workerCommand is not in the help: hooks start it.
func workerCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:   "worker",
		Usage:  "learn from spooled events in the background",
		Hidden: true,
		Action: usage.Alone(func(c *cli.Context) error { return runWorker(c.Context, env) }),
	}
}

func runWorker(ctx context.Context, env *Env) error {
	env.toBackground()
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	job := worker.Worker{
		Reader: w.Reader, Learner: w.learner, Ingester: ingester(w), Tidy: w.tidy, Claim: w.claimAgents,
		Guards: func(ctx context.Context) { refreshGuards(ctx, w) },
		Warn:   func(err error) { env.Warn("%v", err) },
		Exit:   func() { os.Exit(exit.Failed) },
	}
	return job.Run(ctx)
}

// sweepLater starts a worker if work was left.
func sweepLater(w *workspace) {
	if err := worker.Wake(w.Clone); err != nil && w.env.Verbose {
		w.env.Warn("%v", err)
	}
}
