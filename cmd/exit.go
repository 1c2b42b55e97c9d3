package cmd

import (
	"context"
	"errors"
	"os"
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

// explain finds exit code and hint for any error.
func explain(err error) (code int, hint string) {
	var f *exit.Error
	var refused *purge.Refused
	var lock *file.LockError
	var setting *config.SettingError
	var approvals *trust.ApprovalsError
	switch {
	case errors.As(err, &f):
		return f.Code, f.Hint
	case errors.As(err, &refused):
		return exit.NeedsPerson, hintOfPurge(refused)
	case errors.Is(err, context.Canceled):
		return exit.Signal, ""
	case errors.Is(err, gitstore.ErrDeleted):
		return exit.NeedsPerson, "Reverie never makes a memory anew over one that was there"
	case errors.Is(err, gitstore.ErrLimit):
		return exit.NeedsPerson, "nothing was merged or changed; remove the file or folder on the branch that brings it"
	case errors.Is(err, gitstore.ErrCorrupt):
		return exit.Failed, "'reverie doctor --fix' restores what was written last, or goes back to the newest state that is whole; 'reverie check --deep' says what is missing"
	case errors.Is(err, gitstore.ErrNoStore):
		return exit.NoStore, exit.Start
	case errors.Is(err, record.ErrNoMemory):
		return exit.Failed, "'reverie list --all' shows the ids of memories, 'reverie review' those that wait"
	case errors.Is(err, record.ErrAmbiguous):
		return exit.Failed, "give more of the id"
	case errors.Is(err, record.ErrChanged):
		return exit.NeedsPerson, "look at it again: reverie review"
	case errors.Is(err, record.ErrRetired):
		return exit.NeedsPerson, "look at it: reverie show ID, and bring it back with: reverie edit --status active ID"
	case errors.Is(err, record.ErrDecided):
		return exit.NeedsPerson, "'reverie review' shows what still waits"
	case errors.Is(err, record.ErrPurged):
		return exit.NeedsPerson, "what was purged does not come back; what still holds is remembered in other words"
	case errors.Is(err, record.ErrTaken):
		return exit.NeedsPerson, "change it instead: reverie edit ID TEXT"
	case errors.Is(err, gitstore.ErrShallow):
		return exit.Failed, "nothing was changed; 'reverie sync' fetches what is missing of the memory branch alone"
	case errors.Is(err, githook.ErrRefused):
		return exit.NeedsPerson, ""
	case errors.As(err, &approvals):
		return exit.NeedsPerson, "without the file " + approvals.Path + " what was approved is withheld again; remove it if it cannot be mended"
	case errors.As(err, &setting):
		return exit.BadUsage, "'reverie config' lists the settings"
	case errors.Is(err, config.ErrNewer):
		return exit.Failed, "nothing was changed"
	case errors.Is(err, git.ErrNotRepository):
		return exit.Failed, "go to a repository, or name one: reverie -C DIR …"
	case errors.Is(err, git.ErrUnsafe):
		return exit.Failed, "if you trust it: git config --global --add safe.directory DIR"
	case errors.As(err, &lock):
		return exit.Failed, "a process that holds it too long can be ended; nothing is lost"
	case errors.Is(err, syscall.ENOSPC):
		return exit.Failed, "the disk is full; nothing was half-written: make room and run it again"
	case errors.Is(err, syscall.EROFS), errors.Is(err, os.ErrPermission):
		return exit.Failed, "the repository cannot be written here; nothing was changed"
	}
	return exit.Failed, ""
}
