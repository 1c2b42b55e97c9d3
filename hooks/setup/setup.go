// Package setup installs Reverie in a clone, in agents' settings, in git's hooks and at a forge,
// and removes it again. Begin with Init and FindRemoval. It prints nothing: results and notes are
// data. Package setup/doctor checks an installation.
package setup

import (
	"context"
	"errors"
	"os"

	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/hooks/githook"
	"github.com/reverie-memory/reverie/hooks/setup/agents"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/reader"
)

// Options select the parts that Init installs.
type Options struct {
	Agents   AgentOptions
	Forge    string // the forge for checks of pull requests; "" for none
	Version  string // of Reverie, for the forge to run
	Pages    bool   // the forge also publishes the memories
	GitHooks bool
	Trailers bool // also install the git hook that writes
	Dry      bool // change nothing

	AgentsMD bool // also write the managed block

	Begin func(context.Context) (created bool, err error) // makes or adopts the memory branch
}

// Done describes the work of Init, done or planned.
type Done struct {
	Created   bool            // the memory branch is new in this clone
	Started   bool            // the branch was there, and the state folder was not
	Unclaimed error           // error of Claim, which is not fatal
	AgentsMD  *brief.Rendered // nil: the block was not asked for, or not reached
	Workflow  Workflow
	Changed   bool   // the workflow was new or different
	Note      string // git's, on the commit of the workflow
	Agents    AgentPlan
	Written   []agents.Change // of agents
	GitHooks  *githook.Installed
}

// Init starts Reverie in a clone. Repeating it is harmless. The result is valid even with an error.
func Init(ctx context.Context, r *reader.Reader, o Options) (d Done, err error) {
	c := r.Clone
	if o.Forge != "" {
		if d.Workflow, err = findWorkflow(o.Forge, c.Config.Ref, o.Version, o.Pages); err != nil {
			return d, err
		}
	}
	if d.Agents, err = planAgents(c, Program, o.Agents); err != nil {
		return d, err
	}
	if o.Dry {
		err = d.plan(ctx, c, o)
		return d, err
	}
	if d.Created, err = o.Begin(ctx); err != nil {
		return d, err
	}
	if err := clone.CheckFormat(ctx, c); err != nil {
		return d, err
	}
	d.Started = !started(c)
	if _, err := c.Repo.State().Dir(); err != nil { // without it hooks do nothing
		return d, err
	}
	d.Unclaimed = Claim(ctx, c)
	err = d.install(ctx, r, o)
	return d, err
}

// started reports whether a clone has a state folder.
func started(c *clone.Clone) bool {
	_, err := os.Lstat(c.State)
	return !errors.Is(err, os.ErrNotExist)
}

// plan computes the work of install.
func (d *Done) plan(ctx context.Context, c *clone.Clone, o Options) error {
	_, err := c.Memory.Tip(ctx)
	switch {
	case clone.NoMemory(err):
		d.Created, d.Changed = true, o.Forge != ""
	case err != nil:
		return err
	case o.Forge != "":
		if d.Changed, _, err = d.Workflow.install(ctx, c, true); err != nil {
			return err
		}
	}
	d.Started, d.Written = !d.Created && !started(c), d.Agents.Changes
	return d.gitHooks(ctx, c, o)
}

func (d *Done) install(ctx context.Context, r *reader.Reader, o Options) (err error) {
	c := r.Clone
	if o.AgentsMD {
		rendered, err := brief.Managed{}.Render(ctx, r)
		d.AgentsMD = &rendered
		if err != nil {
			return err
		}
	}
	if o.Forge != "" {
		if d.Changed, d.Note, err = d.Workflow.install(ctx, c, false); err != nil {
			return err
		}
	}
	if d.Written, err = d.Agents.Install(ctx, c); err != nil {
		return err
	}
	return d.gitHooks(ctx, c, o)
}

func (d *Done) gitHooks(ctx context.Context, c *clone.Clone, o Options) (err error) {
	if !o.GitHooks && !o.Trailers {
		return nil
	}
	d.GitHooks, err = InstallGitHooks(ctx, c, o.Trailers, o.Dry)
	return err
}

// InstallGitHooks updates our part of git's hooks.
func InstallGitHooks(ctx context.Context, c *clone.Clone, trailers, dry bool) (*githook.Installed, error) {
	program, err := Program()
	if err != nil {
		return nil, err
	}
	return githook.Install(ctx, c.Repo, githook.InstallOptions{Settings: ScriptSettings(program, c.Config), Asked: trailers, Dry: dry})
}

// ScriptSettings returns the settings for the scripts of git's hooks.
func ScriptSettings(program string, c config.Config) githook.Settings {
	return githook.Settings{Program: program, Ref: c.Ref, WithPush: c.WithPush, Plans: len(c.Loop.StartOn) > 0}
}
