package container

import (
	"context"
	"fmt"
	"slices"

	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/sandbox"
	"github.com/reverie-memory/reverie/worktree"
)

// Guard makes a place release only safe content from a sandbox. Before a commit it ends all of the
// loop's processes in the work tree, removes content that git must not meet, and names files that
// the host would obey.
func Guard(place *worktree.Place, tree Tree, s worktree.State, scanner *redact.Scanner) {
	quiet := false           // no other process is at work there
	var known *worktree.Loop // as of the first request about a held file
	place.Sandbox.Ready = func(ctx context.Context) error {
		if !quiet {
			if err := endContainers(ctx, s); err != nil {
				return err
			}
			quiet = true
		}
		known = nil
		return tree.scrub(ctx)
	}
	place.Sandbox.Runs = sandbox.Runs
	place.Sandbox.Holds = func(name string) bool { return sandbox.Runs(name) == sandbox.GitObeys }
	place.Sandbox.Waived = func(ctx context.Context, name, rule string) (bool, error) {
		if known == nil {
			l, err := worktree.Open(tree.Repo, s.Name, scanner).Load(ctx)
			if err != nil {
				return false, err
			}
			known = &l
		}
		return slices.ContainsFunc(known.Findings, func(f worktree.Finding) bool {
			return f.State == worktree.Waived && f.By == worktree.ByHost && f.File == name && f.Rule == rule
		}), nil
	}
	place.Sandbox.Refused = func(ctx context.Context, changed []string) (map[string]string, error) {
		return tree.refused(ctx, s.Settings.MaxFile, changed)
	}
}

// endContainers removes the containers of dead processes, and returns an error unless none of the
// loop's is left.
func endContainers(ctx context.Context, s worktree.State) error {
	e, err := sandbox.Find(ctx, s.Settings.Sandbox)
	if err == nil {
		_, err = e.Prune(ctx, nil)
	}
	if err != nil {
		return fmt.Errorf("%w: whether something is at work in the work tree: %w", worktree.ErrSandbox, err)
	}
	return nil
}
