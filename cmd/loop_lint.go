package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/cmd/check"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/finding"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/loop/plan"
	"github.com/reverie-memory/reverie/worktree/verify"
	"github.com/urfave/cli/v2"
)

type loopLintOptions struct {
	file, base  string
	choice      plan.Choice
	run, strict bool
}

func loopLintCommand(env *Env) *cli.Command {
	var choice loopChoice
	var o loopLintOptions
	return &cli.Command{
		Name:      "lint",
		Usage:     "check a plan before a loop starts",
		ArgsUsage: "PLAN",
		Flags: append(choice.auditFlags(), loopBaseFlag(&o.base), choice.sandboxFlag(), choice.verifyTimeFlag(),
			&cli.BoolFlag{Name: "run", Usage: "also run the plan's commands on the commit to begin from", Destination: &o.run},
			&cli.BoolFlag{Name: "strict", Usage: "count warnings as errors", Destination: &o.strict},
		),
		Action: loopAction(env, 1, 1, func(w *workspace, c *cli.Context, words, _ []string) error {
			o.file, o.choice = words[0], choice.choice(c, nil)
			return runLoopLint(c.Context, w, o)
		}),
	}
}

// runLoopLint tells what a plan lacks. Errors are what a start refuses.
func runLoopLint(ctx context.Context, w *workspace, o loopLintOptions) error {
	env := w.env
	text, err := planText(ctx, env, o.file)
	if err != nil {
		return err
	}
	got, err := loops(w).Check(ctx, text, o.base, o.choice, o.run)
	if err != nil {
		return err
	}
	if o.run && len(got.Wrong) == 0 {
		env.Say("%s", wordRan(got.Ran))
	}
	var found []finding.Finding
	for level, all := range map[finding.Level][]*worktree.PlanError{finding.Error: got.Wrong, finding.Warning: got.Doubtful} {
		for _, e := range all {
			found = append(found, finding.Finding{Rule: e.Rule, Level: level, Path: o.file, Line: e.Line, Message: e.Why})
		}
	}
	if err := tellFindings(env, check.Rules.Sort(found), checkDiffOptions{}); err != nil {
		return err
	}
	warnings := plural.Count(len(got.Doubtful), "warning", "warnings")
	switch {
	case len(found) == 0 && o.run:
		env.Say("nothing found in %s", o.file)
	case len(found) == 0:
		env.Say("nothing found in %s: %s", o.file, plural.Count(len(got.Plan.Verify), "command", "commands"))
	case len(got.Wrong) > 0, o.strict:
		env.Warn("%s and %s in %s", plural.Count(len(got.Wrong), "error", "errors"), warnings, o.file)
		return exit.Silent
	default:
		env.Say("%s in %s", warnings, o.file)
	}
	return nil
}

// wordRan sums up the commands of a plan that were run.
func wordRan(ran []verify.Ran) string {
	var failed []string
	for _, c := range ran {
		switch {
		case c.Exit == nil:
			failed = append(failed, c.Line+" (ended)")
		case *c.Exit != 0:
			failed = append(failed, fmt.Sprintf("%s (%d)", c.Line, *c.Exit))
		}
	}
	said := fmt.Sprintf("ran %s on the commit to begin from: %d failed", plural.Count(len(ran), "command", "commands"), len(failed))
	if len(failed) > 0 {
		said += ": " + term.OneLine(strings.Join(failed, ", "), 300)
	}
	return said
}
