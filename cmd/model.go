package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/config"
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
		return usage("", "--model and --no-model exclude each other")
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

// model is the model to ask, with the prompts for it; nil where none is wanted, or where the one of the settings does not
// answer, which is said. name is what a person asked for, "" for what the settings say. One that was asked for and
// cannot be had is an error.
func (w *workspace) model(ctx context.Context, name string) (*prompts.Model, prompts.Set, error) {
	if err := w.narrow(ctx); err != nil {
		return nil, prompts.Set{}, err
	}
	want, named := w.narrowed.Model, name != ""
	switch {
	case !named:
		name = want.Name
	case name != config.Off && want.Forbidden:
		return nil, prompts.Set{}, &failure{exitPerson, fmt.Errorf("%s:reverie.toml lets no model read this repository's sessions", w.branch()), ""}
	}
	if name == config.Off {
		return nil, prompts.Set{}, nil
	}
	set, err := ownPrompts(w.config)
	if err != nil {
		return nil, prompts.Set{}, err
	}
	m, err := findModel(ctx, w.env, want, name)
	if err != nil {
		if named || ctx.Err() != nil {
			return nil, prompts.Set{}, err
		}
		w.env.warn("the model is not asked: %v", err)
		return nil, prompts.Set{}, nil
	}
	d := door.Door{Scanner: w.scanner, Budget: w.budget(), Answers: func() (string, error) { return w.repo.StateSub(answersDir) }}
	d.Budget.Wait = sync.OnceFunc(func() { w.env.say("another question is being answered; this one waits") })
	return d.Open(m), set, nil
}

// narrow reads what the team restricts, where there is a memory.
func (w *workspace) narrow(ctx context.Context) error {
	err := w.view(ctx, func(v *record.View) error {
		_, err := w.restrict(v)
		return err
	})
	if errors.Is(err, gitstore.ErrNoStore) && !errors.Is(err, gitstore.ErrDeleted) {
		return nil
	}
	return err
}

// ownPrompts are the built-in ones, but for those that the user has others for.
func ownPrompts(c config.Config) (prompts.Set, error) {
	return prompts.Load(cmp.Or(c.Model.Prompts, filepath.Join(filepath.Dir(config.UserFile()), "prompts")))
}

// answers is the folder of what models answered before.
func (w *workspace) answers() string { return filepath.Join(w.state, answersDir) }

const answersDir = "answers"

// budget is what models may be asked in a day, counted for this clone.
func (w *workspace) budget() door.Budget {
	m := w.narrowed.Model
	return door.Budget{Path: filepath.Join(w.state, "model.json"), Calls: m.Calls, Tokens: m.Tokens, Time: time.Duration(m.Seconds) * time.Second, Now: w.env.Now}
}

func openOllama(of config.Model) (*ollama.Client, error) {
	return ollama.Open(ollama.Options{Host: of.Host, Remote: of.Remote})
}

// What somebody who has no model is told to fetch: small enough for a laptop, made to follow instructions, free.
const (
	suggestedModel     = "qwen3:4b-instruct"
	suggestedEmbedding = "embeddinggemma"
)

// keepAlive is how long the server keeps a model in memory after a question: until the next session's, in a batch.
const keepAlive = 5 * time.Minute

// findModel chooses among what the server has.
func findModel(ctx context.Context, env *Env, of config.Model, name string) (*prompts.Model, error) {
	client, err := openOllama(of)
	if err != nil {
		return nil, modelFailure(err)
	}
	chosen, err := chooseModel(ctx, client, name, ollama.Completion)
	if err != nil {
		return nil, modelFailure(err)
	}
	tokens := of.Context
	if chosen.Context > 0 {
		tokens = min(tokens, chosen.Context)
	}
	patience := time.Duration(of.Patience) * time.Second
	m := &prompts.Model{Name: chosen.Name, Digest: chosen.Digest, Context: tokens}
	m.Ask = func(ctx context.Context, r prompts.Rendered) (prompts.Answer, error) {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		began := time.Now()
		tell := newWatched(env, chosen.Name)
		defer tell.done()
		a, err := client.Ask(ctx, ollama.Request{
			Model: chosen.Name, Cloud: chosen.Cloud, System: r.System, Prompt: r.User, Schema: r.Schema,
			Context: tokens, Predict: prompts.Predict(tokens, r.Longest), KeepAlive: keepAlive, Progress: tell.tokens,
		})
		if len(a.Text) > 0 && (errors.Is(err, ollama.ErrBadOutput) || errors.Is(err, ollama.ErrTruncated)) {
			err = nil // it has said something: whoever reads it says what is wrong with it
		}
		return prompts.Answer{Text: a.Text, Asked: a.Asked, Said: a.Said, Took: time.Since(began)}, modelFailure(err)
	}
	return m, nil
}

// chooseModel is the model of a name, or for auto the best, that a server has for something.
func chooseModel(ctx context.Context, client *ollama.Client, name string, need ollama.Capability) (ollama.Model, error) {
	server, err := client.Models(ctx)
	if err != nil {
		return ollama.Model{}, err
	}
	if !server.MinimumOK {
		return ollama.Model{}, fmt.Errorf("Ollama %s cannot keep an answer to a form; it takes 0.5.0 or newer", server.Version)
	}
	return ollama.Choose(server.Models, name, need, ollama.FreeMemory())
}

// badAnswer reports whether an error is about one question's answer, and says nothing about the next.
func badAnswer(err error) bool {
	return slices.ContainsFunc([]error{ollama.ErrBadOutput, ollama.ErrTruncated, ollama.ErrIncomplete, ollama.ErrTooLong},
		func(of error) bool { return errors.Is(err, of) })
}

// modelFailure adds to an error of the model's what a person can do.
func modelFailure(err error) error {
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
	case errors.Is(err, ollama.ErrNoModel), errors.Is(err, ollama.ErrMissing):
		hint = "'ollama pull " + suggestedModel + "' fetches one"
	case errors.Is(err, ollama.ErrRemote):
		hint = "'reverie config model.remote true' lets another machine read the sessions"
	case errors.Is(err, ollama.ErrCloud):
		hint = "a model that runs elsewhere is only asked when it is named"
	}
	return &failure{exitFailed, err, hint}
}

// watched tells a person who watches how far an answer is.
type watched struct {
	env         *Env
	name        string
	began, told time.Time
	width       int
}

func newWatched(env *Env, name string) *watched {
	return &watched{env: env, name: name, began: time.Now()}
}

func (t *watched) tokens(n int) {
	if !t.env.Terminal || t.env.Quiet || time.Since(t.began) < 500*time.Millisecond || time.Since(t.told) < 200*time.Millisecond {
		return
	}
	t.told = time.Now()
	line := fmt.Sprintf("%s: %s in %s", visible(t.name), count(n, "token", "tokens"), time.Since(t.began).Round(time.Second))
	t.width = max(t.width, len(line))
	fmt.Fprintf(t.env.Err, "\r%-*s", t.width, line)
}

func (t *watched) done() {
	if t.width > 0 {
		fmt.Fprintf(t.env.Err, "\r%s\r", strings.Repeat(" ", t.width))
	}
}

// examineModel tells what server and models there are, what each would be asked for, and what is left of the day's budget.
func (w *workspace) examineModel(ctx context.Context) []examined {
	if err := w.narrow(ctx); err != nil {
		return nil // the memory's own row tells
	}
	wanted := w.narrowed.Model
	row := examined{What: "model", State: stateNote}
	if _, err := ownPrompts(w.config); err != nil {
		return []examined{{What: "prompts", State: stateBroken, Detail: err.Error(), Fix: "mend the file, or take it away"}}
	}
	broken := stateNote
	if wanted.Name != config.Off || wanted.Embed != config.Off {
		broken = stateBroken
	}
	client, err := openOllama(wanted)
	var server ollama.Server
	if err == nil {
		server, err = client.Models(ctx)
	}
	if err != nil {
		_, row.Fix = explain(modelFailure(err))
		row.State, row.Detail = broken, err.Error()
		if broken == stateNote {
			row.Detail, row.Fix = "off, and no server answers: detectors alone study sessions", ""
		}
		return []examined{row}
	}
	names := make([]string, 0, len(server.Models))
	for _, m := range server.Models {
		names = append(names, m.Name)
	}
	slices.Sort(names)
	rows := []examined{{What: "ollama", State: stateOK, Detail: fmt.Sprintf("%s at %s; %s: %s", cmp.Or(server.Version, "of unknown version"), client.Host(), count(len(names), "model", "models"), cmp.Or(strings.Join(names, ", "), "none"))}}
	for _, use := range []struct {
		what, key, name string
		need            ollama.Capability
		pull            string
	}{
		{"model", "model.name", wanted.Name, ollama.Completion, suggestedModel},
		{"vectors", "model.embed", wanted.Embed, ollama.Embedding, suggestedEmbedding},
	} {
		row := examined{What: use.what, State: stateOK}
		name := use.name
		if name == config.Off {
			name = "auto"
		}
		m, err := ollama.Choose(server.Models, name, use.need, ollama.FreeMemory())
		switch {
		case err != nil && use.name == config.Off:
			row.State, row.Detail, row.Fix = stateNote, "off, and there is none to use", "ollama pull "+use.pull
		case err != nil:
			row.State, row.Detail, row.Fix = stateBroken, err.Error(), "ollama pull "+use.pull
		case use.name == config.Off:
			row.State, row.Detail, row.Fix = stateNote, "off; "+m.Name+" could be used", "reverie config "+use.key+" auto"
		default:
			row.Detail = m.Name
			if use.need == ollama.Completion && m.Context > 0 {
				row.Detail += fmt.Sprintf(", %d tokens of its %d", min(m.Context, wanted.Context), m.Context)
			}
			if use.need == ollama.Embedding {
				w.examineVectors(ctx, &row)
			}
		}
		rows = append(rows, row)
	}
	if wanted.Name != config.Off || wanted.Embed != config.Off {
		used := w.budget().Today()
		row := examined{What: "budget", State: stateOK, Detail: fmt.Sprintf("today %d of %d questions, %d of %d tokens, %.0f of %d seconds",
			used.Calls, wanted.Calls, used.Tokens, wanted.Tokens, used.Seconds, wanted.Seconds)}
		if w.budget().Spent() != nil {
			row.State, row.Fix = stateNote, "it is there again tomorrow; model.calls, model.tokens and model.seconds set it"
		}
		rows = append(rows, row)
	}
	return rows
}

// examineVectors adds to the row of an embedding model how many memories have a vector of it; doctor can make the others.
func (w *workspace) examineVectors(ctx context.Context, row *examined) {
	_, space, err := w.embedder(ctx)
	if err != nil {
		row.State, row.Detail = stateBroken, err.Error()
		return
	}
	live := 0
	err = w.view(ctx, func(v *record.View) error {
		live = 0
		for _, m := range v.Memories() {
			if m.Live(w.env.Now()) {
				live++
			}
		}
		return nil
	})
	if err != nil {
		return // the memory's own row tells
	}
	have := recall.ReadVectors(filepath.Join(w.state, vectorsDir), space).Len()
	row.Detail += fmt.Sprintf("; %d of %s have a vector", min(have, live), count(live, "memory", "memories"))
	if have < live {
		row.State = stateNote
		row.mend = func(ctx context.Context) error {
			_, _, err := w.fillVectors(ctx)
			return err
		}
	}
}
