package cmd

import (
	"cmp"
	"context"
	"fmt"

	"github.com/reverie-memory/reverie/cmd/wire"
	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/learn"
	"github.com/reverie-memory/reverie/internal/model"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/prompts"
	"github.com/urfave/cli/v2"
)

// dreamByHand holds the options of a dream whose model Reverie cannot reach.
type dreamByHand struct {
	print bool
	from  string // file with the answers
	name  string // of the questions that they answer
}

func (e *dreamByHand) flags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "print-prompt", Usage: "print the prompts for a model, and ask none", Destination: &e.print},
		&cli.StringFlag{Name: "import", Usage: "read the answers of model NAME (--model) from `FILE`; - reads standard input", Destination: &e.from},
		&cli.StringFlag{Name: "questions", Usage: "with --import: the `NAME` that --print-prompt gave the questions", Destination: &e.name},
	}
}

func (e *dreamByHand) check(o dreamOptions) error {
	switch {
	case e.print && (e.from != "" || o.dryRun || o.ifDue || o.model != modelChoice{}):
		return exit.Usage("--print-prompt asks no model and keeps nothing", "--print-prompt excludes --import, --dry-run, --if-due, --model and --no-model")
	case e.from != "" && (o.ifDue || o.model.none):
		return exit.Usage("the model has already answered", "--import excludes --if-due and --no-model")
	case e.name != "" && e.from == "":
		return exit.Usage("", "--questions needs --import")
	}
	return nil
}

// run prints the questions, or imports the answers.
func (e *dreamByHand) run(ctx context.Context, env *Env, o dreamOptions) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	if err := w.Narrow(ctx); err != nil {
		return err
	}
	if w.Settings.Config.Model.Forbidden {
		return w.modelForbidden()
	}
	var answers []byte
	if e.from != "" {
		if answers, err = readAnswer(w, e.from); err != nil {
			return fmt.Errorf("dream: %w", err)
		}
	}
	purges := purge.Mark(w.State)
	set, err := model.Prompts(w.Config)
	if err != nil {
		return err
	}
	l := w.learner()
	ask, err := l.Questions(ctx, set, w.Settings.Config.Model.Context, o.which)
	if err != nil {
		return err
	}
	questions, err := ask.Questions()
	if err != nil {
		return err
	}
	name := dream.NameOf(questions)
	switch {
	case len(questions) == 0:
		env.Say("nothing new to ask")
		return nil
	case e.print:
		return printDream(w, questions, name)
	case e.name != "" && e.name != name:
		return exit.New(exit.Failed, fmt.Errorf("dream: the questions %s are out of date: the memory or the reflections have changed", term.Visible(e.name)), "print them again: reverie dream --print-prompt")
	case e.name == "" && len(questions) > 1:
		return exit.Usage("reverie dream --print-prompt prints them, and their name", "%s; name the answered ones with --questions NAME", plural.Count(len(questions), "question is open", "questions are open"))
	}
	m := &prompts.Model{Name: cmp.Or(o.model.name, learn.Unnamed)}
	found, err := ask.Import(m.Name, answers)
	if err != nil {
		return fmt.Errorf("dream: %s: %w", e.from, err)
	}
	if o.dryRun {
		l.PreviewAnswers(ctx, m, found, ask.In)
		return tellProposed(w, found.Operations)
	}
	plan, _, err := l.Dream(ctx, o.which)
	l.Land(ctx)
	if err != nil {
		return err
	}
	if err := tellProposed(w, plan.Operations); err != nil {
		return err
	}
	if found, err = l.KeepConsidered(ctx, m, found, ask.In.Now, purges); err != nil {
		return err
	}
	return tellProposed(w, found.Operations)
}

// printDream prints the questions of one dream, and says how they are answered.
func printDream(w *workspace, questions []prompts.Rendered, name string) error {
	for _, q := range questions {
		if err := printQuestion(w.env, q, wire.Question{Questions: name}); err != nil {
			return err
		}
	}
	w.env.Say("%s: put the JSON objects that answer them, one after the other, into a file: reverie dream --import FILE --questions %s", plural.Count(len(questions), "question", "questions"), name)
	return nil
}
