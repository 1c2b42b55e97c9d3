package cmd

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"

	"github.com/reverie-memory/reverie/cmd/tui"
	"github.com/reverie-memory/reverie/cmd/usage"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/urfave/cli/v2"
)

func uiCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:  "ui",
		Usage: "review, search and watch loops on a full screen",
		Description: "The bottom line shows the keys; ? shows all of them, / searches, and space marks several. Decisions\n" +
			"take effect at once, and u undoes the last. Lists: the inbox, all memories, this repository's loops.",
		Action: usage.Alone(func(c *cli.Context) error { return runUI(c.Context, env) }),
	}
}

func runUI(ctx context.Context, env *Env) error {
	if env.follow == nil {
		return exit.Usage("'reverie review' lists the pending operations", "ui needs a terminal")
	}
	if _, err := env.openToDecide(ctx, "ui"); err != nil {
		return err
	}
	// the terminal itself: env.Out may be a writer that remembers errors
	err := tui.Run(ctx, os.Stdin, os.Stdout, os.Environ(), inboxTab(env), memoriesTab(env), loopsTab(env, worktree.List))
	if errors.Is(err, tui.ErrUndone) {
		err = exit.New(exit.Failed, err, "'reverie review' and 'reverie loop status' show the outcome")
	}
	return err
}

// screenful returns the output of write, with an Env of its own whose lines have that width. It
// opens the repository again, because a screen may stay open for hours.
func screenful(ctx context.Context, env *Env, width int, write func(context.Context, *workspace) error) (string, error) {
	var out, talk bytes.Buffer
	e := *env
	e.Terminal, e.opened = env.To(strings.NewReader(""), &out, &talk), nil
	e.Width, e.Height, e.Interactive, e.JSON = width, 0, false, false
	w, err := e.open(ctx)
	if err == nil {
		err = write(ctx, w)
	}
	if err != nil {
		return "", err
	}
	return strings.TrimRight(talk.String()+out.String(), "\n"), nil
}

// view returns the text of a tui.View: the output of show for an id.
func view(env *Env, show func(context.Context, *workspace, string) error) func(context.Context, string, int) (string, error) {
	return func(ctx context.Context, id string, width int) (string, error) {
		return screenful(ctx, env, width, func(ctx context.Context, w *workspace) error { return show(ctx, w, id) })
	}
}

// act returns the function of a tui.Action, which reports the output of do for the chosen ids.
func act(env *Env, do func(context.Context, *workspace, []string) error) func(context.Context, []string) (string, error) {
	return func(ctx context.Context, ids []string) (string, error) {
		return screenful(ctx, env, 1000, func(ctx context.Context, w *workspace) error { return do(ctx, w, ids) })
	}
}
