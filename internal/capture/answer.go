package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/checkpoint"
	"github.com/reverie-memory/reverie/internal/clone"
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
	case e.Kind == hooks.Prompt && (t.config.Prompt == 0 || r.AsksNothing()):
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
