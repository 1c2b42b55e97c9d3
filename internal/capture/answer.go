package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/gitstore/guard"
	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/checkpoint"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/learn/ingest"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// occasionOf returns the occasion on which memories are given at an event, or "".
func occasionOf(k hooks.Kind) string {
	switch k {
	case hooks.Start:
		return brief.Start
	case hooks.Prompt:
		return brief.Prompt
	case hooks.Compacting:
		return brief.Compaction
	case hooks.Compacted:
		return brief.Compacted
	}
	return ""
}

// answer returns the memories for the agent at an event. Before a compaction it makes a checkpoint,
// whether or not the agent reads an answer. Sub-agents get nothing, because their parent has told
// them what they need.
func (t *target) answer(ctx context.Context, agent hooks.Agent, e hooks.Event) (in brief.Injection, err error) {
	occasion := occasionOf(e.Kind)
	if occasion == "" || e.Parent != "" {
		return in, nil
	}
	r := brief.Request{
		For: occasion, Session: ingest.SessionOf(e), Agent: agent.Name, Query: e.Prompt, Dir: cmp.Or(e.Dir, t.Dir),
		Resumed: e.Source == "resume", Record: agent.Tells(e), Limits: recall.Limits{Docs: reader.MaxIndexed},
	}
	if transcript.IsName(t.Given) {
		r.Before = t.Given
	}
	ledger := brief.Ledger{Repo: t.repo, Scanner: t.spool.Scanner}
	switch {
	case e.Kind == hooks.Start && r.Before != "" && hasStart(ledger.Session(r.Before)):
		return in, nil
	case e.Kind == hooks.Start:
		ready, found, err := brief.Prepared(ctx, ledger, t.config, r, t.Now())
		if err != nil {
			t.Warn(err)
		}
		if found {
			return ready, nil
		}
	case e.Kind == hooks.Prompt && (!r.Record || t.config.Prompt == 0 || r.AsksNothing()):
		return in, nil
	}
	d, err := t.Open(ctx, t.Dir)
	if err != nil {
		return in, err
	}
	var failed error
	if e.Kind == hooks.Compacting {
		n := checkpoint.Notebook{Reader: d.Reader, Create: d.Create}
		failed = n.Compaction(ctx, d.Ingester, e)
	}
	if !agent.Tells(e) {
		return in, failed
	}
	in, err = brief.Give(ctx, d.Reader, r)
	if clone.NoMemory(err) {
		err = nil // nothing was learned yet
	}
	if in.Behind != nil {
		t.Warn(fmt.Errorf("this prompt was looked up in no memory: %w; the worker does, for the next ones", in.Behind))
	}
	return in, errors.Join(failed, err)
}

// hasStart reports whether injections include the block of a session's start.
func hasStart(all []brief.Injection) bool {
	return slices.ContainsFunc(all, func(in brief.Injection) bool { return in.For == brief.Start })
}

// judge answers a call of a tool by the guards. It spools nothing: a transcript has the call. The
// memory is opened only if it changed since the table of guards was made.
func (t *target) judge(ctx context.Context, agent hooks.Agent, e hooks.Event) (v Verdict, err error) {
	if t.unsettled != nil || !t.config.Guards || !t.started() {
		return v, t.unsettled
	}
	table, found := brief.Guards(ctx, t.repo, t.config)
	if !found {
		t.Reading()
		d, err := t.Open(ctx, t.Dir)
		if err != nil {
			return v, err
		}
		if table, err = brief.MakeGuards(ctx, d.Reader); err != nil {
			t.Warn(err) // the next call makes it again
		}
	}
	if table.Empty() {
		return v, nil
	}
	dir, err := filepath.Abs(cmp.Or(e.Dir, t.Dir))
	if err != nil {
		return v, err
	}
	if real, err := file.Real(dir); err == nil { // as git names the top
		dir = real
	}
	for _, name := range e.Call.Files {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		if real, err := file.Real(name); err == nil && real != name {
			e.Call.Files = append(e.Call.Files, real)
		}
	}
	rules := table.Match(*e.Call, guard.Place{Top: t.repo.WorkTree, Dir: dir}, t.Now())
	rules = brief.Recheck(t.repo, rules, t.config.Stale == "withhold")
	if len(rules) == 0 {
		return v, nil
	}
	at := brief.At{Event: brief.Calling, Commit: table.Commit, Call: *e.Call, Subagent: e.Subagent, Tells: agent.Tells(e)}
	at.Request = brief.Request{Session: ingest.SessionOf(e), Agent: agent.Name, Dir: dir, Record: true}
	if e.Kind == hooks.Called {
		at.Event, at.Untold = brief.Called, !agent.TellsBefore()
	}
	t.scan(ctx)
	reply, err := brief.Judge(ctx, brief.Ledger{Repo: t.repo, Scanner: t.spool.Scanner}, rules, at, t.Now())
	v.Answer = agent.Encode(e, reply)
	return v, err
}
