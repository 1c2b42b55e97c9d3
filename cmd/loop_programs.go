package cmd

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/container"
	"github.com/reverie-memory/reverie/worktree/program"
	"github.com/reverie-memory/reverie/worktree/try"
)

// lookForPrograms returns an error unless the coder and the auditor of a loop can be run.
func lookForPrograms(ctx context.Context, in program.Place, set worktree.Settings) error {
	for _, phase := range []worktree.Phase{worktree.Coding, worktree.Auditing} {
		word, shell, err := program.Of(set, phase, in.Inside)
		if err != nil {
			return err
		}
		who := map[worktree.Phase]string{worktree.Coding: "the coder", worktree.Auditing: "the audit"}[phase]
		if why, hint := in.Missing(ctx, word, shell); why != "" {
			return loopFailure(worktree.Refusal, fmt.Errorf("%s: %s", who, term.Visible(why)), hint)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// tryTime is how long a container may look for programs.
const tryTime = time.Minute

// lookInside runs a container in an empty folder, and looks for the programs that a loop calls by name.
func (w *workspace) lookInside(ctx context.Context, in *container.Runner, set worktree.Settings) error {
	dir, done, err := try.Make(ctx, w.Repo)
	if err != nil {
		return err
	}
	defer done()
	programs := []string{"sh"}
	for _, phase := range []worktree.Phase{worktree.Coding, worktree.Auditing} {
		word, _, err := program.Of(set, phase, true)
		if err != nil {
			return err
		}
		if word != "" && path.Base(word) == word {
			programs = append(programs, word)
		}
	}
	has, said, err := in.Has(ctx, dir, programs, tryTime)
	if err != nil {
		return loopSandboxFailure(err)
	}
	if !has {
		return loopFailure(worktree.Refusal, fmt.Errorf("the image has no program %s", term.Visible(term.OneLine(strings.TrimSpace(said), 200))),
			"put it into the image: reverie sandbox build --dockerfile FILE")
	}
	return nil
}
