// Package audit asks a model for defects in a loop's change.
//
// The change is split into parts that fit the model's context. Answers are data: they are decoded,
// and checked against the lines that the question showed.
package audit

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/cut"
	"github.com/reverie-memory/reverie/prompts"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/diff"
)

// maxQuestions bounds the questions to a model about one change.
const maxQuestions = 24

// Ask has a model look for defects in a diff, in as many questions as needed. It is the audit of a
// turn; Output holds the answers and their omissions. in is common to all questions. Ask fails if
// the change is too large for the model, and never skips a part. It checks the places of findings
// against the change. On an error, Output holds the answers so far.
func Ask(ctx context.Context, m *prompts.Model, set prompts.Set, in prompts.Audit, change string, t worktree.Turn) (out worktree.Outcome, err error) {
	parts, asked, err := questions(m, set, in, diff.Parse(change))
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
		q := question{part: part, whole: len(parts) == 1, open: t.Loop.Findings}
		err := q.ask(ctx, m, asked[i])
		out.Output += fmt.Sprintf("%s, question %d of %d:\n%s", m.Name, i+1, len(parts), q.said.String())
		if err != nil {
			return out, err
		}
		out.Audit.Findings = append(out.Audit.Findings, q.findings...)
		out.Audit.Fixed = append(out.Audit.Fixed, q.fixed...)
	}
	return out, nil
}

// keepAwake signals life until it is stopped, because a question to a model has its own timeout,
// model.patience.
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

// questions splits a change into parts and renders a question about each. The rest of a question
// takes at most five eighths of the room.
func questions(m *prompts.Model, set prompts.Set, in prompts.Audit, files []diff.File) ([]diff.Part, []prompts.Rendered, error) {
	if len(files) == 0 {
		return nil, nil, nil
	}
	empty, err := set.Audit(prompts.Audit{Diff: "-"})
	if err != nil {
		return nil, nil, err
	}
	all := m.Room(empty.Longest) - prompts.AgainRoom
	free := all - len(empty.System) - len(empty.User)
	const many = 100 // bytes of a part's name, plus a reserve
	if len(in.Plan) > free/4 {
		in.Plan = cut.Bytes(in.Plan, free/4) + "\n[…]"
	}
	in.Output = cut.Tail(in.Output, free/8)
	for i, rule := range in.Rules {
		in.Rules[i] = cut.Bytes(rule, free/8/len(in.Rules))
	}
	for n := len(in.Findings); n > 0 && len(strings.Join(in.Findings[:n], "\n    "))+8*n > free/8; n-- {
		in.Findings = in.Findings[:n-1]
	}
	// A text may grow inside a question, which leaves less room for it.
	for room := free*3/8 - many; room > 2*diff.MaxLine; room = room * 3 / 4 {
		parts := diff.Parts(files, room)
		if len(parts) > maxQuestions {
			return nil, nil, fmt.Errorf("the change is too large for %s: it would take %d questions, and %d are asked at most; a larger model.context has fewer, and --audit-agent needs none", m.Name, len(parts), maxQuestions)
		}
		var asked []prompts.Rendered
		for i, part := range parts {
			in.Diff = part.Text
			if len(parts) > 1 {
				in.Diff = fmt.Sprintf("(part %d of %d of the change; the others are looked at apart, so nothing is missing because it is not here)\n%s", i+1, len(parts), part.Text)
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
