package cmd

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/agent"
)

// loopOutputJSON is what a phase of an iteration printed.
type loopOutputJSON struct {
	Iteration int            `json:"iteration"`
	Phase     worktree.Phase `json:"phase"`
	Text      string         `json:"text"`
}

// runLoopOutput shows what the phases of an iteration have printed; without one, those of the last two.
func runLoopOutput(ctx context.Context, env *Env, name, iteration string) error {
	n := 0
	if iteration != "" {
		var err error
		if n, err = strconv.Atoi(iteration); err != nil || n < 1 {
			return exit.Usage("reverie loop output NAME 2", "%s: no number of an iteration", iteration)
		}
	}
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	_, l, err := w.openLoop(ctx, name)
	if err != nil {
		return err
	}
	if n > l.State.Iteration {
		return exit.New(exit.Failed, fmt.Errorf("loop %s is at iteration %d", l.State.Name, l.State.Iteration), "reverie loop output "+l.State.Name)
	}
	return w.tellLoopOutput(ctx, l.State.Name, n)
}

// tellLoopOutput shows what the phases of an iteration have printed, and what the phase that runs does; with 0, those of the last two
// iterations.
func (w *workspace) tellLoopOutput(ctx context.Context, name string, iteration int) error {
	record := worktree.Open(w.Repo, name, w.Scanner)
	l, err := record.Load(ctx)
	if err != nil {
		return err
	}
	show := func(n int, phase worktree.Phase, since, text string) error {
		if w.env.JSON {
			return w.env.Object(loopOutputJSON{n, phase, text})
		}
		w.env.Print("%s\n", w.env.Paint(term.Bold, fmt.Sprintf("── iteration %d, %s%s", n, phase, since)))
		if text = strings.TrimRight(visibleLines(text), "\n"); text != "" {
			w.env.Print("%s\n", text)
		}
		return nil
	}
	from, to := iteration, iteration
	if iteration == 0 {
		from, to = max(1, l.State.Iteration-1), l.State.Iteration
	}
	outputs := map[worktree.Phase]string{worktree.Coding: "agent", worktree.Verifying: "verify", worktree.Auditing: "audit"}
	for n := from; n <= to; n++ {
		for _, phase := range []worktree.Phase{worktree.Coding, worktree.Verifying, worktree.Auditing} {
			text, err := record.Output(ctx, n, outputs[phase])
			if err != nil {
				return err
			}
			if phase != worktree.Verifying {
				text = agent.Readable(text, term.OneLine)
			}
			if text == "" {
				continue
			}
			if err := show(n, phase, "", text); err != nil {
				return err
			}
		}
	}
	if l.State.Phase.Over() || to < l.State.Iteration || worktree.Held(ctx, w.Repo, name) == nil {
		return nil
	}
	if now := liveOf(w.Repo, l.State, worktree.MaxLive); now != nil {
		return show(now.Iteration, now.Phase, w.since(now), now.Text+now.Rest)
	}
	return nil
}
