package cmd

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/reflect/transcript"
	"github.com/urfave/cli/v2"
)

func learnCommand(env *Env) *cli.Command {
	format := string(transcript.Auto)
	return &cli.Command{
		Name:      "learn",
		Usage:     "learn from transcripts: ingest, reflect, dream, and accept what the policy lets through",
		ArgsUsage: "[FILE…]",
		Description: "Reads each transcript (- is standard input), studies its sessions, and holds what they taught against\n" +
			"what is known. Without a file it goes on with sessions that were ingested before. Doing it again changes nothing.",
		Flags: []cli.Flag{formatFlag(&format)},
		Action: func(c *cli.Context) error {
			as, err := parseFormat(format)
			if err != nil {
				return err
			}
			return runLearn(c.Context, env, c.Args().Slice(), as)
		},
	}
}

// learned is what a learn came to.
type learned struct {
	Sessions    []sessionJSON   `json:"sessions"`
	Reflections int             `json:"reflections"` // new ones
	Accepted    []memoryJSON    `json:"accepted"`
	Waiting     []operationJSON `json:"waiting"` // of what was proposed or borne out now
}

func runLearn(ctx context.Context, env *Env, files []string, format transcript.Format) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	out := learned{Sessions: []sessionJSON{}, Accepted: []memoryJSON{}, Waiting: []operationJSON{}}

	// Ingest. What could be read is learned from even when another file could not.
	kept, ingestErr := w.ingest(ctx, files, format)
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(kept) == 0 && len(files) > 0 {
		return ingestErr
	}
	var names []string
	for _, k := range kept {
		names = append(names, k.Name())
		out.Sessions = append(out.Sessions, newSessionJSON(k))
	}
	if len(files) == 0 {
		if err := w.sweep(ctx); err != nil {
			return err
		}
		if names, err = w.sessionNames(); err != nil {
			return err
		}
		if len(names) == 0 {
			return usage("reverie learn TRANSCRIPT   (an OpenCode export, or a JSONL of Claude Code, Codex or Gemini CLI)", "no session was ingested yet: name a transcript")
		}
		if names, err = w.pendingSessions(ctx); err != nil {
			return err
		}
	}
	if _, err := w.ensure(ctx); err != nil {
		return err
	}

	l, err := w.learnFrom(ctx, names)
	if err != nil {
		return err
	}
	out.Reflections = l.fresh
	for _, o := range l.accepted {
		out.Accepted = append(out.Accepted, newMemoryJSON(o.Memory))
	}
	for _, p := range l.rest {
		out.Waiting = append(out.Waiting, newOperationJSON(p.Operation, p.why))
	}
	w.tidy(ctx)
	if env.JSON {
		return errors.Join(env.object(out), ingestErr)
	}
	w.tellLearned(l.accepted, l.rest, l.waiting, l.fresh)
	return ingestErr
}

// lesson is what learning from some sessions came to.
type lesson struct {
	fresh    int // reflections that are new
	accepted []record.Operation
	rest     []waiting // operations that were proposed or borne out now, and wait
	waiting  int       // all that do
}

// learnFrom reflects on sessions, dreams over every reflection that is new, and accepts what the policy lets through. The store
// has to be there.
func (w *workspace) learnFrom(ctx context.Context, names []string) (l lesson, err error) {
	studied, err := w.study(ctx, names)
	if err != nil {
		return l, err
	}
	fresh, err := w.keepReflections(ctx, studied)
	if err != nil {
		return l, err
	}
	l.fresh = len(fresh)
	plan, err := w.dream(ctx)
	if err != nil {
		return l, err
	}
	touched := map[string]bool{}
	for _, o := range plan.Operations {
		touched[o.ID] = true
	}
	if l.accepted, l.rest, err = w.acceptByPolicy(ctx); err != nil {
		return l, err
	}
	l.waiting = len(l.rest)
	l.rest = slices.DeleteFunc(l.rest, func(p waiting) bool { return !touched[p.ID] })
	w.landAll(ctx)
	return l, nil
}

// waiting is an operation that needs a person, and why.
type waiting struct {
	record.Operation
	why string
}

// acceptByPolicy accepts what the policy lets through and returns the rest of the inbox.
func (w *workspace) acceptByPolicy(ctx context.Context) (accepted []record.Operation, rest []waiting, err error) {
	var through []record.Operation
	lets := func(c config.Config, o record.Operation) bool { ok, _ := policy(c).Accepts(o); return ok }
	err = w.view(ctx, func(v *record.View) error {
		pending, err := w.pending(v)
		for _, o := range pending {
			if lets(w.narrowed, o) {
				through = append(through, o)
			}
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if len(through) > 0 {
		accepted, err = w.accept(ctx, through, "learn", lets)
		if undecidable(err) {
			w.env.warn("%v", err) // they wait for a person
			err = nil
		}
		w.env.say("accept   %s by policy", count(len(accepted), "statement", "statements"))
		if err != nil {
			return accepted, nil, err
		}
	}
	rest, err = w.queue(ctx, nil)
	return accepted, rest, err
}

// tellLearned tells what was accepted and what of this run waits, beside all that does, out of fresh
// reflections.
func (w *workspace) tellLearned(accepted []record.Operation, rest []waiting, all, fresh int) {
	for _, o := range accepted {
		note := string(o.How)
		if o.Memory.Branch != "" {
			note += "; on " + record.ParseSide(o.Memory.Branch).Name + " until that lands"
		}
		w.line("+", green, o.Memory, note)
	}
	for _, p := range rest {
		w.line("?", dim, p.Memory, p.why)
	}
	nothing := ""
	if len(accepted) == 0 && len(rest) == 0 {
		nothing = "nothing worth keeping was found, which is the usual answer"
		if fresh == 0 {
			nothing = "nothing new"
		}
	}
	switch {
	case all > 0 && nothing != "":
		w.env.say("%s; %s for a person: reverie review", nothing, waits(all))
	case all > 0:
		w.env.say("%s for a person; next: reverie review", waits(all))
	case nothing != "":
		w.env.say("%s", nothing)
	default:
		w.env.say("next: reverie list, or git log %s", w.branch())
	}
}

func waits(n int) string {
	if n == 1 {
		return "1 operation waits"
	}
	return count(n, "operation", "operations") + " wait"
}

// tidy does small upkeep after a command's work is done; its failures are only told under -v.
func (w *workspace) tidy(ctx context.Context) {
	_, err := w.sessions.Expire(w.env.Now().Add(-time.Duration(w.narrowed.KeepDays) * 24 * time.Hour))
	if err = errors.Join(err, w.book.Tidy(ctx)); err != nil && w.env.Verbose {
		w.env.warn("upkeep: %v", err)
	}
}
