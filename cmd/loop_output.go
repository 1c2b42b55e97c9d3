package cmd

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/worktree/loop/status"
	"github.com/urfave/cli/v2"
)

func loopOutputCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:      "output",
		Usage:     "print the output of agent, checks and audit",
		ArgsUsage: "[NAME [ITERATION]]",
		Action: loopAction(env, 0, 2, func(w *workspace, c *cli.Context, words, _ []string) error {
			words = append(words, "", "")
			n := 0
			if words[1] != "" {
				var err error
				if n, err = strconv.Atoi(words[1]); err != nil || n < 1 {
					return exit.Usage("reverie loop output NAME 2", "%s is not the number of an iteration", words[1])
				}
			}
			return runLoopOutput(c.Context, w, words[0], n)
		}),
	}
}

// runLoopOutput shows the output of an iteration; with 0, of the last two.
func runLoopOutput(ctx context.Context, w *workspace, name string, iteration int) error {
	all, err := status.Outputs(ctx, w.Clone, name, iteration)
	if err != nil {
		return err
	}
	return rows(w.env, all, itself, func(o status.Output) {
		w.env.Print("%s\n", w.env.Paint(term.Bold, fmt.Sprintf("── iteration %d, %s%s", o.Iteration, o.Phase, since(w, o.Live))))
		if text := strings.TrimRight(term.VisibleLines(o.Text), "\n"); text != "" {
			w.env.Print("%s\n", text)
		}
	})
}
