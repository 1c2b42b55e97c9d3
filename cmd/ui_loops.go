package cmd

import (
	"context"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/cmd/tui"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/worktree"
)

// loopsTab is the loops of the repository: how they stand, what was found and printed, and their end.
func loopsTab(env *Env) tui.Tab {
	view := func(show func(context.Context, *workspace, string) error) func(context.Context, string, int) (string, error) {
		return func(ctx context.Context, name string, width int) (string, error) {
			return screenful(ctx, env, width, func(ctx context.Context, w *workspace) error { return show(ctx, w, name) })
		}
	}
	do := func(run func(context.Context, *Env, string, loopOptions) error, o loopOptions) func(context.Context, string) (string, error) {
		o.set = func(string) bool { return false }
		return func(ctx context.Context, name string) (string, error) {
			said, err := screenful(ctx, env, 1000, func(ctx context.Context, w *workspace) error { return run(ctx, w.env, name, o) })
			return strings.ReplaceAll("\n"+said, "\nreverie: ", "\n"), err
		}
	}
	return tui.Tab{
		Name:  "loops",
		Empty: "there is no loop here\nA loop has an agent carry out a plan, checked after each iteration. Start one:\n\n    reverie loop start PLAN --agent NAME --audit CMD",
		Every: time.Second,
		Load: func(ctx context.Context) (items []tui.Item, err error) {
			_, err = screenful(ctx, env, 80, func(ctx context.Context, w *workspace) error {
				names, err := worktree.List(ctx, w.Repo)
				if err != nil {
					return err
				}
				for _, name := range names {
					item := tui.Item{ID: name}
					if j, err := w.loopJSON(ctx, name); err == nil {
						item.Note, item.Not = plural.Ago(w.env.Now().Sub(j.Changed)), "r"
						switch {
						case j.Phase == worktree.Done, j.Foreign:
							item.Not = "cr"
						case j.Phase == worktree.Stopped:
							item.Not = "c"
						case j.Holder == nil: // both make sense
							item.Not = ""
						}
						j.Name = term.Truncate(j.Name, 30) // what is known of it has all of it
						item.Title = loopLine(j)
					} else {
						item.Title = name + "  " + term.OneLine(err.Error(), 1000) // the others are shown all the same
					}
					items = append(items, item)
				}
				return nil
			})
			return items, err
		},
		Views: []tui.View{
			{Text: view(func(ctx context.Context, w *workspace, name string) error {
				j, err := w.loopJSON(ctx, name)
				if err == nil {
					w.tellLoop(ctx, j, func() {
						if lines := w.lastLines(j.Live, 6); len(lines) > 0 {
							w.env.Print("\n%s\n\n", strings.Join(lines, "\n"))
						}
					})
				}
				return err
			})},
			{Key: "f", Name: "findings", Text: view(func(ctx context.Context, w *workspace, name string) error {
				return runLoopFindings(ctx, w.env, name, loopOptions{all: true})
			})},
			{Key: "o", Name: "output", End: true, Text: view(func(ctx context.Context, w *workspace, name string) error { return w.tellLoopOutput(ctx, name, 0) })},
		},
		Actions: []tui.Action{
			{Key: "c", Name: "cancel", Confirm: "End this loop? Its work stays.", Do: do(runLoopCancel, loopOptions{})},
			{Key: "r", Name: "resume", Confirm: "Have this loop go on in the background?", Do: do(runLoopResume, loopOptions{detach: true})},
		},
	}
}
