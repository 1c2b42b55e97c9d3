package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/internal/file"
)

// linked are the commits of the code that each session made, by the session's name, as git's hooks have written them
// down. Without hooks there are none.
func (w *workspace) linked(ctx context.Context) (map[string][]hooks.LinkedCommit, error) {
	f, err := file.Open(filepath.Join(w.state, hooks.LinksFile), os.O_RDONLY|file.NoFollow, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("commits of sessions: %w", err)
	}
	defer f.Close()
	links, err := hooks.ReadLinks(f)
	if err != nil {
		return nil, fmt.Errorf("commits of sessions: %w", err)
	}
	w.dropCopies(ctx, links)
	for _, commits := range links {
		for i := range commits {
			text, _ := w.scanner.Text(commits[i].Branch)
			commits[i].Branch = text.String()
		}
	}
	return links, nil
}

// maxCopies is how many commits of unfinished or broken-off rebases are asked about.
const maxCopies = 50

// dropCopies takes out the commits that were made during a rebase and that no branch has: steps on its way, or all of
// one that was broken off.
func (w *workspace) dropCopies(ctx context.Context, links map[string][]hooks.LinkedCommit) {
	asked := 0
	for s, commits := range links {
		var kept []hooks.LinkedCommit
		for _, c := range commits {
			if c.Copied {
				if asked++; asked > maxCopies {
					continue
				}
				refs, err := w.local.Refs(ctx, "--count=1", "--contains="+c.ID, "refs/heads", "refs/remotes")
				if err != nil || len(refs) == 0 {
					continue
				}
			}
			kept = append(kept, c)
		}
		if links[s] = kept; len(kept) == 0 {
			delete(links, s)
		}
	}
}

// commitLines are a session's commits for people: those that are still here with what they say.
func (w *workspace) commitLines(ctx context.Context, commits []hooks.LinkedCommit) []string {
	var revs []string
	for _, c := range commits {
		revs = append(revs, c.ID)
	}
	ids, err := w.local.Commits(ctx, revs...)
	if err != nil {
		ids = make([]string, len(revs))
	}
	args := []string{"log", "--no-walk=unsorted", "--no-show-signature", "--encoding=UTF-8", "--format=%H %s"}
	for _, id := range ids {
		if id != "" {
			args = append(args, id)
		}
	}
	subjects := map[string]string{}
	if len(args) > 5 {
		out, _ := w.local.Git(ctx, nil, args...)
		for line := range strings.Lines(string(out)) {
			id, subject, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			subjects[id] = subject
		}
	}
	var lines []string
	for i, c := range commits {
		line := c.ID[:10] + " " + subjects[c.ID]
		if ids[i] == "" {
			line = c.ID[:10] + " (not here any more)"
		}
		lines = append(lines, line)
	}
	return lines
}
