// Package model finds the models of the settings on an Ollama server. Begin with Find. It has no
// state.
package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/ollama"
	"github.com/reverie-memory/reverie/prompts"
)

// Open opens the server of the settings.
func Open(of config.Model) (*ollama.Client, error) {
	return ollama.Open(ollama.Options{Host: of.Host, Remote: of.Remote})
}

// Prompts loads the built-in prompts, replaced by the user's own if any.
func Prompts(c config.Config) (prompts.Set, error) {
	return prompts.Load(cmp.Or(c.Model.Prompts, filepath.Join(filepath.Dir(config.UserFile()), "prompts")))
}

// keepAlive bounds how long the server keeps a model in memory after a question: until the next
// session's question.
const keepAlive = 5 * time.Minute

// Reading describes a model that reads sessions. name may be auto.
func Reading(name string) ollama.Want {
	return ollama.Want{Name: name, Need: ollama.Completion, Context: config.LeastContext}
}

// Vectors describes a model that makes vectors. name may be auto.
func Vectors(name string) ollama.Want { return ollama.Want{Name: name, Need: ollama.Embedding} }

// Watch follows one question to a model: tokens receives the number of tokens so far, and done is
// called at the end.
type Watch func(model string) (tokens func(int), done func())

// Find chooses a model that reads sessions from those of the server. watch may be nil.
func Find(ctx context.Context, of config.Model, name string, watch Watch) (*prompts.Model, error) {
	want := Reading(name)
	client, err := Open(of)
	if err != nil {
		return nil, Explain(err, want)
	}
	chosen, err := client.Choose(ctx, want)
	if err != nil {
		return nil, Explain(err, want)
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
		progress, done := func(int) {}, func() {}
		if watch != nil {
			progress, done = watch(chosen.Name)
		}
		defer done()
		a, err := client.Ask(ctx, ollama.Request{
			Model: chosen.Name, Cloud: chosen.Cloud, System: r.System, Prompt: r.User, Schema: r.Schema,
			Context: tokens, Predict: prompts.Predict(tokens, r.Longest), KeepAlive: keepAlive, Progress: progress,
		})
		if len(a.Text) > 0 && (errors.Is(err, ollama.ErrBadOutput) || errors.Is(err, ollama.ErrTruncated)) {
			err = nil // the reader of the answer reports its faults
		}
		if err != nil && ctx.Err() != nil && outer.Err() == nil {
			err = fmt.Errorf("%w: %w", errSlow, err)
		}
		return prompts.Answer{Text: a.Text, Asked: a.Asked, Said: a.Said, Took: time.Since(began)}, Explain(err, want)
	}
	return m, nil
}

// errSlow marks a question that took longer than model.patience allows.
var errSlow = errors.New("it took too long")

// BadAnswer reports whether an error concerns only one question or its answer, so that the next
// question may succeed.
func BadAnswer(err error) bool {
	return slices.ContainsFunc([]error{ollama.ErrBadOutput, ollama.ErrTruncated, ollama.ErrIncomplete, ollama.ErrTooLong, ollama.ErrBroke, errSlow},
		func(of error) bool { return errors.Is(err, of) })
}

// Explain adds a hint for a person to an error about a model.
func Explain(err error, want ollama.Want) error {
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
