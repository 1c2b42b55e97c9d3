package cmd

import (
	"context"
	"errors"

	"github.com/reverie-memory/reverie/hooks/setup"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

// loopRemovedJSON is the answer of loop remove.
type loopRemovedJSON struct {
	Name    string   `json:"name"`
	Branch  string   `json:"branch"`  // stays
	Removed []string `json:"removed"` // refs, and the folder
}

func loopRemoveCommand(env *Env) *cli.Command {
	var yes bool
	return &cli.Command{
		Name:      "remove",
		Usage:     "delete the records of ended loops; branches stay",
		ArgsUsage: "NAME…",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "yes", Usage: "do not ask", Destination: &yes},
		},
		Action: loopAction(env, 1, 1<<10, func(w *workspace, c *cli.Context, words, _ []string) error {
			for _, name := range words {
				if err := runLoopRemove(c.Context, w, name, yes); err != nil {
					return err
				}
			}
			return nil
		}),
	}
}

// runLoopRemove removes the records of a loop that has ended. Its branch stays.
func runLoopRemove(ctx context.Context, w *workspace, name string, yes bool) error {
	if name == "" {
		return exit.Usage("'reverie loop status' lists them", "loop remove takes the name of a loop")
	}
	r, err := loops(w).Removal(ctx, name)
	if err != nil {
		return err
	}
	defer r.Release()
	if !w.env.JSON {
		for _, ref := range r.Refs {
			w.env.Print("remove  %s\n", term.Visible(ref))
		}
	}
	question := "Remove these? The branch " + r.Branch + " stays."
	if r.Foreign {
		question = "It was not started here. Remove its record?"
	}
	if !yes && !w.env.Ask(question, "n") {
		return exit.New(exit.NeedsPerson, errors.New("loop remove: nothing was removed"), "to go ahead: reverie loop remove "+r.Name+" --yes")
	}
	left, err := r.Run(ctx)
	if err != nil {
		return err
	}
	if left != "" {
		w.env.Say("%s stays, with the files of a loop of that name; to remove it too: reverie loop remove %s", left, r.Name)
	}
	if w.env.JSON {
		return w.env.Object(loopRemovedJSON{r.Name, r.Branch, r.Refs})
	}
	if !r.Foreign {
		w.env.Say("the branch %s stays", r.Branch)
	}
	return nil
}

// loopArtefacts lists the loops' own work trees for uninstall.
func (w *workspace) loopArtefacts(ctx context.Context) (found []setup.Artefact, err error) {
	trees, err := loops(w).Trees(ctx)
	for _, t := range trees {
		found = append(found, setup.Artefact{Name: "the work tree of the loop " + t.Loop + " in " + t.Dir, Remove: t.Remove})
	}
	return found, err
}
