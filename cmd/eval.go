package cmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/model"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/prompts/door"
	"github.com/reverie-memory/reverie/reflect/eval"
	"github.com/reverie-memory/reverie/reflect/labelled"
	"github.com/urfave/cli/v2"
)

func evalCommand(env *Env) *cli.Command {
	var models cli.StringSlice
	return &cli.Command{
		Name:      "eval",
		Usage:     "measure the detectors on labelled transcripts",
		ArgsUsage: "DIR",
		Description: "DIR contains transcripts, and in labels.jsonl the statements worth keeping of each.\n" +
			"reflect/testdata/labelled/README.md in Reverie's sources explains the form. eval measures the\n" +
			"detectors, and each model beside them. It needs no repository and keeps nothing. -v names each wrong\n" +
			"and each missed statement.",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "model", Usage: "also measure model `NAME`; may be repeated", Destination: &models},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return exit.Usage("reverie eval DIR", "eval takes exactly one folder of labelled transcripts")
			}
			readers := []eval.Subject{{Name: eval.Detectors, Read: eval.ByDetectors}}
			for _, name := range models.Value() {
				r, err := modelReader(c.Context, env, name)
				if err != nil {
					return err
				}
				readers = append(readers, eval.Subject{Name: name, Read: r, Model: true})
			}
			return runEval(c.Context, env, c.Args().First(), readers)
		},
	}
}

// modelReader finds the model of a name to read with. It needs no repository: settings are the
// user's, and no day's budget is touched.
func modelReader(ctx context.Context, env *Env, name string) (eval.Study, error) {
	c, err := config.Load(config.UserFile())
	if err != nil {
		return nil, err
	}
	set, err := model.Prompts(c)
	if err != nil {
		return nil, err
	}
	m, err := model.Find(ctx, c.Model, model.Reflect, name, watch(env))
	if err != nil {
		return nil, err
	}
	return eval.ByModel(door.Redact(m, nil), set), nil
}

func runEval(ctx context.Context, env *Env, dir string, readers []eval.Subject) error {
	labels, err := labelled.Read(env.path(dir))
	if err != nil {
		return exit.New(exit.Failed, err, "'reverie help eval' describes the folder")
	}
	width := len("name")
	for _, r := range readers {
		for _, name := range r.Rows() {
			width = max(width, len(term.Visible(name)))
		}
	}
	var mistaken []eval.Row
	var nothing []error
	for i, r := range readers {
		told := term.NewSteps(&env.Terminal, len(labels))
		rows, err := eval.Measure(ctx, labels, r, func(n int) { told.Step(n, r.Name) })
		told.Done()
		if err != nil {
			return err
		}
		if i == 0 && !env.JSON {
			env.Print("%s %8s %6s %6s %6s %6s %6s %9s %6s\n", term.Pad("name", width), "sessions", "unread", "found", "right", "wrong", "missed", "precision", "recall")
		}
		for _, row := range rows {
			if env.JSON {
				err = env.Object(row)
			} else {
				tellEval(env, row, width)
			}
			if err != nil {
				return err
			}
		}
		mistaken = append(mistaken, rows...)
		if row := rows[0]; row.Failed > 0 {
			env.Warn("%s did not read %d of %s; the first: %v", row.Name, row.Failed, plural.Count(row.Sessions, "session", "sessions"), row.Cause)
			if row.Failed == row.Sessions {
				nothing = append(nothing, fmt.Errorf("%s read nothing", row.Name))
			}
		}
	}
	if env.Verbose && !env.JSON {
		for _, row := range mistaken {
			tellParts(env, row)
		}
		for _, row := range mistaken {
			for _, m := range row.Mistakes {
				env.Print("%s  %-6s  %s  %s: %s\n", term.Pad(term.Visible(row.Name), width), m.What, term.Visible(m.File), term.Visible(m.Class), term.OneLine(m.Text, 1<<20))
			}
		}
	}
	return errors.Join(nothing...)
}

func tellEval(env *Env, row eval.Row, width int) {
	precision := "-"
	if row.Right+row.Wrong > 0 {
		precision = fmt.Sprintf("%.3f", row.Precision)
	}
	env.Print("%s %8d %6d %6d %6d %6d %6d %9s %6.3f\n", term.Pad(term.Visible(row.Name), width), row.Sessions, row.Failed, row.Found, row.Right, row.Wrong, row.Missed, precision, row.Recall)
}

// tellParts prints the shares of a reader, each with its confidence interval.
func tellParts(env *Env, row eval.Row) {
	tell := func(what string, list ...eval.Share) {
		for _, p := range list {
			env.Print("%s  %s  %s %d of %d: %.2f (%.2f to %.2f)\n", term.Visible(row.Name), what, term.Pad(term.Visible(p.Name), 12), p.Right, p.Of, p.Share, p.Low, p.High)
		}
	}
	tell("recall   ", row.Classes...)
	tell("precision", row.Detectors...)
	tell("precision", row.Policy...)
}
