package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/hooks/githook"
	"github.com/reverie-memory/reverie/internal/file"
)

// linked are the commits of the code that each session made, by the session's name, as git's hooks have written them
// down. Without hooks there are none.
func (w *workspace) linked(ctx context.Context) (map[string][]githook.LinkedCommit, error) {
	f, err := file.Open(filepath.Join(w.State, githook.LinksFile), os.O_RDONLY|file.NoFollow, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("commits of sessions: %w", err)
	}
	defer f.Close()
	links, err := githook.ReadLinks(f)
	if err != nil {
		return nil, fmt.Errorf("commits of sessions: %w", err)
	}
	w.dropCopies(ctx, links)
	for _, commits := range links {
		for i := range commits {
			text, _ := w.Scanner.Text(commits[i].Branch)
			commits[i].Branch = text.String()
		}
	}
	return links, nil
}

// dropCopies takes out the commits that were made during a rebase and that no branch has: steps on its way, or all of
// one that was broken off.
func (w *workspace) dropCopies(ctx context.Context, links map[string][]githook.LinkedCommit) {
	var copies []string
	for _, commits := range links {
		for _, c := range commits {
			if c.Copied {
				copies = append(copies, c.ID)
			}
		}
	}
	kept, err := w.Local.OnBranches(ctx, copies)
	if err != nil && w.env.Verbose {
		w.env.Warn("commits of sessions: %v", err)
	}
	for s, commits := range links {
		links[s] = slices.DeleteFunc(commits, func(c githook.LinkedCommit) bool { return c.Copied && !kept[c.ID] })
		if len(links[s]) == 0 {
			delete(links, s)
		}
	}
}

// commitLines are a session's commits for people: those that are still here with what they say.
func (w *workspace) commitLines(ctx context.Context, commits []githook.LinkedCommit) []string {
	var revs []string
	for _, c := range commits {
		revs = append(revs, c.ID)
	}
	ids, err := w.Local.Commits(ctx, revs...)
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
		out, _ := w.Local.Git(ctx, nil, args...)
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
