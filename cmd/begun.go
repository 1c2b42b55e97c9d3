package cmd

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/reverie-memory/reverie/hooks/install"
	"github.com/reverie-memory/reverie/reflect/transcript/past"
)

// agentHomes are the folders in which agents keep their sessions: those of their settings, but for OpenCode's. As there, a
// variable counts that holds an absolute path; by another an agent goes elsewhere in each folder that it is called in.
func agentHomes() (past.Homes, error) {
	m, err := install.ThisMachine()
	if err != nil {
		return past.Homes{}, fmt.Errorf("find the agents' stores: %w", err)
	}
	data := m.Env("XDG_DATA_HOME")
	if !filepath.IsAbs(data) {
		data = filepath.Join(m.Home, ".local", "share")
	}
	return past.Homes{Claude: m.Folder("claude"), Codex: m.Folder("codex"), Gemini: m.Folder("gemini"), Copilot: m.Folder("copilot"),
		OpenCode: filepath.Join(data, "opencode")}, nil
}

// begun counts the sessions of this repository that an agent's own records say began after a time; those of
// sub-agents are their parents'. Where there is none and some cannot be read, that is an error.
func (w *workspace) begun(ctx context.Context, agent string, after time.Time) (n int, err error) {
	homes, err := agentHomes()
	if err != nil {
		return 0, err
	}
	q := past.Query{Since: after, Agents: []string{agent}}
	if q.Dirs, err = w.Repo.WorkTrees(ctx); err != nil {
		return 0, err
	}
	all, failed := past.Find(ctx, homes, q)
	for _, s := range all {
		if s.Parent == "" && s.Started.After(after) {
			n++
		}
	}
	switch {
	case n > 0 || len(failed) == 0:
		return n, nil
	case len(failed) > 1:
		return 0, fmt.Errorf("%w, and %d more", failed[0], len(failed)-1)
	}
	return 0, failed[0]
}
