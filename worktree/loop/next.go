package loop

import (
	"context"
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/hooks/githook"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/loop/status"
)

// Next says how a loop without a process goes on. in names the work tree, or is "".
func Next(ctx context.Context, r *reader.Reader, j status.Status, in string) string {
	resume := "reverie loop resume " + j.Name
	wakes := Wakes(ctx, r)
	if !j.ByHand() || j.Phase != worktree.Coding {
		if j.Phase == worktree.Coding && j.Settings.Sandbox == config.Off && wakes {
			return "no process runs it: " + resume + ", or a commit in its work tree, which ends the iteration"
		}
		return "no process runs it: " + resume
	}
	branch := strings.TrimPrefix(j.Branch, "refs/heads/")
	if j.Unseen != "" {
		return fmt.Sprintf("commit %.12s on %s waits to be checked: %s", j.Unseen, branch, resume)
	}
	wait := "it waits for a commit on " + branch
	if in != "" {
		wait += " in " + in
	}
	hooks, err := githook.FindPlace(ctx, r.Repo)
	switch {
	case wakes:
		return wait
	case r.Settings.Config.Background == config.Off:
		return wait + "; then: " + resume + " (learn.background is off)"
	case err != nil || hooks.Avoid != "" || hooks.Tool != "":
		return wait + "; then: " + resume + " (it continues by itself once git's post-commit hook calls Reverie: 'reverie init --git-hooks' prints the line to add)"
	}
	return wait + "; then: " + resume + " (after 'reverie init --git-hooks' it continues by itself)"
}
