// Package cmd is the command line: one file per command, each with its options, a
// constructor that turns flags into them, and a run function that a test, a hook or a server
// can call alike. Begin with Main. Nothing but Main ends the process, and nothing but this
// package prints.
package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/reverie-memory/reverie/cmd/help"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

// patience is how long after the first interrupt a command may take to come to a safe place.
const patience = 2 * time.Second

// Main runs the command line and returns the exit code. The first interrupt asks the command
// to stop at the next safe place; the second, or patience, ends it where it is: what is written
// is written in transactions.
func Main(args []string) int {
	if len(args) > 1 && args[1] == "hook" && !slices.ContainsFunc(args[2:], isHelp) {
		return hookProcess(args[2:])
	}
	if len(args) > 2 && args[1] == "sandbox" && args[2] == "forward" { // inside a container, where signals are for the command
		return sandboxForward(args[3:])
	}
	collectLate()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // a closed pipe is an error of the write
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan int, 1)
	go func() { done <- withRoom(func() int { return Run(ctx, system(), args) }) }()
	select {
	case code := <-done:
		return code
	case <-signals:
		cancel()
	}
	select {
	case code := <-done:
		return code
	case <-signals:
	case <-time.After(patience):
	}
	fmt.Fprintln(os.Stderr, "reverie: "+stopped)
	return exit.Signal
}

// collectLate lets garbage lie until there are some 32 MB, which most commands never have: they live for milliseconds. Who lives
// longer collects it at twice what is held from then on. Saying so stops and starts all of the program, which a hook that only
// keeps an event has no need of.
func collectLate() {
	debug.SetGCPercent(800) // of the 4 MB that are held at least
	runtime.AddCleanup(new([16]byte), func(percent int) { debug.SetGCPercent(percent) }, 200)
}

const stopped = "stopped; nothing is half-written"

// Run runs the command line in an Env and returns the exit code. args[0] is the program's name.
func Run(ctx context.Context, given *Env, args []string) int {
	env := *given
	in, out := &term.Interruptible{Ctx: ctx, From: given.In}, &term.Output{To: given.Out}
	env.In, env.Out = in, out
	app := newApp(&env, args...)
	args = hoist(app, args)
	app.Flags = append(app.Flags, cli.HelpFlag) // the parser adds it only with a help command of its own
	err := app.RunContext(ctx, args)
	if w := env.opened; w != nil && ctx.Err() == nil {
		w.sweepLater()
	}
	if ctx.Err() != nil && (in.Cut.Load() || term.Interrupted(err)) {
		env.Warn(stopped)
		return exit.Signal
	}
	if out.Err != nil && (err == nil || err == exit.Silent || errors.Is(err, out.Err)) {
		if errors.Is(out.Err, syscall.EPIPE) || errors.Is(out.Err, io.ErrClosedPipe) { // the reader of our answer has seen enough
			return exit.Done
		}
		err = exit.New(exit.Failed, fmt.Errorf("write the answer: %w", file.Bare(out.Err)), "the answer is not complete; what the command changed is done")
	}
	if err == nil {
		return exit.Done
	}
	code, hint := explain(err)
	if asked := new(exit.Error); code == exit.NoStore && !errors.As(err, &asked) && env.hasRemote(ctx) {
		hint += "\nor, if somebody else has begun it, bring it here with: reverie sync"
	}
	if err.Error() != "" && env.JSON {
		env.TellError(code, err.Error(), hint)
		return code
	}
	if err.Error() != "" {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			env.Warn("%s", line)
		}
	}
	if hint != "" {
		env.Talk("hint: ", hint)
	}
	return code
}

func isVersion(arg string) bool { return arg == "-V" || arg == "--version" }

// hasRemote reports whether the repository has a remote to sync with.
func (env *Env) hasRemote(ctx context.Context) bool {
	repo, err := git.Find(ctx, env.Dir)
	if err != nil {
		return false
	}
	names, err := repo.Git(ctx, nil, "remote")
	return err == nil && len(bytes.TrimSpace(names)) > 0
}

func isHelp(arg string) bool { return arg == "-h" || arg == "--help" }

// newApp is the command line, with the commands that args may need: all where there are none.
func newApp(env *Env, args ...string) *cli.App {
	app := &cli.App{
		Name:  "reverie",
		Usage: "a repository's memory, kept in git",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "C", Usage: "run in `DIR`", Value: ".", Destination: &env.Dir},
			&cli.BoolFlag{Name: "json", Usage: "answer in JSON, one object a line", Destination: &env.JSON},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print the answer and errors only", Destination: &env.Quiet},
			&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "report more on standard error", Destination: &env.Verbose},
			&cli.BoolFlag{Name: "no-color", Usage: "print without colours"},
			&cli.BoolFlag{Name: "version", Aliases: []string{"V"}, Usage: "print the version"},
		},
		Commands:                  commandsFor(env, args),
		HideVersion:               true,
		Metadata:                  map[string]any{typedArgs: args},
		HideHelpCommand:           true, // helpCommand replaces it
		DisableSliceFlagSeparator: true, // a comma belongs to the value
		Reader:                    env.In,
		Writer:                    helpOut{env},
		ErrWriter:                 io.Discard, // Run prints every error, once
		ExitErrHandler:            func(*cli.Context, error) {},
		OnUsageError:              usageError,
		Before: func(c *cli.Context) error {
			if c.Bool("no-color") {
				env.Colour = false
			}
			return nil
		},
		Action: func(c *cli.Context) error {
			switch {
			case c.Bool("version"):
				return runVersion(env)
			case c.NArg() > 0:
				return noCommand(c.App, c.Args().First())
			}
			err := runOverview(c.Context, env)
			if errors.Is(err, git.ErrNotRepository) && !env.JSON {
				return cli.ShowAppHelp(c)
			}
			return err
		},
	}
	for _, c := range app.Commands {
		nameVerbs(c, app.Name+" "+c.Name)
	}
	return app
}

// hoist brings a command line into the order that the flag parser understands: flags of the
// program, the command and the one below it, its flags, and after "--" everything else. So flags may
// stand anywhere, as with git; after "--" nothing is a flag. A command that takes another one gets that "--",
// too. Of a command line that asks for help only the command is left.
func hoist(app *cli.App, args []string) []string {
	var global, names, local, rest []string
	var command *cli.Command
	for i := 1; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			if help.TakesCommand(command) {
				rest = append(rest, arg)
			}
			rest = append(rest, args[i+1:]...)
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			if command == nil {
				if command = app.Command(arg); command == nil {
					return args // help, or an error that the parser words
				}
				names = append(names, command.Name)
			} else if below := command.Command(arg); below != nil && len(rest) == 0 {
				command = below
				names = append(names, below.Name)
			} else {
				rest = append(rest, arg)
			}
			continue
		}
		name, _, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		to := &local
		var flag cli.Flag
		if command != nil {
			flag = help.FindFlag(command.Flags, name)
			for _, below := range command.Subcommands {
				if flag == nil {
					flag = help.FindFlag(below.Flags, name)
				}
			}
		}
		if flag == nil {
			if flag = help.FindFlag(app.Flags, name); flag != nil || command == nil {
				to = &global
			}
		}
		if flag == nil && help.TakesText(command) && strings.ContainsFunc(name, unicode.IsSpace) {
			rest = append(rest, arg) // a pasted line, as "--- FAIL: TestX (0.00s)": no option is called so
			continue
		}
		*to = append(*to, arg)
		if flag != nil && !hasValue && takesValue(flag) && i+1 < len(args) {
			i++
			*to = append(*to, args[i])
		}
	}
	if slices.ContainsFunc(local, isHelp) {
		local, rest = []string{"--help"}, nil
	}
	out := append([]string{args[0]}, global...)
	if command != nil && !slices.ContainsFunc(global, isVersion) {
		out = append(append(out, names...), local...)
		if len(rest) > 0 {
			out = append(append(out, "--"), rest...)
		}
	}
	return out
}

func takesValue(f cli.Flag) bool {
	d, ok := f.(cli.DocGenerationFlag)
	return ok && d.TakesValue()
}

func versionCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:   "version",
		Usage:  "print the version",
		Action: func(*cli.Context) error { return runVersion(env) },
	}
}

func runVersion(env *Env) error {
	if !env.JSON {
		env.Print("reverie %s %s\n", version(), runtime.Version())
		return nil
	}
	commit := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = s.Value
			}
		}
	}
	return env.Object(map[string]string{"version": version(), "commit": commit, "go": runtime.Version()})
}

// version returns the version of this build, or "devel".
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
