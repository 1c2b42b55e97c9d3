package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/reverie-memory/reverie/cmd/check"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/finding"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/program"
	"github.com/reverie-memory/reverie/worktree/try"
	"github.com/reverie-memory/reverie/worktree/verify"
)

// runLoopLint says what a plan lacks, before a loop spends anything on it. Errors are what a start refuses.
func runLoopLint(ctx context.Context, env *Env, file string, o loopOptions) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	text, err := env.planText(ctx, file)
	if err != nil {
		return err
	}
	set, err := w.lintSettings(ctx, o)
	if err != nil {
		return err
	}
	base, err := w.loopBase(ctx, o.base)
	if err != nil {
		return err
	}
	plan, wrong, doubtful := w.lintPlan(ctx, text, set)
	doubtful = append(doubtful, program.Doubts(ctx, w.Repo, plan, base, sandboxed(set))...)
	if why, err := w.submodulesMissing(ctx, base); err != nil {
		return err
	} else if why != "" {
		doubtful = append(doubtful, &worktree.PlanError{Rule: "submodule", Why: why})
	}
	var ran []verify.Ran
	if o.run && len(wrong) == 0 {
		var passes []*worktree.PlanError
		if passes, ran, err = w.passesAlready(ctx, plan, base, set); err != nil {
			return explainLoop(err)
		}
		doubtful = append(doubtful, passes...)
		env.Say("%s", toldRun(ran))
	}
	var found []finding.Finding
	for level, all := range map[finding.Level][]*worktree.PlanError{finding.Error: wrong, finding.Warning: doubtful} {
		for _, e := range all {
			found = append(found, finding.Finding{Rule: e.Rule, Level: level, Path: file, Line: e.Line, Message: e.Why})
		}
	}
	found = check.Rules.Sort(found)
	if err := env.tellFindings(found, checkDiffOptions{}); err != nil {
		return err
	}
	switch {
	case len(found) == 0 && o.run:
		env.Say("nothing found in %s", file)
		return nil
	case len(found) == 0:
		env.Say("nothing found in %s: %s", file, term.Count(len(plan.Verify), "command", "commands"))
		return nil
	case len(wrong) > 0, o.strict:
		env.Warn("%s and %s in %s", term.Count(len(wrong), "error", "errors"), term.Count(len(doubtful), "warning", "warnings"), file)
		return exit.Silent
	}
	env.Say("%s in %s", term.Count(len(doubtful), "warning", "warnings"), file)
	return nil
}

// toldRun says how the commands of a plan went that were run, as there is to be something to do.
func toldRun(ran []verify.Ran) string {
	var failed []string
	for _, c := range ran {
		switch {
		case c.Exit == nil:
			failed = append(failed, c.Line+" (ended)")
		case *c.Exit != 0:
			failed = append(failed, fmt.Sprintf("%s (%d)", c.Line, *c.Exit))
		}
	}
	said := fmt.Sprintf("ran %s on the commit to begin from: %d failed", term.Count(len(ran), "command", "commands"), len(failed))
	if len(failed) > 0 {
		said += ": " + term.OneLine(strings.Join(failed, ", "), 300)
	}
	return said
}

// lintSettings are the settings of a loop that matter to its plan: who audits, and what the commands run in.
func (w *workspace) lintSettings(ctx context.Context, o loopOptions) (worktree.Settings, error) {
	set, err := w.usualLoop(ctx, nil, o)
	if err != nil {
		return set, err
	}
	c, err := w.env.sandboxSettings(ctx)
	if err != nil {
		return set, err
	}
	if o.audit != "" || o.auditAgent != "" || o.auditModel != "" {
		set.Audit, set.AuditAgent, set.AuditModel = o.audit, o.auditAgent, o.auditModel
	}
	set.Sandbox = c.Mode
	if o.set("min-audits") {
		set.MinAudits = o.minAudits
	}
	if o.set("verify-time") {
		set.VerifyTime = o.verify.Seconds()
	}
	if o.set("sandbox") {
		set.Sandbox = o.sandbox
	}
	if set.Sandbox == config.Off && c.Mode != config.Off {
		return set, w.WantPerson("loop lint --sandbox off")
	}
	return set, nil
}

// lintPlan reads a plan for a loop with these settings: what is wrong, for which a start is refused, and what is doubtful. Commands that no
// shell can read are wrong where that is the shell that will run them.
func (w *workspace) lintPlan(ctx context.Context, text string, set worktree.Settings) (plan worktree.Plan, wrong, doubtful []*worktree.PlanError) {
	plan, wrong, doubtful = worktree.LintPlan(text, set.Audited() || set.MinAudits > 0, w.Scanner)
	shell, err := exec.LookPath("sh")
	if err != nil || sandboxed(set) {
		return plan, wrong, doubtful
	}
	for i, line := range plan.Verify {
		out, err := exec.CommandContext(ctx, shell, "-n", "-c", line).CombinedOutput()
		if failed := (*exec.ExitError)(nil); errors.As(err, &failed) && ctx.Err() == nil {
			why := term.OneLine(strings.TrimSpace(string(out)), 200)
			wrong = append(wrong, &worktree.PlanError{Line: plan.Lines[i], Rule: "command", Why: "no shell can read the command: " + why})
		}
	}
	return plan, wrong, doubtful
}

// passesAlready runs the commands of a plan on a commit, where and how a loop would. It is how they ended, and doubts about what they came to: that all of
// them pass, so that nothing tells a loop that did its work from one that did nothing, and that there was no program.
func (w *workspace) passesAlready(ctx context.Context, plan worktree.Plan, base string, set worktree.Settings) (doubts []*worktree.PlanError, ran []verify.Ran, err error) {
	dir, done, err := try.Make(ctx, w.Repo)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	defer func() { // without the folder git forgets it
		os.RemoveAll(dir)
		w.Repo.Git(context.WithoutCancel(ctx), nil, "worktree", "remove", "--force", dir)
	}()
	if _, err := w.Repo.Git(ctx, nil, "worktree", "add", "--quiet", "--detach", dir, base); err != nil {
		return nil, nil, err
	}
	state := worktree.State{Base: base, Tip: base, Settings: set}
	l := &looper{w: w, run: worktree.Exec, env: git.Environ()}
	if sandboxed(set) {
		if l.inside, err = w.insideOf(ctx, state, dir); err != nil {
			return nil, nil, err
		}
		c, err := w.env.sandboxSettings(ctx)
		if err != nil {
			return nil, nil, err
		}
		if l.inside.Spec.Image, err = l.inside.Engine.Image(ctx, c.Image); err != nil {
			return nil, nil, loopSandboxFailure(err)
		}
		if err := os.Remove(filepath.Join(dir, ".git")); err != nil {
			return nil, nil, err
		}
		l.run, l.env = l.inside.Run, nil
	}
	out, err := l.verify(ctx, worktree.Turn{Loop: worktree.Loop{State: state, Plan: plan}, Dir: dir, Live: io.Discard})
	if err != nil {
		return nil, nil, err
	}
	ran = verify.Read(out.Output)
	if out.Passed && len(ran) > 0 {
		return []*worktree.PlanError{{Line: plan.Lines[0], Rule: "passes", Why: "all of the plan's commands pass on the commit to begin from: they do not show that anything was done"}}, ran, nil
	}
	for i, c := range ran {
		if c.Exit != nil && slices.Contains([]int{126, 127}, *c.Exit) && i < len(plan.Lines) {
			doubts = append(doubts, &worktree.PlanError{Line: plan.Lines[i], Rule: "program", Why: "the command ends with " + strconv.Itoa(*c.Exit) + ": " + term.OneLine(lastLine(c.Output), 200)})
		}
	}
	return doubts, ran, nil
}
