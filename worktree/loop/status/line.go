package status

import (
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/unseen"
	"github.com/reverie-memory/reverie/worktree"
)

// Line describes a loop in one line.
func (s Status) Line() string { return strings.Join(s.Cells(), "  ") }

// Cells returns the parts of a loop's line: name, phase, iteration and remarks.
func (s Status) Cells() []string {
	phase := string(s.Phase)
	if s.Phase == worktree.Stopped {
		phase = "stopped: " + string(s.Reason)
	}
	cells := []string{unseen.Visible(s.Name), unseen.Visible(phase), "iteration " + s.Iterations()}
	if s.Findings.Open > 0 {
		cells = append(cells, plural.Count(s.Findings.Open, "finding open", "findings open"))
	}
	switch {
	case s.Foreign:
		cells = append(cells, "not started here")
	case s.Phase.Over() || s.Holder != nil:
	case s.Unseen != "":
		cells = append(cells, "a commit waits to be checked")
	case s.Waits():
		cells = append(cells, "waits for a commit")
	default:
		cells = append(cells, "no process runs it")
	}
	return cells
}

// Iterations returns the number of the iteration, and the limit if there is one.
func (s Status) Iterations() string {
	if s.Settings.MaxIterations > 0 {
		return fmt.Sprintf("%d/%d", s.Iteration, s.Settings.MaxIterations)
	}
	return fmt.Sprint(s.Iteration)
}
