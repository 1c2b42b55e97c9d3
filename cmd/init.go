package cmd

import (
	"context"
	"errors"
	"os"

	"github.com/reverie-memory/reverie/cmd/ci"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/intake"
	"github.com/urfave/cli/v2"
)

type initOptions struct {
	agents   cli.StringSlice
	project  bool
	noMCP    bool
	agentsMD bool
	ci       string
	hooks    bool
	trailers bool
	dry      bool
}

func initCommand(env *Env) *cli.Command {
	var o initOptions
	return &cli.Command{
		Name:  "init",
		Usage: "start a memory in this repository, or adopt the one of origin",
		Description: "Makes the memory branch without touching your branches, index or files. Doing it again is harmless.\n" +
			"learn, remember, import and ingest do it by themselves. --ci commits to the memory branch what lets a\n" +
			"forge check pull requests against it. Rules that stand in files already come in by import alone: init names them. --agent has an agent's hooks call Reverie, from your own settings, in every\n" +
			"repository that has a memory; elsewhere they do nothing. It also names 'reverie mcp' there as a server of tools. uninstall takes\n" +
			"both out again.",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "agent", Usage: "also have `NAME` call Reverie: claude, codex, gemini, opencode, all (that are found here), generic (says how); may be given again", Destination: &o.agents},
			&cli.BoolFlag{Name: "project", Usage: "with --agent: in this work tree's settings, not in yours", Destination: &o.project},
			&cli.BoolFlag{Name: "no-mcp", Usage: "with --agent: the hooks alone, no tools", Destination: &o.noMCP},
			&cli.BoolFlag{Name: "agents-md", Usage: "also write the managed block into AGENTS.md", Destination: &o.agentsMD},
			&cli.StringFlag{Name: "ci", Usage: "also let a `FORGE` check pull requests against the memory: github, gitlab", Destination: &o.ci},
			&cli.BoolFlag{Name: "git-hooks", Usage: "also have git's hooks say which session made which commit, and what landed", Destination: &o.hooks},
			&cli.BoolFlag{Name: "trailers", Usage: "with --git-hooks: also write the session into the messages of its commits", Destination: &o.trailers},
			&cli.BoolFlag{Name: "dry-run", Usage: "say what would be done", Destination: &o.dry},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return exit.Usage("to name a repository: reverie -C DIR init", "init takes no arguments")
			}
			return runInit(c.Context, env, o)
		},
	}
}

// initJSON is what init --json answers.
type initJSON struct {
	Branch  string `json:"branch"`
	Created bool   `json:"created"`
	Started bool   `json:"started,omitempty"` // there was a memory, and nothing else of Reverie in this clone
	CI      string `json:"ci,omitempty"`      // the file that was asked for
	Changed bool   `json:"changed,omitempty"` // it was not there like that

	AgentsMD *renderJSON   `json:"agentsMD,omitempty"`
	Agents   []agentJSON   `json:"agents,omitempty"`
	GitHooks *gitHooksJSON `json:"gitHooks,omitempty"`

	Written []intake.Written `json:"written,omitempty"` // that import could bring
}

func runInit(ctx context.Context, env *Env, o initOptions) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	for _, ask := range []struct {
		flag string
		on   bool
	}{{"--ci", o.ci != ""}, {"--git-hooks", o.hooks}, {"--trailers", o.trailers}} {
		if ask.on && !o.dry { // they decide what runs at everybody's pull requests, and at every commit
			if err := w.WantPerson("init " + ask.flag); err != nil {
				return err
			}
		}
	}
	done := initJSON{Branch: w.Branch()}
	var file ci.File
	var text string
	if o.ci != "" {
		if file, err = findCI(o.ci); err != nil {
			return err
		}
		if text, err = w.renderCI(file); err != nil {
			return err
		}
		done.CI = file.Path
	}
	agents, err := w.planAgents(o.agents.Value(), o.project, o.noMCP)
	if err != nil {
		return err
	}
	if o.dry {
		return w.dryInit(ctx, o, done, file, text, agents)
	}
	if done.Created, err = w.ensure(ctx); err != nil {
		return err
	}
	if done.Started, err = w.start(); err != nil {
		return err
	}
	w.claimAgents(ctx)
	if o.agentsMD {
		if err := runRender(ctx, env, renderOptions{view: "agents-md", done: func(r renderJSON) { done.AgentsMD = &r }}); err != nil {
			return err
		}
	}
	if o.ci != "" {
		if done.Changed, err = w.installCI(ctx, file, text, false); err != nil {
			return err
		}
	}
	if done.Agents, err = w.installAgents(ctx, agents); err != nil {
		return err
	}
	if done.GitHooks, err = w.initHooks(ctx, o); err != nil {
		return err
	}
	done.Written = intake.FindWritten(ctx, w.Clone)
	if env.JSON {
		return env.Object(done)
	}
	defer w.tellWrittenDown(done.Written)
	if agents.generic {
		w.tellGeneric(agents.program)
	}
	switch {
	case done.Started:
		env.Say("there is a memory on the branch %s; Reverie was started again in this clone", w.Branch())
	case !done.Created && len(done.Agents) == 0:
		env.Say("there is a memory on the branch %s already", w.Branch())
	}
	switch {
	case o.ci != "" && done.Changed:
		env.Say("committed %s to %s: once it is pushed, pull requests against it are checked", file.Path, w.Branch())
	case o.ci != "":
		env.Say("%s is on %s already", file.Path, w.Branch())
	}
	return nil
}

// start makes the state folder, without which hooks do nothing, and reports whether it was not there.
func (w *workspace) start() (started bool, err error) {
	_, err = os.Lstat(w.State)
	started = errors.Is(err, os.ErrNotExist)
	_, err = w.Repo.StateDir()
	return started && err == nil, err
}

// dryInit says what init would do.
func (w *workspace) dryInit(ctx context.Context, o initOptions, done initJSON, file ci.File, text string, agents agentInstall) error {
	_, err := w.Memory.Tip(ctx)
	switch {
	case clone.NoMemory(err):
		done.Created, done.Changed = true, o.ci != ""
	case err != nil:
		return err
	case o.ci != "":
		if done.Changed, err = w.installCI(ctx, file, text, true); err != nil {
			return err
		}
	}
	if done.GitHooks, err = w.initHooks(ctx, o); err != nil {
		return err
	}
	done.Agents = w.tellAgents(agents)
	done.Written = intake.FindWritten(ctx, w.Clone)
	if w.env.JSON {
		return w.env.Object(done)
	}
	defer w.tellWrittenDown(done.Written)
	if agents.generic {
		w.tellGeneric(agents.program)
	}
	_, err = os.Lstat(w.State)
	switch {
	case done.Created:
		w.env.Say("would start a memory on the branch %s, or adopt that of origin", w.Branch())
	case err != nil:
		w.env.Say("there is a memory on the branch %s; would start Reverie again in this clone", w.Branch())
	default:
		w.env.Say("there is a memory on the branch %s already", w.Branch())
	}
	if o.agentsMD {
		w.env.Say("would bring the managed block in %s up to date", w.Config.Agents)
	}
	switch {
	case o.ci != "" && done.Changed:
		w.env.Say("would commit this as %s to %s:", file.Path, w.Branch())
		w.env.Print("%s", text)
	case o.ci != "":
		w.env.Say("%s is on %s already", file.Path, w.Branch())
	}
	return nil
}

// initHooks installs git's hooks where they are asked for, and says so; else it is nil.
func (w *workspace) initHooks(ctx context.Context, o initOptions) (*gitHooksJSON, error) {
	if !o.hooks && !o.trailers {
		return nil, nil
	}
	done, err := w.installGitHooks(ctx, gitHookOptions{trailers: o.trailers, dryRun: o.dry})
	if done != nil {
		for _, line := range done.told {
			w.env.Say("%s", line)
		}
	}
	return done, err
}
