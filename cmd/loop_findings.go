package cmd

import (
	"context"

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
		env.say("waived %s: %s", f.ID, oneLine(f.Text, maxFinding))
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
		env.lay(4, styled{dim, f.ID}, styled{"", "  " + string(f.State) + "  " + string(f.Severity) + "  " + oneLine(findingPlace(f), maxFinding) + "  " + oneLine(f.Text, maxFinding)})
		if f.Scenario != "" {
			env.lay(4, styled{"", "    " + visible(oneLine(f.Scenario, 600))})
		}
	}
	return nil
}
