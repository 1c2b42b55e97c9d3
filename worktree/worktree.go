// Package worktree carries a plan through iterations of coding, verifying and auditing in a work
// tree of its own.
//
// LintPlan reads a plan, Open names the record of a loop, Record.Create begins it, and Carry does
// what is next until the loop ends, or waits for a person's commit; Wake is for whoever comes with
// one. What is to be done in a phase is given to Run as functions: this package knows no agent, no
// model and no container.
//
// A loop is its record: a tree of files on a ref of its own (see Record), in which every step is
// one commit. Whoever holds the Lease takes the steps; everybody may read. A supervisor that is
// killed leaves a record from which the next one goes on: an iteration that was interrupted begins
// anew from the commit before it, and what it had done by then is kept by a ref below Kept. The
// state machine itself is the function Next, which does no I/O.
package worktree

import "errors"

var (
	// ErrNoLoop is returned when there is no loop of a name.
	ErrNoLoop = errors.New("no such loop")
	// ErrTaken is returned when a loop of the name is there already, or its branch is.
	ErrTaken = errors.New("the name is taken")
	// ErrDone is returned, together with ErrEnded, when a loop is to go on that is done.
	ErrDone = errors.New("is done")
	// ErrEnded is returned when a loop is to go on that is done, or has reached its limit.
	ErrEnded = errors.New("the loop has ended")
	// ErrDirty is returned when work that is not committed would be mixed up with a loop's, or lost.
	ErrDirty = errors.New("there is work that is not committed")
	// ErrGone is returned when the work tree of a loop is not there any more.
	ErrGone = errors.New("the work tree is gone")
	// ErrHeld is returned when another process that is alive carries the loop on.
	ErrHeld = errors.New("another process carries the loop on")
	// ErrForeign is returned when a loop is to go on or to end whose record was not written here: a
	// fetch brought it.
	ErrForeign = errors.New("it was not begun here, so it is shown and nothing of it is run")
	// ErrRefused is returned when a step would do what a loop must not do.
	ErrRefused = errors.New("refused")
	// ErrSandbox is returned by a function given to Run when what was to be run inside could not be;
	// the loop stops.
	ErrSandbox = errors.New("the sandbox failed")
	// ErrPerson is returned by a function given to Run when what is to be done wants a person; the
	// loop stops.
	ErrPerson = errors.New("a person must decide")
)
