package cmd

import (
	"context"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/loop"
	"github.com/reverie-memory/reverie/worktree/loop/status"
	"github.com/urfave/cli/v2"
)

// maxFinding bounds the place and the text of a finding that are shown, in cells: an audit says
// less.
const maxFinding = 4096

type loopFindingsOptions struct {
	all    bool
	waive  []string // ids
	reason string
}

func loopFindingsCommand(env *Env) *cli.Command {
	var o loopFindingsOptions
	return &cli.Command{
		Name:      "findings",
		Usage:     "list the findings of audits, or settle some",
		ArgsUsage: "[NAME]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", Usage: "include settled findings", Destination: &o.all},
			&cli.StringSliceFlag{Name: "waive", Usage: "settle the open finding `ID`; may be repeated", Action: func(_ *cli.Context, ids []string) error {
				o.waive = ids
				return nil
			}},
			&cli.StringFlag{Name: "reason", Usage: "record `WHY` with the waiver", Destination: &o.reason},
		},
		Action: loopAction(env, 0, 1, func(w *workspace, c *cli.Context, words, _ []string) error {
			return runLoopFindings(c.Context, w, strings.Join(words, ""), o)
		}),
	}
}

// runLoopFindings lists the findings of audits, or settles some.
func runLoopFindings(ctx context.Context, w *workspace, name string, o loopFindingsOptions) error {
	if len(o.waive) > 0 {
		return waiveFindings(ctx, w, name, o)
	}
	_, l, err := status.Open(ctx, w.Clone, name)
	if err != nil {
		return err
	}
	if o.reason != "" {
		return exit.Usage("reverie loop findings NAME --waive ID --reason WHY", "--reason needs --waive")
	}
	env := w.env
	open := func(f worktree.Finding) bool { return f.State == worktree.OpenFinding }
	found := slices.DeleteFunc(slices.Clone(l.Findings), func(f worktree.Finding) bool { return !open(f) && !o.all })
	err = rows(env, found, itself, func(f worktree.Finding) {
		env.Lay(4, term.Span(term.Dim, f.ID), term.Span("", "  "+string(f.State)+"  "+string(f.Severity)+"  "+term.OneLine(f.Place(), maxFinding)+"  "+term.OneLine(f.Text, maxFinding)))
		if f.Scenario != "" {
			env.Lay(4, term.Span("", "    "+term.Visible(term.OneLine(f.Scenario, 600))))
		}
	})
	if slices.ContainsFunc(l.Findings, open) {
		env.Say("to waive one: reverie loop findings %s --waive ID --reason WHY", l.State.Name)
	}
	return err
}

// waiveFindings settles open findings up to the first that cannot be settled.
func waiveFindings(ctx context.Context, w *workspace, name string, o loopFindingsOptions) error {
	waived, err := loop.Waive(ctx, w.Clone, name, o.waive, o.reason)
	for _, f := range waived {
		if !w.env.JSON {
			w.env.Say("waived %s: %s", f.ID, term.OneLine(f.Text, maxFinding))
		} else if err := w.env.Object(f); err != nil {
			return err
		}
	}
	return err
}
