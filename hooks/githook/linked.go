package githook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/redact"
)

// Linked returns the commits that each session made, by the session's name, as git's hooks recorded
// them. Branch names are redacted. doubt is an error that hides no commit: copies left by a rebase
// could not be told from commits of a branch.
func Linked(ctx context.Context, repo *git.Repo, scan *redact.Scanner) (links map[string][]LinkedCommit, doubt, err error) {
	f, err := file.Open(filepath.Join(repo.CommonDir, "reverie", LinksFile), os.O_RDONLY|file.NoFollow, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("commits of sessions: %w", err)
	}
	defer f.Close()
	if links, err = ReadLinks(f); err != nil {
		return nil, nil, fmt.Errorf("commits of sessions: %w", err)
	}
	if doubt = dropCopies(ctx, repo, links); doubt != nil {
		doubt = fmt.Errorf("commits of sessions: %w", doubt)
	}
	for _, commits := range links {
		for i := range commits {
			text, _ := scan.Text(commits[i].Branch)
			commits[i].Branch = text.String()
		}
	}
	return links, doubt, nil
}

// dropCopies removes commits of a rebase that no branch has: its steps, or all of an aborted one.
func dropCopies(ctx context.Context, repo *git.Repo, links map[string][]LinkedCommit) error {
	var copies []string
	for _, commits := range links {
		for _, c := range commits {
			if c.Copied {
				copies = append(copies, c.ID)
			}
		}
	}
	kept, err := repo.History().OnBranches(ctx, copies)
	for s, commits := range links {
		links[s] = slices.DeleteFunc(commits, func(c LinkedCommit) bool { return c.Copied && !kept[c.ID] })
		if len(links[s]) == 0 {
			delete(links, s)
		}
	}
	return err
}

// Lines returns a line for each of some commits: its short id, and its subject if it is still here.
func Lines(ctx context.Context, repo *git.Repo, commits []LinkedCommit) []string {
	var revs []string
	for _, c := range commits {
		revs = append(revs, c.ID)
	}
	ids, err := repo.History().Commits(ctx, revs...)
	if err != nil {
		ids = make([]string, len(revs))
	}
	args := []string{"log", "--no-walk=unsorted", "--no-show-signature", "--encoding=UTF-8", "--format=%H %s"}
	here := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return id == "" })
	subjects := map[string]string{}
	if len(here) > 0 {
		out, _ := repo.Git(ctx, nil, append(args, here...)...)
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
