// Package cmd is the command line. Each command has a file with its options, a constructor that
// fills them from flags, and a run function that tests, hooks and servers can call too. Begin with
// Main. Only Main ends the process, and only this package prints.
package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/reverie-memory/reverie/cmd/argv"
	"github.com/reverie-memory/reverie/cmd/usage"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/hint"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

// Run runs the command line in an Env and returns the exit code. args[0] is the program's name.
func Run(ctx context.Context, given *Env, args []string) int {
	env := *given
	in, out := &term.Interruptible{Ctx: ctx, From: given.In}, &term.Output{To: given.Out}
	env.In, env.Out = in, out
	app := newApp(&env, args...)
	args = argv.Order(app, args)
	// the parser adds it only with a help command of its own
	app.Flags = append(app.Flags, cli.HelpFlag)
	err := app.RunContext(ctx, args)
	if w := env.opened; w != nil && ctx.Err() == nil {
		if w.Book.Triggered() {
			env.refreshGuards(ctx, w)
		}
		sweepLater(w)
	}
	if ctx.Err() != nil && (in.Cut.Load() || term.Interrupted(err)) {
		env.Warn(stopped)
		return exit.Signal
	}
	if out.Err != nil && (err == nil || err == exit.Silent || errors.Is(err, out.Err)) {
		// the reader of the output has seen enough
		if errors.Is(out.Err, syscall.EPIPE) || errors.Is(out.Err, io.ErrClosedPipe) {
			return exit.Done
		}
		err = exit.New(exit.Failed, fmt.Errorf("write the answer: %w", file.Bare(out.Err)), "only the output is incomplete; any change took effect")
	}
	if err == nil {
		return exit.Done
	}
	code, next := hint.For(err)
	if asked := new(exit.Error); code == exit.NoStore && !errors.As(err, &asked) && env.hasRemote(ctx) {
		next += "\nor, if a remote has it, fetch it: reverie sync"
	}
	if err.Error() != "" && (env.JSON || code == exit.BadUsage && argv.WantsJSON(args)) {
		env.TellError(code, err.Error(), hint.OfOwn(env.own, next))
		return code
	}
	if err.Error() != "" {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			env.Warn("%s", line)
		}
	}
	if next = hint.OfOwn(env.own, next); next != "" {
		env.Talk("hint: ", next)
	}
	return code
}

// newApp returns the command line with the commands that args may need, or all without args.
func newApp(env *Env, args ...string) *cli.App {
	app := &cli.App{
		Name:  "reverie",
		Usage: "a repository's memory, kept in git",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "C", Usage: "run in `DIR`", Value: ".", Destination: &env.Dir},
			&cli.BoolFlag{Name: "user", Usage: "work on your own memory, which every repository reads", Destination: &env.own},
			&cli.BoolFlag{Name: "json", Usage: "answer in JSON, one object per line", Destination: &env.JSON},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print the answer and errors only", Destination: &env.Quiet},
			&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "report more on standard error", Destination: &env.Verbose},
			&cli.BoolFlag{Name: "no-color", Usage: "print without colours"},
			&cli.BoolFlag{Name: "version", Aliases: []string{"V"}, Usage: "print the version"},
		},
		Commands:                  commandsFor(env, args),
		HideVersion:               true,
		Metadata:                  map[string]any{usage.Typed: args},
		HideHelpCommand:           true, // helpCommand replaces it
		DisableSliceFlagSeparator: true, // a comma belongs to the value
		Reader:                    env.In,
		Writer:                    helpOut{env},
		ErrWriter:                 io.Discard, // Run prints every error, once
		ExitErrHandler:            func(*cli.Context, error) {},
		OnUsageError:              usage.Error,
		Before: func(c *cli.Context) error {
			if c.Bool("no-color") {
				env.Colour = false
			}
			var takes bool
			if takes, env.makes = ownCommand(c.Args().First()); env.own && !takes {
				return exit.Usage("it is for remember, recall, list, show, edit, forget, sync and the history", "--user: this does not work on your own memory: reverie %s", c.Args().First())
			}
			return nil
		},
		Action: func(c *cli.Context) error {
			switch {
			case c.Bool("version"):
				return runVersion(env)
			case c.NArg() > 0:
				return usage.NoCommand(c.App, c.Args().First())
			}
			err := env.with(c.Context, func(w *workspace) error { return runOverview(c.Context, w) })
			if errors.Is(err, git.ErrNotRepository) && !env.JSON {
				return cli.ShowAppHelp(c)
			}
			return err
		},
	}
	for _, c := range app.Commands {
		usage.NameCommands(c, app.Name+" "+c.Name)
	}
	return app
}
