package gitstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/reverie-memory/reverie/internal/git"
)

// commitNode is one commit of a history as rev-list prints it.
type commitNode struct {
	id, tree ID
	parents  []ID
}

// apart holds the difference of two histories: the commits that only one of them has, newest first.
type apart struct {
	tips         [2]ID
	ours, theirs []commitNode
	trees        map[ID]ID // commit → tree, of those above
}

// newApart asks git which commits two tips do not share.
func newApart(ctx context.Context, repo *git.Repo, ours, theirs ID) (apart, error) {
	a := apart{tips: [2]ID{ours, theirs}, trees: map[ID]ID{}}
	all, err := commitsOf(ctx, repo, string(ours)+"..."+string(theirs))
	if err != nil {
		return a, err
	}
	for _, c := range all {
		mark, id := c.id[0], c.id[1:]
		c.id = id
		a.trees[id] = c.tree
		if mark == '<' {
			a.ours = append(a.ours, c)
		} else {
			a.theirs = append(a.theirs, c)
		}
	}
	return a, nil
}

// commitsOf lists the commits that git rev-list selects by revisions, newest first. For A...B each
// id begins with a mark.
func commitsOf(ctx context.Context, repo *git.Repo, revs ...string) ([]commitNode, error) {
	args := append([]string{"rev-list", "--left-right", "--topo-order", "--parents", "--format=tformat:%T"}, revs...)
	out, err := repo.Git(ctx, nil, append(args, "--")...)
	return parseRevList(out), err
}

// parseRevList parses the output of rev-list --parents --format=tformat:%T.
func parseRevList(out []byte) []commitNode {
	var all []commitNode
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSuffix(line, "\n")
		if ids, ok := strings.CutPrefix(line, "commit "); ok {
			c := commitNode{}
			for i, id := range strings.Fields(ids) {
				if i == 0 {
					c.id = ID(id)
				} else {
					c.parents = append(c.parents, ID(id))
				}
			}
			all = append(all, c)
		} else if len(all) > 0 {
			all[len(all)-1].tree = ID(line)
		}
	}
	return all
}

// whole returns an error wrapping ErrShallow if a history is cut off before it meets the other.
func (a apart) whole(repo *git.Repo) error {
	text, err := os.ReadFile(filepath.Join(repo.CommonDir, "shallow"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		if _, cut := a.trees[ID(strings.TrimSpace(line))]; cut {
			return fmt.Errorf("%w: fetch the rest with git fetch --unshallow", ErrShallow)
		}
	}
	return nil
}

// touch sums up the changes of some commits to a file.
type touch struct {
	commits int  // how many changed it
	own     bool // one of them changed it against all its parents, so the change is not a merge's
	born    bool // one of them made it
}

// once reports that the file was made, without further changes.
func (t touch) once() bool { return t.commits == 1 && t.born }

// touched returns every file that some of the commits changed against any parent.
func (t *Tree) touched(commits []commitNode, trees map[ID]ID) (map[string]touch, error) {
	all := map[string]touch{}
	for _, c := range commits {
		before, err := t.before(c, trees)
		if err != nil {
			return nil, err
		}
		times, born := map[string]int{}, map[string]bool{}
		for _, tree := range before {
			err := t.beside(c.tree).Diff(tree, func(ch Change) error {
				times[ch.Path]++
				born[ch.Path] = ch.Old == ""
				return nil
			})
			var bad EntryErrors
			if err != nil && !errors.As(err, &bad) { // bad entries are ignored in history; tips are checked
				return nil, err
			}
		}
		for path, n := range times {
			was := all[path]
			all[path] = touch{was.commits + 1, was.own || n == len(before), was.born || born[path]}
			if len(all) > maxHistory {
				return nil, &LimitError{path, tooVaried()}
			}
		}
	}
	return all, nil
}

// before returns the trees of a commit's parents, or the empty one for a first commit.
func (t *Tree) before(c commitNode, trees map[ID]ID) ([]ID, error) {
	if len(c.parents) == 0 {
		return []ID{""}, nil
	}
	var before []ID
	for _, p := range c.parents {
		tree, ok := trees[p]
		if !ok {
			parent, err := t.readCommit(p)
			if err != nil {
				return nil, err
			}
			tree = parent.tree
			trees[p] = tree
		}
		before = append(before, tree)
	}
	return before, nil
}
