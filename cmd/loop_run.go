package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/agent"
	"github.com/reverie-memory/reverie/worktree/container"
	"github.com/reverie-memory/reverie/worktree/verify"
)

// looper does what the phases of a loop are about.
type looper struct {
	w      *workspace
	record *worktree.Record
	place  *worktree.Place // nil: what the commands do to the work tree is never taken back
	run    worktree.Runner
	env    []string          // of everything that is started, but for what a turn adds
	inside *container.Runner // where commands run in containers
}

// carryOn carries a loop on until it ends, or waits for a commit by hand. The caller holds the lease, which is given back.
func (w *workspace) carryOn(ctx context.Context, record *worktree.Record, s worktree.State, lease *worktree.Lease) error {
	carried := false
	defer func() {
		if !carried {
			lease.Release()
		}
	}()
	place, err := w.loopPlace(ctx, s)
	if err != nil {
		return explainLoop(err)
	}
	l := &looper{w: w, record: record, place: place, run: worktree.Exec}
	if l.inside, err = w.insideOf(ctx, s, place.Dir); err != nil {
		return err
	}
	if l.inside != nil {
		l.run = l.inside.Run
	} else if l.env, err = hostEnv(place); err != nil {
		return err
	}
	waits := false
	do := worktree.Doers{
		Waits: func(worktree.State) { waits = true },
		Stays: func(err error) {
			w.env.Warn("its work tree stays: %v; then: reverie loop cancel %s --remove-worktree", err, s.Name)
		},
		Ended: func(end worktree.State) { w.learnLoop(ctx, record, end) },
		Code:  l.code, Verify: l.verify, Now: w.env.Now,
		Told: func(before, after worktree.State, e worktree.Event) {
			w.env.Say("%s", worktree.Subject(before, after, e))
			if e.Kind == worktree.Placed && s.InPlace == "" {
				if why, err := w.submodulesMissing(ctx, s.Base); err == nil && why != "" {
					w.env.Warn("%s", why)
				}
			}
		},
	}
	if s.Settings.Audited() {
		do.Audit = l.audit
	}
	carried = true
	end, err := worktree.Carry(ctx, record, place, lease, do)
	if err != nil {
		if ctx.Err() != nil {
			w.env.Say("what the iteration has made by now is kept; to go on: reverie loop resume %s", s.Name)
		}
		return explainLoop(err)
	}
	if waits && !end.Phase.Over() {
		return w.tellWait(ctx, end, place)
	}
	return w.tellEnd(ctx, end)
}

// hostEnv is the environment of what is started on this machine.
func hostEnv(place *worktree.Place) (env []string, err error) {
	program, err := os.Executable()
	if err != nil {
		program = "" // the hook that asks it lets everything pass; the commit of the loop's does not
	}
	hookEnv, err := place.HookEnv(program)
	if err != nil {
		return nil, err
	}
	for _, kv := range git.Environ() {
		if !strings.HasPrefix(kv, job.Depth+"=") {
			env = append(env, kv)
		}
	}
	return append(env, hookEnv...), nil
}

// start runs one command of a phase.
func (l *looper) start(ctx context.Context, t worktree.Turn, argv, env []string, stdin string, limit float64) (r worktree.Result, err error) {
	if l.inside != nil && stdin != "" {
		stdin = insideText + stdin
	}
	live := t.Live
	if t.Loop.State.Phase != worktree.Verifying { // an agent, or what calls one
		live = agent.NewWriter(live, term.OneLine)
	}
	r, err = l.run(ctx, worktree.Command{
		Args: argv, Dir: t.Dir, Env: slices.Concat(l.env, t.Env, env), Stdin: []byte(stdin),
		Time: time.Duration(limit * float64(time.Second)), Heard: t.Heard, Live: live, Began: t.Began,
	})
	if errors.Is(err, worktree.ErrSandbox) {
		err = l.interrupted(ctx, t, err)
	}
	return r, err
}

// failedRun is what a command did wrong, if it did. Secrets are taken out of what it printed before that is cut: of one that is cut in two, a part
// would stay.
func failedRun(scanner *redact.Scanner, what string, r worktree.Result, limit float64) error {
	switch {
	case r.TimedOut:
		return fmt.Errorf("%s took longer than %s", what, settingTime(limit))
	case r.Code != 0:
		clean, _ := scanner.Text(r.Output)
		return fmt.Errorf("%s ended with exit code %d: %s", what, r.Code, term.OneLine(lastLine(clean.String()), 300))
	}
	return nil
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

func (l *looper) code(ctx context.Context, t worktree.Turn) (out worktree.Outcome, err error) {
	if err := askPerson(t.Loop); err != nil {
		return out, err
	}
	set := t.Loop.State.Settings
	argv, env := set.Command, []string(nil)
	if set.Agent != "" {
		if argv, env, err = agent.Call(set.Agent, set.Model, worktree.Coding, l.inside != nil); err != nil {
			return out, err
		}
	}
	prompt, given, err := l.codePrompt(ctx, t)
	if err != nil {
		return out, err
	}
	if l.inside == nil { // where no hook of ours runs
		env = slices.Concat(env, given)
	}
	r, err := l.start(ctx, t, argv, env, prompt, set.TurnTime)
	out.Output = r.Output
	if err != nil {
		return out, programMissing(err, argv[0])
	}
	out.Promised = agent.Promised(agent.Said(set.Agent, r.Output), t.Loop.State.Nonce)
	return out, failedRun(l.w.Scanner, argv[0], r, set.TurnTime)
}

// programMissing says what to do about a program that is not there.
func programMissing(err error, program string) error {
	if errors.Is(err, worktree.ErrSandbox) {
		return err
	}
	if _, lookErr := exec.LookPath(program); lookErr != nil {
		return fmt.Errorf("%w: install it, or give its path: %w", err, worktree.ErrRefused)
	}
	return err
}

// verify runs the plan's own commands.
func (l *looper) verify(ctx context.Context, t worktree.Turn) (worktree.Outcome, error) {
	limit := t.Loop.State.Settings.VerifyTime
	return verify.Run(t.Loop.Plan.Verify, limit, t.Live, func(argv []string) (worktree.Result, error) {
		return l.start(ctx, t, argv, nil, "", limit)
	})
}

// audit has somebody look for defects in what the loop has made.
func (l *looper) audit(ctx context.Context, t worktree.Turn) (out worktree.Outcome, err error) {
	s := t.Loop.State
	if s.Settings.Audit == "" && s.Settings.AuditAgent == "" {
		return l.auditByModel(ctx, t)
	}
	argv, env := []string{"sh", "-c", s.Settings.Audit}, []string{"REVERIE_BASE=" + s.Base, "REVERIE_TIP=" + s.Tip}
	if s.Settings.AuditAgent != "" {
		var more []string
		if argv, more, err = agent.Call(s.Settings.AuditAgent, s.Settings.AuditModel, worktree.Auditing, l.inside != nil); err != nil {
			return out, err
		}
		env = append(env, more...)
	}
	prompt, given, err := l.auditPrompt(ctx, t)
	if err != nil {
		return out, err
	}
	if l.inside == nil {
		env = slices.Concat(env, given)
	}
	r, err := l.start(ctx, t, argv, env, prompt, s.Settings.TurnTime)
	out.Output = r.Output
	if err == nil {
		err = failedRun(l.w.Scanner, "the audit", r, s.Settings.TurnTime)
	}
	if err == nil {
		said := r.Output // of a command: all of it, for a line that looks like an agent's may be of a program that it ran
		if s.Settings.AuditAgent != "" {
			said = agent.Said(s.Settings.AuditAgent, said)
		}
		out.Audit, err = worktree.ParseAudit([]byte(strings.ReplaceAll(said, prompt, ""))) // which has examples of an answer
	}
	return out, err
}
