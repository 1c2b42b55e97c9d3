package cmd

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/cmd/tui"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/loop/plan"
	"github.com/reverie-memory/reverie/worktree/loop/status"
)

// loopsTab shows loops of the repository, and ends or resumes them.
func loopsTab(env *Env, list func(context.Context, *git.Repo) ([]string, error)) tui.Tab {
	do := func(run func(context.Context, *workspace, string) error) func(context.Context, []string) (string, error) {
		first := act(env, func(ctx context.Context, w *workspace, names []string) error { return run(ctx, w, names[0]) })
		return func(ctx context.Context, names []string) (string, error) {
			said, err := first(ctx, names)
			return strings.ReplaceAll("\n"+said, "\nreverie: ", "\n"), err
		}
	}
	return tui.Tab{
		Name:  "loops",
		Empty: "there is no loop here\nA loop runs an agent on a plan and checks each iteration. Start one:\n\n    reverie loop start PLAN --agent NAME --audit CMD",
		Every: time.Second,
		Load: func(ctx context.Context) (items []tui.Item, err error) {
			_, err = screenful(ctx, env, 80, func(ctx context.Context, w *workspace) error {
				names, err := list(ctx, w.Repo)
				for _, name := range names {
					items = append(items, loopItem(ctx, w, name))
				}
				return err
			})
			return items, err
		},
		Views: []tui.View{
			{Text: view(env, func(ctx context.Context, w *workspace, name string) error {
				j, err := status.Read(ctx, w.Clone, name)
				if err == nil {
					tellLoop(ctx, w, j, func() {
						if lines := lastLines(w, j.Live, 6); len(lines) > 0 {
							w.env.Print("\n%s\n\n", strings.Join(lines, "\n"))
						}
					})
				}
				return err
			})},
			{Key: "f", Name: "findings", Text: view(env, func(ctx context.Context, w *workspace, name string) error {
				return runLoopFindings(ctx, w, name, loopFindingsOptions{all: true})
			})},
			{Key: "o", Name: "output", End: true, Text: view(env, func(ctx context.Context, w *workspace, name string) error { return runLoopOutput(ctx, w, name, 0) })},
		},
		Actions: []tui.Action{
			{Key: "c", Name: "cancel", Confirm: "End this loop? Its work stays.", Do: do(func(ctx context.Context, w *workspace, name string) error {
				return runLoopCancel(ctx, w, name, false)
			})},
			{Key: "r", Name: "resume", Confirm: "Continue this loop in the background?", Do: do(func(ctx context.Context, w *workspace, name string) error {
				return runLoopResume(ctx, w, name, plan.Choice{Given: func(string) bool { return false }}, true)
			})},
		},
	}
}

// followLoop is Env.follow on a terminal.
func followLoop(ctx context.Context, w *workspace, name string) (end *worktree.State, err error) {
	err = tui.Until(ctx, os.Stdin, os.Stdout, os.Environ(), func(ctx context.Context) error {
		last, err := status.Watch(ctx, w.Clone, name, func(status.Status, *worktree.Live) error { return nil })
		if ctx.Err() == nil {
			end = &last
		}
		return err
	}, loopsTab(w.env, func(context.Context, *git.Repo) ([]string, error) { return []string{name}, nil }))
	return end, err
}

// loopItem describes a loop in the list, with the keys that make no sense for it. A loop that
// cannot be read hides no other.
func loopItem(ctx context.Context, w *workspace, name string) tui.Item {
	j, err := status.Read(ctx, w.Clone, name)
	if err != nil {
		return tui.Item{ID: name, Title: name + "  " + term.OneLine(err.Error(), 1000)}
	}
	item := tui.Item{ID: name, Note: plural.Ago(w.env.Now().Sub(j.Changed)), Not: "r"}
	switch {
	case j.Phase == worktree.Done, j.Foreign:
		item.Not = "cr"
	case j.Phase == worktree.Stopped:
		item.Not = "c"
	case j.Holder == nil:
		item.Not = ""
	}
	j.Name = term.Truncate(j.Name, 30) // the view shows all of it
	item.Title = j.Line()
	return item
}
