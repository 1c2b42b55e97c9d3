package cmd

import (
	"context"
	"fmt"

	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/audit"
	"github.com/reverie-memory/reverie/worktree/diff"
)

// auditByModel has a model of the local server look for defects.
func (l *looper) auditByModel(ctx context.Context, t worktree.Turn) (out worktree.Outcome, err error) {
	s := t.Loop.State
	m, set, err := l.w.model(ctx, s.Settings.AuditModel)
	if err == nil && m == nil { // an audit that nobody did is none
		err = fmt.Errorf("--audit-model %s: there is no model", s.Settings.AuditModel)
	}
	if err != nil {
		return out, err
	}
	in, err := l.auditInput(ctx, t)
	if err != nil {
		return out, err
	}
	change, err := diff.Between(ctx, l.w.Repo, l.w.Scanner, s.Base, s.Tip)
	if err != nil {
		return out, err
	}
	out, err = audit.Ask(ctx, m, set, in, change, t)
	for i := range out.Audit.Findings {
		f := &out.Audit.Findings[i]
		f.Text = term.OneLine(f.Text, 1000)
	}
	return out, err
}
