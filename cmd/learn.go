package cmd

import (
	"context"
	"errors"
	"slices"

	"github.com/reverie-memory/reverie/dream"
	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/prompts"
	"github.com/reverie-memory/reverie/prompts/door"
	"github.com/reverie-memory/reverie/reflect"
	"github.com/reverie-memory/reverie/reflect/transcript"
	"github.com/reverie-memory/reverie/worktree/try"
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
		Description: "Reads each transcript (- is standard input), studies its sessions, and holds what they taught against\n" +
			"what is known. Without a file it finds the sessions that OpenCode, Claude Code, Codex and Gemini CLI kept of\n" +
			"this repository on this machine, learns from those that are new, the oldest first, and goes on with what was\n" +
			"ingested before. Doing it again changes nothing. In an agent's shell nothing is accepted: all of it waits in the inbox,\n" +
			"and what was read there bears nothing out, unless a person learns from the same. Where the settings name a local model, it then reads the sessions of\n" +
			"the files; those from the agents' stores it reads in the background, or by 'reverie reflect --pending'.",
		Flags: append([]cli.Flag{
			formatFlag(&format),
			&cli.StringFlag{Name: "since", Usage: "only sessions written since `WHEN`: 2026-11-01, 30d, 2w, 12h", Destination: &o.since},
			&cli.IntFlag{Name: "limit", Usage: "at most `N` new sessions, the oldest; the next learn goes on", Destination: &o.limit},
			&cli.StringSliceFlag{Name: "agent", Usage: "only sessions of agent `NAME`; may be given again", Destination: &agents},
			&cli.BoolFlag{Name: "dry-run", Usage: "say what was found, and learn nothing", Destination: &o.dryRun},
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
					return exit.Usage("'reverie reflect --pending --model NAME' has it read what was learned from", "--model is for files")
				}
				return runBackfill(c.Context, env, o, model)
			}
			if o.given() {
				return exit.Usage("leave out the files to learn from the agents' own stores", "--since, --limit, --agent and --dry-run are not for files")
			}
			return runLearn(c.Context, env, c.Args().Slice(), as, model)
		},
	}
}

// learned is what a learn came to.
type learned struct {
	Found       []foundJSON     `json:"found,omitempty"` // in the agents' stores
	Sessions    []sessionJSON   `json:"sessions"`
	Reflections int             `json:"reflections"` // new ones
	Accepted    []memoryJSON    `json:"accepted"`
	Waiting     []operationJSON `json:"waiting"` // of what was proposed or borne out now
}

func runLearn(ctx context.Context, env *Env, files []string, format transcript.Format, model modelChoice) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	m, set, err := w.model(ctx, model.asked())
	if err != nil {
		return err
	}
	// Ingest. What could be read is learned from even when another file could not.
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
	if _, err := w.ensure(ctx); err != nil {
		return err
	}

	l, err := w.learnFrom(ctx, names)
	if err != nil {
		return err
	}
	if m != nil && !env.JSON { // whatever becomes of the model, this is so
		if err := w.answer(l, kept, nil); err != nil {
			return err
		}
		l = &lesson{}
	}
	if m != nil {
		if err := w.readOn(ctx, m, set, names, l); err != nil {
			return err
		}
	}
	w.tidy(ctx)
	w.noteStated(ctx)
	if m != nil && !env.JSON && l.fresh == 0 {
		return ingestErr
	}
	return errors.Join(w.answer(l, kept, nil), ingestErr)
}

// runBackfill learns from what the agents kept, and goes on with what was ingested before.
func runBackfill(ctx context.Context, env *Env, o backfillOptions, model modelChoice) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	b, err := w.lookBack(ctx, o)
	if err != nil {
		return err
	}
	b.tellFound()
	if o.dryRun {
		if env.JSON {
			return env.Object(learned{Found: b.found, Sessions: []sessionJSON{}, Accepted: []memoryJSON{}, Waiting: []operationJSON{}})
		}
		b.tellFresh()
		return nil
	}
	if err := w.sweep(ctx); err != nil {
		return err
	}
	l := &lesson{}
	if err := b.learn(ctx, l); err != nil {
		return err
	}
	b.tell()
	names, err := w.sessionNames()
	if err != nil {
		return err
	}
	if len(names) == 0 {
		if env.JSON {
			return w.answer(l, nil, b.found)
		}
		env.Say("a transcript that lies elsewhere can be named: reverie learn FILE")
		return nil
	}
	if names, err = w.pendingSessions(ctx); err != nil {
		return err
	}
	if _, err := w.ensure(ctx); err != nil {
		return err
	}
	if err := w.reflectOn(ctx, names, l); err != nil {
		return err
	}
	if err := w.conclude(ctx, l); err != nil {
		return err
	}
	w.tidy(ctx)
	w.noteStated(ctx)
	if w.Settings.Config.Model.Name != config.Off && w.Settings.Config.Background != "off" && !model.none {
		unread, err := w.unreadSessions(ctx, nil, prompts.Set{})
		if err != nil {
			return err
		}
		if len(unread) > 0 {
			env.Say("%s not read by the model yet: it does so in the background, or now: reverie reflect --pending", term.Count(len(unread), "session is", "sessions are"))
		}
	}
	return w.answer(l, b.sessions, b.found)
}

// answer gives what a learn came to, as JSON or to a person.
func (w *workspace) answer(l *lesson, kept []reflect.Kept, found []foundJSON) error {
	if !w.env.JSON {
		w.tellLearned(l.accepted, l.rest, l.waiting, l.fresh)
		return nil
	}
	out := learned{Found: found, Sessions: []sessionJSON{}, Accepted: []memoryJSON{}, Waiting: []operationJSON{}, Reflections: l.fresh}
	for _, k := range kept {
		out.Sessions = append(out.Sessions, newSessionJSON(k))
	}
	for _, o := range l.accepted {
		out.Accepted = append(out.Accepted, newMemoryJSON(o.Memory))
	}
	for _, p := range l.rest {
		out.Waiting = append(out.Waiting, newOperationJSON(p.Operation, p.why))
	}
	return w.env.Object(out)
}

// lesson is what learning from some sessions came to.
type lesson struct {
	fresh    int // reflections that are new
	told     []reflected
	accepted []record.Operation
	rest     []waiting // operations that were proposed or borne out now, and wait
	waiting  int       // all that do
}

// learnFrom reflects on sessions, dreams over every reflection that is new, and accepts what the policy lets through. The store
// has to be there.
func (w *workspace) learnFrom(ctx context.Context, names []string) (*lesson, error) {
	l := &lesson{}
	if err := w.reflectOn(ctx, names, l); err != nil {
		return l, err
	}
	return l, w.conclude(ctx, l)
}

// reflectOn studies sessions and keeps what is new, some at a time: what was kept stays when the rest is interrupted.
func (w *workspace) reflectOn(ctx context.Context, names []string, l *lesson) error {
	for some := range slices.Chunk(names, batchSessions) {
		purges := purge.Mark(w.State)
		studied, err := w.study(ctx, some, true)
		if err != nil {
			return err
		}
		fresh, err := w.keepReflections(ctx, studied, purges)
		if err != nil {
			return err
		}
		l.fresh += len(fresh)
		l.told = append(l.told, tallied(fresh)...)
	}
	return nil
}

// readOn has a model read sessions that the detectors have studied, and adds to the lesson what follows from that.
func (w *workspace) readOn(ctx context.Context, m *prompts.Model, set prompts.Set, names []string, l *lesson) error {
	more := &lesson{}
	purges := purge.Mark(w.State)
	p := pass{workspace: w, model: m, set: set, keep: func(got reflect.Reading) error {
		more.fresh++
		return w.keepReading(ctx, got, purges)
	}}
	_, err := p.over(ctx, names)
	if err != nil || more.fresh == 0 {
		return err
	}
	if err := w.conclude(ctx, more); err != nil {
		return err
	}
	again := map[string]bool{}
	for _, p := range more.rest {
		again[p.ID] = true
	}
	l.rest = append(slices.DeleteFunc(l.rest, func(p waiting) bool { return again[p.ID] }), more.rest...)
	l.accepted = append(l.accepted, more.accepted...)
	l.fresh, l.waiting = l.fresh+more.fresh, more.waiting
	return nil
}

// conclude dreams over every reflection that no dream has considered, and accepts what the policy lets through.
func (w *workspace) conclude(ctx context.Context, l *lesson) error {
	w.tellReflections(l.told)
	touched := map[string]bool{}
	for considered := maxReflections; considered == maxReflections; {
		var plan dream.Result
		var err error
		if plan, considered, err = w.dream(ctx, lately{}); err != nil {
			return err
		}
		for _, o := range plan.Operations {
			touched[o.ID] = true
		}
	}
	var err error
	if l.accepted, l.rest, err = w.acceptByPolicy(ctx); err != nil {
		return err
	}
	l.waiting = len(l.rest)
	l.rest = slices.DeleteFunc(l.rest, func(p waiting) bool { return !touched[p.ID] })
	w.landAll(ctx)
	return nil
}

// waiting is an operation that needs a person, and why.
type waiting struct {
	record.Operation
	why    string
	stated bool // the repository's own documents say it
}

// acceptByPolicy accepts what the policy lets through and returns the rest of the inbox. Where an agent asks, it accepts nothing.
func (w *workspace) acceptByPolicy(ctx context.Context) (accepted []record.Operation, rest []waiting, err error) {
	var through []record.Operation
	w.Documents.Read() // read before the lock
	lets := func(c config.Config, o record.Operation) bool {
		ok, _ := clone.Policy(c).Accepts(o)
		return ok && (o.How != record.Seen || w.Documents.Stated(o.Memory) == "")
	}
	err = w.view(ctx, func(v *record.View) error {
		pending, err := w.pending(v)
		for _, o := range pending {
			if w.Asker() == "" && lets(w.Settings.Config, o) {
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
		if record.Undecidable(err) {
			w.env.Warn("%v", err) // they wait for a person
			err = nil
		}
		w.env.Say("accept   %s by policy", term.Count(len(accepted), "statement", "statements"))
		if err != nil {
			return accepted, nil, err
		}
	}
	rest, err = w.queue(ctx, nil)
	return accepted, rest, err
}

// How much of what was learned is told one by one, so that all of it stays on one screen.
const (
	maxAccepted = 8
	maxWaiting  = 5
)

// tellLearned tells what was accepted and what of this run waits, beside all that does, out of fresh
// reflections.
func (w *workspace) tellLearned(accepted []record.Operation, rest []waiting, all, fresh int) {
	for i, o := range accepted {
		if i == maxAccepted {
			w.env.Print("+ … and %d more: reverie list\n", len(accepted)-i)
			break
		}
		note := string(o.How)
		if o.Memory.Branch != "" {
			note += "; on " + record.ParseSide(o.Memory.Branch).Name + " until that lands"
		}
		w.line("+", term.Green, o.Memory, note)
	}
	for i, p := range rest {
		if i == maxWaiting {
			w.env.Print("? … and %d more: reverie review\n", len(rest)-i)
			break
		}
		w.line("?", term.Dim, p.Memory, p.why)
	}
	nothing := ""
	if len(accepted) == 0 && len(rest) == 0 {
		nothing = "nothing worth keeping was found, which is the usual answer"
		if fresh == 0 {
			nothing = "nothing new"
		}
	}
	switch {
	case all > 0 && w.Asker() != "":
		if nothing == "" {
			nothing = "nothing is accepted"
		}
		w.env.Say("%s in a shell of %s: %s for a person; next, in a terminal of their own: reverie review", nothing, w.Asker(), waits(all))
	case all > 0 && nothing != "":
		w.env.Say("%s; %s for a person: reverie review", nothing, waits(all))
	case all > 0:
		w.env.Say("%s for a person; next: reverie review", waits(all))
	case nothing != "":
		w.env.Say("%s", nothing)
	default:
		w.env.Say("next: reverie list, or git log %s", w.Branch())
	}
}

func waits(n int) string {
	if n == 1 {
		return "1 operation waits"
	}
	return term.Count(n, "operation", "operations") + " wait"
}

// tidy does small upkeep after a command's work is done; its failures are only told under -v.
func (w *workspace) tidy(ctx context.Context) {
	before := w.keptFrom()
	_, err := w.Sessions.Expire(before)
	if err = errors.Join(err, w.expireOriginals(before), brief.Ledger{Repo: w.Repo}.Expire(before), w.kv().Sweep(ctx), door.Expire(w.answers(), before), w.Book.Tidy(ctx), purge.Tidy(w.Repo, w.State, w.env.Now()), try.Clear(w.loopFolder(""))); err != nil && w.env.Verbose {
		w.env.Warn("upkeep: %v", err)
	}
}
