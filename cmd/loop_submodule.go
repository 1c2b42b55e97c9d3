package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/worktree"
)

// submodulesMissing says that a loop which begins from a commit does not have its submodules; "" if it has none.
func (w *workspace) submodulesMissing(ctx context.Context, base string) (string, error) {
	paths, err := worktree.Submodules(ctx, w.Repo, base)
	if err != nil || len(paths) == 0 {
		return "", err
	}
	const most = 3
	named := strings.Join(paths[:min(len(paths), most)], ", ")
	if len(paths) > most {
		named += fmt.Sprintf(" and %d more", len(paths)-most)
	}
	return "the work tree of a loop begins without the files of submodules: " + term.OneLine(named, 200), nil
}
