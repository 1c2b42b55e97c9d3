package worktree

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/internal/redact"
)

// LintPlan reads a plan. It returns the faults that prevent a loop and the passages that may not
// mean what they say, each in line order. A plan needs commands unless audited says that the loop
// has an auditor. LintPlan looks at the text alone.
func LintPlan(text string, audited bool, scanner *redact.Scanner) (p Plan, wrong, doubtful []*PlanError) {
	r := readPlan(text)
	readable := !slices.ContainsFunc(r.wrong, func(e *PlanError) bool { return e.Rule == "size" || e.Rule == "empty" })
	line, block := 1, ""
	if r.shell > 0 {
		line, block = r.shell, fmt.Sprintf("; if they are those of the block that begins here, mark it verify and not %s", r.mark)
	}
	switch {
	case len(r.wrong) > 0 || len(r.Verify) > 0: // unreadable parts may hold them
	case audited:
		r.doubt(line, "verify", "the plan has no commands that show that it is done: nothing but audits will%s", block)
	default:
		r.fault(line, "verify", "the plan has no commands, and there is no audit: nothing would say when it is done%s", block)
	}
	if readable {
		for _, line := range secretLines(r.Text, scanner) {
			r.fault(line, "secret", "it holds what looks like a secret; take it out: the record of a loop is kept")
		}
	}
	for _, all := range [][]*PlanError{r.wrong, r.doubtful} {
		slices.SortStableFunc(all, func(a, b *PlanError) int { return cmp.Compare(a.Line, b.Line) })
	}
	return r.Plan, r.wrong, r.doubtful
}

// secretLines returns the lines of a text, from 1, that hold secrets; for a multi-line secret only
// the first.
func secretLines(text string, scanner *redact.Scanner) []int {
	clean, found := scanner.Text(text)
	if found.Found == 0 {
		return nil
	}
	before, after := strings.Split(text, "\n"), strings.Split(clean.String(), "\n")
	var lines []int
	for i := range before {
		if i >= len(after) || before[i] != after[i] {
			if lines = append(lines, i+1); len(before) != len(after) {
				break // one that takes several lines
			}
		}
	}
	return lines
}
