// Package worktree carries a plan through iterations of coding, verifying and auditing in its own
// work tree.
//
// LintPlan reads a plan, Open names the record of a loop, and Record.Create begins it. Carry
// performs the steps until the loop ends or waits for a person's commit; Wake handles such a
// commit. Run receives the phases as functions: this package knows no agent, no model and no
// container.
//
// A loop is its record: a tree of files on its own ref (see Record), in which every step is one
// commit. The holder of the Lease takes the steps; everyone may read. After a supervisor is killed,
// the next one continues from the record. It restarts an interrupted iteration from the commit
// before it, and keeps the unfinished work by a ref below Kept. The function Next is the state
// machine and does no I/O.
package worktree

import "errors"

var (
	// ErrNoLoop is returned for an unknown loop name.
	ErrNoLoop = errors.New("no such loop")
	// ErrTaken is returned when a loop of the name, or its branch, already exists.
	ErrTaken = errors.New("the name is taken")
	// ErrDone is returned, together with ErrEnded, for continuing a loop that is done.
	ErrDone = errors.New("is done")
	// ErrEnded is returned for continuing a loop that is done or has reached its limit.
	ErrEnded = errors.New("the loop has ended")
	// ErrDirty is returned when uncommitted work would be mixed up with a loop's, or lost.
	ErrDirty = errors.New("there is work that is not committed")
	// ErrGone is returned when the work tree of a loop is missing.
	ErrGone = errors.New("the work tree is gone")
	// ErrHeld is returned when another live process carries the loop on.
	ErrHeld = errors.New("another process carries the loop on")
	// ErrForeign is returned for continuing or ending a loop whose record came with a fetch.
	ErrForeign = errors.New("it was not begun here, so it is shown and nothing of it is run")
	// ErrRefused is returned when a step would do something that a loop must not do.
	ErrRefused = errors.New("refused")
	// ErrSandbox is returned by a function given to Run when it could not run a command inside; the
	// loop stops.
	ErrSandbox = errors.New("the sandbox failed")
	// ErrPerson is returned by a function given to Run when a person is needed; the loop stops.
	ErrPerson = errors.New("a person must decide")
)
