// Package phase runs the phases of a loop: coding, verifying and auditing. It writes the prompts,
// calls agents, commands and models, on this machine or in containers, and reads their answers. The
// methods Code, Verify and Audit of Phases each have the type worktree.Doer.
//
// A Phases serves the one process that holds the loop's lease.
package phase

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/internal/unseen"
	"github.com/reverie-memory/reverie/prompts"
	"github.com/reverie-memory/reverie/sandbox"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/agent"
	"github.com/reverie-memory/reverie/worktree/audit"
	"github.com/reverie-memory/reverie/worktree/container"
	"github.com/reverie-memory/reverie/worktree/diff"
	"github.com/reverie-memory/reverie/worktree/try"
	"github.com/reverie-memory/reverie/worktree/verify"
)

// Phases does the phases of one loop.
type Phases struct {
	Reader *reader.Reader
	Record *worktree.Record
	Place  *worktree.Place   // nil: changes of a command that failed in its sandbox stay
	Inside *container.Runner // nil: commands run on this machine
	Env    []string          // of every command, beside the turn's

	// Model returns the model of a name and its prompts. It returns nil where no model is wanted.
	Model func(ctx context.Context, name string) (*prompts.Model, prompts.Set, error)
	// Lacks hears why a prompt holds no memories. who is "agent" or "auditor".
	Lacks func(who string, err error)
}

// start runs one command of a phase.
func (p *Phases) start(ctx context.Context, t worktree.Turn, argv, env []string, stdin string, limit float64) (worktree.Result, error) {
	run := worktree.Exec
	if p.Inside != nil {
		run = p.Inside.Run
		if stdin != "" {
			stdin = insideText + stdin
		}
	}
	live := t.Live
	if t.Loop.State.Phase != worktree.Verifying { // an agent, or a command that calls one
		live = agent.NewWriter(live, unseen.OneLine)
	}
	r, err := run(ctx, worktree.Command{
		Args: argv, Dir: t.Dir, Env: slices.Concat(p.Env, t.Env, env), Stdin: []byte(stdin),
		Time: seconds(limit), Heard: t.Heard, Live: live, Began: t.Began,
	})
	if errors.Is(err, worktree.ErrSandbox) {
		err = p.interrupted(ctx, t, err)
	}
	return r, err
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// interrupted resets the work tree to the start of a turn that the sandbox failed, because a
// resumed loop repeats that turn. A ref keeps the work.
func (p *Phases) interrupted(ctx context.Context, t worktree.Turn, err error) error {
	if p.Place == nil || errors.Is(err, sandbox.ErrLeft) {
		return err
	}
	_, back := p.Place.Restore(ctx, t.Loop.State.Tip, true, p.Reader.Now())
	return errors.Join(err, back)
}

// failed returns the error of a command that failed. It takes secrets out of the output before it
// cuts it: half a secret would pass the scanner.
func failed(scanner *redact.Scanner, name string, r worktree.Result, limit float64) error {
	switch {
	case r.TimedOut:
		return fmt.Errorf("%s took longer than %s", name, seconds(limit))
	case r.Code != 0:
		clean, _ := scanner.Text(r.Output)
		return fmt.Errorf("%s ended with exit code %d: %s", name, r.Code, unseen.OneLine(LastLine(clean.String()), 300))
	}
	return nil
}

// LastLine returns the last line of a text.
func LastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// Code has the coder do an iteration.
func (p *Phases) Code(ctx context.Context, t worktree.Turn) (out worktree.Outcome, err error) {
	if err := wantsPerson(t.Loop); err != nil {
		return out, err
	}
	set := t.Loop.State.Settings
	argv, env := set.Command, []string(nil)
	if set.Agent != "" {
		if argv, env, err = agent.Call(set.Agent, set.Model, worktree.Coding, p.Inside != nil); err != nil {
			return out, err
		}
	}
	prompt, given, err := p.codePrompt(ctx, t)
	if err != nil {
		return out, err
	}
	if p.Inside == nil { // no hook of Reverie runs inside
		env = slices.Concat(env, given)
	}
	r, err := p.start(ctx, t, argv, env, prompt, set.TurnTime)
	out.Output = r.Output
	if err != nil {
		return out, missing(err, argv[0])
	}
	out.Promised = agent.Promised(agent.Said(set.Agent, r.Output), t.Loop.State.Nonce)
	return out, failed(p.Reader.Scanner, argv[0], r, set.TurnTime)
}

// missing adds advice to the error of a program that does not exist.
func missing(err error, program string) error {
	if errors.Is(err, worktree.ErrSandbox) {
		return err
	}
	if _, lookErr := exec.LookPath(program); lookErr != nil {
		return fmt.Errorf("%w: install it, or give its path: %w", err, worktree.ErrRefused)
	}
	return err
}

// wantsPerson stops a sandboxed loop in which only findings are left that a person must look at.
func wantsPerson(l worktree.Loop) error {
	if !l.State.Settings.Sandboxed() || !l.State.Verified {
		return nil
	}
	n := 0
	for _, f := range l.Findings {
		switch {
		case !l.State.Settings.Blocks(f):
		case f.OfContent():
			n++
		default:
			return nil
		}
	}
	if n == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s made or changed that the host would obey; look at them: reverie loop status %s; then reverie loop findings %s --waive ID",
		worktree.ErrPerson, plural.Count(n, "file was", "files were"), l.State.Name, l.State.Name)
}

// Verify runs the plan's own commands.
func (p *Phases) Verify(ctx context.Context, t worktree.Turn) (worktree.Outcome, error) {
	limit := t.Loop.State.Settings.VerifyTime
	return verify.Run(t.Loop.Plan.Verify, limit, t.Live, func(argv []string) (worktree.Result, error) {
		return p.start(ctx, t, argv, nil, "", limit)
	})
}

// Apart returns a function that does a phase on a checkout of the loop's commit, which it removes.
// So no container writes into the work tree of a person, who has a git directory there.
func (p *Phases) Apart(do worktree.Doer) worktree.Doer {
	if do == nil {
		return nil
	}
	return func(ctx context.Context, t worktree.Turn) (worktree.Outcome, error) {
		// a container of a killed process may use an older checkout
		if _, err := p.Inside.Engine.Prune(ctx, nil); err != nil {
			return worktree.Outcome{}, fmt.Errorf("%w: %w", worktree.ErrSandbox, err)
		}
		dir, done, err := try.Checkout(ctx, p.Reader.Repo, t.Loop.State.Tip, true)
		if err != nil {
			return worktree.Outcome{}, err
		}
		defer done()
		t.Dir, p.Inside.Tree.Dir = dir, dir
		return do(ctx, t)
	}
}

// Audit has a command, an agent or a model look for defects in the loop's work.
func (p *Phases) Audit(ctx context.Context, t worktree.Turn) (out worktree.Outcome, err error) {
	s := t.Loop.State
	if s.Settings.Audit == "" && s.Settings.AuditAgent == "" {
		return p.auditByModel(ctx, t)
	}
	argv, env := []string{"sh", "-c", s.Settings.Audit}, []string{"REVERIE_BASE=" + s.Base, "REVERIE_TIP=" + s.Tip}
	if s.Settings.AuditAgent != "" {
		var more []string
		if argv, more, err = agent.Call(s.Settings.AuditAgent, s.Settings.AuditModel, worktree.Auditing, p.Inside != nil); err != nil {
			return out, err
		}
		env = append(env, more...)
	}
	prompt, given, err := p.auditPrompt(ctx, t)
	if err != nil {
		return out, err
	}
	if p.Inside == nil {
		env = slices.Concat(env, given)
	}
	r, err := p.start(ctx, t, argv, env, prompt, s.Settings.TurnTime)
	out.Output = r.Output
	if err == nil {
		err = failed(p.Reader.Scanner, "the audit", r, s.Settings.TurnTime)
	}
	if err == nil {
		said := r.Output // all of a command's: a program that it ran may print lines like an agent's
		if s.Settings.AuditAgent != "" {
			said = agent.Said(s.Settings.AuditAgent, said)
		}
		said = strings.ReplaceAll(said, prompt, "") // the prompt holds examples of an answer
		out.Audit, err = worktree.ParseAudit([]byte(said))
	}
	return out, err
}

// auditByModel has a model of the local server look for defects.
func (p *Phases) auditByModel(ctx context.Context, t worktree.Turn) (out worktree.Outcome, err error) {
	s := t.Loop.State
	m, set, err := p.Model(ctx, s.Settings.AuditModel)
	if err == nil && m == nil { // without a model there is no audit
		err = fmt.Errorf("--audit-model %s: there is no model", s.Settings.AuditModel)
	}
	if err != nil {
		return out, err
	}
	in, err := p.auditInput(ctx, t)
	if err != nil {
		return out, err
	}
	change, err := diff.Between(ctx, p.Reader.Repo, p.Reader.Scanner, s.Base, s.Tip)
	if err != nil {
		return out, err
	}
	out, err = audit.Ask(ctx, m, set, in, change, t)
	for i := range out.Audit.Findings {
		f := &out.Audit.Findings[i]
		f.Text = unseen.OneLine(f.Text, 1000)
	}
	return out, err
}
