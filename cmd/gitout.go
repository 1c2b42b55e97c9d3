package cmd

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/internal/term"
)

// show runs a git command for a person to read. Commits and files of others determine its output,
// so only git's own colours reach a terminal unchanged. Lines stay as long as they are; if hang is
// greater than 0, they are fitted to the screen, and further ones indented.
func show(ctx context.Context, w *workspace, hang int, args ...string) error {
	return stream(ctx, w, func(r *bufio.Reader) error { return term.CopyColoured(&w.env.Terminal, r, hang) }, args...)
}

// colourFlag tells git whether to use colours.
func colourFlag(env *Env) string {
	if env.Colour {
		return "--color=always"
	}
	return "--color=never"
}

// stream runs a git command and gives its output to read. When read ends early or fails, git is
// ended too; git's own words explain a failure of git.
func stream(ctx context.Context, w *workspace, read func(*bufio.Reader) error, args ...string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := w.Repo.Command(ctx, args...)
	var words bytes.Buffer
	cmd.Stderr = &words
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := read(bufio.NewReader(out)); err != nil {
		cancel()
		_ = cmd.Wait() // it was ended
		return err
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(words.String()))
	}
	return nil
}
