package dream

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/prompts"
)

// Workflow is a way to do a job that enough sessions followed.
type Workflow struct {
	ID        string // of the operation that would propose its skill
	Text      string
	Body      string
	Memory    string            // id of the memory that states it, or ""
	Sightings []record.Sighting // of distinct reflections, the newest first
}

// Step is one successful action of a session.
type Step struct {
	N       int    // of the event
	Command string // a shell command line, or ""
	Path    string // of an edited file, from the top of the repository, or ""
}

// Account describes one session: its steps in order, and the words of its person and its agent.
type Account struct {
	Steps []Step
	Said  []string
}

// Ripeness is the input of Ripe.
type Ripeness struct {
	Input
	Skills    []record.SkillFile
	Distilled map[string]bool // ids of workflows that a model has considered before
}

// ripeSessions is the number of distinct sessions that make a workflow worth a skill.
const ripeSessions = 3

// Ripe returns the workflows that may become skills, most frequent first. They are workflow
// memories and detected workflows, done in three distinct sessions. None has an existing, pending
// or rejected skill. Skills are for everyone, so Ripe omits workflows that are private or belong to
// a side branch.
func Ripe(in Ripeness) []Workflow {
	if slices.Contains(in.Private, record.Workflow) {
		return nil
	}
	type way struct {
		Workflow
		print record.Fingerprint
	}
	var ways []*way
	passed := func(print record.Fingerprint) bool {
		return slices.ContainsFunc(in.Skills, func(s record.SkillFile) bool { return print.Same(record.Print(s.Workflow)) })
	}
	no := map[string]bool{} // ids of pending or rejected operations
	for _, o := range in.Pending {
		no[o.ID] = true
	}
	var rejected []record.Fingerprint
	for _, r := range in.Rejected {
		no[r.ID] = true
		for _, text := range r.Statements() {
			rejected = append(rejected, record.Print(text))
		}
	}
	var shut []record.Fingerprint // retired, private, withheld, or of a side branch
	for _, m := range in.Memories {
		print := record.Print(m.Text)
		switch {
		case m.Kind == record.Workflow && m.Status == record.Active && m.Live(in.Now) && !m.Private && m.Branch == "" && !in.Withheld[m.ID]:
			ways = append(ways, &way{Workflow{Text: m.Text, Body: m.Body, Memory: m.ID}, print})
		default:
			shut = append(shut, print)
		}
	}
	reflections := append(slices.Clone(in.Considered), in.New...)
	slices.SortFunc(reflections, func(a, b record.Reflection) int {
		return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(a.ID(), b.ID()))
	})
	for _, r := range reflections {
		for _, c := range r.Candidates {
			if c.Kind != record.Workflow {
				continue
			}
			print := record.Print(c.Text)
			i := slices.IndexFunc(ways, func(w *way) bool { return w.print.Same(print) })
			if i < 0 {
				if slices.ContainsFunc(shut, print.Same) || slices.ContainsFunc(rejected, print.Same) {
					continue
				}
				ways = append(ways, &way{Workflow{Text: c.Text, Body: c.Body}, print})
				i = len(ways) - 1
			}
			ways[i].Sightings = joinSightings(ways[i].Sightings, sighting(r, c))
		}
	}
	var out []Workflow
	for _, w := range ways {
		w.ID = record.SkillOperationID(w.Text)
		if !no[w.ID] && !in.Distilled[w.ID] && record.Sessions(w.Sightings) >= ripeSessions && !passed(w.print) {
			out = append(out, w.Workflow)
		}
	}
	slices.SortFunc(out, func(a, b Workflow) int {
		return cmp.Or(cmp.Compare(record.Sessions(b.Sightings), record.Sessions(a.Sightings)), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// Distilled is a model's result for ripe workflows.
type Distilled struct {
	Operations []record.Operation // op skill, How record.Model
	Asked      []string           // ids of the workflows asked about, sorted
	Notes      []Note             // workflows that make no skill, and why
	Refused    map[string]int     // texts of the model that are not proposed, by reason
	Prompts    []string           // hashes of the prompts, sorted, each once
}

// Bounds of one Distill.
const (
	maxDistilled = 4  // workflows
	maxRuns      = 5  // sessions shown of one
	stepsBefore  = 10 // steps shown before the evidence
	stepsAfter   = 4
	maxStepShown = 300
)

// Distill asks a model for a skill of each ripe workflow, up to the bounds of one run. account
// describes a session, or returns nothing if it is no longer kept. Code writes the skill from the
// fields of the answer: commands that the sessions themselves ran, and plain words. As with
// Consider, earlier findings are returned beside an error.
func Distill(ctx context.Context, m *prompts.Model, set prompts.Set, in Ripeness, ripe []Workflow, account func(record.Sighting) Account) (Distilled, error) {
	out := Distilled{Refused: map[string]int{}}
	hashes := map[string]bool{}
	taken := map[string]bool{} // paths
	for _, s := range in.Skills {
		taken[s.Path()] = true
	}
	for _, o := range in.Pending {
		taken[o.Path] = true
	}
	finish := func(err error) (Distilled, error) {
		slices.Sort(out.Asked)
		out.Prompts = slices.Sorted(maps.Keys(hashes))
		return out, err
	}
	if m == nil {
		return finish(nil)
	}
	for _, w := range ripe {
		if len(out.Asked) == maxDistilled {
			break
		}
		question, sessions, fits, err := distillQuestion(m, set, w, account)
		if err != nil {
			return finish(fmt.Errorf("distill: %w", err))
		}
		if !fits {
			continue // its sessions are no longer kept, or are too long
		}
		answer, err := ask(ctx, m, question, prompts.DecodeDistill)
		if err != nil {
			return finish(fmt.Errorf("distill: %w", err))
		}
		hashes[question.Hash] = true
		out.Asked = append(out.Asked, w.ID)
		if !answer.Worth {
			out.Notes = append(out.Notes, Note{Reflection: w.Sightings[0].Reflection, Text: w.Text, Why: "is no skill: " + cmp.Or(reason(answer.Why), "a model found it not worth one")})
			continue
		}
		if n := len(answer.Dropped); n > 0 {
			out.Refused[wrongForm] += n
		}
		s, why := skill(w, answer, newDoings(w, sessions), out.Refused)
		if why == "" && taken[s.Path()] {
			why = "has the name of another"
		}
		if why != "" {
			out.Refused[why]++
			continue
		}
		taken[s.Path()] = true
		out.Operations = append(out.Operations, record.NewSkill(record.Operation{How: record.Model, Model: m.Name, Sightings: w.Sightings,
			Why: reason(answer.Why), Proposed: in.Now.UTC().Truncate(time.Second)}, s))
	}
	return finish(nil)
}

// distillQuestion fits as many runs of a workflow as possible into a question. sessions lists
// theirs, each once.
func distillQuestion(m *prompts.Model, set prompts.Set, w Workflow, account func(record.Sighting) Account) (r prompts.Rendered, sessions []Account, fit bool, err error) {
	in := prompts.Distill{Workflow: prompts.Known{Kind: string(record.Workflow), Text: w.Text, Body: clip(w.Body, maxBody)}}
	seen := map[string]bool{}
	for _, s := range w.Sightings {
		if len(in.Runs) == maxRuns {
			break
		}
		told := account(s)
		all := told.Steps
		if len(all) == 0 {
			continue
		}
		if name := s.Client + "/" + s.Session; !seen[name] {
			seen[name] = true
			sessions = append(sessions, told)
		}
		at := slices.IndexFunc(all, func(st Step) bool { return len(s.Evidence) > 0 && st.N >= s.Evidence[0].Event })
		if at < 0 {
			at = len(all) - 1
		}
		run := prompts.Run{Session: fmt.Sprintf("session %d", len(in.Runs)+1)}
		for _, st := range all[max(0, at-stepsBefore):min(len(all), at+stepsAfter+1)] {
			if st.Command != "" {
				run.Steps = append(run.Steps, "`"+clip(st.Command, maxStepShown)+"`")
			} else {
				run.Steps = append(run.Steps, "edit "+clip(st.Path, maxStepShown))
			}
		}
		in.Runs = append(in.Runs, run)
	}
	for ; len(in.Runs) > 0; in.Runs = in.Runs[:len(in.Runs)-1] {
		if r, err = set.Distill(in); err != nil || fits(m, r) {
			return r, sessions, err == nil, err
		}
	}
	return r, sessions, false, nil
}

// Bounds of a skill, beside those of the schema.
const (
	minSteps   = 2
	maxStepLen = 400
)

// skill turns an answer into a skill, without the parts that did does not support; dropped counts
// those.
func skill(w Workflow, a prompts.DistillAnswer, did doings, dropped map[string]int) (s record.SkillFile, why string) {
	line := func(text string) (string, bool) {
		text = strings.Join(strings.Fields(text), " ")
		return text, text != "" && len(text) <= maxStepLen && did.honest(text)
	}
	name, ok := line(a.Name)
	s.Name, s.Workflow = record.SkillName(name), w.Text
	trigger, ok2 := line(a.Trigger)
	if !ok || !ok2 || s.Name == "" {
		return s, "has no name or no trigger in plain words"
	}
	s.Description = name + ". " + trigger
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n## Trigger\n\n%s\n\n## Steps\n\n", name, trigger)
	n := 0
	for _, step := range a.Steps {
		step, ok := line(step)
		if !ok {
			dropped["a step that is more than plain words and commands that the sessions ran"]++
			continue
		}
		n++
		fmt.Fprintf(&b, "%d. %s\n", n, step)
	}
	if n < minSteps {
		return s, "has too few steps that the sessions bear out"
	}
	var tools []string
	for _, tool := range a.Tools {
		if tool = strings.Trim(strings.TrimSpace(tool), "`"); !did.programs[tool] {
			dropped["a tool that no session ran"]++
		} else if !slices.Contains(tools, tool) {
			tools = append(tools, tool)
		}
	}
	if len(tools) > 0 {
		b.WriteString("\n## Tools\n\n")
		for _, tool := range tools {
			fmt.Fprintf(&b, "- `%s`\n", tool)
		}
	}
	if strings.TrimSpace(a.Example) != "" {
		if example, ok := line(a.Example); ok {
			fmt.Fprintf(&b, "\n## Example\n\n%s\n", example)
		} else {
			dropped["an example that is more than plain words and commands that the sessions ran"]++
		}
	}
	s.Body = b.String()
	if _, err := record.ParseSkill(s.Path(), s.Format()); err != nil {
		return s, "is no file that a skill may have"
	}
	return s, ""
}
