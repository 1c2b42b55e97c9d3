package cmd

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/reverie-memory/reverie/internal/pattern"
	"github.com/reverie-memory/reverie/internal/term"
)

// show runs a git command for a person to read. Commits and files of others determine its output,
// so only git's own colours reach a terminal unchanged. Lines stay as long as they are; if hang is
// greater than 0, they are fitted to the screen, and further ones indented.
func show(ctx context.Context, w *workspace, hang int, args ...string) error {
	return stream(ctx, w, func(r *bufio.Reader) error { return copyVisible(w.env, r, hang) }, args...)
}

// copyVisible copies lines and makes visible what could move a cursor, hide text or turn it round,
// but for colours.
func copyVisible(env *Env, from *bufio.Reader, hang int) error {
	for {
		line, err := from.ReadString('\n')
		shown := visibleLine(line)
		if env.Screen && hang > 0 && line != "" {
			shown = env.Fitted(env.Width, hang, "", styledLine(strings.TrimSuffix(line, "\n")))
		}
		if _, werr := io.WriteString(env.Out, shown); werr != nil {
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

// visibleLine is a line of git's with what is hidden in it made visible.
func visibleLine(line string) string {
	var b strings.Builder
	eachColour(line, func(sequence, text string) {
		b.WriteString(sequence)
		b.WriteString(term.Visible(text))
	})
	return b.String()
}

// styledLine is a line of git's to be fitted.
func styledLine(line string) []term.Styled {
	var all []term.Styled
	style := ""
	eachColour(line, func(sequence, text string) {
		if style += sequence; sequence == "\x1b[m" || sequence == term.Plain {
			style = ""
		}
		if text != "" {
			all = append(all, term.Span(style, term.Visible(text)))
		}
	})
	return all
}

// eachColour cuts a line before each sequence that sets a colour.
func eachColour(line string, fn func(sequence, text string)) {
	sequence := ""
	for {
		at := colour.FindStringIndex(line)
		if at == nil {
			fn(sequence, line)
			return
		}
		fn(sequence, line[:at[0]])
		sequence, line = line[at[0]:at[1]], line[at[1]:]
	}
}

// colour is a sequence that sets how text looks, and does nothing else.
var colour = pattern.New("\x1b\\[[0-9;]*m")

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
