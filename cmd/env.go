package cmd

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore/recall/vector"
	"golang.org/x/term"
)

// Env is what a command has of the world. Tests, hooks and servers give their own.
type Env struct {
	In          io.Reader
	Out, Err    io.Writer
	Dir         string           // where to look for the repository
	Now         func() time.Time // the clock
	Interactive bool             // In, Out and Err are a person's terminal
	Screen      bool             // Out is a terminal: lines are fitted to Width
	Width       int              // of the terminal, in cells
	Height      int              // of the terminal, in lines: a longer answer goes through a pager; 0: none does
	JSON        bool
	Quiet       bool
	Verbose     bool
	Colour      bool

	background bool   // nobody waits for it
	caller     string // the agent behind a tool, as agentShell names it; "" where a person may have typed the command

	lines  *bufio.Reader // of In, for answers to questions
	opened *workspace    // the one that the command has opened last, if any

	embedder func(context.Context) (vector.Embed, vector.Space, error) // in the place of the configured model, if not nil
}

// path is where a file lies that the command line names: relative to the folder of -C.
func (env *Env) path(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(env.Dir, file)
}

// line reads one line from a person, without its end. It gives up when the command is interrupted.
func (env *Env) line() (string, error) {
	if env.lines == nil {
		env.lines = bufio.NewReader(env.In)
	}
	line, err := env.lines.ReadString('\n')
	return strings.TrimSpace(line), err
}

// system is the Env of a process.
func system() *Env {
	env := &Env{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Dir: ".", Now: time.Now, Width: 80}
	out := term.IsTerminal(int(os.Stdout.Fd()))
	env.Interactive = out && term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stderr.Fd()))
	env.Colour = out && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	env.Screen = out
	height := 24
	if w, h, err := term.GetSize(int(os.Stdout.Fd())); err == nil && w > 0 && h > 0 {
		env.Width, height = w, h
	}
	if env.Interactive && os.Getenv("TERM") != "dumb" && env.agentShell() == "" { // an agent does not turn pages
		env.Height = height
	}
	return env
}
