package cmd

import (
	"context"
	"errors"

	"github.com/reverie-memory/reverie/cmd/check"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

func checkCommand(env *Env) *cli.Command {
	var deep bool
	var o checkDiffOptions
	return &cli.Command{
		Name:  "check",
		Usage: "check the memory for damage, or a pull request against it",
		Description: "--diff checks a change of the memory instead, for a pull request: form, duplicates, contradictions,\n" +
			"secrets, instructions to agents, and files that do not belong there. A...B is the change of B since\n" +
			"it left A; A alone is the change from A to the newest state.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "deep", Usage: "read the bytes of every object in history", Destination: &deep},
			&cli.StringFlag{Name: "diff", Usage: "check the change `BASE...HEAD`", Destination: &o.span},
			&cli.BoolFlag{Name: "sarif", Usage: "with --diff: print SARIF 2.1.0", Destination: &o.sarif},
			&cli.BoolFlag{Name: "github", Usage: "with --diff: print annotations for GitHub Actions", Destination: &o.github},
			&cli.BoolFlag{Name: "markdown", Usage: "with --diff: print a review for a comment on a pull request", Destination: &o.review},
			&cli.BoolFlag{Name: "strict", Usage: "with --diff: count warnings as errors", Destination: &o.strict},
		},
		Action: func(c *cli.Context) error {
			switch {
			case c.NArg() > 0:
				return exit.Usage("", "check takes no arguments")
			case c.IsSet("diff") && deep:
				return exit.Usage("", "--deep checks everything, --diff one change: choose one")
			case c.IsSet("diff"):
				return runCheckDiff(c.Context, env, o)
			case o.sarif || o.github || o.review || o.strict:
				return exit.Usage("reverie check --diff BASE...HEAD, two states of the memory branch", "--sarif, --github, --markdown and --strict belong to --diff")
			}
			return env.with(c.Context, func(w *workspace) error { return runCheck(c.Context, w, deep) })
		},
	}
}

func runCheck(ctx context.Context, w *workspace, deep bool) error {
	if _, err := w.Repo.Recent().Restore(ctx); err != nil {
		w.env.Warn("%v", err)
	}
	problems := 0
	var writeErr error
	err := check.Damage(ctx, w.Reader, deep, func(p check.Problem) {
		problems++
		if w.env.JSON {
			writeErr = errors.Join(writeErr, w.env.Object(p))
			return
		}
		w.env.Print("%s: %s\n", p.Where, term.Visible(p.What))
	})
	if err != nil {
		return err
	}
	if writeErr != nil {
		return writeErr
	}
	stale, err := check.StaleMemories(ctx, w.Reader)
	for _, s := range stale {
		if w.env.JSON {
			err = errors.Join(err, w.env.Object(s))
			continue
		}
		w.env.Print("%s: note: %s\n", s.Where, term.Visible(s.Note))
	}
	if err != nil {
		return err
	}
	if problems > 0 {
		w.env.Warn("%s found", plural.Count(problems, "problem", "problems"))
		return exit.Silent
	}
	w.env.Say("no problem found")
	return nil
}
