// Package tui is a terminal interface made of lists. Each tab has one, with the text of the
// selected item beside or below it, and keys that act on items. The package knows neither memories
// nor loops: function values give a tab its contents and actions.
//
// Text to show must already be safe for a terminal: the package fits it to the screen, but passes
// escape sequences through.
package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Item is a line of a list.
type Item struct {
	ID    string // what the tab's functions are given; no two items of a tab share one
	Title string // one line
	Style string // an escape sequence that colours Lead
	Lead  string // a word before the title, such as its kind; ASCII
	Note  string // one short line, shown at the right edge
	Not   string // keys of the actions that it has no use for now
}

// Tab is a list, and what can be known of and done with its items. Its functions are called from
// goroutines, one at a time for each tab, and may take their time: the screen goes on.
type Tab struct {
	Name  string
	Empty string                                // shown for an empty list: a line, then details
	Load  func(context.Context) ([]Item, error) // in the order of the list
	// Find returns the items that answer a query, the best first. If it is nil, a query keeps the
	// loaded items that have all of its words.
	Find func(ctx context.Context, query string) ([]Item, error)
	// Blank returns the details of an empty list instead of Empty's; it may be nil.
	Blank   func(ctx context.Context, width int) (string, error)
	Views   []View        // at least one
	Actions []Action      //
	Every   time.Duration // time until a reload; 0: only after an action
}

// View is one thing that can be known of an item. The key shows it; that of the view in force goes
// back to the first.
type View struct {
	Key, Name string
	// Text returns lines of at most width cells, if possible.
	Text func(ctx context.Context, id string, width int) (string, error)
	// End shows the last lines first, as of a log.
	End bool
}

// Action is something that can be done with an item.
type Action struct {
	Key, Name string
	// Bare: it concerns no item, and works on an empty list too. Do gets no id.
	Bare bool
	// Confirm is a question to answer with y first; "": none.
	Confirm string
	// Many lets it act on all marked items, after a question. Otherwise Do gets one id.
	Many bool
	// Do returns one line.
	Do func(ctx context.Context, ids []string) (said string, err error)
	// Takes replaces Do, and has the whole terminal meanwhile.
	Takes func(ctx context.Context, id string, in io.Reader, out, err io.Writer) error
}

// ErrNoTabs is the error of Run without tabs.
var ErrNoTabs = errors.New("nothing to show")

// ErrUndone is returned for actions that had not come to an end when the program did.
var ErrUndone = errors.New("not done, or not to its end")

// Run shows tabs on a terminal until a person leaves or ctx ends, which is not an error. Leaving
// waits for pending decisions; if it could not wait, the error wraps ErrUndone and names them.
// environ describes the terminal, as a process environment does: TERM, NO_COLOR.
func Run(ctx context.Context, in io.Reader, out io.Writer, environ []string, tabs ...Tab) error {
	if len(tabs) == 0 {
		return ErrNoTabs
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := newModel(ctx, tabs)
	_, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithEnvironment(environ)).Run()
	if errors.Is(err, tea.ErrInterrupted) || ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = nil
	}
	if names := m.undone(); len(names) > 0 {
		err = errors.Join(err, fmt.Errorf("%s: %w", strings.Join(names, ", "), ErrUndone))
	}
	return err
}

// Until is Run that also ends when watch returns, with the error of watch. If the person leaves
// before, it ends the context of watch.
func Until(ctx context.Context, in io.Reader, out io.Writer, environ []string, watch func(context.Context) error, tabs ...Tab) error {
	ctx, leave := context.WithCancel(ctx)
	watched := make(chan error, 1)
	go func() {
		defer leave()
		err := watch(ctx)
		if ctx.Err() != nil { // the person left
			err = nil
		}
		watched <- err
	}()
	err := Run(ctx, in, out, environ, tabs...)
	leave()
	return errors.Join(err, <-watched)
}
