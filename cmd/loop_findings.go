package cmd

import (
	"context"

	"github.com/reverie-memory/reverie/worktree"
)

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
	if o.waive != "" {
		if err := notInLoop("findings --waive"); err != nil {
			return err
		}
		f, err := record.Waive(ctx, o.waive, o.reason)
		if err != nil {
			return explainLoop(err)
		}
		if env.JSON {
			return env.object(f)
		}
		env.say("waived %s: %s", f.ID, f.Text)
		return nil
	}
	for _, f := range l.Findings {
		if f.State != worktree.OpenFinding && !o.all {
			continue
		}
		if env.JSON {
			if err := env.object(f); err != nil {
				return err
			}
			continue
		}
		env.lay(4, styled{dim, f.ID}, styled{"", visible("  " + string(f.State) + "  " + string(f.Severity) + "  " + findingPlace(f) + "  " + f.Text)})
		if f.Scenario != "" {
			env.lay(4, styled{"", "    " + visible(oneLine(f.Scenario, 600))})
		}
	}
	return nil
}
