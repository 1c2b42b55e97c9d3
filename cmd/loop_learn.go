package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/reflect"
	"github.com/reverie-memory/reverie/reflect/transcript"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/agent"
	"github.com/reverie-memory/reverie/worktree/verify"
)

// learnLoop makes a session of what a loop kept that has ended, and learns from it. The sessions of its agents come by the agents'
// hooks, as all do. Nothing that fails here changes how the loop ended: it is told.
func (w *workspace) learnLoop(ctx context.Context, r *worktree.Record, s worktree.State) {
	if !s.Phase.Over() || s.Iteration == 0 {
		return
	}
	if err := w.learnFromLoop(ctx, r); err != nil && ctx.Err() == nil {
		w.env.Warn("nothing is learned from the loop: %v", err)
	}
}

func (w *workspace) learnFromLoop(ctx context.Context, r *worktree.Record) error {
	l, err := r.Load(ctx)
	if err != nil {
		return err
	}
	if err := w.ingester().Sweep(ctx); err != nil {
		w.env.Warn("sessions of the loop's agents wait: %v", err)
	}
	head, events, err := w.loopSession(ctx, r, l)
	if err != nil {
		return err
	}
	if _, err := w.Repo.StateDir(); err != nil {
		return err
	}
	w.Sessions.Scanner = w.Scanner
	kept, err := w.Sessions.Put(head, events)
	if err != nil || kept.Change == reflect.Unchanged {
		return err
	}
	switch _, err := w.Memory.Tip(ctx); {
	case errors.Is(err, gitstore.ErrNoStore):
		w.env.Say("the loop is kept as the session %s; 'reverie learn' learns from it", kept.Name())
		return nil
	case err != nil:
		return err
	}
	if err := w.Narrow(ctx); err != nil {
		return err
	}
	if w.Settings.Config.Background == "off" {
		return nil
	}
	res, err := w.learner().Learn(ctx, []string{kept.Name()})
	if err == nil && len(res.Rest) > 0 {
		w.env.Say("%s for a person; next: reverie review", waits(res.Waiting))
	}
	return err
}

// loopSession is a loop as a session: what each iteration changed, what the plan's commands came to, what its audits found, and how it
// ended. The plan and the prompts are no part of it: nobody said them in a session.
func (w *workspace) loopSession(ctx context.Context, r *worktree.Record, l worktree.Loop) (transcript.Session, []transcript.Event, error) {
	s := l.State
	head := transcript.Session{
		Client: reflect.LoopClient, ID: transcript.SafeID(s.Name + "-" + s.Run), Title: s.Title, Model: s.Settings.Model,
		Branch: strings.TrimPrefix(s.Branch, "refs/heads/"), Commit: s.Base, Started: s.Started, Ended: s.Changed,
	}
	if place, err := w.loopPlace(ctx, s); err == nil {
		head.Dir = place.Dir
	}
	edits, err := w.loopEdits(ctx, s)
	if err != nil {
		return head, nil, err
	}
	ran, err := w.ranInLoop(head)
	if err != nil {
		return head, nil, err
	}
	var events []transcript.Event
	add := func(call, result transcript.Event) {
		call.Kind, result.Kind = transcript.Call, transcript.Result
		call.CallID = strconv.Itoa(len(events))
		result.CallID, result.Tool, result.Action, result.Command = call.CallID, call.Tool, call.Action, call.Command
		events = append(events, call, result)
	}
	for n := 1; n <= s.Iteration; n++ {
		if !isAgent(s.Settings.Agent) || sandboxed(s.Settings) { // else its own session has what it said: in a container its hooks do not run
			said, err := r.Output(ctx, n, "agent")
			if err != nil {
				return head, nil, err
			}
			if said = strings.TrimSpace(agent.Said(s.Settings.Agent, said)); said != "" {
				events = append(events, transcript.Event{Kind: transcript.Assistant, Text: tail(said, maxShown)})
			}
		}
		if len(edits[n]) > 0 {
			add(transcript.Event{Tool: "commit", Action: transcript.Edit, Paths: edits[n]}, transcript.Event{Outcome: transcript.OK})
		}
		printed, err := r.Output(ctx, n, "verify")
		if err != nil {
			return head, nil, err
		}
		for _, c := range verify.Read(printed) {
			if slices.ContainsFunc(ran, func(command string) bool { return strings.Contains(command, c.Line) }) {
				continue
			}
			add(transcript.Event{Tool: "verify", Action: transcript.Run, Command: c.Line}, transcript.Event{Text: c.Output, Outcome: outcomeOf(c), Exit: c.Exit})
		}
	}
	for _, f := range l.Findings {
		if f.By != worktree.ByAudit || f.State == worktree.Waived {
			continue // a person says that a waived one is none
		}
		told, err := json.Marshal(reflect.AuditCall{Severity: string(f.Severity), Rule: f.Rule, Recurrences: f.Recurrences, Iteration: f.First})
		if err != nil {
			return head, nil, err
		}
		call := transcript.Event{Tool: reflect.AuditTool, Action: transcript.Other, Text: string(told)}
		if f.File != "" {
			call.Paths = []string{f.File}
		}
		outcome := transcript.Failed
		if f.State == worktree.Fixed {
			outcome = transcript.OK
		}
		add(call, transcript.Event{Text: strings.TrimSpace(term.OneLine(f.Text, 1000) + "\n" + f.Scenario), Outcome: outcome})
	}
	end := transcript.Event{Kind: transcript.End, Time: s.Changed, Text: string(s.Reason), Outcome: transcript.Failed}
	switch {
	case s.Phase == worktree.Done:
		end.Outcome = transcript.OK
	case s.Reason == worktree.Cancelled:
		end.Outcome = transcript.Aborted
	}
	return head, append(events, end), nil
}

// outcomeOf is what became of a command of a plan.
func outcomeOf(c verify.Ran) transcript.Outcome {
	switch {
	case c.Exit != nil && *c.Exit == 0:
		return transcript.OK
	case c.Exit != nil || c.Ended:
		return transcript.Failed
	}
	return transcript.Unknown
}

// ranInLoop are the commands that the loop's agents ran themselves, of those whose sessions are kept. Such a session tells what came of them:
// told by the loop's too, it would count twice.
func (w *workspace) ranInLoop(loop transcript.Session) (commands []string, err error) {
	kept, err := w.Sessions.List()
	if err != nil || loop.Dir == "" {
		return nil, err
	}
	for _, k := range kept {
		if k.Client == reflect.LoopClient || !file.Same(k.Dir, loop.Dir) || k.Ended.Before(loop.Started) {
			continue
		}
		_, events, err := w.Sessions.Load(k.Name())
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

// loopEdits is the files that each iteration changed, by its number.
func (w *workspace) loopEdits(ctx context.Context, s worktree.State) (map[int][]string, error) {
	if s.Tip == "" || s.Tip == s.Base {
		return nil, nil
	}
	out, err := w.Repo.Git(ctx, nil, "-c", "core.quotePath=false", "log", "--reverse", "--no-show-signature", "--no-renames", "--name-only",
		"--format=%x01%(trailers:key=Reverie-Iteration,valueonly,separator=%x20)", s.Base+".."+s.Tip)
	if err != nil {
		return nil, fmt.Errorf("read the loop's commits: %w", err)
	}
	edits := map[int][]string{}
	var names []string // of the agent's own commits, which the next of the loop's ends
	for _, commit := range strings.Split(string(out), "\x01")[1:] {
		of, rest, _ := strings.Cut(commit, "\n")
		for name := range strings.Lines(rest) {
			if name = strings.TrimSpace(name); name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		if n, err := strconv.Atoi(strings.TrimSpace(of)); err == nil {
			edits[n] = append(edits[n], names...)
			names = nil
		}
	}
	return edits, nil
}
