package audit

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/internal/cut"
	"github.com/reverie-memory/reverie/prompts"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/diff"
)

// question is one question about a part of a change, with the results of its answers.
type question struct {
	part     diff.Part
	whole    bool // the part is the whole change
	open     []worktree.Finding
	said     strings.Builder
	findings []worktree.Reported
	fixed    []string
}

// ask asks the question, and once more with the faults of the answer. A second unreadable answer is
// an error. A finding with an invalid place is dropped and reported.
func (q *question) ask(ctx context.Context, m *prompts.Model, r prompts.Rendered) error {
	again := r
	for try := 1; ; try++ {
		answer, err := m.Ask(ctx, again)
		if err != nil {
			return err
		}
		fmt.Fprintf(&q.said, "%s\n", strings.TrimSpace(string(answer.Text)))
		verdict, err := prompts.DecodeAudit(answer.Text)
		if err != nil && try == 2 {
			return fmt.Errorf("%s: the verdict cannot be read: %w", m.Name, err)
		}
		faults := []string{}
		if err != nil {
			faults = append(faults, err.Error())
		} else {
			faults = q.take(verdict)
		}
		if len(faults) == 0 || try == 2 {
			for _, f := range faults {
				fmt.Fprintf(&q.said, "left out: %s\n", f)
			}
			return nil
		}
		again = r.Again(faults, string(answer.Text))
	}
}

// take keeps the findings with valid places, and returns the faults of the rest.
func (q *question) take(verdict prompts.AuditAnswer) (faults []string) {
	q.findings, q.fixed = nil, nil
	for i, f := range verdict.Findings {
		f.File = named(q.part, f.File)
		line, why := q.place(f)
		if why == "" && strings.TrimSpace(f.Text) == "" {
			why = "text is empty"
		}
		if why == "" && strings.TrimSpace(f.Scenario) == "" {
			why = "scenario is empty"
		}
		if why != "" {
			faults = append(faults, fmt.Sprintf("findings[%d]: %s", i, why))
			continue
		}
		q.findings = append(q.findings, worktree.Reported{File: f.File, Line: line, Severity: worktree.Severity(f.Severity), Text: f.Text, Scenario: f.Scenario})
	}
	for _, id := range verdict.Fixed {
		i := slices.IndexFunc(q.open, func(f worktree.Finding) bool { return f.ID == id && f.State == worktree.OpenFinding })
		if i < 0 {
			continue // it invents a number, which has no effect
		}
		if _, here := q.part.Files[q.open[i].File]; here || q.whole {
			q.fixed = append(q.fixed, id)
		}
	}
	return faults
}

// place returns the line of a finding, or the fault of its place. Models quote better than they
// count, so the quote decides; among several matches, the nearest to the given line.
func (q *question) place(f prompts.AuditFinding) (line int, fault string) {
	if f.File == "" {
		switch {
		case !q.whole:
			return 0, `file "": this is a part of the change, which does not show what the whole lacks`
		case f.Quote != "" || f.Line != 0:
			return 0, `file is "", but line and quote are of one`
		}
		return 0, ""
	}
	lines, here := q.part.Files[f.File]
	if !here {
		return 0, fmt.Sprintf("file %q is not in the change", cut.Bytes(f.File, 80))
	}
	quote := joinWords(f.Quote)
	if quote == "" {
		if f.Line != 0 {
			return 0, "quote is missing: the line of the diff"
		}
		return 0, ""
	}
	best := -1
	for _, l := range lines {
		if strings.Contains(joinWords(prompts.Shown(l.Text)), quote) || strings.Contains(joinWords(prompts.Shown(string(l.Mark)+l.Text)), quote) {
			if best < 0 || distance(l.New, f.Line) < distance(best, f.Line) {
				best = l.New
			}
		}
	}
	if best < 0 {
		return 0, fmt.Sprintf("quote %q stands in no line of %s that is shown", cut.Bytes(f.Quote, 80), f.File)
	}
	return best, ""
}

// named returns the file of a part that an answer means; the model saw its name as shown in the
// question.
func named(p diff.Part, file string) string {
	if _, here := p.Files[file]; here {
		return file
	}
	for name := range p.Files {
		if prompts.Shown(name) == file {
			return name
		}
	}
	return file
}

func joinWords(text string) string { return strings.Join(strings.Fields(text), " ") }

func distance(a, b int) int { return max(a-b, b-a) }
