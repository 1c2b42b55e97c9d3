package capture

import (
	"cmp"
	"context"
	"path/filepath"

	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/gitstore/guard"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/learn/ingest"
)

// judge answers a call of a tool by the guards. Nothing is spooled: the transcript has the call.
// The memory is opened only if it changed since the table of guards was made.
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
	at := brief.At{Event: brief.Calling, Commit: table.Commit, Call: *e.Call, Tells: agent.Tells(e)}
	at.Request = brief.Request{Session: ingest.SessionOf(e), Agent: agent.Name, Dir: dir, Record: true}
	if e.Kind == hooks.Called {
		at.Event, at.Untold = brief.Called, !agent.TellsBefore()
	}
	t.scan(ctx)
	reply, err := brief.Judge(ctx, brief.Ledger{Repo: t.repo, Scanner: t.spool.Scanner}, rules, at, t.Now())
	v.Answer = agent.Encode(e, reply)
	return v, err
}
