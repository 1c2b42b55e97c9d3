package cmd

import (
	"bufio"
	"context"

	"github.com/reverie-memory/reverie/internal/history"
	"github.com/reverie-memory/reverie/internal/term"
)

// show runs a git command for a person to read. Commits and files of others determine its output,
// so only git's own colours reach a terminal unchanged. Lines stay as long as they are; if hang is
// greater than 0, they are fitted to the screen, and further ones indented.
func show(ctx context.Context, w *workspace, hang int, args ...string) error {
	return history.Stream(ctx, w.Repo, func(r *bufio.Reader) error { return term.CopyColoured(&w.env.Terminal, r, hang) }, args...)
}

// colourFlag tells git whether to use colours.
func colourFlag(env *Env) string {
	if env.Colour {
		return "--color=always"
	}
	return "--color=never"
}
