package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/prompts"
	"github.com/reverie-memory/reverie/worktree"
)

// maxAuditQuestions is how many questions about one change a local model is asked.
const maxAuditQuestions = 24

// auditByModel has a model of the local server look for defects, in as many questions as the change needs. A change that is too
// large for it is an error: no part of it is passed over. What a finding says of a place is held against the change.
func (l *looper) auditByModel(ctx context.Context, t worktree.Turn) (out worktree.Outcome, err error) {
	s := t.Loop.State
	m, set, err := l.w.model(ctx, s.Settings.AuditModel)
	if err == nil && m == nil { // an audit that nobody did is none
		err = fmt.Errorf("--audit-model %s: there is no model", s.Settings.AuditModel)
	}
	if err != nil {
		return out, err
	}
	in, err := l.auditInput(ctx, t)
	if err != nil {
		return out, err
	}
	diff, err := l.diff(ctx, s)
	if err != nil {
		return out, err
	}
	parts, asked, err := auditQuestions(m, set, in, parseDiff(diff))
	if err != nil {
		return out, err
	}
	if len(parts) == 0 {
		out.Output = "nothing has changed\n"
	}
	stop := keepAwake(t.Heard)
	defer stop()
	for i, part := range parts {
		fmt.Fprintf(t.Live, "question %d of %d to %s\n", i+1, len(parts), m.Name)
		a := auditing{part: part, whole: len(parts) == 1, open: t.Loop.Findings}
		err := a.ask(ctx, m, asked[i])
		out.Output += fmt.Sprintf("%s, question %d of %d:\n%s", m.Name, i+1, len(parts), a.said.String())
		if err != nil {
			return out, err
		}
		out.Audit.Findings = append(out.Audit.Findings, a.findings...)
		out.Audit.Fixed = append(out.Audit.Fixed, a.fixed...)
	}
	return out, nil
}

// keepAwake tells of a life until it is stopped: a question to a model has a time of its own, model.patience.
func keepAwake(heard func()) (stop func()) {
	tick, done := time.NewTicker(time.Second), make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				heard()
			}
		}
	}()
	return func() { tick.Stop(); close(done) }
}

// auditQuestions cuts a change into parts and renders a question about each. All but the change takes at most five eighths of the room.
func auditQuestions(m *prompts.Model, set prompts.Set, in prompts.Audit, files []diffFile) ([]diffPart, []prompts.Rendered, error) {
	if len(files) == 0 {
		return nil, nil, nil
	}
	empty, err := set.Audit(prompts.Audit{Diff: "-"})
	if err != nil {
		return nil, nil, err
	}
	all := m.Room(empty.Longest) - prompts.AgainRoom
	free := all - len(empty.System) - len(empty.User)
	const many = 100 // bytes of a part's name, and to spare
	if len(in.Plan) > free/4 {
		in.Plan = cutOff(in.Plan, free/4) + "\n[…]"
	}
	in.Output = tail(in.Output, free/8)
	for i, rule := range in.Rules {
		in.Rules[i] = cutOff(rule, free/8/len(in.Rules))
	}
	for n := len(in.Findings); n > 0 && len(strings.Join(in.Findings[:n], "\n    "))+8*n > free/8; n-- {
		in.Findings = in.Findings[:n-1]
	}
	// A text may grow where it is put into a question: then there is room for less of it.
	for room := free*3/8 - many; room > 2*maxDiffLine; room = room * 3 / 4 {
		parts := partsOf(files, room)
		if len(parts) > maxAuditQuestions {
			return nil, nil, fmt.Errorf("the change is too large for %s: it would take %d questions, and %d are asked at most; a larger model.context has fewer, and --audit-agent needs none", m.Name, len(parts), maxAuditQuestions)
		}
		var asked []prompts.Rendered
		for i, part := range parts {
			in.Diff = part.text
			if len(parts) > 1 {
				in.Diff = fmt.Sprintf("(part %d of %d of the change; the others are looked at apart, so nothing is missing because it is not here)\n%s", i+1, len(parts), part.text)
			}
			r, err := set.Audit(in)
			if err != nil {
				return nil, nil, err
			}
			if len(r.System)+len(r.User) > all {
				break
			}
			asked = append(asked, r)
		}
		if len(asked) == len(parts) {
			return parts, asked, nil
		}
	}
	return nil, nil, fmt.Errorf("%s has no room for the change beside the question: %d tokens", m.Name, m.Context)
}

// auditing is one question about a part of a change, and what is made of its answers.
type auditing struct {
	part     diffPart
	whole    bool // the part is all of the change
	open     []worktree.Finding
	said     strings.Builder
	findings []worktree.Reported
	fixed    []string
}

// ask puts the question, and once more, with what was wrong with the answer. An answer that cannot be read then is an error; a finding
// of a place that is not there is left out, and said.
func (a *auditing) ask(ctx context.Context, m *prompts.Model, r prompts.Rendered) error {
	again := r
	for try := 1; ; try++ {
		answer, err := m.Ask(ctx, again)
		if err != nil {
			return err
		}
		fmt.Fprintf(&a.said, "%s\n", strings.TrimSpace(string(answer.Text)))
		verdict, err := prompts.DecodeAudit(answer.Text)
		if err != nil && try == 2 {
			return fmt.Errorf("%s: the verdict cannot be read: %w", m.Name, err)
		}
		faults := []string{}
		if err != nil {
			faults = append(faults, err.Error())
		} else {
			faults = a.take(verdict)
		}
		if len(faults) == 0 || try == 2 {
			for _, f := range faults {
				fmt.Fprintf(&a.said, "left out: %s\n", f)
			}
			return nil
		}
		again = r.Again(faults, string(answer.Text))
	}
}

// take keeps what a verdict says of places that are there, and returns what is wrong with the rest.
func (a *auditing) take(verdict prompts.AuditAnswer) (faults []string) {
	a.findings, a.fixed = nil, nil
	for i, f := range verdict.Findings {
		f.File = a.part.named(f.File)
		line, why := a.place(f)
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
		a.findings = append(a.findings, worktree.Reported{File: f.File, Line: line, Severity: worktree.Severity(f.Severity), Text: oneLine(f.Text, 1000), Scenario: f.Scenario})
	}
	for _, id := range verdict.Fixed {
		i := slices.IndexFunc(a.open, func(f worktree.Finding) bool { return f.ID == id && f.State == worktree.OpenFinding })
		if i < 0 {
			continue // it invents a number; nothing follows from that
		}
		if _, here := a.part.files[a.open[i].File]; here || a.whole {
			a.fixed = append(a.fixed, id)
		}
	}
	return faults
}

// place is the line that a finding is about, or what is wrong with what it says of its place. Models quote better than they count:
// the quote decides, and of its places the one next to the line that was said.
func (a *auditing) place(f prompts.AuditFinding) (line int, fault string) {
	if f.File == "" {
		switch {
		case !a.whole:
			return 0, `file "": this is a part of the change, which does not show what the whole lacks`
		case f.Quote != "" || f.Line != 0:
			return 0, `file is "", but line and quote are of one`
		}
		return 0, ""
	}
	lines, here := a.part.files[f.File]
	if !here {
		return 0, fmt.Sprintf("file %q is not in the change", cutOff(f.File, 80))
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
		if strings.Contains(joinWords(prompts.Shown(l.text)), quote) || strings.Contains(joinWords(prompts.Shown(string(l.mark)+l.text)), quote) {
			if best < 0 || distance(l.new, f.Line) < distance(best, f.Line) {
				best = l.new
			}
		}
	}
	if best < 0 {
		return 0, fmt.Sprintf("quote %q stands in no line of %s that is shown", cutOff(f.Quote, 80), f.File)
	}
	return best, ""
}

func joinWords(text string) string { return strings.Join(strings.Fields(text), " ") }

func distance(a, b int) int { return max(a-b, b-a) }
