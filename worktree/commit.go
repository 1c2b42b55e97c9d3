package worktree

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/git"
)

// LeftOut is a file left out of a commit.
type LeftOut struct {
	Path    string
	Why     string
	Ignored bool   // ignored by git, as intended
	Rule    string // of the finding about it; "": the default rule
}

// Message is the message of a loop's commit.
type Message struct {
	Subject  string
	Trailers []gitstore.Trailer
}

// Commit is the result of committing the work.
type Commit struct {
	Tip  string // the newest commit, made or found
	Tree string
	Left []LeftOut // in git's order
}

// Commit commits the content of the work tree on top of tip, or of the agent's own commits since
// tip, and moves the branch. These files stay out of the commit, where they are: ignored files,
// files over the loop's limit, files with new secrets, files of nested repositories, and our own.
//
// It replaces an agent's commits that contain such files, have a secret in their message, or do not
// build on tip; a ref below Kept keeps the last kind. By hand it takes only existing commits, and
// makes one only to replace them. No hook and no program of the tree runs, only filters that the
// user has configured. The error wraps ErrPerson if the work is too large to read in time.
func (p *Place) Commit(ctx context.Context, tip string, m Message, now time.Time) (Commit, error) {
	if err := p.Check(); err != nil {
		return Commit{}, err
	}
	// staged objects are safe from a gc only once the branch reaches them
	p.repo.Upkeep().AwaitCollection(ctx)
	if err := p.settle(); err != nil {
		return Commit{}, err
	}
	if err := p.attach(ctx); err != nil {
		return Commit{}, err
	}
	head, err := p.Tip(ctx)
	if err != nil {
		return Commit{}, err
	}
	parent := tip
	if head != tip {
		builds, err := p.repo.History().IsAncestor(ctx, tip, head)
		if err != nil {
			return Commit{}, err
		}
		why := ""
		if builds {
			if why, err = p.screen.taints(ctx, tip, head); err != nil {
				return Commit{}, err
			}
			if why == "" {
				parent = head
			}
		} else if err := p.backup(ctx, head); err != nil {
			return Commit{}, err
		}
	}
	if p.hand && parent == head {
		tree, err := treeOf(ctx, p.repo, head)
		return Commit{Tip: head, Tree: tree}, err
	}
	soon, cancel := context.WithTimeout(ctx, p.within)
	tree, left, index, err := p.stage(soon, tip, parent)
	late := ctx.Err() == nil && soon.Err() != nil
	cancel()
	defer index.giveUp()
	if err != nil {
		if late {
			err = fmt.Errorf("what lies in the work tree could not be read within %v: %w; take away what is not for the branch, or have .gitignore name it", p.within, ErrPerson)
		}
		return Commit{}, err
	}
	c := Commit{Tip: parent, Tree: tree, Left: left}
	if before, err := treeOf(ctx, p.repo, parent); err != nil {
		return c, err
	} else if before != tree {
		if c.Tip, err = p.write(ctx, tree, parent, m, now); err != nil {
			return c, err
		}
	}
	if c.Tip != head {
		if err := p.moveBranch(ctx, c.Tip, head, "loop: "+m.Subject); err != nil {
			return c, err
		}
	}
	return c, index.install()
}

// treeOf returns the id of a commit's tree.
func treeOf(ctx context.Context, repo *git.Repo, commit string) (string, error) {
	out, err := repo.Git(ctx, nil, "rev-parse", "--verify", "--quiet", commit+"^{tree}")
	return strings.TrimSpace(string(out)), err
}

// write makes a durable commit object.
func (p *Place) write(ctx context.Context, tree, parent string, m Message, now time.Time) (string, error) {
	who, err := p.repo.Config().Identity(ctx)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	subject, _ := p.screen.scanner.Text(joined(m.Subject))
	fmt.Fprintf(&b, "%s\n", subject)
	for i, t := range m.Trailers {
		if i == 0 {
			b.WriteByte('\n')
		}
		value, _ := p.screen.scanner.Text(joined(t.Value))
		fmt.Fprintf(&b, "%s: %s\n", t.Key, value)
	}
	o := p.repo.ObjectFormat.NewCommit(who, now, tree, []string{parent}, b.String())
	objects := p.repo.Objects()
	defer objects.Close()
	return o.ID, objects.Save(ctx, []git.Object{o})
}
