package cmd

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"

	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/learn/ingest"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/reflect/transcript"
)

// occasionOf says which memory is given at an event; none at most of them.
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

// answer is what the agent is given at an event; before a compaction a checkpoint is made, whether or not the agent reads anything.
// Sub-agents are given nothing: who started them told them what they need.
func (c *capture) answer(ctx context.Context, agent hooks.Agent, e hooks.Event) (string, error) {
	occasion := occasionOf(e.Kind)
	if occasion == "" || e.Parent != "" {
		return "", nil
	}
	r := brief.Request{
		For: occasion, Session: ingest.SessionOf(e), Agent: agent.Name, Query: e.Prompt, Dir: cmp.Or(e.Dir, c.env.Dir),
		Resumed: e.Source == "resume", Record: agent.Answers(e), Limits: recall.Limits{Docs: reader.MaxIndexed},
	}
	if before := os.Getenv(givenVariable); transcript.IsName(before) {
		r.Before = before
	}
	switch {
	case e.Kind == hooks.Start && r.Before != "" && c.began(r.Before):
		return "", nil
	case e.Kind == hooks.Start:
		text, found, err := brief.Prepared(ctx, c.ledger(), c.config, r, c.env.Now())
		if err != nil {
			c.env.Warn("%v", err)
		}
		if found {
			return text, nil
		}
	case e.Kind == hooks.Prompt && (c.config.Prompt == 0 || r.AsksNothing()):
		return "", nil
	}
	w, err := c.env.open(ctx)
	if err != nil {
		return "", err
	}
	var failed error
	if e.Kind == hooks.Compacting {
		failed = w.notebook().Compaction(ctx, w.ingester(), e)
	}
	if !agent.Answers(e) {
		return "", failed
	}
	in, err := brief.Give(ctx, w.Reader, r)
	if clone.NoMemory(err) {
		err = nil // nothing was learned yet
	}
	if in.Behind != nil {
		c.env.Warn("this prompt was looked up in no memory: %v; the worker does, for the next ones", in.Behind)
	}
	return in.Text, errors.Join(failed, err)
}

// ledger is that of the clone.
func (c *capture) ledger() brief.Ledger { return brief.Ledger{Repo: c.repo, Scanner: c.spool.Scanner} }

// began reports whether a session was given the block that sessions begin with.
func (c *capture) began(session string) bool {
	return slices.ContainsFunc(c.ledger().Session(session), func(in brief.Injection) bool { return in.For == brief.Start })
}
