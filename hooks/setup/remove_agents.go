package setup

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/hooks/setup/agents"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/plural"
)

// agentTargets returns the files from which agents may call us in a clone: the user's own, and
// those of the work tree.
func agentTargets(c *clone.Clone, m agents.Machine) (targets []agents.Target) {
	for _, a := range hooks.Agents {
		targets = append(targets, m.Users(a)...)
		if c.Repo.WorkTree != "" {
			targets = append(targets, agents.Projects(a, c.Repo.WorkTree)...)
		}
	}
	return targets
}

// findAgents finds this clone's claims to agents' files.
func (r *Removal) findAgents() error {
	m, err := agents.ThisMachine()
	if err != nil {
		return nil // without a home there are no settings
	}
	in := agents.Installer{Dir: m.StateDir(), FilterOf: r.scope.FilterOf}
	installed, err := in.Installed(r.c.Repo.CommonDir, agentTargets(r.c, m))
	if err != nil {
		return err
	}
	for _, i := range installed {
		r.addAgent(in, i, r.c.Repo.CommonDir)
	}
	return nil
}

// findNamedAgents finds the files of the agents in the scope. The user's own files serve every
// clone, so they are removed for all.
func (r *Removal) findNamedAgents() error {
	if len(r.scope.Agents) == 0 {
		return nil
	}
	m, err := agents.ThisMachine()
	if err != nil {
		return exit.New(exit.Failed, err, SetHome)
	}
	named, _, err := chosen(m, r.scope.Agents)
	if err != nil {
		return err
	}
	targets, err := targetsOf(r.c, m, named, r.scope.Project, "uninstall --project: there is no work tree here", "without --project your own settings are looked at")
	if err != nil {
		return err
	}
	in := agents.Installer{Dir: m.StateDir(), FilterOf: r.scope.FilterOf}
	for _, t := range targets {
		i, err := in.InstalledIn(t, r.c.Repo.CommonDir)
		if err != nil {
			return err
		}
		switch i.Fate {
		case agents.Refused:
			if s, err := in.Examine(t); err != nil && !s.Installed && !t.Hooks() { // no trace of us
				continue
			}
			return refused(i.Why, "nothing was changed")
		case agents.Gone:
			if t.Hooks() {
				r.report(NotCalling{t.Agent.Title, t.File})
			}
			continue
		}
		r.addAgent(in, i, agents.AllClones)
	}
	return nil
}

// addAgent adds a file of an agent, unless it cannot be read. The commands in a folder are one.
func (r *Removal) addAgent(in agents.Installer, i agents.Installed, clone string) {
	ours, file := "the hooks", i.File
	switch {
	case i.Command():
		ours, file = "the commands", filepath.Dir(i.File)
	case !i.Hooks():
		ours = "the tools"
	}
	name := ""
	switch i.Fate {
	case agents.Refused:
		r.report(PassedOver{i.Why})
		return
	case agents.Stays:
		name = fmt.Sprintf("this clone's use of %s in %s, which other clones still need; to remove them everywhere: reverie uninstall --agent %s", ours, file, i.Agent.Name)
	case agents.Goes:
		name = fmt.Sprintf("%s for %s in %s", ours, i.Agent.Title, file)
		if !i.Command() {
			name += ", and the file, which has nothing else"
		}
	case agents.Returns:
		name = fmt.Sprintf("%s in %s, which gets back the bytes it had", ours, file)
	case agents.Cut:
		name = fmt.Sprintf("%s in %s, which was changed since and keeps the rest", ours, file)
	case agents.Gone:
		name = fmt.Sprintf("the note that Reverie wrote to %s", file)
	}
	if clone == agents.AllClones && i.Others > 0 {
		name += fmt.Sprintf("; %s on it", plural.Count(i.Others, "other clone relies", "other clones rely"))
	}
	remove := func(ctx context.Context) error {
		_, err := in.Remove(ctx, i.Target, clone)
		return err
	}
	if n := len(r.Found) - 1; n >= 0 && r.Found[n].Name == name {
		before := r.Found[n].Remove
		r.Found[n].Remove = func(ctx context.Context) error { return errors.Join(before(ctx), remove(ctx)) }
		return
	}
	r.Found = append(r.Found, Artefact{Name: name, Shared: i.Top == "" && i.Fate != agents.Stays && i.Fate != agents.Gone, Remove: remove})
}
