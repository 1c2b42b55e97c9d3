package cmd

import (
	"fmt"
	"slices"

	"github.com/reverie-memory/reverie/internal/exit"
)

// A person's edits in the managed block are never overwritten silently.

// maxEdited bounds the printed lines of each sort.
const maxEdited = 20

// refuseEdited tells what was edited, and is the error for it.
func refuseEdited(w *workspace, file string, added, gone []string) error {
	for _, of := range []struct {
		what  string
		lines []string
	}{{"edited: ", added}, {"gone:   ", gone}} {
		slices.Sort(of.lines)
		for i, line := range of.lines {
			if i == maxEdited {
				w.env.Warn("%s%d more", of.what, len(of.lines)-i)
				break
			}
			w.env.Warn("%s%s", of.what, line)
		}
	}
	return exit.New(exit.NeedsPerson, fmt.Errorf("%s: the block was edited by hand since it was written; nothing was changed", file),
		"to keep an edit, make it a memory: reverie remember TEXT, reverie edit ID TEXT, reverie forget ID --reason WHY\n"+
			"or move it out of the block; then: reverie render agents-md --force")
}
