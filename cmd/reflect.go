package cmd

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
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
		Description: "Detectors study a session at once. Where a local model is wanted (--model, or the setting model.name), it reads the\n" +
			"session afterwards; what it finds waits for a person, whoever said it. --print-prompt prints what a model would be asked,\n" +
			"and --import takes in an answer to that, from a model that Reverie cannot reach.",
		Flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "pending", Usage: "every kept session that has no reflection yet, or that the model has not read", Destination: &o.pending},
			&cli.IntFlag{Name: "limit", Usage: "with --pending: at most `N` of them, the oldest; the next reflect goes on", Destination: &o.limit},
			&cli.BoolFlag{Name: "dry-run", Usage: "show what would be kept, and keep nothing", Destination: &o.dryRun},
			&cli.BoolFlag{Name: "print-prompt", Usage: "print what a model would be asked, and ask nobody", Destination: &o.printPrompt},
			&cli.StringFlag{Name: "import", Usage: "take the answer of model NAME (--model) from `FILE`, - is standard input", Destination: &o.from},
		}, modelFlags(&o.model)...),
		Action: func(c *cli.Context) error {
			if o.pending == (c.NArg() > 0) {
				return exit.Usage("'reverie sessions' lists the sessions", "reflect wants sessions, or --pending")
			}
			if c.IsSet("limit") && (o.limit < 1 || !o.pending) {
				return exit.Usage("", "--limit wants 1 or more, and --pending")
			}
			if err := o.check(c.NArg()); err != nil {
				return err
			}
			return runReflect(c.Context, env, c.Args().Slice(), o)
		},
	}
}

func (o reflectOptions) check(sessions int) error {
	switch {
	case o.from != "" && (sessions != 1 || o.printPrompt || o.model.none):
		return exit.Usage("an answer is about one session", "--import wants exactly one session, and neither --print-prompt nor --no-model")
	case o.printPrompt && o.dryRun:
		return exit.Usage("it keeps nothing anyway", "--print-prompt and --dry-run exclude each other")
	}
	return o.model.check()
}

func runReflect(ctx context.Context, env *Env, names []string, o reflectOptions) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	if o.printPrompt {
		return w.printPrompts(ctx, names, o)
	}
	if o.from != "" {
		return w.importAnswer(ctx, names[0], o)
	}
	m, set, err := w.model(ctx, o.model.asked())
	if err != nil {
		return err
	}
	r := reflecting{workspace: w, o: o, purges: purge.Mark(w.State)}
	toRead, left := names, 0
	if o.pending {
		if names, err = w.pendingSessions(ctx); err != nil {
			return err
		}
		by := m
		if o.model.name == "" {
			by = nil // one model's reading will do
		}
		if toRead, err = w.unreadSessions(ctx, by, set); err != nil {
			return err
		}
		if len(names) == 0 && (m == nil || len(toRead) == 0) {
			w.tellNothingPending(m, len(toRead))
			return nil
		}
		names, left = oldest(names, o.limit)
		toRead, r.unread = oldest(toRead, o.limit)
	}
	if err := r.study(ctx, names); err != nil {
		return err
	}
	if left > 0 {
		env.Say("%s left: reverie reflect --pending", term.Count(left, "session is", "sessions are"))
	}
	if m != nil && len(toRead) > 0 {
		if err := r.read(ctx, m, set, toRead); err != nil {
			return err
		}
	}
	if r.fresh {
		env.Say("next: reverie dream, then reverie review")
	}
	return nil
}

// oldest is the first of some names, all without a limit, and how many are left.
func oldest(names []string, limit int) (some []string, left int) {
	if limit > 0 && len(names) > limit {
		return names[:limit], len(names) - limit
	}
	return names, 0
}

// tellNothingPending says why there is nothing to do, where unread sessions have not been read by any model.
func (w *workspace) tellNothingPending(m *prompts.Model, unread int) {
	given := 0
	for what, n := range w.openUnread(m).Failed {
		if n >= maxAttempts && !strings.HasPrefix(what, "dream ") {
			given++
		}
	}
	switch {
	case m == nil && unread > 0 && w.Settings.Config.Model.Name != config.Off:
		w.env.Say("every kept session has its reflection; %s still to be read by the model", term.Count(unread, "is", "are"))
	case given > 0:
		w.env.Say("every kept session has its reflection; of %s the model made nothing usable: reverie reflect SESSION --model NAME asks another", term.Count(given, "one", "them"))
	default:
		w.env.Say("every kept session has its reflection")
	}
}

// reflecting is one run of reflect.
type reflecting struct {
	*workspace
	o      reflectOptions
	purges string // mark from before anything was read
	unread int    // sessions for the model that a limit leaves to the next time
	fresh  bool   // something was kept
}

// study has the detectors study sessions.
func (r *reflecting) study(ctx context.Context, names []string) error {
	studied, err := r.workspace.study(ctx, names, r.o.pending)
	if err != nil || len(studied) == 0 {
		return err
	}
	if r.o.dryRun {
		if r.o.pending {
			if studied, err = r.unkept(ctx, studied); err != nil {
				return err
			}
		}
		return r.tellCandidates(studied)
	}
	if _, err := r.ensure(ctx); err != nil {
		return err
	}
	fresh, err := r.keepReflections(ctx, studied, r.purges)
	if err != nil {
		return err
	}
	r.fresh = r.fresh || len(fresh) > 0
	r.tellReflections(tallied(fresh))
	return r.tellCandidates(fresh)
}

// read has a model read sessions. A session that somebody named and of which nothing usable came is an error.
func (r *reflecting) read(ctx context.Context, m *prompts.Model, set prompts.Set, names []string) error {
	p := pass{workspace: r.workspace, model: m, set: set, dry: r.o.dryRun, keep: func(got reflect.Reading) error {
		if !r.o.dryRun {
			if _, err := r.ensure(ctx); err != nil {
				return err
			}
			if err := r.keepReading(ctx, got, r.purges); err != nil {
				return err
			}
			r.fresh = true
		}
		return r.tellReading(got)
	}}
	all, err := p.over(ctx, names)
	switch {
	case err != nil:
		return err
	case !r.o.pending && all.read < len(names):
		return exit.New(exit.Failed, fmt.Errorf("%s gave nothing about %s", m.Name, term.Count(len(names)-all.read, "session", "sessions")), "what the detectors found is kept")
	case all.left+r.unread > 0:
		r.env.Say("%s left to read: reverie reflect --pending", term.Count(all.left+r.unread, "session", "sessions"))
	}
	return nil
}

// tellReading gives what a model added to what the detectors found; as JSON the whole reflection. What was refused is told
// with -v.
func (w *workspace) tellReading(got reflect.Reading) error {
	w.tellRefused(got.Refused)
	if w.env.Verbose {
		for _, f := range got.Faults {
			w.env.Say("refused  %s", term.Visible(f))
		}
	}
	r := got.Reflection
	if !w.env.JSON {
		r.Candidates = slices.DeleteFunc(slices.Clone(r.Candidates), func(c record.Candidate) bool { return c.How != record.Model })
	}
	return w.tellCandidates([]record.Reflection{r})
}

// tellCandidates gives what reflections found.
func (w *workspace) tellCandidates(all []record.Reflection) error {
	for _, r := range all {
		if w.env.JSON {
			if err := w.env.Object(r); err != nil {
				return err
			}
			continue
		}
		for _, c := range r.Candidates {
			w.env.Print("%s\t%s\t%s\n", c.Kind, c.How, term.Visible(c.Text))
		}
	}
	return nil
}

// sessionNames are the names of every kept session, the oldest first.
func (w *workspace) sessionNames() ([]string, error) {
	kept, err := w.Sessions.List()
	if err != nil {
		w.env.Warn("%v", err)
	}
	var names []string
	for _, k := range kept {
		names = append(names, k.Name())
	}
	return names, nil
}

// pendingSessions are the names of the kept sessions that have no reflection as they are now, the
// oldest first. It reads no events. A session whose file does not tell its hash is among them.
func (w *workspace) pendingSessions(ctx context.Context) ([]string, error) {
	kept, err := w.Sessions.List()
	if err != nil {
		w.env.Warn("%v", err)
	}
	var stand []record.Reflection // what Study would name so
	for _, k := range kept {
		stand = append(stand, record.Reflection{Client: k.Client, Session: k.ID, Started: k.Started, Hash: k.Hash})
	}
	stand, err = w.unkept(ctx, stand)
	var names []string
	for _, r := range stand {
		names = append(names, r.Client+"/"+r.Session)
	}
	return names, err
}

// unkept are those of some reflections that are not in the journal. One without a hash counts as not kept.
func (w *workspace) unkept(ctx context.Context, all []record.Reflection) ([]record.Reflection, error) {
	var out []record.Reflection
	err := w.view(ctx, func(v *record.View) error {
		out = nil
		for _, r := range all {
			if len(r.Hash) < sha256.Size*2 || !v.Has(r) {
				out = append(out, r)
			}
		}
		return nil
	})
	if errors.Is(err, gitstore.ErrNoStore) && !errors.Is(err, gitstore.ErrDeleted) {
		return all, nil
	}
	return out, err
}

// study reads sessions and reflects on each. With lenient one that cannot be read is named and passed over.
func (w *workspace) study(ctx context.Context, names []string, lenient bool) ([]record.Reflection, error) {
	var out []record.Reflection
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		kept, events, err := w.Sessions.Load(name)
		if err != nil && lenient {
			w.env.Warn("%v", err)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reflect: %w", err)
		}
		out = append(out, reflect.Study(kept.Session, events))
	}
	return out, nil
}

// keepReflections writes those that are not kept yet to the journal, in one commit, and returns them. None is written if a purge
// came since the mark: what they quote may be what went.
func (w *workspace) keepReflections(ctx context.Context, studied []record.Reflection, purges string) ([]record.Reflection, error) {
	var fresh []record.Reflection
	err := w.update(ctx, func(tx *record.Tx, _ config.Config) error {
		fresh = nil
		if err := purge.Since(w.State, purges); err != nil {
			return fmt.Errorf("reflect: %w", err)
		}
		for _, r := range studied {
			if tx.Has(r) {
				continue
			}
			if err := tx.PutReflection(record.Journal, r); err != nil {
				return err
			}
			fresh = append(fresh, r)
		}
		tx.Describe(reflectionCommit(fresh))
		return nil
	})
	return fresh, err
}

// reflected is what is told of a reflection.
type reflected struct {
	session        string
	found, refused int
}

func tallied(fresh []record.Reflection) []reflected {
	var out []reflected
	for _, r := range fresh {
		t := reflected{session: r.Client + "/" + r.Session}
		for _, c := range r.Candidates {
			if c.Detector != record.Order { // nothing yet: dream counts them
				t.found++
			}
		}
		for _, n := range r.Dropped {
			t.refused += n
		}
		out = append(out, t)
	}
	return out
}

// maxReflected is how many reflections are told one by one; of more, what they come to together.
const maxReflected = 8

func (w *workspace) tellReflections(all []reflected) {
	if len(all) > maxReflected {
		sum := reflected{session: term.Count(len(all), "session", "sessions")}
		for _, r := range all {
			sum.found, sum.refused = sum.found+r.found, sum.refused+r.refused
		}
		all = []reflected{sum}
	}
	for _, r := range all {
		w.env.Say("reflect  %s: %s found, %d refused at the gate", r.session, term.Count(r.found, "candidate", "candidates"), r.refused)
	}
}

func reflectionCommit(fresh []record.Reflection) gitstore.Commit {
	c := gitstore.Commit{Subject: fmt.Sprintf("reflect: %s", term.Count(len(fresh), "session", "sessions")), Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "reflect"}}}
	if len(fresh) == 1 {
		c.Subject = fmt.Sprintf("reflect: %s/%s", fresh[0].Client, fresh[0].Session)
	}
	for _, r := range fresh {
		c.Trailers = append(c.Trailers, gitstore.Trailer{Key: "Reverie-Session", Value: r.Client + "/" + r.Session})
		if r.Model != "" {
			c.Trailers = append(c.Trailers, gitstore.Trailer{Key: "Reverie-Model", Value: r.Model}, gitstore.Trailer{Key: "Reverie-Prompt", Value: r.Prompt})
		}
	}
	return c
}
