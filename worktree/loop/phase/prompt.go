package phase

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/cut"
	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/internal/model"
	"github.com/reverie-memory/reverie/prompts"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/agent"
	"github.com/reverie-memory/reverie/worktree/diff"
)

// Bounds of the texts in a prompt, in bytes.
const (
	// MaxOutput bounds the end of an output that is shown.
	MaxOutput = 16 << 10

	maxQuery      = 8 << 10   // of the plan, and of the findings, in the query for memories
	maxDiff       = 96 << 10  // of a change; the rest can be read in the work tree
	maxDiffInside = 256 << 10 // of a change in a sandbox, which has no git to read more
)

// insideText begins a prompt in a sandbox.
const insideText = "You are in a sandbox: there is no git directory in this folder, git does not work here, and nothing but this folder and /tmp can be written.\n\n"

// codePrompt returns the coder's prompt for an iteration, and the variables for the coder's
// environment that go with it.
func (p *Phases) codePrompt(ctx context.Context, t worktree.Turn) (prompt string, env []string, err error) {
	s := t.Loop.State
	memory := p.memories(ctx, t)
	in := prompts.Code{
		Plan: t.Loop.Plan.Text, Branch: strings.TrimPrefix(s.Branch, "refs/heads/"), Iteration: s.Iteration, Iterations: s.Settings.MaxIterations,
		Commits: p.Inside == nil, Verified: s.Verified, Memory: memory,
	}
	if s.Iteration > 1 {
		text, err := p.Record.Output(ctx, s.Iteration-1, worktree.Verifying)
		if err != nil {
			return "", nil, err
		}
		in.Output, in.Findings = cut.Tail(text, MaxOutput), findingList(t.Loop.Findings)
	}
	if s.Errors > 0 {
		in.Failed = s.Detail
	}
	if s.Settings.Promise {
		in.Promise = agent.Promise(s.Nonce)
	}
	set, err := model.Prompts(p.Reader.Config)
	if err != nil {
		return "", nil, err
	}
	r, err := set.Code(in)
	return asText(r), given(r, memory, ledgerName(s, "")), err
}

// ledgerName names one process of a loop in the ledger: the coder of an attempt at an iteration, or
// with a suffix another process.
func ledgerName(s worktree.State, suffix string) string {
	return fmt.Sprintf("loop/%s-%s-%d-%d%s", s.Name, s.Run, s.Iteration, s.Errors, suffix)
}

// given returns the variable job.Given for a prompt that has the memories. A user's own prompt may
// have none.
func given(r prompts.Rendered, memory, session string) []string {
	first, _, _ := strings.Cut(memory, "\n")
	if first == "" || !strings.Contains(r.User, first) {
		return nil
	}
	return []string{job.Given + "=" + session}
}

// asText joins the parts of a question for a reader of one text.
func asText(r prompts.Rendered) string { return r.System + "\n\n" + r.User + "\n" }

// memories returns the memories of every session's start, and those that the plan and the open
// findings name, each once.
func (p *Phases) memories(ctx context.Context, t worktree.Turn) string {
	s := t.Loop.State
	query := cut.Bytes(t.Loop.Plan.Text, maxQuery)
	if open := findingList(t.Loop.Findings); len(open) > 0 {
		query += "\n\n" + cut.Bytes(strings.Join(open, "\n"), maxQuery)
	}
	r := brief.Request{For: brief.Start, Agent: known(s.Settings.Agent), Dir: t.Dir, Bare: true, Session: ledgerName(s, ""), Record: true}
	start := p.brief(ctx, r, "agent")
	r.For, r.Query = brief.Prompt, query
	return strings.TrimSpace(start + "\n\n" + p.brief(ctx, r, "agent"))
}

// known returns the name of an agent whose hooks are known, else "".
func known(agent string) string {
	if _, ok := hooks.Find(agent); !ok {
		return ""
	}
	return agent
}

// brief returns the memories for a request. A failure costs the prompt its memories and nothing
// else.
func (p *Phases) brief(ctx context.Context, r brief.Request, who string) string {
	given, err := brief.Give(ctx, p.Reader, r)
	if err != nil && !errors.Is(err, gitstore.ErrNoStore) {
		p.Lacks(who, err)
	}
	return strings.TrimSpace(given.Text)
}

// auditInput returns the question to an auditor, without the change.
func (p *Phases) auditInput(ctx context.Context, t worktree.Turn) (prompts.Audit, error) {
	in := prompts.Audit{Plan: t.Loop.Plan.Text, Findings: findingList(t.Loop.Findings)}
	s := t.Loop.State
	text, err := p.Record.Output(ctx, s.Iteration, worktree.Verifying)
	if err != nil {
		return in, err
	}
	in.Output = cut.Tail(text, MaxOutput)
	r := brief.Request{For: brief.Start, Agent: known(s.Settings.AuditAgent), Dir: t.Dir, Bare: true, Session: ledgerName(s, "-audit"), Record: true}
	if rules := p.brief(ctx, r, "auditor"); rules != "" {
		in.Rules = []string{rules}
	}
	return in, nil
}

// auditPrompt returns the prompt of an agent or a command that audits, and the variables for its
// environment that go with it.
func (p *Phases) auditPrompt(ctx context.Context, t worktree.Turn) (prompt string, env []string, err error) {
	in, err := p.auditInput(ctx, t)
	if err != nil {
		return "", nil, err
	}
	s := t.Loop.State
	change, err := diff.Between(ctx, p.Reader.Repo, p.Reader.Scanner, s.Base, s.Tip)
	if err != nil {
		return "", nil, err
	}
	if change, err = fitDiff(change, p.Inside != nil); err != nil {
		return "", nil, err
	}
	in.Diff = "git diff " + s.Base + " " + s.Tip + "\n" + change
	set, err := model.Prompts(p.Reader.Config)
	if err != nil {
		return "", nil, err
	}
	r, err := set.Audit(in)
	return asText(r), given(r, strings.Join(in.Rules, "\n"), ledgerName(s, "-audit")), err
}

// fitDiff cuts a diff for the prompt of an agent or a command that audits. In a sandbox no git
// could show the rest, so a diff that is too large is an error there.
func fitDiff(diff string, inside bool) (string, error) {
	switch {
	case !inside && len(diff) > maxDiff:
		return cut.Bytes(diff, maxDiff) + fmt.Sprintf("\n[%d bytes more: read them in the work tree]\n", len(diff)-maxDiff), nil
	case inside && len(diff) > maxDiffInside:
		return "", fmt.Errorf("the change is too large to be audited in a sandbox: its diff has %d bytes, and %d stand in a prompt, beside which there is no git; --audit-model asks about it in parts", len(diff), maxDiffInside)
	}
	return diff, nil
}

// findingList returns the open findings, each with its number, place and text.
func findingList(all []worktree.Finding) []string {
	var out []string
	for _, f := range all {
		if f.State == worktree.OpenFinding {
			out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s: %s\n%s", f.ID, f.Severity, f.Place(), f.Text, f.Scenario)))
		}
	}
	return out
}
