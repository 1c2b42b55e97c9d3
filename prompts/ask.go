package prompts

import (
	"fmt"
	"strings"
)

// Reflect renders the question about a session's lessons. Events are required.
func (s Set) Reflect(in Reflect) (Rendered, error) {
	if len(in.Lines) == 0 {
		return Rendered{}, fmt.Errorf("ask reflect: no events")
	}
	var events, session strings.Builder
	for _, l := range in.Lines {
		fmt.Fprintf(&events, "[%d] %s: %s\n", l.N, oneLine(l.Who), hang(l.Text))
	}
	if title := oneLine(in.Title); title != "" {
		fmt.Fprintf(&session, "title: %s\n", title)
	}
	outcome := oneLine(in.Outcome)
	if outcome == "" {
		outcome = "unknown"
	}
	fmt.Fprintf(&session, "outcome: %s\nevents shown: %d\n", outcome, len(in.Lines))
	if in.Parts > 1 {
		fmt.Fprintf(&session, "part %d of %d: answer it alone\n", in.Part, in.Parts)
	}
	if in.Part > 1 {
		session.WriteString("an event shown again at the top was already asked about\n")
	}
	if left := oneLine(in.Left); left != "" {
		fmt.Fprintf(&session, "events in no part, for want of room: %s\n", left)
	}
	return s.named("reflect").render(map[string]string{
		"session": session.String(), "known": list(in.Known), "events": events.String(),
	}), nil
}

// Dream renders the question about consequences for the memory. Candidates or memories are
// required.
func (s Set) Dream(in Dream) (Rendered, error) {
	if len(in.Memories)+len(in.Candidates) == 0 {
		return Rendered{}, fmt.Errorf("ask dream: nothing to consider")
	}
	var candidates strings.Builder
	for _, c := range in.Candidates {
		sessions := "1 session"
		if c.Sessions != 1 {
			sessions = fmt.Sprintf("%d sessions", c.Sessions)
		}
		fmt.Fprintf(&candidates, "%s %s (%s): %s\n", oneLine(c.Ref), oneLine(c.Kind), sessions, oneLine(c.Text))
		for _, q := range c.Quotes {
			fmt.Fprintf(&candidates, "    %s\n", oneLine(q))
		}
	}
	return s.named("dream").render(map[string]string{"memories": knowns(in.Memories), "waiting": knowns(in.Waiting), "candidates": candidates.String()}), nil
}

// knowns lists memories by their short names.
func knowns(all []Known) string {
	var b strings.Builder
	for _, k := range all {
		fmt.Fprintf(&b, "%s %s: %s\n", oneLine(k.Ref), oneLine(k.Kind), oneLine(k.Text))
		if body := strings.TrimSpace(k.Body); body != "" {
			fmt.Fprintf(&b, "    %s\n", hang(body))
		}
	}
	return b.String()
}

// Distill renders the question whether a workflow is worth a skill. Runs are required.
func (s Set) Distill(in Distill) (Rendered, error) {
	if len(in.Runs) == 0 {
		return Rendered{}, fmt.Errorf("ask distill: no runs")
	}
	var runs strings.Builder
	for i, r := range in.Runs {
		fmt.Fprintf(&runs, "run %d, %s:\n", i+1, oneLine(r.Session))
		for j, step := range r.Steps {
			fmt.Fprintf(&runs, "  %d. %s\n", j+1, hang(step))
		}
	}
	workflow := in.Workflow
	workflow.Ref = "" // there is but one
	return s.named("distill").render(map[string]string{
		"workflow": strings.TrimSpace(knowns([]Known{workflow})), "runs": runs.String(),
	}), nil
}

// Audit renders the question about faults of a change. A diff is required.
func (s Set) Audit(in Audit) (Rendered, error) {
	if strings.TrimSpace(in.Diff) == "" {
		return Rendered{}, fmt.Errorf("ask audit: no diff")
	}
	return s.named("audit").render(map[string]string{
		"plan": in.Plan, "diff": in.Diff, "output": in.Output, "rules": list(in.Rules), "findings": list(in.Findings),
	}), nil
}

// Code renders the order to carry out a plan, which is required. The result has no schema.
func (s Set) Code(in Code) (Rendered, error) {
	if strings.TrimSpace(in.Plan) == "" {
		return Rendered{}, fmt.Errorf("ask code: no plan")
	}
	task := fmt.Sprintf("branch: %s\niteration: %d", oneLine(in.Branch), in.Iteration)
	if in.Iterations > 0 {
		task += fmt.Sprintf(" of at most %d", in.Iterations)
	}
	if strings.TrimSpace(in.Output) != "" {
		task += "\nthe plan's commands: "
		if in.Verified {
			task += "passed"
		} else {
			task += "failed"
		}
	}
	if in.Commits {
		task += "\ncommits: you may make some yourself"
	}
	return s.named("code").render(map[string]string{
		"task": task, "plan": in.Plan, "output": in.Output, "findings": list(in.Findings), "failed": in.Failed, "memory": in.Memory, "promise": in.Promise,
	}), nil
}

// Contradiction renders the question which of two or more statements holds.
func (s Set) Contradiction(in Contradiction) (Rendered, error) {
	if len(in.Statements) < 2 {
		return Rendered{}, fmt.Errorf("ask contradiction: fewer than two statements")
	}
	return s.named("contradiction").render(map[string]string{
		"statements": knowns(in.Statements), "quotes": list(in.Quotes),
	}), nil
}

// Limits of the faults that Again shows, in bytes and in number.
const (
	maxFault  = 200
	maxFaults = 5
	maxLast   = 900
)

// AgainRoom bounds the growth of a question by Again, in bytes.
const AgainRoom = 2560

// Again returns the same question with the faults of the last answer, both shortened. Each call
// adds at most AgainRoom bytes.
func (r Rendered) Again(faults []string, last string) Rendered {
	return r.after("Your last answer to this cannot be used.", "answer", cut(Shown(strings.TrimSpace(last)), maxLast), faults,
		"Answer the question again, with these faults put right, as one JSON object.")
}

// Mend returns the same question about the faulty items of the last answer alone, each shortened.
// It adds at most AgainRoom bytes.
func (r Rendered) Mend(faults, items []string) Rendered {
	var all []string
	for _, item := range items {
		all = append(all, cut(Shown(oneLine(item)), maxLast/len(items)))
	}
	return r.after("Some items of your last answer cannot be used as they are; the others are kept.", "items", strings.Join(all, "\n"), faults,
		"Put these items right, and leave out any that the events do not prove. Answer with these alone, as one JSON object.")
}

// after adds a last answer and its faults to a question.
func (r Rendered) after(intro, name, answer string, faults []string, order string) Rendered {
	var said []string
	for _, f := range faults[:min(len(faults), maxFaults)] {
		said = append(said, cut(oneLine(Shown(f)), maxFault))
	}
	if more := len(faults) - maxFaults; more > 0 {
		said = append(said, fmt.Sprintf("and %d more", more))
	}
	wrong := Shown(list(said))
	nonce := nonceOf([]string{r.User, wrong, answer})
	r.User += "\n\n" + intro + "\n" + fence(name, answer, nonce) +
		"\nWhat is wrong with it:\n" + fence("faults", strings.TrimSpace(wrong), nonce) + "\n" + order
	return r
}

// cut shortens text to at most n bytes, and marks the cut at its end.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n-len(" …")], "") + " …"
}
