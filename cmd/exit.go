package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/trust"
	"github.com/reverie-memory/reverie/hooks/githook"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
)

// The ways a command ends. docs/commands.md lists them for users.
const (
	exitDone     = 0
	exitNegative = 1   // check found something, render --check is stale
	exitNoStore  = 10  // there is no memory here yet
	exitPerson   = 12  // a person must decide
	exitLoop     = 20  // and up to 29: a loop ended otherwise than done, by worktree.Reasons
	exitSignal   = 130 // stopped by Ctrl-C
	exitFailed   = 128
	exitUsage    = 129
)

// failure is an error with its exit code and what to do next.
type failure struct {
	code int
	err  error
	hint string
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// usage is a failure of the command line.
func usage(hint, format string, args ...any) error {
	return &failure{exitUsage, fmt.Errorf(format, args...), hint}
}

// negative ends a command with exit code 1 and without a word: its output has said it.
var negative = &failure{code: exitNegative, err: errors.New("")}

// explain finds exit code and hint for any error.
func explain(err error) (code int, hint string) {
	var f *failure
	var refused *purge.Refused
	var lock *file.LockError
	var setting *config.SettingError
	var approvals *trust.ApprovalsError
	switch {
	case errors.As(err, &f):
		return f.code, f.hint
	case errors.As(err, &refused):
		return exitPerson, hintOfPurge(refused)
	case errors.Is(err, context.Canceled):
		return exitSignal, ""
	case errors.Is(err, gitstore.ErrDeleted):
		return exitPerson, "Reverie never makes a memory anew over one that was there"
	case errors.Is(err, gitstore.ErrLimit):
		return exitPerson, "nothing was merged or changed; remove the file or folder on the branch that brings it"
	case errors.Is(err, gitstore.ErrCorrupt):
		return exitFailed, "'reverie doctor --fix' restores what was written last, or goes back to the newest state that is whole; 'reverie check --deep' says what is missing"
	case errors.Is(err, gitstore.ErrNoStore):
		return exitNoStore, "start it with: reverie init   (learn, remember, import and ingest do so by themselves)"
	case errors.Is(err, record.ErrNoMemory):
		return exitFailed, "'reverie list --all' shows the ids of memories, 'reverie review' those that wait"
	case errors.Is(err, record.ErrAmbiguous):
		return exitFailed, "give more of the id"
	case errors.Is(err, record.ErrChanged):
		return exitPerson, "look at it again: reverie review"
	case errors.Is(err, record.ErrRetired):
		return exitPerson, "look at it: reverie show ID, and bring it back with: reverie edit --status active ID"
	case errors.Is(err, record.ErrDecided):
		return exitPerson, "'reverie review' shows what still waits"
	case errors.Is(err, record.ErrPurged):
		return exitPerson, "what was purged does not come back; what still holds is remembered in other words"
	case errors.Is(err, record.ErrTaken):
		return exitPerson, "change it instead: reverie edit ID TEXT"
	case errors.Is(err, gitstore.ErrShallow):
		return exitFailed, "nothing was changed; 'reverie sync' fetches what is missing of the memory branch alone"
	case errors.Is(err, githook.ErrRefused):
		return exitPerson, ""
	case errors.As(err, &approvals):
		return exitPerson, "without the file " + approvals.Path + " what was approved is withheld again; remove it if it cannot be mended"
	case errors.As(err, &setting):
		return exitUsage, "'reverie config' lists the settings"
	case errors.Is(err, config.ErrNewer):
		return exitFailed, "nothing was changed"
	case errors.Is(err, git.ErrNotRepository):
		return exitFailed, "go to a repository, or name one: reverie -C DIR …"
	case errors.Is(err, git.ErrUnsafe):
		return exitFailed, "if you trust it: git config --global --add safe.directory DIR"
	case errors.As(err, &lock):
		return exitFailed, "a process that holds it too long can be ended; nothing is lost"
	case errors.Is(err, syscall.ENOSPC):
		return exitFailed, "the disk is full; nothing was half-written: make room and run it again"
	case errors.Is(err, syscall.EROFS), errors.Is(err, os.ErrPermission):
		return exitFailed, "the repository cannot be written here; nothing was changed"
	}
	return exitFailed, ""
}
