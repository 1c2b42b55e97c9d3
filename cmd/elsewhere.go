package cmd

import (
	"cmp"
	"context"
	"fmt"

	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/prompts"
	"github.com/urfave/cli/v2"
)

// elsewhere are the options of a dream with a model that is out of reach.
type elsewhere struct {
	print bool
	from  string // file with the answers
	name  string // of the questions that they answer
}

func (e *elsewhere) flags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "print-prompt", Usage: "print what a model would be asked, and ask nobody", Destination: &e.print},
		&cli.StringFlag{Name: "import", Usage: "take the answers of model NAME (--model) from `FILE`, - is standard input", Destination: &e.from},
		&cli.StringFlag{Name: "questions", Usage: "with --import, the `NAME` that --print-prompt gave the questions", Destination: &e.name},
	}
}

func (e *elsewhere) check(o dreamOptions) error {
	switch {
	case e.print && (e.from != "" || o.dryRun || o.ifDue || o.model != modelChoice{}):
		return exit.Usage("it asks nobody, and keeps nothing", "--print-prompt goes with none of --import, --dry-run, --if-due, --model and --no-model")
	case e.from != "" && (o.ifDue || o.model.none):
		return exit.Usage("the model has answered already", "--import goes with neither --if-due nor --no-model")
	case e.name != "" && e.from == "":
		return exit.Usage("", "--questions goes with --import")
	}
	return nil
}

// run prints the questions, or takes in the answers to them.
func (e *elsewhere) run(ctx context.Context, env *Env, o dreamOptions) error {
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
		if answers, err = w.readAnswer(e.from); err != nil {
			return fmt.Errorf("dream: %w", err)
		}
	}
	purges := purge.Mark(w.State)
	ask, err := w.askElsewhere(ctx, o.lately)
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
		return w.printDream(questions, name)
	case e.name != "" && e.name != name:
		return exit.New(exit.Failed, fmt.Errorf("dream: the questions %s are not those of now: the memory, or what was learned, has changed", term.Visible(e.name)), "print them anew: reverie dream --print-prompt")
	case e.name == "" && len(questions) > 1:
		return exit.Usage("reverie dream --print-prompt prints them, and their name", "%s; --questions NAME says that these are the answered ones", term.Count(len(questions), "question is open", "questions are open"))
	}
	m := &prompts.Model{Name: cmp.Or(o.model.name, unnamed)}
	found, err := ask.Import(m.Name, answers)
	if err != nil {
		return fmt.Errorf("dream: %s: %w", e.from, err)
	}
	if o.dryRun {
		w.settleEach(ctx, found.Operations, ask.In)
		w.tellConsidered(m, found)
		return w.tellProposed(found.Operations)
	}
	plan, _, err := w.dream(ctx, o.lately)
	w.landAll(ctx)
	if err != nil {
		return err
	}
	if err := w.tellProposed(plan.Operations); err != nil {
		return err
	}
	if found, err = w.keepConsidered(ctx, m, found, ask.In.Now, purges); err != nil {
		return err
	}
	return w.tellProposed(found.Operations)
}

// askElsewhere is what a model of the context in the settings would be asked.
func (w *workspace) askElsewhere(ctx context.Context, which lately) (ask dream.Elsewhere, err error) {
	ask.Context = w.Settings.Config.Model.Context
	if ask.Set, err = ownPrompts(w.Config); err != nil {
		return ask, err
	}
	err = w.view(ctx, func(v *record.View) error {
		c, err := w.Restrict(ctx, v)
		if err == nil {
			ask.Plan, _, err = w.plan(ctx, v, c, which)
		}
		if err == nil {
			ask.In, err = w.dreamInput(ctx, v, c, byModel, which)
		}
		return err
	})
	return ask, err
}

// printDream prints the questions of one dream, and says how they are answered.
func (w *workspace) printDream(questions []prompts.Rendered, name string) error {
	for _, q := range questions {
		if err := w.env.printQuestion(q, questionJSON{Questions: name}); err != nil {
			return err
		}
	}
	w.env.Say("%s: put the JSON objects that answer them, one after the other, into a file: reverie dream --import FILE --questions %s", term.Count(len(questions), "question", "questions"), name)
	return nil
}
