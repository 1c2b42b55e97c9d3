package cmd

import (
	"context"
	"fmt"
	"sync"

	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/model"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/internal/upkeep"
	"github.com/reverie-memory/reverie/prompts"
	"github.com/reverie-memory/reverie/prompts/door"
	"github.com/urfave/cli/v2"
)

// modelChoice holds the flags about the model. The zero value leaves it to the settings.
type modelChoice struct {
	name string
	none bool
}

func modelFlags(m *modelChoice) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "model", Usage: "ask model `NAME` of the local Ollama server; auto picks the best it has; agent:claude asks that agent", Destination: &m.name},
		&cli.BoolFlag{Name: "no-model", Usage: "ask no model, whatever the settings say", Destination: &m.none},
	}
}

func (m modelChoice) check() error {
	if m.none && m.name != "" {
		return exit.Usage("", "--model and --no-model exclude each other")
	}
	return nil
}

// asked is the name that a command asks for: "" for what the settings say.
func (m modelChoice) asked() string {
	if m.none {
		return config.Off
	}
	return m.name
}

// modelForbidden is the error where a team lets no model read what is here.
func (w *workspace) modelForbidden() error {
	return exit.New(exit.NeedsPerson, fmt.Errorf("%s:reverie.toml forbids models to read this repository's sessions", w.Branch()), "")
}

// model returns the model to ask for a task, with its prompts. It is nil if none is wanted, or if
// the configured one does not answer, which is reported. name comes from the command line, or is ""
// for the settings. A named model that cannot be had is an error.
func (w *workspace) model(ctx context.Context, task model.Task, name string) (*prompts.Model, prompts.Set, error) {
	if err := w.Narrow(ctx); err != nil {
		return nil, prompts.Set{}, err
	}
	want, named := w.Settings.Config.Model, name != ""
	switch {
	case !named:
		name = task.Name(want)
	case config.Agent(name) != "" && name != task.Name(want) && w.WantPerson("--model "+name) != nil:
		return nil, prompts.Set{}, w.WantPerson("--model " + name)
	case name != config.Off && want.Forbidden:
		return nil, prompts.Set{}, w.modelForbidden()
	}
	if name == config.Off {
		return nil, prompts.Set{}, nil
	}
	set, err := model.Prompts(w.Config)
	if err != nil {
		return nil, prompts.Set{}, err
	}
	m, err := model.Find(ctx, want, task, name, watch(w.env))
	if err != nil {
		if named || ctx.Err() != nil {
			return nil, prompts.Set{}, err
		}
		w.env.Warn("the model is not asked: %v", err)
		return nil, prompts.Set{}, nil
	}
	purges := purge.Mark(w.State)
	d := door.Door{Scanner: w.Scanner, Budget: w.Budget(), Answers: func() (string, error) {
		if err := purge.Since(w.State, purges); err != nil {
			return "", err
		}
		return w.Repo.State().Sub(upkeep.AnswersDir)
	}}
	d.Budget.Wait = sync.OnceFunc(func() { w.env.Say("another question is being answered; this one waits") })
	return d.Open(m), set, nil
}

// watch shows a person who watches how far the answer to a question is.
func watch(env *Env) model.Watch {
	return func(name string) (func(int), func()) { return term.WatchAnswer(&env.Terminal, name, env.background) }
}
