package githook

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/pattern"
	"github.com/reverie-memory/reverie/internal/redact"
)

// The file links, in the state folder, says which sessions made which commits of the code. The
// hooks of git append to it, a line each, and nothing ever changes a line:
//
//	commit ID BRANCH|- AGENT/SESSION…    these sessions made the commit, on that branch
//	copied ID BRANCH|- AGENT/SESSION…    likewise, but while a rebase was going on: most likely a copy
//	moved OLD NEW                        a rebase or an amendment put NEW in the place of OLD
//
// Other lines, torn or of a newer version, are skipped.

// LinksFile is the name of the file in the state folder. Scripts append to it only if it exists.
const LinksFile = "links"

// LinkedCommit is a commit that a session made.
type LinkedCommit struct {
	ID     string `json:"commit"`
	Branch string `json:"branch,omitempty"` // at the time of the commit
	Copied bool   `json:"-"`                // during a rebase; it may be an abandoned step
}

var (
	objectID    = pattern.New(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)
	sessionName = pattern.New(`^[a-z]{1,20}/[A-Za-z0-9._-]{1,200}$`)
)

// ReadLinks returns the commits of each session, by its name "<agent>/<id>", in the order of their
// making, under their current ids.
func ReadLinks(r io.Reader) (map[string][]LinkedCommit, error) {
	links := map[string][]LinkedCommit{}
	add := func(session string, c LinkedCommit) {
		if !slices.ContainsFunc(links[session], func(o LinkedCommit) bool { return o.ID == c.ID }) {
			links[session] = append(links[session], c)
		}
	}
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		words := strings.Fields(in.Text())
		switch {
		case len(words) == 3 && words[0] == "moved" && objectID.MatchString(words[1]) && objectID.MatchString(words[2]):
			move(links, words[1], words[2])
		case len(words) > 3 && (words[0] == "commit" || words[0] == "copied") && objectID.MatchString(words[1]):
			c := LinkedCommit{ID: words[1], Branch: strings.TrimPrefix(words[2], "-"), Copied: words[0] == "copied"}
			for _, s := range words[3:] {
				if sessionName.MatchString(s) {
					add(s, c)
				}
			}
		}
	}
	return links, in.Err()
}

// move changes the id of commits. Squashed commits become one. A session that copied a commit did
// not make it.
func move(links map[string][]LinkedCommit, from, to string) {
	for s, commits := range links {
		at := slices.IndexFunc(commits, func(c LinkedCommit) bool { return c.ID == from })
		var moved LinkedCommit
		if at >= 0 {
			moved = commits[at]
			moved.ID, moved.Copied = to, false
		}
		commits = slices.DeleteFunc(commits, func(c LinkedCommit) bool { return c.ID == from || c.ID == to && (c.Copied || at >= 0) })
		if at >= 0 {
			commits = append(commits, moved)
		}
		if links[s] = commits; len(commits) == 0 {
			delete(links, s)
		}
	}
}

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

// Called returns the names of the hooks whose script a text calls, as Snippet does, outside of our
// section.
func Called(text []byte) (names []string) {
	if rest, _, err := cutSection(text); err == nil {
		text = rest
	}
	for _, h := range All {
		script := "/" + ScriptDir + "/" + h.Name
		if bytes.Contains(text, []byte("reverie"+script)) || bytes.Contains(text, []byte("reverie_dir"+script)) {
			names = append(names, h.Name)
		}
	}
	return names
}
