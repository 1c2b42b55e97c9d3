// Package hint finds an error's exit code, and a hint about the next step. Begin with For. It holds
// no state.
package hint

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/trust"
	"github.com/reverie-memory/reverie/hooks/githook"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
)

// OfOwn returns a hint. For one about the person's own memory it adds --user to the commands that
// work on that only with it.
func OfOwn(own bool, hint string) string {
	if !own {
		return hint
	}
	hint = strings.ReplaceAll(hint, " --user", "")
	for _, name := range []string{"remember", "review", "accept", "reject", "list", "sync", "purge"} {
		hint = strings.ReplaceAll(hint, "reverie "+name, "reverie "+name+" --user")
	}
	return hint
}

// For returns the exit code of any error, and a hint or "".
func For(err error) (code int, hint string) {
	var f *exit.Error
	var refused *purge.Refused
	var lock *file.LockError
	var setting *config.SettingError
	var approvals *trust.ApprovalsError
	var later *gitstore.RevertError
	var deleted *gitstore.DeletedError
	switch {
	case errors.As(err, &f):
		return f.Code, f.Hint
	case errors.As(err, &refused):
		return exit.NeedsPerson, refused.Hint()
	case errors.Is(err, context.Canceled):
		return exit.Signal, ""
	case errors.As(err, &deleted):
		return exit.NeedsPerson, fmt.Sprintf("git update-ref %s %s brings it back; Reverie never replaces a deleted memory branch with a new one", deleted.Ref, deleted.Last)
	case errors.Is(err, gitstore.ErrLimit):
		return exit.NeedsPerson, "nothing was merged or changed; remove that file or folder on the other branch"
	case errors.Is(err, gitstore.ErrCorrupt):
		return exit.Failed, "'reverie doctor --fix' restores the last writes, or returns to the newest intact state; 'reverie check --deep' lists what is missing"
	case errors.Is(err, gitstore.ErrNoStore):
		return exit.NoStore, exit.Start
	case errors.Is(err, gitstore.ErrRevision):
		return exit.Failed, "'reverie log' lists the memory's commits; 'git log' and 'git tag' name revisions of the code"
	case errors.Is(err, record.ErrNoMemory):
		return exit.Failed, "'reverie list --all' shows the ids of memories, 'reverie review' those of pending operations"
	case errors.Is(err, record.ErrAmbiguous):
		return exit.Failed, "give more digits of the id"
	case errors.Is(err, record.ErrChanged):
		return exit.NeedsPerson, "review it again: reverie review"
	case errors.Is(err, record.ErrRetired):
		return exit.NeedsPerson, "to see it: reverie show ID; to restore it: reverie edit --status active ID"
	case errors.Is(err, record.ErrDecided):
		return exit.NeedsPerson, "'reverie review' lists the pending operations"
	case errors.Is(err, record.ErrPurged):
		return exit.NeedsPerson, "a purged text cannot come back; remember what still holds in other words"
	case errors.Is(err, record.ErrTaken):
		return exit.NeedsPerson, "change it instead: reverie edit ID TEXT"
	case errors.Is(err, gitstore.ErrShallow):
		return exit.Failed, "nothing was changed; 'reverie sync' fetches the missing part of the memory branch only"
	case errors.Is(err, githook.ErrRefused):
		return exit.NeedsPerson, ""
	case errors.As(err, &later) && later.Refused:
		return exit.Failed, "only changes of memories, reflections and skills are undone; edit the branch itself for others"
	case errors.As(err, &later):
		return exit.NeedsPerson, "a later commit changed the same files: revert that one first, or edit them"
	case errors.As(err, &approvals):
		return exit.NeedsPerson, "without the file " + approvals.Path + " approved memories are withheld again; remove it if it cannot be repaired"
	case errors.As(err, &setting):
		return exit.BadUsage, "'reverie config' lists the settings"
	case errors.Is(err, config.ErrNewer):
		return exit.Failed, "nothing was changed"
	case errors.Is(err, git.ErrNotRepository):
		return exit.Failed, "go to a repository, or name one: reverie -C DIR …"
	case errors.Is(err, git.ErrRefConflict):
		return exit.Failed, "rename that branch: git branch -m BRANCH NAME; or keep the memory on another: reverie config memory.ref refs/heads/NAME"
	case errors.Is(err, git.ErrUnsafe):
		return exit.Failed, "if you trust it: git config --global --add safe.directory DIR"
	case errors.As(err, &lock):
		return exit.Failed, "if a process holds it too long, end that process; nothing is lost"
	case errors.Is(err, syscall.ENOSPC):
		return exit.Failed, "the disk is full; nothing is half-written: free space and run the command again"
	case errors.Is(err, syscall.EROFS), errors.Is(err, os.ErrPermission):
		return exit.Failed, "nothing was changed"
	}
	return exit.Failed, ""
}
