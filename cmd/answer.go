package cmd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/reflect"
)

// occasionOf says which memory is given at an event; none at most of them.
func occasionOf(k hooks.Kind) string {
	switch k {
	case hooks.Start:
		return forStart
	case hooks.Prompt:
		return forPrompt
	case hooks.Compacting:
		return forCompaction
	case hooks.Compacted:
		return forCompacted
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
	r := contextRequest{
		For: occasion, Session: sessionOf(e), Agent: agent.Name, Query: e.Prompt, Dir: e.Dir,
		Resumed: e.Source == "resume", Record: agent.Answers(e), Limits: recall.Limits{Docs: reader.MaxIndexed},
	}
	if before := os.Getenv(givenVariable); sessionName.MatchString(before) {
		r.Before = before
	}
	switch {
	case e.Kind == hooks.Start && r.Before != "" && c.began(r.Before):
		return "", nil
	case e.Kind == hooks.Start:
		if text, found := preparedContext(ctx, c.env, c.repo, c.config, r); found {
			return text, nil
		}
	case e.Kind == hooks.Prompt && (c.config.Prompt == 0 || asksNothing(r)):
		return "", nil
	}
	w, err := c.env.open(ctx)
	if err != nil {
		return "", err
	}
	var failed error
	if e.Kind == hooks.Compacting {
		failed = w.checkpointNow(ctx, e)
	}
	if !agent.Answers(e) {
		return "", failed
	}
	in, err := w.inject(ctx, r)
	if clone.NoMemory(err) {
		err = nil // nothing was learned yet
	}
	if in.behind != nil {
		c.env.Warn("this prompt was looked up in no memory: %v; the worker does, for the next ones", in.behind)
	}
	return in.text, errors.Join(failed, err)
}

// began reports whether a session was given the block that sessions begin with.
func (c *capture) began(session string) bool {
	return slices.ContainsFunc(readLedger(filepath.Join(c.state, ledgerDir, ledgerFile(ledgerName(c.spool.Scanner, session)))), func(in injection) bool { return in.For == forStart })
}

// checkpointTime is how long a compaction may wait for its checkpoint. Where it does not come about in that time, the worker makes it.
const checkpointTime = time.Second

// checkpointNow takes what waits of a session and notes where it stands.
func (w *workspace) checkpointNow(ctx context.Context, e hooks.Event) error {
	ctx, cancel := context.WithTimeout(ctx, checkpointTime)
	defer cancel()
	lock, err := waitStation(ctx, w.State, theWorker)
	if lock == nil || err != nil {
		return err
	}
	defer lock.Close()
	s, err := w.spool().TakeOne(e)
	if s == nil || err != nil {
		return err
	}
	scan := redact.New(w.AllSecrets(ctx)...)
	w.Sessions.Scanner = scan
	if _, err := w.foldOne(ctx, s, scan, false); err != nil && ctx.Err() == nil {
		return err
	}
	if ctx.Err() != nil {
		return nil
	}
	return w.checkpointOwed(ctx, s)
}

// checkpointOwed makes the checkpoint of a session's last compaction, if it was not made yet.
func (w *workspace) checkpointOwed(ctx context.Context, s *hooks.Waiting) error {
	e, ok := s.Compaction()
	if !ok {
		return nil
	}
	if _, err := w.ensure(ctx); err != nil {
		return err
	}
	_, err := w.checkpoint(ctx, sessionOf(e), reasonCompaction)
	if err != nil && !errors.Is(err, reflect.ErrNoSession) { // nothing was said in it yet
		return err
	}
	return s.Noted(e)
}
