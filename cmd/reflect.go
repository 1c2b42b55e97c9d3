package cmd

import (
	"context"
	"fmt"
	"slices"

	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/learn"
	"github.com/reverie-memory/reverie/internal/model"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/prompts"
	"github.com/reverie-memory/reverie/reflect"
	"github.com/urfave/cli/v2"
)

type reflectOptions struct {
	pending     bool
	limit       int // of the pending sessions, the oldest; 0 is all
	dryRun      bool
	model       modelChoice
	printPrompt bool
	from        string // file with a model's answer
}

func reflectCommand(env *Env) *cli.Command {
	var o reflectOptions
	return &cli.Command{
		Name:      "reflect",
		Usage:     "study sessions and keep the evidence",
		ArgsUsage: "[SESSION…]",
		Description: "Detectors study a session at once. A local model, if chosen by --model or the setting model.name,\n" +
			"reads the session afterwards; its candidates wait for a person, regardless of the speaker.\n" +
			"--print-prompt prints the prompt for a model, and --import reads the answers about one session of a\n" +
			"model that Reverie cannot reach: one JSON object for each printed question, in order.",
		Flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "pending", Usage: "study every kept session without a reflection, or not yet read by the model", Destination: &o.pending},
			&cli.IntFlag{Name: "limit", Usage: "with --pending: study at most `N` sessions, oldest first; the next reflect continues", Destination: &o.limit},
			&cli.BoolFlag{Name: "dry-run", Usage: "print what would change, and change nothing", Destination: &o.dryRun},
			&cli.BoolFlag{Name: "print-prompt", Usage: "print the prompt for a model, and ask none", Destination: &o.printPrompt},
			&cli.StringFlag{Name: "import", Usage: "read the answers of model NAME (--model) from `FILE`; - reads standard input", Destination: &o.from},
		}, modelFlags(&o.model)...),
		Action: func(c *cli.Context) error {
			if o.pending == (c.NArg() > 0) {
				return exit.Usage("'reverie sessions' lists the sessions", "reflect takes sessions, or --pending")
			}
			if c.IsSet("limit") && (o.limit < 1 || !o.pending) {
				return exit.Usage("", "--limit must be 1 or more, and needs --pending")
			}
			if err := o.check(c.NArg()); err != nil {
				return err
			}
			return env.with(c.Context, func(w *workspace) error { return runReflect(c.Context, w, c.Args().Slice(), o) })
		},
	}
}

func (o reflectOptions) check(sessions int) error {
	switch {
	case o.from != "" && (sessions != 1 || o.printPrompt || o.model.none):
		return exit.Usage("the answers are about one session", "--import takes exactly one session, and excludes --print-prompt and --no-model")
	case o.printPrompt && o.dryRun:
		return exit.Usage("--print-prompt keeps nothing anyway", "--print-prompt and --dry-run exclude each other")
	}
	return o.model.check()
}

func runReflect(ctx context.Context, w *workspace, names []string, o reflectOptions) error {
	if o.printPrompt {
		return printPrompts(ctx, w, names, o)
	}
	if o.from != "" {
		return importAnswer(ctx, w, names[0], o)
	}
	m, set, err := w.model(ctx, model.Reflect, o.model.asked())
	if err != nil {
		return err
	}
	r := reflecting{workspace: w, l: w.learner(), o: o, purges: purge.Mark(w.State)}
	toRead, left := names, 0
	if o.pending {
		if names, err = r.l.Pending(ctx); err != nil {
			return err
		}
		by := m
		if o.model.name == "" {
			by = nil // one model's reading will do
		}
		if toRead, err = r.l.Unread(ctx, by, set); err != nil {
			return err
		}
		if len(names) == 0 && (m == nil || len(toRead) == 0) {
			tellNothingPending(w, m, len(toRead))
			return nil
		}
		names, left = learn.Oldest(names, o.limit)
		toRead, r.unread = learn.Oldest(toRead, o.limit)
	}
	if err := r.study(ctx, names); err != nil {
		return err
	}
	if left > 0 {
		w.env.Say("%s left: reverie reflect --pending", plural.Count(left, "session is", "sessions are"))
	}
	if m != nil && len(toRead) > 0 {
		if err := r.read(ctx, m, set, toRead); err != nil {
			return err
		}
	}
	if r.fresh {
		w.env.Say("next: reverie dream, then reverie review")
	}
	return nil
}

// tellNothingPending says why there is nothing to do, where unread sessions have not been read by
// any model.
func tellNothingPending(w *workspace, m *prompts.Model, unread int) {
	given := learn.GivenUp(w.State, m)
	switch {
	case m == nil && unread > 0 && w.Settings.Config.Model.Reads() != config.Off:
		w.env.Say("every kept session has its reflection; %s still to be read by the model", plural.Count(unread, "is", "are"))
	case given > 0:
		w.env.Say("every kept session has its reflection; the model gave no usable answer for %s; to ask another: reverie reflect SESSION --model NAME", plural.Count(given, "session", "sessions"))
	default:
		w.env.Say("every kept session has its reflection")
	}
}

// reflecting is one run of reflect.
type reflecting struct {
	*workspace
	l      *learn.Learner
	o      reflectOptions
	purges string // mark from before anything was read
	unread int    // sessions for the model that a limit leaves to the next time
	fresh  bool   // something was kept
}

// study has the detectors study sessions.
func (r *reflecting) study(ctx context.Context, names []string) error {
	studied, err := r.l.Study(ctx, names, r.o.pending)
	if err != nil || len(studied) == 0 {
		return err
	}
	if r.o.dryRun {
		if r.o.pending {
			if studied, err = r.l.Unkept(ctx, studied); err != nil {
				return err
			}
		}
		return tellCandidates(r.workspace, studied)
	}
	if _, err := r.ensure(ctx); err != nil {
		return err
	}
	fresh, err := r.l.KeepReflections(ctx, studied, r.purges)
	if err != nil {
		return err
	}
	r.fresh = r.fresh || len(fresh) > 0
	tellStudied(r.workspace, learn.Tallies(fresh))
	return tellCandidates(r.workspace, fresh)
}

// read has a model read sessions. If a session was named and the answer is unusable, that is an
// error.
func (r *reflecting) read(ctx context.Context, m *prompts.Model, set prompts.Set, names []string) error {
	p := learn.Pass{Learner: r.l, Model: m, Set: set, Dry: r.o.dryRun, Keep: func(got reflect.Reading) error {
		if !r.o.dryRun {
			if _, err := r.ensure(ctx); err != nil {
				return err
			}
			if err := r.l.KeepReading(ctx, got, r.purges); err != nil {
				return err
			}
			r.fresh = true
		}
		return tellReading(r.workspace, got, r.env.Verbose)
	}}
	all, err := p.Over(ctx, names)
	switch {
	case err != nil:
		return err
	case !r.o.pending && all.Read < len(names):
		return exit.New(exit.Failed, fmt.Errorf("%s gave nothing about %s", m.Name, plural.Count(len(names)-all.Read, "session", "sessions")), "the detectors' candidates are kept")
	case all.Left+r.unread > 0:
		r.env.Say("%s left to read: reverie reflect --pending", plural.Count(all.Left+r.unread, "session", "sessions"))
	}
	return nil
}

// tellReading prints the candidates that a model added to those of the detectors; as JSON the whole
// reflection. On request it prints refusals.
func tellReading(w *workspace, got reflect.Reading, refusals bool) error {
	tellRefused(w, refusals, got.Refused, got.Faults...)
	r := got.Reflection
	if !w.env.JSON {
		r.Candidates = slices.DeleteFunc(slices.Clone(r.Candidates), func(c record.Candidate) bool { return c.Detector != record.ByModel })
	}
	return tellCandidates(w, []record.Reflection{r})
}

// tellCandidates gives what reflections found.
func tellCandidates(w *workspace, all []record.Reflection) error {
	return rows(w.env, all, itself, func(r record.Reflection) {
		for _, c := range r.Candidates {
			w.env.Print("%s\t%s\t%s\n", c.Kind, c.How, term.Visible(c.Text))
		}
	})
}

// maxReflected bounds the reflections printed one by one; beyond it, only their totals are.
const maxReflected = 8
