// Package model finds the models that the settings name, on an Ollama server or behind a coding
// agent. Begin with Find. It has no state.
package model

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/model/agent"
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

// Task is the work that a model is asked to do.
type Task int

const (
	Reflect Task = iota // read a session
	Dream               // compare reflections with the memory
	Other               // read texts of several agents' sessions, or code
)

// Name returns the settings' model for a task.
func (t Task) Name(of config.Model) string {
	name := of.Dreams()
	switch {
	case t == Reflect:
		return of.Reads()
	case t == Other && config.Agent(name) != "":
		return config.Off
	}
	return name
}

// Find chooses the model for a task by its name: one of the server, or an agent. watch may be nil.
func Find(ctx context.Context, of config.Model, task Task, name string, watch Watch) (*prompts.Model, error) {
	if config.Agent(name) != "" {
		return findAgent(of, task, name, watch)
	}
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
	m := &prompts.Model{Name: chosen.Name, Digest: chosen.Digest, Context: tokens}
	m.Ask = patient(of, chosen.Name, watch, func(ctx context.Context, r prompts.Rendered, progress func(int)) (prompts.Answer, error) {
		a, err := client.Ask(ctx, ollama.Request{
			Model: chosen.Name, Cloud: chosen.Cloud, System: r.System, Prompt: r.User, Schema: r.Schema,
			Context: tokens, Predict: prompts.Predict(tokens, r.Longest), KeepAlive: keepAlive, Progress: progress,
		})
		if len(a.Text) > 0 && (errors.Is(err, ollama.ErrBadOutput) || errors.Is(err, ollama.ErrTruncated)) {
			err = nil // the reader of the answer reports its faults
		}
		return prompts.Answer{Text: a.Text, Asked: a.Asked, Said: a.Said}, Explain(err, want)
	})
	return m, nil
}

// Program returns the program of an agent that is a model, by its name there.
func Program(of config.Model, name string) (string, error) {
	if of.Local {
		return "", exit.New(exit.NeedsPerson, errors.New("reverie.toml of the memory branch allows models on this machine only"), "")
	}
	found, err := agent.Find(config.Agent(name))
	return found.Program, Explain(err, ollama.Want{})
}

// findAgent finds an agent. It gets the schema in words, and its answer is checked like any other.
func findAgent(of config.Model, task Task, name string, watch Watch) (*prompts.Model, error) {
	if task == Other {
		return nil, exit.Usage("reverie reflect and reverie dream ask it", "%s: an agent is asked about its own sessions only; name a model of the local server", name)
	}
	program, err := Program(of, name)
	if err != nil {
		return nil, err
	}
	found := agent.Agent{Name: config.Agent(name), Program: program}
	// its model may change without a sign, so the digest is that of the name
	m := &prompts.Model{Name: name, Digest: fmt.Sprintf("%x", sha256.Sum256([]byte(name))), Context: of.Context, Client: found.Name}
	m.Ask = patient(of, name, watch, func(ctx context.Context, r prompts.Rendered, _ func(int)) (prompts.Answer, error) {
		task := r.System + "\n\nAnswer with one JSON object by this JSON schema, without a fence and without a word beside it:\n" + string(r.Schema)
		a, err := found.Ask(ctx, task, r.User)
		if err == nil && a.Asked == 0 { // about four bytes make a token
			a.Asked, a.Said = (len(task)+len(r.User))/4, len(a.Text)/4
		}
		return prompts.Answer{Text: a.Text, Asked: a.Asked, Said: a.Said}, Explain(err, ollama.Want{})
	})
	return m, nil
}

// patient returns an Ask that waits as long as the settings allow.
func patient(of config.Model, name string, watch Watch, ask func(context.Context, prompts.Rendered, func(int)) (prompts.Answer, error)) func(context.Context, prompts.Rendered) (prompts.Answer, error) {
	return func(outer context.Context, r prompts.Rendered) (prompts.Answer, error) {
		ctx, cancel := context.WithTimeout(outer, time.Duration(of.Patience)*time.Second)
		defer cancel()
		began := time.Now()
		progress, done := func(int) {}, func() {}
		if watch != nil {
			progress, done = watch(name)
		}
		defer done()
		a, err := ask(ctx, r, progress)
		if err != nil && ctx.Err() != nil && outer.Err() == nil {
			err = fmt.Errorf("%w: %w", errSlow, err)
		}
		a.Took = time.Since(began)
		return a, err
	}
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
	case errors.Is(err, agent.ErrMissing):
		hint = "install it, or ask no model: reverie config --user model.name off"
	case errors.Is(err, agent.ErrFailed):
		hint = "the same program in a terminal may say more; --no-model asks none"
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
