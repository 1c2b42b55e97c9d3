package worktree

import (
	"cmp"
	"context"
	"strings"
)

// coded commits the agent's work. A second call, after a kill, finds it committed.
func (r *loop) coded(ctx context.Context, out Outcome, took float64) error {
	c, err := r.place.Commit(ctx, r.state.Tip, r.message(out.Promised, false), r.do.Now())
	if err != nil {
		return r.notKept(ctx, err, out.Output, took)
	}
	found, err := r.byHost(ctx, c)
	if err != nil {
		return r.notKept(ctx, err, out.Output, took)
	}
	err = r.take(ctx, Step{
		Event:    Event{Kind: Coded, Tip: c.Tip, Tree: c.Tree, Promised: out.Promised, Took: took},
		Output:   out.Output,
		Findings: found,
		Then:     r.block,
	})
	if err == nil {
		_, err = submodules{r.place}.reset(ctx, c.Tip, r.do.Now())
	}
	return err
}

// save commits the work of an unfinished iteration, and records the host's findings in it.
func (r *loop) save(ctx context.Context) error {
	switch {
	case r.state.Phase != Coding:
		return r.restore(ctx)
	case r.state.ByHand(): // the commits are on the branch, and the next supervisor finds them
		return nil
	}
	c, err := r.place.Commit(ctx, r.state.Tip, r.message(false, true), r.do.Now())
	if err != nil {
		return err
	}
	found, err := r.byHost(ctx, c)
	if err != nil {
		return err
	}
	if c.Tip == r.state.Tip {
		l, err := r.record.Load(ctx)
		if err != nil || len(found(l.Findings, l.State)) == 0 {
			return err
		}
	}
	return r.take(ctx, Step{Event: Event{Kind: Saved, Tip: c.Tip}, Findings: found})
}

// byHost makes findings of files left out of a commit, and of committed files that the host would
// run.
func (r *loop) byHost(ctx context.Context, c Commit) (func(known []Finding, _ State) []Finding, error) {
	obeyed, err := r.place.Sandbox.obeyed(ctx, r.place.repo, r.state.Base, c.Tip)
	if err != nil {
		return nil, err
	}
	host := Audit{Findings: obeyed}
	for _, l := range c.Left {
		if l.Ignored {
			continue
		}
		what := "The branch does not have it: remove it, or have .gitignore name it."
		switch l.Rule {
		case "":
		case ruleOfSubmodule:
			what = "A loop commits nothing of a submodule, which is set back; what was there is kept in the folder left of the loop. Do without, or commit in a clone of it, push, and begin a loop from a commit that names it."
		default:
			what = "A person has to look at it. If this is waived, the next iteration commits it."
		}
		host.Findings = append(host.Findings, Reported{
			File: strings.TrimSuffix(l.Path, "/"), Severity: Bug, Rule: cmp.Or(l.Rule, "left-out"), Text: "It is not committed, because " + l.Why + ".", Scenario: what,
		})
	}
	return func(known []Finding, before State) []Finding {
		a := Audit{Findings: few(host.Findings, known)}
		for _, f := range known { // it is now left out, or no longer
			if f.By == ByHost && f.State == OpenFinding {
				a.Fixed = append(a.Fixed, f.ID)
			}
		}
		return mergeFindings(known, a, ByHost, before.Iteration, r.tip(ctx, c.Tip))
	}, nil
}
