package cmd

import (
	"context"
	"errors"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/reverie-memory/reverie/cmd/usage"
	"github.com/reverie-memory/reverie/gitstore/guard"
	"github.com/reverie-memory/reverie/hooks/setup"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/offer"
	"github.com/reverie-memory/reverie/internal/shell"
)

type uninstallOptions struct {
	agents                       cli.StringSlice
	dryRun, yes, memory, project bool
	gitHooks                     bool
	again                        string // the hint that repeats the command with --yes
}

func uninstallCommand(env *Env) *cli.Command {
	var o uninstallOptions
	return &cli.Command{
		Name:  "uninstall",
		Usage: "remove Reverie from this clone and from the agents",
		Description: "Reverie's entries in agents' settings serve every repository, so uninstall removes them only if no\n" +
			"other clone on this machine relies on them. It reports either case. --agent removes the hooks of one\n" +
			"agent, for every repository, or with --project those of this worktree. --git-hooks removes git's\n" +
			"hooks of this clone. With either, everything else stays.",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "agent", Usage: "disconnect only agent `NAME`; may be repeated", Destination: &o.agents},
			&cli.BoolFlag{Name: "project", Usage: "with --agent: use this worktree's settings, not yours", Destination: &o.project},
			&cli.BoolFlag{Name: "git-hooks", Usage: "remove only git's hooks", Destination: &o.gitHooks},
			&cli.BoolFlag{Name: "dry-run", Usage: "print what would change, and change nothing", Destination: &o.dryRun},
			&cli.BoolFlag{Name: "yes", Usage: "do not ask", Destination: &o.yes},
			&cli.BoolFlag{Name: "memory", Usage: "also delete the memory branch", Destination: &o.memory},
		},
		Action: func(c *cli.Context) error {
			switch some := o.gitHooks || len(o.agents.Value()) > 0; {
			case c.NArg() > 0:
				return exit.Usage("", "uninstall takes no arguments")
			case some && o.memory:
				return exit.Usage("leave one of them out", "--memory removes everything, so it excludes --agent and --git-hooks")
			case o.project && len(o.agents.Value()) == 0:
				return exit.Usage("reverie uninstall --agent claude --project", "--project needs --agent")
			}
			o.again = "to go ahead: " + usage.Again(c, "--yes")
			return env.with(c.Context, func(w *workspace) error { return runUninstall(c.Context, w, o) })
		},
	}
}

func runUninstall(ctx context.Context, w *workspace, o uninstallOptions) error {
	values, _ := w.kv().Count()
	removal, err := setup.FindRemoval(ctx, w.Clone, setup.Scope{
		Agents: o.agents.Value(), Project: o.project, GitHooks: o.gitHooks, Memory: o.memory, FilterOf: guard.FilterOf,
		Values: values, Loops: w.loopArtefacts,
	}, w.env.tellRemoval)
	if err != nil {
		return err
	}
	if removal.OnlyHere.Private > 0 {
		w.env.Say("to keep private memories: reverie export --private >FILE; to restore them: reverie import --accept FILE")
	}
	if removal.OnlyHere.Shared > 0 {
		w.env.Say("to keep those of the branch: reverie sync, or: reverie export >FILE; to restore them: reverie import --accept FILE")
	}
	if goes, err := askRemoval(w, o, removal.Found); err != nil || !goes {
		return err
	}
	left, err := removal.Remove(ctx)
	if err != nil {
		return err
	}
	for _, m := range left.Mentions {
		w.env.Say("%s still has the lines that you added for %s; they do nothing now", m.File, strings.Join(m.Hooks, ", "))
	}
	if o.gitHooks || len(o.agents.Value()) > 0 {
		return nil
	}
	if !o.memory {
		w.env.Say("the branch %s stays; to delete it too: git branch -D %s", w.Branch(), w.Branch())
	}
	for _, file := range left.Workflows {
		w.env.Say("%s stays on the branch for the forge; a commit that removes it ends the checks", file)
	}
	if err := offer.Forget(ctx, w.Repo); err != nil {
		w.env.Warn("the list of your repositories still names this clone: %v", err)
	}
	if own := offer.Files(); len(own) > 0 {
		w.env.Say("your own settings and memory, for every repository, stay; to remove them: rm -r %s", shell.Join(own))
	}
	return nil
}

// tellRemoval words a note about an uninstall.
func (env *Env) tellRemoval(n setup.Note) {
	switch n := n.(type) {
	case setup.PassedOver:
		env.Warn("passed over: %v", n.Err)
	case setup.NotCalling:
		env.Say("%s does not call Reverie from %s", n.Agent, n.File)
	case setup.Uncounted:
		env.Warn("could not look for memories that exist only here: %v", n.Err)
	case setup.Ending:
		env.Say("ending the %s, process %d", n.Job, n.PID)
	}
}

// askRemoval says what is about to go, and reports whether a person wants it.
func askRemoval(w *workspace, o uninstallOptions, found []setup.Artefact) (goes bool, err error) {
	if len(found) == 0 {
		w.env.Say("Reverie is not installed here")
		return false, nil
	}
	shared := false
	for _, a := range found {
		shared = shared || a.Shared
		if w.env.JSON {
			if err := w.env.Object(map[string]string{"what": a.Name}); err != nil {
				return false, err
			}
			continue
		}
		w.env.Print("remove %s\n", a.Name)
	}
	if shared {
		w.env.Say("a removal from your own settings affects every repository; 'reverie init --agent NAME' undoes it")
	}
	if o.dryRun {
		return false, nil
	}
	if err := w.WantPerson("uninstall"); err != nil {
		return false, err
	}
	if !o.yes && !w.env.Ask("Remove these?", "n") {
		return false, exit.New(exit.NeedsPerson, errors.New("uninstall: nothing was removed"), o.again)
	}
	return true, nil
}
