package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/cmd/usage"
	"github.com/reverie-memory/reverie/cmd/wire"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/sandbox"
	"github.com/urfave/cli/v2"
)

type sandboxOptions struct {
	engine     string
	image      string
	workspace  string
	readOnly   bool
	noNetwork  bool
	time       time.Duration
	rootfs     string
	base       string
	dockerfile string
}

func sandboxCommand(env *Env) *cli.Command {
	var o sandboxOptions
	engine := &cli.StringFlag{Name: "engine", Usage: "use `NAME`, docker or podman (default: the setting sandbox.mode)", Destination: &o.engine}
	return &cli.Command{
		Name:        "sandbox",
		Usage:       "run commands in a container",
		ArgsUsage:   "COMMAND",
		Description: "The settings sandbox.… choose the engine, the image and the limits: reverie config.",
		Subcommands: []*cli.Command{
			{
				Name:        "exec",
				Usage:       "run a command in a container",
				ArgsUsage:   "-- COMMAND [ARG…]",
				Description: "Runs the command in the worktree, with limits and without the git directory or a network, or not at all.",
				Flags: []cli.Flag{
					engine,
					&cli.StringFlag{Name: "image", Usage: "run in image `NAME` (default: the setting sandbox.image)", Destination: &o.image},
					&cli.StringFlag{Name: "workspace", Usage: "let the command write in `DIR` (default: the worktree, or else the current folder)", Destination: &o.workspace},
					&cli.BoolFlag{Name: "read-only", Usage: "make the workspace read-only", Destination: &o.readOnly},
					&cli.BoolFlag{Name: "no-network", Usage: "allow no network, whatever the settings say", Destination: &o.noNetwork},
					&cli.DurationFlag{Name: "time", Usage: "end the command after `TIME`, such as 90s, if that is less than the setting", Destination: &o.time},
				},
				Action: func(c *cli.Context) error {
					words, command, err := usage.Words(c)
					switch {
					case err != nil:
						return err
					case len(words) > 0:
						return exit.Usage("reverie sandbox exec -- "+strings.Join(words, " "), "sandbox exec: put the command after --, not %q", words)
					case len(command) == 0:
						return exit.Usage("reverie sandbox exec -- go test ./...", "sandbox exec takes a command")
					}
					return runSandboxExec(c.Context, env, o, command)
				},
			},
			{
				Name:        "build",
				Usage:       "build the image and set sandbox.image to it",
				Description: "Builds from a Dockerfile, which fetches from a registry, or from a root file system on this machine.",
				ArgsUsage:   " ",
				Flags: []cli.Flag{
					engine,
					&cli.StringFlag{Name: "image", Usage: "call the image `NAME`", Destination: &o.image},
					&cli.StringFlag{Name: "from-rootfs", Usage: "build from the folder or tar archive `PATH`, without a registry", Destination: &o.rootfs},
					&cli.StringFlag{Name: "base", Usage: "start from image `NAME`", Destination: &o.base},
					&cli.StringFlag{Name: "dockerfile", Usage: "use `FILE` instead of the built-in Dockerfile", Destination: &o.dockerfile},
				},
				Action: usage.Alone(func(c *cli.Context) error { return runSandboxBuild(c.Context, env, o) }),
			},
			{
				Name:      "list",
				Usage:     "list running containers",
				ArgsUsage: " ",
				Flags:     []cli.Flag{engine},
				Action:    usage.Alone(func(c *cli.Context) error { return runSandboxList(c.Context, env, o) }),
			},
			{
				Name:      "prune",
				Usage:     "remove orphaned containers, or NAME",
				ArgsUsage: "[NAME…]",
				Flags:     []cli.Flag{engine},
				Action:    func(c *cli.Context) error { return runSandboxPrune(c.Context, env, o, c.Args().Slice()) },
			},
		},
		Action: usage.NoVerb,
	}
}

// sandboxSettings are the user's, narrowed by the team's where this is a repository with a memory.
func sandboxSettings(ctx context.Context, env *Env) (config.Sandbox, error) {
	w, err := env.open(ctx)
	if errors.Is(err, git.ErrNotRepository) {
		c, err := config.Load(config.UserFile())
		return c.Sandbox, err
	}
	if err != nil {
		return config.Sandbox{}, err
	}
	if err := w.Narrow(ctx); err != nil {
		return config.Sandbox{}, err
	}
	return w.Settings.Config.Sandbox, nil
}

// sandboxForward is this program inside a container: it passes on what the command has to say to
// the network.
func sandboxForward(args []string) int {
	code, err := sandbox.Forward(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "reverie:", err)
		return max(code, sandbox.ExitLimit)
	}
	return code
}

// sandboxJSON is the answer of sandbox exec.
type sandboxJSON struct {
	Ended   string           `json:"ended"` // exited, time, output, disk, memory
	Exit    int              `json:"exit"`  // of the command
	Why     string           `json:"why,omitempty"`
	Seconds float64          `json:"seconds"`
	Image   string           `json:"image"` // its id
	Stdout  string           `json:"stdout"`
	Stderr  string           `json:"stderr"`
	Hidden  []string         `json:"hidden"`  // git directories that were not inside
	Denied  []string         `json:"denied"`  // what it wanted to reach and may not
	Changed []sandbox.Change `json:"changed"` // what the host would obey
}

func runSandboxExec(ctx context.Context, env *Env, o sandboxOptions, argv []string) error {
	c, err := sandboxSettings(ctx, env)
	if err != nil {
		return err
	}
	spec, err := sandbox.FromSettings(c)
	if err != nil {
		return err
	}
	top := env.Dir
	if o.workspace != "" {
		top = env.path(o.workspace)
	} else if repo, err := git.FindCached(ctx, env.Dir); err == nil && repo.WorkTree != "" {
		top = repo.WorkTree
	}
	if spec.Workspace, spec.Dir, err = sandbox.Folders(top, env.Dir); err != nil {
		return err
	}
	if o.image != "" {
		spec.Image = o.image
	}
	if o.noNetwork {
		spec.Network, spec.Forward = nil, nil
	}
	if o.time < 0 {
		return exit.Usage("", "--time %s is in the past", o.time)
	}
	if o.time > 0 {
		spec.Limits.Time = min(spec.Limits.Time, o.time)
	}
	spec.ReadOnly = o.readOnly
	if !env.JSON {
		spec.Stdout, spec.Stderr = env.Out, env.Err
	}
	e, err := sandbox.Choose(ctx, c, o.engine)
	if err != nil {
		return err
	}
	var in io.Reader = env.In
	if env.Interactive { // no question can be asked in there
		in = bytes.NewReader(nil)
	}
	began := time.Now()
	r, err := e.Run(ctx, spec, argv, in)
	// also of a command that was interrupted
	changed, changedErr := sandbox.Changed(spec.Workspace, began)
	if err != nil && !env.JSON {
		tellChanged(env, changed)
	}
	if err != nil && o.image != "" && errors.Is(err, sandbox.ErrNoImage) {
		return exit.New(exit.Failed, err, "nothing was run; '"+e.Name+" images' lists the images here; the default is the setting sandbox.image")
	}
	if err != nil {
		return sandbox.Explain(err)
	}
	if changedErr != nil {
		return changedErr
	}
	return tellSandbox(env, r, changed, spec, time.Duration(c.Seconds)*time.Second)
}

// tellSandbox tells how a command went, and ends as it did. most is the time that the settings let
// it have.
func tellSandbox(env *Env, r sandbox.Result, changed []sandbox.Change, spec sandbox.Spec, most time.Duration) error {
	if env.JSON {
		j := sandboxJSON{string(r.Ended), r.Exit, r.Why, r.Took.Seconds(), r.Image, string(r.Stdout), string(r.Stderr), wire.List(r.Hidden), wire.List(r.Denied), append([]sandbox.Change{}, changed...)}
		if err := env.Object(j); err != nil {
			return err
		}
	}
	for _, d := range r.Denied {
		env.Say("not reached: %s", d)
	}
	tellChanged(env, changed)
	if err := spec.Limits.Failure(r, most); err != nil {
		return err
	}
	if r.Exit != 0 {
		return &exit.Error{Code: r.Exit, Err: errors.New("")} // it has said why
	}
	return nil
}

// tellChanged names what a command left that a person should look at.
func tellChanged(env *Env, changed []sandbox.Change) {
	for _, c := range changed {
		env.Warn("look at %s before anything else does: %s", c.Path, c.Why)
	}
}
