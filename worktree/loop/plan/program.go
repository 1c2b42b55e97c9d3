package plan

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/unseen"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/container"
	"github.com/reverie-memory/reverie/worktree/loop/fault"
	"github.com/reverie-memory/reverie/worktree/program"
	"github.com/reverie-memory/reverie/worktree/try"
)

// callers are the phases that call a program by name, with its role.
var callers = []struct {
	phase worktree.Phase
	role  string
}{{worktree.Coding, "the coder"}, {worktree.Auditing, "the audit"}}

// canRun refuses a loop whose coder or auditor cannot be run.
func canRun(ctx context.Context, in program.Place, set worktree.Settings) error {
	for _, c := range callers {
		word, shell, err := program.Of(set, c.phase, in.Inside)
		if err != nil {
			return err
		}
		if why, hint := in.Missing(ctx, word, shell); why != "" {
			return fault.New(worktree.Refusal, fmt.Errorf("%s: %s", c.role, unseen.Visible(why)), hint)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// probeTime bounds the search of a container for programs.
const probeTime = time.Minute

// imageHas runs a container in an empty folder, and refuses an image without a program that the
// loop calls by name.
func (p *Planner) imageHas(ctx context.Context, in *container.Runner, set worktree.Settings) error {
	dir, done, err := try.Make(ctx, p.Repo)
	if err != nil {
		return err
	}
	defer done()
	programs := []string{"sh"}
	for _, c := range callers {
		word, _, err := program.Of(set, c.phase, true)
		if err != nil {
			return err
		}
		if word != "" && path.Base(word) == word {
			programs = append(programs, word)
		}
	}
	has, said, err := in.Has(ctx, dir, programs, probeTime)
	if err != nil {
		return fault.Sandbox(err)
	}
	if !has {
		return fault.New(worktree.Refusal, fmt.Errorf("the image has no program %s", unseen.Visible(unseen.OneLine(strings.TrimSpace(said), 200))),
			"put it into the image: reverie sandbox build --dockerfile FILE")
	}
	return nil
}
