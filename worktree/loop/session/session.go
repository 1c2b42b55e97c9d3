// Package session turns a loop that has ended into a session, so that Reverie learns from it
// (From).
package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/cut"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/unseen"
	"github.com/reverie-memory/reverie/reflect"
	"github.com/reverie-memory/reverie/reflect/transcript"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/agent"
	"github.com/reverie-memory/reverie/worktree/verify"
)

// maxSaid bounds the end of a coder's words that is kept, in bytes.
const maxSaid = 16 << 10

// builder collects the events of a loop.
type builder struct {
	*clone.Clone
	record *worktree.Record
	events []transcript.Event
}

// From returns a loop as a session: the files that each iteration changed, the results of the
// plan's commands, the findings of audits and the end. Plan and prompts are left out, because no
// session said them. dir is the loop's work tree, "" where that is unknown.
func From(ctx context.Context, c *clone.Clone, r *worktree.Record, l worktree.Loop, dir string) (transcript.Session, []transcript.Event, error) {
	s := l.State
	top := transcript.Session{
		Client: reflect.LoopClient, ID: transcript.SafeID(s.Name + "-" + s.Run), Title: s.Title, Model: s.Settings.Model, Dir: dir,
		Branch: strings.TrimPrefix(s.Branch, "refs/heads/"), Commit: s.Base, Started: s.Started, Ended: s.Changed,
	}
	b := &builder{Clone: c, record: r}
	if err := b.iterations(ctx, s, top); err != nil {
		return top, nil, err
	}
	if err := b.findings(l.Findings); err != nil {
		return top, nil, err
	}
	end := transcript.Event{Kind: transcript.End, Time: s.Changed, Text: string(s.Reason), Outcome: transcript.Failed}
	switch {
	case s.Phase == worktree.Done:
		end.Outcome = transcript.OK
	case s.Reason == worktree.Cancelled:
		end.Outcome = transcript.Aborted
	}
	return top, append(b.events, end), nil
}

// add appends a call and its result.
func (b *builder) add(call, result transcript.Event) {
	call.Kind, result.Kind = transcript.Call, transcript.Result
	call.CallID = strconv.Itoa(len(b.events))
	result.CallID, result.Tool, result.Action, result.Command = call.CallID, call.Tool, call.Action, call.Command
	b.events = append(b.events, call, result)
}

// iterations adds what the coder said, the files that it changed, and the commands of the plan. The
// hooks of a known agent report its words themselves, except in a container, where no hook runs.
func (b *builder) iterations(ctx context.Context, s worktree.State, top transcript.Session) error {
	edits, err := b.edits(ctx, s)
	if err != nil {
		return err
	}
	ran, err := b.agentCommands(top)
	if err != nil {
		return err
	}
	_, hooked := hooks.Find(s.Settings.Agent)
	for n := 1; n <= s.Iteration; n++ {
		if !hooked || s.Settings.Sandboxed() {
			said, err := b.record.Output(ctx, n, worktree.Coding)
			if err != nil {
				return err
			}
			if said = strings.TrimSpace(agent.Said(s.Settings.Agent, said)); said != "" {
				b.events = append(b.events, transcript.Event{Kind: transcript.Assistant, Text: cut.Tail(said, maxSaid)})
			}
		}
		if len(edits[n]) > 0 {
			b.add(transcript.Event{Tool: "commit", Action: transcript.Edit, Paths: edits[n]}, transcript.Event{Outcome: transcript.OK})
		}
		printed, err := b.record.Output(ctx, n, worktree.Verifying)
		if err != nil {
			return err
		}
		for _, c := range verify.Read(printed) {
			if slices.ContainsFunc(ran, func(command string) bool { return strings.Contains(command, c.Line) }) {
				continue
			}
			b.add(transcript.Event{Tool: "verify", Action: transcript.Run, Command: c.Line}, transcript.Event{Text: c.Output, Outcome: outcome(c), Exit: c.Exit})
		}
	}
	return nil
}

// findings adds the findings of audits, except those that a person waived.
func (b *builder) findings(all []worktree.Finding) error {
	for _, f := range all {
		if f.By != worktree.ByAudit || f.State == worktree.Waived {
			continue
		}
		facts, err := json.Marshal(reflect.AuditCall{Severity: string(f.Severity), Rule: f.Rule, Recurrences: f.Recurrences, Iteration: f.First})
		if err != nil {
			return err
		}
		call := transcript.Event{Tool: reflect.AuditTool, Action: transcript.Other, Text: string(facts)}
		if f.File != "" {
			call.Paths = []string{f.File}
		}
		outcome := transcript.Failed
		if f.State == worktree.Fixed {
			outcome = transcript.OK
		}
		b.add(call, transcript.Event{Text: strings.TrimSpace(unseen.OneLine(f.Text, 1000) + "\n" + f.Scenario), Outcome: outcome})
	}
	return nil
}

// outcome returns the outcome of a command of a plan.
func outcome(c verify.Ran) transcript.Outcome {
	switch {
	case c.Exit != nil && *c.Exit == 0:
		return transcript.OK
	case c.Exit != nil || c.Ended:
		return transcript.Failed
	}
	return transcript.Unknown
}

// agentCommands returns the commands that the loop's agents ran in sessions that are kept. Such
// sessions report the results, which would count twice if the loop's session repeated them.
func (b *builder) agentCommands(top transcript.Session) (commands []string, err error) {
	kept, err := b.Sessions.List()
	if err != nil || top.Dir == "" {
		return nil, err
	}
	for _, k := range kept {
		if k.Client == reflect.LoopClient || !file.Same(k.Dir, top.Dir) || k.Ended.Before(top.Started) {
			continue
		}
		_, events, err := b.Sessions.Load(k.Name())
		if errors.Is(err, reflect.ErrNoSession) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, e := range events {
			if e.Kind == transcript.Call && e.Action == transcript.Run {
				commands = append(commands, e.Command)
			}
		}
	}
	return commands, nil
}

// edits returns the files that each iteration changed, by its number.
func (b *builder) edits(ctx context.Context, s worktree.State) (map[int][]string, error) {
	if s.Tip == "" || s.Tip == s.Base {
		return nil, nil
	}
	out, err := b.Repo.Git(ctx, nil, "-c", "core.quotePath=false", "log", "--reverse", "--no-show-signature", "--no-renames", "--name-only",
		"--format=%x01%(trailers:key=Reverie-Iteration,valueonly,separator=%x20)", s.Base+".."+s.Tip)
	if err != nil {
		return nil, fmt.Errorf("read the loop's commits: %w", err)
	}
	edits := map[int][]string{}
	var names []string // in the agent's own commits since the loop's last one
	for _, commit := range strings.Split(string(out), "\x01")[1:] {
		iteration, rest, _ := strings.Cut(commit, "\n")
		for name := range strings.Lines(rest) {
			if name = strings.TrimSpace(name); name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		if n, err := strconv.Atoi(strings.TrimSpace(iteration)); err == nil {
			edits[n] = append(edits[n], names...)
			names = nil
		}
	}
	return edits, nil
}
