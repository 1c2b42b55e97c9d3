// Package exit describes the end of a command: its exit code, the error, and a hint. Code below the
// command line returns an *Error if it can add a code or a hint to an error. Only package cmd
// prints one.
package exit

import "fmt"

// Exit codes. docs/json.md lists them for users.
const (
	Done        = 0
	Negative    = 1   // check found something, render --check is out of date
	NoStore     = 10  // there is no memory here yet
	NeedsPerson = 12  // a person must decide
	Loop        = 20  // and up to 29: a loop ended other than done, by worktree.Reasons
	Signal      = 130 // stopped by Ctrl-C
	Failed      = 128
	BadUsage    = 129
)

// Start is the hint if there is no memory yet.
const Start = "start it with: reverie init   (learn, remember, import and ingest do so by themselves)"

// Error is an error with its exit code and an optional hint at the next step.
type Error struct {
	Code int
	Err  error
	Hint string
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// New returns an *Error.
func New(code int, err error, hint string) error { return &Error{Code: code, Err: err, Hint: hint} }

// Usage returns an error about the command line itself.
func Usage(hint, format string, args ...any) error {
	return New(BadUsage, fmt.Errorf(format, args...), hint)
}

// Silent ends a command with code Negative and without a message, because its output already has
// it.
var Silent error = &Error{Code: Negative, Err: silence{}}

type silence struct{}

func (silence) Error() string { return "" }
