package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/ollama"
	"github.com/reverie-memory/reverie/prompts"
	"github.com/reverie-memory/reverie/prompts/door"
	"github.com/urfave/cli/v2"
)

// modelChoice is what a command's flags say about the model. The zero value leaves it to the settings.
type modelChoice struct {
	name string
	none bool
}

func modelFlags(m *modelChoice) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "model", Usage: "ask model `NAME` of the local Ollama server; auto is the best it has", Destination: &m.name},
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
	return exit.New(exit.NeedsPerson, fmt.Errorf("%s:reverie.toml lets no model read this repository's sessions", w.Branch()), "")
}

// model is the model to ask, with the prompts for it; nil where none is wanted, or where the one of the settings does not
// answer, which is said. name is what a person asked for, "" for what the settings say. One that was asked for and
// cannot be had is an error.
func (w *workspace) model(ctx context.Context, name string) (*prompts.Model, prompts.Set, error) {
	if err := w.Narrow(ctx); err != nil {
		return nil, prompts.Set{}, err
	}
	want, named := w.Settings.Config.Model, name != ""
	switch {
	case !named:
		name = want.Name
	case name != config.Off && want.Forbidden:
		return nil, prompts.Set{}, w.modelForbidden()
	}
	if name == config.Off {
		return nil, prompts.Set{}, nil
	}
	set, err := ownPrompts(w.Config)
	if err != nil {
		return nil, prompts.Set{}, err
	}
	m, err := findModel(ctx, w.env, want, name)
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
		return w.Repo.StateSub(answersDir)
	}}
	d.Budget.Wait = sync.OnceFunc(func() { w.env.Say("another question is being answered; this one waits") })
	return d.Open(m), set, nil
}

// ownPrompts are the built-in ones, but for those that the user has others for.
func ownPrompts(c config.Config) (prompts.Set, error) {
	return prompts.Load(cmp.Or(c.Model.Prompts, filepath.Join(filepath.Dir(config.UserFile()), "prompts")))
}

// answers is the folder of what models answered before.
func (w *workspace) answers() string { return filepath.Join(w.State, answersDir) }

const answersDir = "answers"

// keepAlive is how long the server keeps a model in memory after a question: until the next session's, in a batch.
const keepAlive = 5 * time.Minute

// wantedModel is a model that reads sessions, wantedVectors one that makes vectors. name may be auto.
func wantedModel(name string) ollama.Want {
	return ollama.Want{Name: name, Need: ollama.Completion, Context: config.LeastContext}
}
func wantedVectors(name string) ollama.Want { return ollama.Want{Name: name, Need: ollama.Embedding} }

// findModel chooses among what the server has.
func findModel(ctx context.Context, env *Env, of config.Model, name string) (*prompts.Model, error) {
	want := wantedModel(name)
	client, err := ollama.Open(ollama.Options{Host: of.Host, Remote: of.Remote})
	if err != nil {
		return nil, modelFailure(err, want)
	}
	chosen, err := client.Choose(ctx, want)
	if err != nil {
		return nil, modelFailure(err, want)
	}
	want.Name = chosen.Name
	tokens := of.Context
	if chosen.Context > 0 {
		tokens = min(tokens, chosen.Context)
	}
	patience := time.Duration(of.Patience) * time.Second
	m := &prompts.Model{Name: chosen.Name, Digest: chosen.Digest, Context: tokens}
	m.Ask = func(outer context.Context, r prompts.Rendered) (prompts.Answer, error) {
		ctx, cancel := context.WithTimeout(outer, patience)
		defer cancel()
		began := time.Now()
		tell := watch(env, chosen.Name)
		defer tell.done()
		a, err := client.Ask(ctx, ollama.Request{
			Model: chosen.Name, Cloud: chosen.Cloud, System: r.System, Prompt: r.User, Schema: r.Schema,
			Context: tokens, Predict: prompts.Predict(tokens, r.Longest), KeepAlive: keepAlive, Progress: tell.tokens,
		})
		if len(a.Text) > 0 && (errors.Is(err, ollama.ErrBadOutput) || errors.Is(err, ollama.ErrTruncated)) {
			err = nil // it has said something: whoever reads it says what is wrong with it
		}
		if err != nil && ctx.Err() != nil && outer.Err() == nil {
			err = fmt.Errorf("%w: %w", errSlow, err)
		}
		return prompts.Answer{Text: a.Text, Asked: a.Asked, Said: a.Said, Took: time.Since(began)}, modelFailure(err, want)
	}
	return m, nil
}

// errSlow marks a question that took longer than model.patience lets one.
var errSlow = errors.New("it took too long")

// badAnswer reports whether an error is about one question or its answer, and says nothing about the next.
func badAnswer(err error) bool {
	return slices.ContainsFunc([]error{ollama.ErrBadOutput, ollama.ErrTruncated, ollama.ErrIncomplete, ollama.ErrTooLong, ollama.ErrBroke, errSlow},
		func(of error) bool { return errors.Is(err, of) })
}

// modelFailure adds to an error of the model that was wanted what a person can do.
func modelFailure(err error, want ollama.Want) error {
	hint := ""
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ollama.ErrStranger):
		hint = "something else has that port; OLLAMA_HOST or model.host names another"
	case errors.Is(err, ollama.ErrBusy):
		hint = "the server has others to answer; try again"
	case errors.Is(err, context.DeadlineExceeded):
		hint = "'reverie config model.patience SECONDS' waits longer; a smaller model is faster"
	case errors.Is(err, ollama.ErrUnavailable):
		hint = "'ollama serve' starts the server; --no-model asks none"
	case want.Pull(err) != "":
		hint = "'" + want.Pull(err) + "' fetches one"
	case errors.Is(err, ollama.ErrOld):
		hint = "a newer Ollama is at https://ollama.com/download"
	case errors.Is(err, ollama.ErrRemote):
		hint = "'reverie config model.remote true' lets another machine read the sessions"
	case errors.Is(err, ollama.ErrCloud):
		hint = "a model that runs elsewhere is only asked when it is named"
	}
	return exit.New(exit.Failed, err, hint)
}
