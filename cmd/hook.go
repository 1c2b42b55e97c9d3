package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/reverie-memory/reverie/cmd/argv"
	"github.com/reverie-memory/reverie/cmd/help"
	"github.com/reverie-memory/reverie/internal/capture"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/internal/process"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

// hookCommand is for the help: Main runs hooks itself, without the rest of the command line.
func hookCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:      "hook",
		Usage:     "handle an event from an agent's or git's hook",
		ArgsUsage: "SOURCE [EVENT] [ARG…]",
		Description: "SOURCE is claude, codex, gemini, opencode, copilot, qwen, cursor, generic or git. The exit code is\n" +
			"always 0, and the output is the text for the agent, or empty. A generic event is a JSON object\n" +
			"with session_id, cwd and, if known, transcript_path, parent_id and prompt. EVENT is start, prompt,\n" +
			"stop, subagent-stop, compacting, compacted, end, calling or called.",
		SkipFlagParsing: true,
		Action: func(c *cli.Context) error {
			if argv.IsHelp(c.Args().First()) {
				env.fitHelp(help.Command(c.Command))
				return nil
			}
			runHook(c.Context, env, capture.NewCall(c.Args().Slice(), env.Now))
			return nil
		},
	}
}

// hookProcess is the whole life of a hook's process. It always ends with 0 and in time: with
// another code an agent throws away the text that its user typed.
func hookProcess(args []string) int {
	if job.Disabled() {
		return exit.Done
	}
	call := capture.NewCall(args, time.Now)
	defer time.AfterFunc(capture.Patience, func() {
		fault := errors.New("gave up after " + capture.Patience.String())
		fmt.Fprintln(os.Stderr, "reverie: hook:", fault)
		call.Ended(fault, capture.LastPatience)
		os.Exit(exit.Done)
	}).Stop()
	ctx, cancel := context.WithTimeout(context.Background(), capture.Patience-capture.Patience/10)
	defer cancel()
	if len(args) > 0 && args[0] != "git" {
		// the payload names the agent's folder; the environment may name another repository
		git.LeaveRepository()
	}
	env := system()
	env.Quiet, env.Colour, env.Interactive, env.Screen = true, false, false, false
	runHook(ctx, env, call)
	return exit.Done
}

// runHook handles one call of a hook. A fault becomes one line on env.Err.
func runHook(ctx context.Context, env *Env, call *capture.Call) {
	env.hook = true
	host := capture.Host{
		Dir: env.Dir, In: env.In, Now: env.Now, Shell: env.agentShell(), Given: os.Getenv(job.Given),
		Reading: process.CollectLate,
		Warn:    func(err error) { hookWarn(env, err) },
		Open: func(ctx context.Context, dir string) (*capture.Desk, error) {
			env.Dir = dir
			w, err := env.open(ctx)
			if err != nil {
				return nil, err
			}
			return &capture.Desk{Reader: w.Reader, Ingester: ingester(w), Create: w.create}, nil
		},
	}
	err := process.WithRoom(func() error {
		v, err := host.Run(ctx, call)
		if len(v.Answer) > 0 {
			env.Out.Write(v.Answer)
		}
		if v.Start != nil {
			err = errors.Join(err, v.Start())
		}
		return err
	})
	hookWarn(env, err)
	call.Ended(err, capture.LogPatience)
}

// hookWarn tells a fault of a hook. A memory of a newer Reverie is for the log and for commands: it
// would be told at every prompt.
func hookWarn(env *Env, err error) {
	if err != nil && !errors.Is(err, config.ErrNewer) {
		env.Warn("hook: %s", term.OneLine(err.Error(), 300))
	}
}
