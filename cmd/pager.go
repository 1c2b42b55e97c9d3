package cmd

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/reverie-memory/reverie/internal/pattern"
)

// show runs a git command for a person to read: through the pager that git would use on a
// terminal, straight to the answer otherwise. What git prints comes from commits and files of
// others: only git's own colours may reach a terminal as they are.
func (w *workspace) show(ctx context.Context, args ...string) error {
	pager := w.pager(ctx)
	if pager == nil {
		return w.stream(ctx, func(r *bufio.Reader) error { return copyVisible(w.env.Out, r) }, args...)
	}
	pager.Stdout, pager.Stderr = os.Stdout, os.Stderr
	in, err := pager.StdinPipe()
	if err != nil {
		return err
	}
	if err := pager.Start(); err != nil {
		return err
	}
	err = w.stream(ctx, func(r *bufio.Reader) error { return copyVisible(in, r) }, args...)
	if errors.Is(err, syscall.EPIPE) {
		err = nil // the person closed the pager
	}
	in.Close()
	return errors.Join(err, pager.Wait())
}

// copyVisible copies lines and makes visible what could move a cursor, hide text or turn it round,
// but for colours.
func copyVisible(to io.Writer, from *bufio.Reader) error {
	for {
		line, err := from.ReadString('\n')
		var b strings.Builder
		for rest := line; rest != ""; {
			at := colour.FindStringIndex(rest)
			if at == nil {
				at = []int{len(rest), len(rest)}
			}
			b.WriteString(visible(rest[:at[0]]))
			b.WriteString(rest[at[0]:at[1]])
			rest = rest[at[1]:]
		}
		if _, werr := io.WriteString(to, b.String()); werr != nil {
			return werr
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// colour is a sequence that sets how text looks, and does nothing else.
var colour = pattern.New("\x1b\\[[0-9;]*m")

// pager is the user's choice or git's own, or nil where nothing should page.
func (w *workspace) pager(ctx context.Context) *exec.Cmd {
	if !w.env.Terminal {
		return nil
	}
	name, _, err := w.repo.Program(ctx, "GIT_PAGER")
	if err != nil {
		return nil
	}
	words := strings.Fields(name)
	if len(words) == 0 || words[0] == "cat" {
		return nil
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env = os.Environ()
	if os.Getenv("LESS") == "" {
		cmd.Env = append(cmd.Env, "LESS=FRX")
	}
	return cmd
}

// colourFlag tells git whether to use colours.
func (env *Env) colourFlag() string {
	if env.Colour {
		return "--color=always"
	}
	return "--color=never"
}

// stream runs a git command and gives its output to read. When read ends early or fails, git is
// ended too; git's own words explain a failure of git.
func (w *workspace) stream(ctx context.Context, read func(*bufio.Reader) error, args ...string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := w.repo.Command(ctx, args...)
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
