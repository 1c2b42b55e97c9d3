package cmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/reverie-memory/reverie/cmd/wire"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/learn"
	"github.com/reverie-memory/reverie/internal/learn/ingest"
	"github.com/reverie-memory/reverie/internal/model"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/prompts"
	"github.com/reverie-memory/reverie/reflect"
	"github.com/reverie-memory/reverie/reflect/transcript"
	"github.com/urfave/cli/v2"
)

func learnCommand(env *Env) *cli.Command {
	format := string(transcript.Auto)
	var o backfillOptions
	var agents cli.StringSlice
	var model modelChoice
	return &cli.Command{
		Name:      "learn",
		Usage:     "learn from agent sessions",
		ArgsUsage: "[FILE…]",
		Description: "Reads each transcript (- is standard input), studies its sessions, and compares the results with the\n" +
			"memory. Without a file it finds the sessions that agents kept of this repository on this machine: those\n" +
			"of OpenCode, Claude Code, Codex, Gemini CLI, Copilot CLI, Qwen Code and Aider. It learns from the new\n" +
			"ones, oldest first, and continues with those already ingested. Running it again changes nothing.\n\n" +
			"In an agent's shell it accepts nothing: everything waits in the inbox. Sessions read there count as\n" +
			"evidence only after a person learns from them too. If the settings name a local model, it then reads\n" +
			"the sessions of the files. Sessions from the agents' stores are read in the background, or by\n" +
			"'reverie reflect --pending'.",
		Flags: append([]cli.Flag{
			formatFlag(&format),
			&cli.StringFlag{Name: "since", Usage: "learn only from sessions written since `WHEN`: 2026-11-01, 30d, 2w, 12h", Destination: &o.since},
			&cli.IntFlag{Name: "limit", Usage: "learn from at most `N` new sessions, oldest first; the next learn continues", Destination: &o.limit},
			&cli.StringSliceFlag{Name: "agent", Usage: "learn only from sessions of agent `NAME`; may be repeated", Destination: &agents},
			&cli.BoolFlag{Name: "dry-run", Usage: "print what was found, and change nothing", Destination: &o.dryRun},
		}, modelFlags(&model)...),
		Action: func(c *cli.Context) error {
			if err := model.check(); err != nil {
				return err
			}
			as, err := parseFormat(format)
			if err != nil {
				return err
			}
			o.agents = agents.Value()
			if c.NArg() == 0 {
				if model.name != "" {
					return exit.Usage("to have it read the kept sessions: reverie reflect --pending --model NAME", "--model needs a file")
				}
				return env.with(c.Context, func(w *workspace) error { return runBackfill(c.Context, w, o, model) })
			}
			if o.given() {
				return exit.Usage("without files, learn reads the agents' own stores", "--since, --limit, --agent and --dry-run exclude files")
			}
			return env.with(c.Context, func(w *workspace) error { return runLearn(c.Context, w, c.Args().Slice(), as, model) })
		},
	}
}

// learned is the answer of learn.
type learned struct {
	Found       []ingest.Found   `json:"found,omitempty"` // in the agents' stores
	Sessions    []wire.Session   `json:"sessions"`
	Reflections int              `json:"reflections"` // new ones
	Accepted    []wire.Memory    `json:"accepted"`
	Waiting     []wire.Operation `json:"waiting"` // pending operations, proposed or confirmed now
}

func runLearn(ctx context.Context, w *workspace, files []string, format transcript.Format, by modelChoice) error {
	w.terse = !w.env.Verbose
	m, set, err := w.model(ctx, model.Reflect, by.asked())
	if err != nil {
		return err
	}
	// Ingest. One unreadable file does not stop the others.
	kept, ingestErr := w.ingest(ctx, files, format)
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(kept) == 0 {
		return ingestErr
	}
	var names []string
	for _, k := range kept {
		names = append(names, k.Name())
	}
	if err := w.create(ctx); err != nil {
		return err
	}

	l := w.learner()
	res, err := l.Learn(ctx, names)
	if err != nil {
		return err
	}
	if m != nil && !w.env.JSON { // holds whatever the model does
		if err := w.answer(res, kept, nil); err != nil {
			return err
		}
		res = &learn.Result{}
	}
	if m != nil {
		if err := l.ReadAll(ctx, m, set, names, res); err != nil {
			return err
		}
	}
	if err := w.afterLearning(ctx); err != nil {
		return err
	}
	if m != nil && !w.env.JSON && res.Reflections == 0 {
		return ingestErr
	}
	return errors.Join(w.answer(res, kept, nil), ingestErr)
}

// runBackfill learns from what the agents kept, and goes on with what was ingested before.
func runBackfill(ctx context.Context, w *workspace, o backfillOptions, model modelChoice) error {
	w.terse = !w.env.Verbose && !o.dryRun
	b, err := lookBack(ctx, w, o)
	if err != nil {
		return err
	}
	tellFound(w, b.Found)
	if o.dryRun {
		if w.env.JSON {
			return w.env.Object(learned{Found: b.Found, Sessions: []wire.Session{}, Accepted: []wire.Memory{}, Waiting: []wire.Operation{}})
		}
		tellFresh(w, b.New)
		return nil
	}
	if err := ingester(w).Sweep(ctx); err != nil {
		return err
	}
	l, res := w.learner(), &learn.Result{}
	if len(b.New) > 0 {
		if err := w.create(ctx); err != nil {
			return err
		}
	}
	study := func(ctx context.Context, names []string) error { return l.StudyAll(ctx, names, res) }
	if err := b.Take(ctx, study); err != nil {
		return err
	}
	tellPast(w, b)
	if len(l.SessionNames()) == 0 {
		if w.env.JSON {
			return w.answer(res, nil, b.Found)
		}
		w.env.Say("nothing to learn from yet; next, one of:\n  reverie init --agent all    record the sessions of your agents from now on\n  reverie learn FILE          learn from a transcript elsewhere\n  reverie remember TEXT       state a rule yourself")
		return nil
	}
	names, err := l.Pending(ctx)
	if err != nil {
		return err
	}
	if err := w.create(ctx); err != nil {
		return err
	}
	if err := l.StudyAll(ctx, names, res); err != nil {
		return err
	}
	if err := l.DreamAndAccept(ctx, res); err != nil {
		return err
	}
	if err := w.afterLearning(ctx); err != nil {
		return err
	}
	if w.Settings.Config.Model.Reads() != config.Off && w.Settings.Config.Background != "off" && !model.none {
		unread, err := l.Unread(ctx, nil, prompts.Set{})
		if err != nil {
			return err
		}
		if len(unread) > 0 {
			w.env.Say("%s not read by the model yet: the background job does it; to do it now: reverie reflect --pending", plural.Count(len(unread), "session is", "sessions are"))
		}
	}
	return w.answer(res, b.Sessions, b.Found)
}

// answer prints the result of a learn, as JSON or for a person.
func (w *workspace) answer(res *learn.Result, kept []reflect.Kept, found []ingest.Found) error {
	if !w.env.JSON {
		tellLearned(w, res)
		return nil
	}
	out := learned{Found: found, Sessions: []wire.Session{}, Accepted: []wire.Memory{}, Waiting: []wire.Operation{}, Reflections: res.Reflections}
	for _, k := range kept {
		out.Sessions = append(out.Sessions, wire.OfSession(k))
	}
	for _, o := range res.Accepted {
		out.Accepted = append(out.Accepted, wire.OfMemory(o.Memory))
	}
	for _, p := range res.Rest {
		out.Waiting = append(out.Waiting, wire.OfOperation(p.Operation, p.Why))
	}
	return w.env.Object(out)
}

// How much of what was learned is told one by one, so that all of it stays on one screen.
const (
	maxAccepted = 8
	maxWaiting  = 5
)

// tellLearned lists what was accepted and what this run put into the inbox.
func tellLearned(w *workspace, res *learn.Result) {
	accepted, rest, all := res.Accepted, res.Rest, res.Waiting
	for i, o := range accepted {
		if i == maxAccepted {
			w.env.Print("+ … and %d more: reverie list\n", len(accepted)-i)
			break
		}
		note := string(o.How)
		if o.Memory.Branch != "" {
			note += "; on " + record.ParseSide(o.Memory.Branch).Name + " until it lands"
		}
		line(w, "+", term.Green, o.Memory, note)
	}
	for i, p := range rest {
		if i == maxWaiting {
			w.env.Print("? … and %d more: reverie review\n", len(rest)-i)
			break
		}
		line(w, "?", term.Dim, p.Memory, p.Why)
	}
	waits, earlier := "", ""
	if all > 0 {
		waits = ", " + plural.Count(all, "waits", "wait") + " for you"
		earlier = "; " + plural.Count(all, "earlier operation waits", "earlier operations wait") + " for you"
	}
	sum := fmt.Sprintf("found %d, kept %d%s", len(accepted)+len(rest), len(accepted), waits)
	if len(accepted)+len(rest) == 0 {
		switch {
		case res.Reflections == 0:
			sum = "nothing new" + earlier
		case res.Found > 0:
			sum = fmt.Sprintf("found %s, none new: already known, decided or outdated, or too weak alone%s", plural.Count(res.Found, "statement", "statements"), earlier)
		default:
			sum = "nothing worth keeping was found, which is usual" + earlier
		}
	}
	switch {
	case all > 0 && w.Asker() != "":
		w.env.Say("nothing was accepted in a shell of %s: %s for a person; next, in a terminal of their own: reverie review", w.Asker(), plural.Count(all, "operation waits", "operations wait"))
	case all > 0:
		w.env.Say("%s; next: reverie review", sum)
	case len(accepted) > 0:
		w.env.Say("%s; next: reverie list, or git log %s", sum, w.Branch())
	default:
		w.env.Say("%s", sum)
	}
}
