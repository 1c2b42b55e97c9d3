package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/anchor"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/record/transfer"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/urfave/cli/v2"
)

type rememberOptions struct {
	kind    string
	paths   cli.StringSlice
	tags    cli.StringSlice
	topic   string
	private bool
	expires string // a date, or a time from now
	replace string // id of the memory that it takes the place of
	ofKind  bool   // the kind was given, and is not that of what it replaces

	branch     string // it holds on this branch alone
	everywhere bool   // it holds on every branch, whatever HEAD is
}

// typedTime bounds the search of the code for what a statement names while a person waits.
const typedTime = 500 * time.Millisecond

func rememberCommand(env *Env) *cli.Command {
	o := rememberOptions{kind: string(record.Note)}
	return &cli.Command{
		Name:      "remember",
		Usage:     "keep a statement of your own",
		ArgsUsage: "TEXT…|-",
		Description: "The first line is the statement, the rest why and how; - reads standard input. A statement that is\n" +
			"known already is not written twice. Others on its topic, and one that is much like it, are told.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "kind", Aliases: []string{"k"}, Usage: "`KIND`: " + record.KindList(), Value: o.kind, Destination: &o.kind},
			&cli.StringSliceFlag{Name: "path", Aliases: []string{"p"}, Usage: "`GLOB` of files it is about; may be given again", Destination: &o.paths},
			&cli.StringSliceFlag{Name: "tag", Aliases: []string{"t"}, Usage: "`TAG`; may be given again", Destination: &o.tags},
			&cli.StringFlag{Name: "topic", Usage: "`TOPIC` it is about; what else is known about it is told", Destination: &o.topic},
			&cli.BoolFlag{Name: "private", Usage: "keep it in this clone; preferences always are", Destination: &o.private},
			&cli.StringFlag{Name: "expires", Usage: "it holds until `DATE`: 2026-12-31, or a time from now: 90d, 2w", Destination: &o.expires},
			&cli.StringFlag{Name: "replace", Usage: "it takes the place of the memory `ID`, which is retired", Destination: &o.replace},
			&cli.StringFlag{Name: "branch", Usage: "it holds on `BRANCH` of the code alone, until that lands", Destination: &o.branch},
			&cli.BoolFlag{Name: "everywhere", Usage: "it holds on every branch, though this is a side branch", Destination: &o.everywhere},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return exit.Usage(`reverie remember "use pnpm, never npm, in web/"`, "remember needs a statement")
			}
			text, err := env.text(joined(c))
			if err != nil {
				return err
			}
			o.ofKind = c.IsSet("kind")
			return runRemember(c.Context, env, text, o)
		},
	}
}

// joined returns the arguments of a command as one text.
func joined(c *cli.Context) string { return strings.Join(c.Args().Slice(), " ") }

// text returns arg, or standard input if arg is "-".
func (env *Env) text(arg string) (string, error) {
	if arg != "-" {
		return arg, nil
	}
	data, err := io.ReadAll(io.LimitReader(env.In, record.MaxMemory+1))
	if err != nil {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	return string(data), nil
}

func runRemember(ctx context.Context, env *Env, text string, o rememberOptions) error {
	kind, err := parseKind(o.kind)
	if err != nil {
		return err
	}
	statement, body := splitStatement(text)
	if statement == "" {
		return exit.Usage(`reverie remember "use pnpm, never npm, in web/"`, "there is no statement")
	}
	if len(statement) > record.MaxText {
		return exit.Usage("put the rest after an empty line, or into a body: reverie remember - <FILE", "the statement is %d bytes long and may have %d", len(statement), record.MaxText)
	}
	expires, err := parseExpires(o.expires, env.Now())
	if err != nil {
		return err
	}
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	if o.branch != "" && o.everywhere {
		return exit.Usage("", "--branch and --everywhere say the contrary of each other")
	}
	m, redacted := w.Book.Clean(record.Memory{
		Kind: kind, Text: statement, Body: body, Paths: o.paths.Value(), Tags: o.tags.Value(), Topic: o.topic, Expires: expires,
		Source: record.Source{Time: env.Now(), By: "human", Commit: w.head(ctx), How: record.Written},
	})
	m = record.New(m)
	here := w.Code.Here(ctx)
	grep, stop := context.WithTimeout(ctx, typedTime)
	m.Anchors, _ = here.Find(ctx, grep, m)
	stop()
	switch {
	case o.branch != "":
		m.Branch, err = w.Code.Named(ctx, o.branch)
		if errors.Is(err, anchor.ErrNoBranch) {
			return exit.Usage("'git branch -a' lists the branches", "there is no branch %q here", o.branch)
		}
		if err != nil {
			return err
		}
	case !o.everywhere:
		m.Branch = here.Side(ctx)
	}
	defer w.Code.Done()
	if _, err := w.ensure(ctx); err != nil {
		return err
	}
	if agent := env.agentShell(); agent != "" && !w.AgentsDecide() {
		if o.replace != "" {
			return w.WantPerson("remember --replace")
		}
		m.Source.By = agent
		w.tellRedacted(redacted, m.ID)
		return w.suggest(ctx, m)
	}
	var held record.Memory
	var known bool
	var whose []string // it is withheld for them
	var beside []neighbour
	said := m
	err = w.update(ctx, func(tx *record.Tx, c config.Config) error {
		whose, beside = nil, nil
		var old *record.Memory
		var err error
		if m, old, err = replaced(tx.View, said, o); err != nil {
			return err
		}
		if m.Private = o.private || slices.Contains(clone.Private(c), m.Kind); old != nil && m.Private && !old.Private {
			return exit.Usage("keep both, or leave --private out", "--replace %s: it is for everybody, and the new one would be this clone's alone", old.ID[:8])
		}
		if held, known = tx.Same(m.Text); known && held.Status != record.Retired {
			foreign, err := w.Withheld(ctx, tx.View)
			if err != nil {
				return err
			}
			if whose = foreign.Whose(held); len(whose) > 0 && old != nil {
				return exit.New(exit.NeedsPerson, fmt.Errorf("--replace %s: what you say is known as %s and withheld from agents, %s; nothing was replaced", old.ID[:8], held.ID[:8], w.WhyWithheld(whose)),
					"if it holds: reverie trust approve "+held.ID[:8]+", and then the same again")
			}
			if len(whose) > 0 {
				return nil
			}
			was := held
			if m.Branch == "" { // it may have held on a side branch alone
				held.Branch = ""
			}
			if o.expires != "" || !held.Live(env.Now()) {
				held.Expires = m.Expires
			}
			if held.Branch != was.Branch || !held.Expires.Equal(was.Expires) {
				if err := tx.PutMemory(held, &was); err != nil {
					return err
				}
			}
			err = retireReplaced(tx, old, held.ID)
			tx.Describe(gitstore.Commit{Subject: "remember: " + record.CommitSubject(held.Text), Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "remember"}}})
			return err
		}
		known, beside = false, w.besideOf(tx.View, m)
		if err := retireReplaced(tx, old, m.ID); err != nil {
			return err
		}
		tx.Describe(gitstore.Commit{Subject: "remember: " + record.CommitSubject(m.Text), Body: m.Body, Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "remember"}}})
		return tx.PutMemory(m, nil)
	})
	if err != nil {
		return err
	}
	if known {
		env.Say("known already as %s: %s", held.ID[:8], held.Text)
		if record.Normal(held.Text) != record.Normal(m.Text) {
			env.Say("to have it say this instead: reverie edit %s TEXT", held.ID[:8])
		}
		if len(whose) > 0 {
			env.Say("it is withheld from agents, %s; next: reverie trust approve %s", w.WhyWithheld(whose), held.ID[:8])
		}
		m = held
	} else {
		w.tellRedacted(redacted, m.ID)
		env.tellAnchors(m.Anchors)
		if m.Private && !o.private {
			env.Say("it stays in this clone, as every %s; nobody else is given it", m.Kind)
		}
		w.tellBeside(m, beside)
		if m.Branch != "" && o.branch == "" {
			env.Say("holds on %s alone until that lands; else: --everywhere", record.ParseSide(m.Branch).Name)
		}
	}
	w.tidy(ctx)
	if env.JSON {
		return env.Object(newRememberJSON(m, beside))
	}
	env.Print("%s\n", m.ID)
	return nil
}

// suggest puts what an agent wants remembered into the inbox.
func (w *workspace) suggest(ctx context.Context, m record.Memory) error {
	var ops []record.Operation
	var res transfer.Result
	err := w.update(ctx, func(tx *record.Tx, _ config.Config) (err error) {
		if ops, res, err = w.importOps(tx.View, []record.Memory{m}, false, ""); err != nil {
			return err
		}
		for i, o := range ops {
			o.Why = "an agent wants it remembered: " + m.Source.By
			if err := tx.PutOperation(o); err != nil {
				return err
			}
			ops[i] = o
		}
		tx.Describe(gitstore.Commit{Subject: "suggest: " + record.CommitSubject(m.Text), Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "suggest"}}})
		return nil
	})
	if err != nil {
		return err
	}
	w.tidy(ctx)
	switch {
	case len(ops) > 0 && w.env.JSON:
		return w.env.Object(newOperationJSON(ops[0], ops[0].Why))
	case len(ops) > 0:
		w.env.Say("an agent cannot decide this: it waits for a person; next: reverie review")
		w.env.Print("%s\n", ops[0].ID)
	case res.Refused > 0:
		return exit.New(exit.NeedsPerson, errors.New("this was rejected or retired before, and an agent cannot bring it back"), "a person can: reverie remember, in a terminal")
	default:
		w.env.Say("known already, or waiting")
	}
	return nil
}

// tellRedacted says that secrets were taken out of what a person wrote.
func (w *workspace) tellRedacted(r redact.Report, id string) {
	if r.Found > 0 {
		w.env.Warn("%s redacted from what you wrote; 'reverie show %s' shows what was kept", term.Count(r.Found, "secret was", "secrets were"), id[:8])
	}
}

// head is the code's commit, abbreviated, or "" before the first one.
func (w *workspace) head(ctx context.Context) string {
	id, _, err := w.Repo.Head(ctx)
	if err != nil {
		return ""
	}
	return id[:min(12, len(id))]
}

// splitStatement takes text apart: the first line that has words, and the rest.
func splitStatement(text string) (statement, body string) {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	statement, body, _ = strings.Cut(text, "\n")
	return strings.TrimSpace(statement), strings.TrimSpace(body)
}

func parseKind(s string) (record.Kind, error) {
	k := record.Kind(s)
	if !k.Valid() {
		return "", exit.Usage("kinds are "+record.KindList(), "%q is not a kind", s)
	}
	return k, nil
}
