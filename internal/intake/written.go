package intake

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/foreign"
	"github.com/reverie-memory/reverie/internal/learn/ingest"
)

// Written counts the statements of files that this clone has not imported yet.
type Written struct {
	From  string   `json:"from"`
	Files []string `json:"files"`
	Items int      `json:"items"`
}

// FindWritten looks for such files and changes nothing. It skips unreadable ones; an import reports
// the reason.
func FindWritten(ctx context.Context, c *clone.Clone) []Written {
	q, err := Query(ctx, c)
	if err != nil || c.Repo.WorkTree == "" {
		return nil
	}
	var all []Written
	for _, tool := range foreign.Files {
		if _, err := os.Lstat(filepath.Join(c.State, folder, tool+".json")); err == nil {
			continue
		}
		found, err := foreign.Read(ctx, tool, q)
		if err != nil || len(found.Items) == 0 {
			continue
		}
		one := Written{From: tool, Items: len(found.Items)}
		for _, i := range found.Items {
			if name := i.At[:max(0, strings.LastIndexByte(i.At, ':'))]; !slices.Contains(one.Files, name) {
				one.Files = append(one.Files, name)
			}
		}
		all = append(all, one)
	}
	return all
}

// Query returns the query about a clone for the stores of tools. The caller adds Place and Remote.
func Query(ctx context.Context, c *clone.Clone) (foreign.Query, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return foreign.Query{}, err
	}
	q := foreign.Query{Home: home, Token: os.Getenv("OPENCODE_MEM_TOKEN")}
	if q.Dirs, err = c.Repo.WorkTrees(ctx); err != nil {
		return foreign.Query{}, err
	}
	homes, err := ingest.Homes()
	if err != nil {
		return foreign.Query{}, err
	}
	q.Claude, q.Codex, q.Gemini = homes.Claude, homes.Codex, homes.Gemini
	if remote, err := c.Repo.Remote(ctx, "", ""); err == nil {
		q.Remotes = []string{remote.URL}
	}
	return q, nil
}
