package cmd

import (
	"context"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/worktree"
)

// maxFinding is how much of a finding's place or text is shown, in cells: more than an audit can say.
const maxFinding = 4096

// runLoopFindings lists what audits found, or settles one of it.
func runLoopFindings(ctx context.Context, env *Env, name string, o loopOptions) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	record, l, err := w.openLoop(ctx, name)
	if err != nil {
		return err
	}
	if len(o.waive) > 0 {
		return w.waive(ctx, record, o.waive, o.reason)
	}
	if o.reason != "" {
		return exit.Usage("reverie loop findings NAME --waive ID --reason WHY", "--reason: of which finding?")
	}
	open := false
	for _, f := range l.Findings {
		open = open || f.State == worktree.OpenFinding
		if f.State != worktree.OpenFinding && !o.all {
			continue
		}
		if env.JSON {
			if err := env.Object(f); err != nil {
				return err
			}
			continue
		}
		env.Lay(4, term.Span(term.Dim, f.ID), term.Span("", "  "+string(f.State)+"  "+string(f.Severity)+"  "+term.OneLine(findingPlace(f), maxFinding)+"  "+term.OneLine(f.Text, maxFinding)))
		if f.Scenario != "" {
			env.Lay(4, term.Span("", "    "+term.Visible(term.OneLine(f.Scenario, 600))))
		}
	}
	if open {
		env.Say("to settle one that is to stay: reverie loop findings %s --waive ID --reason WHY", l.State.Name)
	}
	return nil
}

// waive settles open findings. The first that cannot be ends it.
func (w *workspace) waive(ctx context.Context, record *worktree.Record, ids []string, reason string) error {
	if err := notInLoop("findings --waive"); err != nil {
		return err
	}
	for _, id := range ids {
		f, err := record.Waive(ctx, id, reason)
		if err != nil {
			return explainLoop(err)
		}
		if !w.env.JSON {
			w.env.Say("waived %s: %s", f.ID, term.OneLine(f.Text, maxFinding))
		} else if err := w.env.Object(f); err != nil {
			return err
		}
	}
	return nil
}
