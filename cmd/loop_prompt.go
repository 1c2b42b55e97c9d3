package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/internal/model"
	"github.com/reverie-memory/reverie/prompts"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/agent"
	"github.com/reverie-memory/reverie/worktree/diff"
)

// What of long texts a prompt shows, in bytes.
const (
	maxShown = 16 << 10 // of an output: its end
	maxAbout = 8 << 10  // of plan and findings, of what memories are looked for by
	maxDiff  = 96 << 10 // of a change that an agent or a command audits; both can read the rest of it

	maxDiffInside = 256 << 10 // of one that is audited in a sandbox, where nobody can: a larger one is an error
)

// codePrompt is what the coder of an iteration is given.
func (l *looper) codePrompt(ctx context.Context, t worktree.Turn) (prompt string, given []string, err error) {
	s := t.Loop.State
	session, memory := l.turnSession(s, ""), l.memories(ctx, t)
	in := prompts.Code{
		Plan: t.Loop.Plan.Text, Branch: strings.TrimPrefix(s.Branch, "refs/heads/"), Iteration: s.Iteration, Iterations: s.Settings.MaxIterations,
		Commits: l.inside == nil, Verified: s.Verified, Memory: memory,
	}
	if s.Iteration > 1 {
		text, err := l.record.Output(ctx, s.Iteration-1, "verify")
		if err != nil {
			return "", nil, err
		}
		in.Output, in.Findings = tail(text, maxShown), findingList(t.Loop.Findings)
	}
	if s.Errors > 0 {
		in.Failed = s.Detail
	}
	if s.Settings.Promise {
		in.Promise = agent.Promise(s.Nonce)
	}
	set, err := model.Prompts(l.w.Config)
	if err != nil {
		return "", nil, err
	}
	r, err := set.Code(in)
	return asText(r), givenIn(r, memory, session), err
}

// turnSession names one process of a loop in the ledger: of the coder of an attempt at an iteration, or with a suffix another.
func (l *looper) turnSession(s worktree.State, suffix string) string {
	return fmt.Sprintf("loop/%s-%s-%d-%d%s", s.Name, s.Run, s.Iteration, s.Errors, suffix)
}

// givenVariable is in the environment of an agent whose prompt has memories in it: the name in the ledger of what it was given. Its hooks
// leave those out.
const givenVariable = "REVERIE_LOOP_GIVEN"

// givenIn is that variable, if the prompt has the memories: words of the user's own may go without.
func givenIn(r prompts.Rendered, memory, session string) []string {
	first, _, _ := strings.Cut(memory, "\n")
	if first == "" || !strings.Contains(r.User, first) {
		return nil
	}
	return []string{givenVariable + "=" + session}
}

// asText is a question for somebody who reads one text.
func asText(r prompts.Rendered) string { return r.System + "\n\n" + r.User + "\n" }

// memories are those that every session begins with, and those that the plan and the open findings name, each once.
func (l *looper) memories(ctx context.Context, t worktree.Turn) string {
	s := t.Loop.State
	about := cutOff(t.Loop.Plan.Text, maxAbout)
	if open := findingList(t.Loop.Findings); len(open) > 0 {
		about += "\n\n" + cutOff(strings.Join(open, "\n"), maxAbout)
	}
	r := brief.Request{For: brief.Start, Dir: t.Dir, Session: l.turnSession(s, ""), Record: true}
	if isAgent(s.Settings.Agent) {
		r.Agent = s.Settings.Agent
	}
	var all []string
	for _, r.For = range []string{brief.Start, brief.Prompt} {
		r.Query = ""
		if r.For == brief.Prompt {
			r.Query = about
		}
		text, err := l.w.context(ctx, r)
		if err != nil && !errors.Is(err, gitstore.ErrNoStore) {
			l.w.env.Warn("the agent is given no memories: %v", err)
		}
		if text != "" {
			all = append(all, strings.TrimSpace(text))
		}
	}
	return strings.Join(all, "\n\n")
}

// cutOff is a text of at most a length in bytes.
func cutOff(text string, most int) string {
	return strings.ToValidUTF8(text[:min(len(text), most)], "")
}

// auditInput is what an auditor is told, but for the change.
func (l *looper) auditInput(ctx context.Context, t worktree.Turn) (prompts.Audit, error) {
	in := prompts.Audit{Plan: t.Loop.Plan.Text, Findings: findingList(t.Loop.Findings)}
	text, err := l.record.Output(ctx, t.Loop.State.Iteration, "verify")
	if err != nil {
		return in, err
	}
	in.Output = tail(text, maxShown)
	r := brief.Request{For: brief.Start, Dir: t.Dir, Session: l.turnSession(t.Loop.State, "-audit"), Record: true}
	if isAgent(t.Loop.State.Settings.AuditAgent) {
		r.Agent = t.Loop.State.Settings.AuditAgent
	}
	rules, err := l.w.context(ctx, r)
	if err != nil && !errors.Is(err, gitstore.ErrNoStore) {
		l.w.env.Warn("the auditor is given no memories: %v", err)
	}
	if rules != "" {
		in.Rules = []string{strings.TrimSpace(rules)}
	}
	return in, nil
}

// auditPrompt is what an agent or a command is given that audits.
func (l *looper) auditPrompt(ctx context.Context, t worktree.Turn) (prompt string, given []string, err error) {
	in, err := l.auditInput(ctx, t)
	if err != nil {
		return "", nil, err
	}
	s := t.Loop.State
	change, err := diff.Between(ctx, l.w.Repo, l.w.Scanner, s.Base, s.Tip)
	if err != nil {
		return "", nil, err
	}
	if change, err = diffFor(change, l.inside != nil); err != nil {
		return "", nil, err
	}
	in.Diff = "git diff " + s.Base + " " + s.Tip + "\n" + change
	set, err := model.Prompts(l.w.Config)
	if err != nil {
		return "", nil, err
	}
	r, err := set.Audit(in)
	return asText(r), givenIn(r, strings.Join(in.Rules, "\n"), l.turnSession(s, "-audit")), err
}

// diffFor is what of a diff stands in the prompt of an agent or a command that audits. In a sandbox there is no git that could tell the rest, so
// none is passed over there.
func diffFor(diff string, inside bool) (string, error) {
	switch {
	case !inside && len(diff) > maxDiff:
		return cutOff(diff, maxDiff) + fmt.Sprintf("\n[%d bytes more: read them in the work tree]\n", len(diff)-maxDiff), nil
	case inside && len(diff) > maxDiffInside:
		return "", fmt.Errorf("the change is too large to be audited in a sandbox: its diff has %d bytes, and %d stand in a prompt, beside which there is no git; --audit-model asks about it in parts", len(diff), maxDiffInside)
	}
	return diff, nil
}

// tail is the end of a text.
func tail(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return "[…]\n" + strings.ToValidUTF8(text[len(text)-most:], "")
}

// findingList is the open findings, each with its number, place and text.
func findingList(all []worktree.Finding) []string {
	var out []string
	for _, f := range all {
		if f.State == worktree.OpenFinding {
			out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s: %s\n%s", f.ID, f.Severity, findingPlace(f), f.Text, f.Scenario)))
		}
	}
	return out
}

// findingPlace is where a finding is.
func findingPlace(f worktree.Finding) string {
	switch {
	case f.File == "":
		return "(everywhere)"
	case f.Line == 0:
		return f.File
	}
	return fmt.Sprintf("%s:%d", f.File, f.Line)
}
