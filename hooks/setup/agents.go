package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/hooks/setup/agents"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/exit"
)

// AllAgents selects the agents that are found on this machine.
const AllAgents = "all"

// AgentOptions choose agents and the files to write.
type AgentOptions struct {
	Names   []string // of agents, or AllAgents
	Project bool     // write this work tree's settings instead of the user's
	Bare    bool     // add the hooks alone, without the server of tools
	// FilterOf returns the calls that a clone needs hooks for, by its common git directory.
	FilterOf func(commonDir string) hooks.Filter
}

// AgentPlan holds every change of agents' settings, before the first is written.
type AgentPlan struct {
	Program string // our program, as hooks call it
	Changes []agents.Change
	Kept    []string // why some commands are left out: the user has files there
	Generic bool     // also describe the call by any other agent
	None    bool     // no agent is found on this machine

	installer agents.Installer
}

// Program returns the path by which hooks call this program.
func Program() (string, error) {
	program, err := agents.Program()
	if errors.Is(err, agents.ErrPassing) {
		return "", exit.New(exit.Failed, err, "hooks need a path that stays: install this program as the README says, and run that")
	}
	return program, err
}

// planAgents plans the changes that make agents call a program, and changes nothing.
func planAgents(c *clone.Clone, program func() (string, error), o AgentOptions) (p AgentPlan, err error) {
	if len(o.Names) == 0 {
		return p, nil
	}
	m, err := agents.ThisMachine()
	if err != nil {
		return p, exit.New(exit.Failed, err, SetHome)
	}
	named, generic, err := chosen(m, o.Names)
	if err != nil {
		return p, err
	}
	if p.None = len(named) == 0 && !generic; p.None {
		return p, nil
	}
	p.Generic, p.installer = generic, agents.Installer{Dir: m.StateDir(), FilterOf: o.FilterOf}
	if p.Program, err = program(); err != nil {
		return p, err
	}
	targets, err := targetsOf(c, m, named, o.Project, "init --project: there is no work tree here", "without --project your own settings are written")
	if err != nil {
		return p, err
	}
	for _, t := range targets {
		if t.Bare = o.Bare; o.Bare && !t.Hooks() {
			continue
		}
		change, err := p.installer.Plan(t, p.Program, c.Repo.CommonDir)
		if t.Command() && errors.As(err, new(*agents.RefusedError)) {
			p.Kept = append(p.Kept, err.Error())
			continue
		}
		if err != nil {
			return p, refused(err, "nothing was changed")
		}
		p.Changes = append(p.Changes, change)
	}
	return p, nil
}

// Install writes the planned changes, and returns those that were written.
func (p AgentPlan) Install(ctx context.Context, c *clone.Clone) (done []agents.Change, err error) {
	if len(p.Changes) > 0 { // without the state folder hooks do nothing
		if _, err := c.Repo.State().Dir(); err != nil {
			return nil, err
		}
	}
	for _, planned := range p.Changes {
		change, err := p.installer.Install(ctx, planned.Target, p.Program, c.Repo.CommonDir)
		if err != nil {
			return done, refused(err, "this file was not changed")
		}
		done = append(done, change)
	}
	return done, nil
}

// Claim records that this clone relies on agents' calls from the user's own settings.
func Claim(ctx context.Context, c *clone.Clone) error {
	m, err := agents.ThisMachine()
	if err != nil {
		return nil // without a home there are no settings
	}
	return agents.Installer{Dir: m.StateDir()}.Claim(ctx, c.Repo.CommonDir)
}

// RefreshGuards updates the hooks for calls of tools in all files from which agents call this
// clone, and returns the changes. Call it whenever filterOf may answer differently for the clone.
// Without a change it reads only the journal and the filters.
func RefreshGuards(ctx context.Context, c *clone.Clone, filterOf func(commonDir string) hooks.Filter) ([]agents.Change, error) {
	m, err := agents.ThisMachine()
	if err != nil {
		return nil, nil // without a home there are no settings
	}
	return agents.Installer{Dir: m.StateDir(), FilterOf: filterOf}.Refresh(ctx, c.Repo.CommonDir)
}

// chosen finds agents by name, each once.
func chosen(m agents.Machine, names []string) (found []hooks.Agent, generic bool, err error) {
	for _, name := range names {
		a, ok := hooks.Find(name)
		switch {
		case name == AllAgents:
			for _, a := range hooks.Agents {
				if m.Has(a) {
					found = append(found, a)
				}
			}
		case !ok:
			return nil, false, exit.Usage("known are "+hooks.Names()+", "+AllAgents, "--agent %s: no agent of that name is known", name)
		case name == "generic":
			generic = true
		default:
			found = append(found, a)
		}
	}
	slices.SortStableFunc(found, func(a, b hooks.Agent) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(found, func(a, b hooks.Agent) bool { return a.Name == b.Name }), generic, nil
}

// targetsOf returns the files of agents: the user's own, or those of this work tree.
func targetsOf(c *clone.Clone, m agents.Machine, of []hooks.Agent, project bool, none, hint string) (targets []agents.Target, err error) {
	if project && c.Repo.WorkTree == "" {
		return nil, exit.New(exit.Failed, errors.New(none), hint)
	}
	for _, a := range of {
		if project {
			targets = append(targets, agents.Projects(a, c.Repo.WorkTree)...)
		} else {
			targets = append(targets, m.Users(a)...)
		}
	}
	return targets, nil
}

// refused turns the error about a refused file into one for a person, and adds the fate of the
// others.
func refused(err error, rest string) error {
	is := new(agents.RefusedError)
	if !errors.As(err, &is) {
		return err
	}
	mend := "mend the file"
	if _, missing := os.Lstat(is.File); missing != nil {
		mend = "check HOME and the permissions of the folder"
	}
	return exit.New(exit.NeedsPerson, fmt.Errorf("%w; %s", err, rest), mend+", or leave that agent out")
}

// SetHome is the hint if the system does not say where the home folder is.
const SetHome = "set that variable to your home folder"

// Outcome says for a person what a change to an agent's file brings, or would bring in a dry run.
// The commands in a folder share one outcome.
func Outcome(c agents.Change, dry bool) string {
	does, would, place := "calls Reverie", "have %s call Reverie", c.File
	switch {
	case c.Command():
		does, would, place = "has Reverie's commands", "give %s Reverie's commands", filepath.Dir(c.File)
	case !c.Hooks():
		does, would = "has Reverie's tools", "give %s Reverie's tools"
	}
	switch {
	case !c.Changed():
		return fmt.Sprintf("%s %s already: %s", c.Agent.Title, does, place)
	case dry:
		return "would " + fmt.Sprintf(would, c.Agent.Title) + ": " + place
	}
	return fmt.Sprintf("%s %s from now on: %s", c.Agent.Title, does, place)
}

// Advice returns further facts and steps for a person after a change to an agent's file.
func Advice(c agents.Change) (lines []string) {
	if !c.Changed() || !c.Hooks() && c.Top == "" || c.Command() {
		return nil
	}
	switch name := c.Agent.Name; {
	case !c.Hooks() && name == "claude":
		lines = append(lines, "it asks you once before it starts a server that a project names")
	case !c.Hooks():
	case name == "codex":
		lines = append(lines, "it runs only hooks that you approved: open codex, and approve them in /hooks")
	case (name == "gemini" || name == "qwen" || name == "copilot" || name == "cursor") && c.Top != "":
		lines = append(lines, "it reads the settings of trusted folders only, and warns of new hooks")
	}
	if c.Top == "" {
		return lines
	}
	lines = append(lines, "the file has a path of this machine: leave it out of commits")
	if m, err := agents.ThisMachine(); err == nil && c.Hooks() {
		user, _ := m.User(c.Agent)
		if s, err := (agents.Installer{Dir: m.StateDir()}).Examine(user); err == nil && s.Installed {
			lines = append(lines, "your own settings have it too, so every event comes twice: "+user.File)
		}
	}
	return lines
}
