package githook

import (
	"bufio"
	"io"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/internal/pattern"
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
