package plan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/unseen"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/loop/fault"
	"github.com/reverie-memory/reverie/worktree/loop/phase"
	"github.com/reverie-memory/reverie/worktree/program"
	"github.com/reverie-memory/reverie/worktree/try"
	"github.com/reverie-memory/reverie/worktree/verify"
)

// Checked is the result of checking a plan.
type Checked struct {
	Plan            worktree.Plan
	Wrong, Doubtful []*worktree.PlanError // Start refuses a plan with a Wrong one
	Ran             []verify.Ran          // the plan's commands, if they were run
}

// Check checks the text of a plan before a loop starts with it. base names the commit to start
// from, "" for HEAD. run has it run the plan's commands there, if nothing is wrong.
func (p *Planner) Check(ctx context.Context, text, base string, c Choice, run bool) (Checked, error) {
	var found Checked
	set, err := p.planSettings(ctx, c)
	if err != nil {
		return found, err
	}
	if base, err = start(ctx, p.Repo, base); err != nil {
		return found, err
	}
	found = p.read(ctx, text, set)
	found.Doubtful = append(found.Doubtful, program.Doubts(ctx, p.Repo, found.Plan, base, set.Sandboxed())...)
	why, err := NoSubmodules(ctx, p.Repo, base)
	if err != nil {
		return found, err
	}
	if why != "" {
		found.Doubtful = append(found.Doubtful, &worktree.PlanError{Rule: "submodule", Why: why})
	}
	if !run || len(found.Wrong) > 0 {
		return found, nil
	}
	return found, fault.Explain(p.tryPlan(ctx, &found, base, set))
}

// planSettings returns the settings of a loop that matter to its plan: auditor, sandbox and limit.
func (p *Planner) planSettings(ctx context.Context, c Choice) (worktree.Settings, error) {
	set, err := p.usual(ctx, c)
	if err != nil {
		return set, err
	}
	if c.names() {
		set.Audit, set.AuditAgent, set.AuditModel = c.Audit, c.AuditAgent, c.AuditModel
	}
	if c.Given("min-audits") {
		set.MinAudits = c.MinAudits
	}
	if c.Given("verify-time") {
		set.VerifyTime = c.VerifyTime
	}
	set.Sandbox, err = p.engine(ctx, c, "loop lint")
	return set, err
}

// read reads a plan for a loop with settings. A command that no shell can parse is wrong if this
// machine's shell will run it.
func (p *Planner) read(ctx context.Context, text string, set worktree.Settings) (c Checked) {
	c.Plan, c.Wrong, c.Doubtful = worktree.LintPlan(text, set.Audited() || set.MinAudits > 0, p.Scanner)
	shell, err := exec.LookPath("sh")
	if err != nil || set.Sandboxed() {
		return c
	}
	for i, line := range c.Plan.Verify {
		out, err := exec.CommandContext(ctx, shell, "-n", "-c", line).CombinedOutput()
		if failed := (*exec.ExitError)(nil); errors.As(err, &failed) && ctx.Err() == nil {
			why := unseen.OneLine(strings.TrimSpace(string(out)), 200)
			c.Wrong = append(c.Wrong, &worktree.PlanError{Line: c.Plan.Lines[i], Rule: "command", Why: "no shell can read the command: " + why})
		}
	}
	return c
}

// tryPlan runs the commands of a plan on a commit as a loop would. It doubts a plan whose commands
// all pass there, because they cannot tell a loop that worked from one that did nothing, and
// commands whose program does not exist.
func (p *Planner) tryPlan(ctx context.Context, found *Checked, base string, set worktree.Settings) error {
	dir, done, err := try.Checkout(ctx, p.Repo, base, set.Sandboxed())
	if err != nil {
		return err
	}
	defer done()
	state := worktree.State{Base: base, Tip: base, Phase: worktree.Verifying, Settings: set}
	do := &phase.Phases{Reader: p.Reader, Env: git.Environ()}
	if do.Inside, err = p.Runner(ctx, state, dir); err != nil {
		return err
	}
	if do.Inside != nil {
		if do.Inside.Spec.Image, err = do.Inside.Engine.Image(ctx, p.Settings.Config.Sandbox.Image); err != nil {
			return fault.Sandbox(err)
		}
		do.Env = nil
	}
	plan := found.Plan
	out, err := do.Verify(ctx, worktree.Turn{Loop: worktree.Loop{State: state, Plan: plan}, Dir: dir, Live: io.Discard})
	if err != nil {
		return err
	}
	found.Ran = verify.Read(out.Output)
	if out.Passed && len(found.Ran) > 0 {
		found.Doubtful = append(found.Doubtful, &worktree.PlanError{Line: plan.Lines[0], Rule: "passes", Why: "all of the plan's commands pass on the commit to begin from: they do not show that anything was done"})
		return nil
	}
	for i, c := range found.Ran {
		if c.Exit != nil && slices.Contains([]int{126, 127}, *c.Exit) && i < len(plan.Lines) {
			why := "the command ends with " + strconv.Itoa(*c.Exit) + ": " + unseen.OneLine(phase.LastLine(c.Output), 200)
			found.Doubtful = append(found.Doubtful, &worktree.PlanError{Line: plan.Lines[i], Rule: "program", Why: why})
		}
	}
	return nil
}

// start returns the commit that a loop starts from.
func start(ctx context.Context, repo *git.Repo, rev string) (string, error) {
	if rev == "" {
		id, _, err := repo.Head(ctx)
		if errors.Is(err, git.ErrNoRef) {
			return "", exit.New(exit.Failed, errors.New("there is no commit yet that a loop could begin from"), "git commit")
		}
		return id, err
	}
	ids, err := repo.History().Commits(ctx, rev)
	if err == nil && ids[0] == "" {
		err = fmt.Errorf("--base %s: no such commit", rev)
	}
	if err != nil {
		return "", err
	}
	return ids[0], nil
}

// NoSubmodules says that a loop which starts from a commit lacks its submodules, "" if it has none.
func NoSubmodules(ctx context.Context, repo *git.Repo, base string) (string, error) {
	paths, err := worktree.Submodules(ctx, repo, base)
	if err != nil || len(paths) == 0 {
		return "", err
	}
	const most = 3
	named := strings.Join(paths[:min(len(paths), most)], ", ")
	if len(paths) > most {
		named += fmt.Sprintf(" and %d more", len(paths)-most)
	}
	return "the work tree of a loop begins without the files of submodules: " + unseen.OneLine(named, 200), nil
}
