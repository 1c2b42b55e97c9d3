package clone

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/anchor"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
)

// Resolve returns the commit, or else the tree, that a revision names, as Memory.Resolve does. It
// also takes git's name of a remote's memory branch that sync alone has fetched:
// origin/reverie/memory~2.
func Resolve(ctx context.Context, c *Clone, rev string) (gitstore.ID, error) {
	id, err := c.Memory.Resolve(ctx, rev)
	if seen := seenAs(c, rev); errors.Is(err, gitstore.ErrRevision) && seen != "" {
		if at, serr := c.Memory.Resolve(ctx, seen); serr == nil {
			return at, nil
		}
		err = exit.New(exit.Failed, err, "to fetch and merge it: reverie sync")
	}
	return id, err
}

// seenAs returns sync's own ref for a remote's memory branch, or "" for other names.
func seenAs(c *Clone, rev string) string {
	name := strings.TrimPrefix(strings.TrimPrefix(rev, "refs/"), "remotes/")
	end := strings.IndexAny(name, "~^@:")
	if end < 0 {
		end = len(name)
	}
	remote, ok := strings.CutSuffix(name[:end], "/"+c.Branch())
	if !ok || remote == "" {
		return ""
	}
	return "refs/reverie/remotes/" + remote + "/memory" + name[end:]
}

// PastState returns the commit, or tree, of the memory that a revision names. A commit of the
// memory branch names itself. A commit, branch or tag of the code names the newest commit on the
// memory branch's first-parent line that is not younger. Caveats are then those at that commit of
// the code.
func (c *Clone) PastState(ctx context.Context, rev string) (string, error) {
	if rest, ok := afterHead(rev); ok {
		if here := c.Code.Here(ctx).ID; here != "" { // there is a commit
			rev = here + rest // this worktree's
		}
	}
	id, err := Resolve(ctx, c, rev)
	if err != nil || rev[0] == '~' || rev[0] == '^' || strings.HasPrefix(rev, "@{") {
		return string(id), err
	}
	ours, err := c.OfMemory(ctx, string(id))
	if ours || err != nil {
		return string(id), err
	}
	at, err := c.Repo.History().Committed(ctx, string(id))
	if err != nil {
		return "", err
	}
	ref := c.Config.Ref
	if _, err := c.Memory.Tip(ctx); errors.Is(err, gitstore.ErrNoStore) {
		ref = "refs/remotes/origin/" + c.Branch()
		if _, ferr := c.Repo.Refs().Read(ctx, ref); ferr != nil {
			return "", err
		}
	}
	state, err := c.Repo.History().Before(ctx, ref, at)
	if err != nil {
		return "", err
	}
	if state == "" {
		err := fmt.Errorf("revision %q: nothing was remembered yet on %s: %w", rev, at.UTC().Format(time.DateOnly), gitstore.ErrRevision)
		return "", exit.New(exit.Failed, err, "'reverie log' shows when the memory began")
	}
	branch := ""
	if _, err := c.Repo.Refs().Read(ctx, "refs/heads/"+rev); err == nil {
		branch = rev
	}
	c.Code.Stand(string(id), branch)
	return state, nil
}

// CheckedCode returns the code for a check of the memory branch: the checked-out commit or, if that
// belongs to the memory, as in the checkout of a pull request, the default branch.
func (c *Clone) CheckedCode(ctx context.Context) *anchor.Commit {
	here := c.Code.Here(ctx)
	if here.ID == "" {
		return here
	}
	if ours, err := c.OfMemory(ctx, here.ID); !ours || err != nil {
		return here
	}
	main := c.Code.Mainline(ctx)
	if len(main.Tips) == 0 {
		return here
	}
	// origin's if present, because the local one may lag behind
	c.Code.Stand(main.Tips[len(main.Tips)-1], main.Name)
	return c.Code.Here(ctx)
}

// afterHead returns what follows HEAD or @ in a revision that begins with one of them.
func afterHead(rev string) (rest string, ok bool) {
	for _, head := range []string{"HEAD", "@"} {
		rest, ok := strings.CutPrefix(rev, head)
		if ok && (rest == "" || rest[0] == '~' || rest[0] == '^') {
			return rest, true
		}
	}
	return "", false
}

// OfMemory reports whether a commit or tree is one of a memory: the first commit of every store, or
// one with a reverie.toml that has a format. It returns true for unreadable ones, so that opening
// them fails.
func (c *Clone) OfMemory(ctx context.Context, id string) (bool, error) {
	files := c.Repo.Code(id)
	defer files.Close()
	blob, err := files.File(ctx, "reverie.toml")
	if errors.Is(err, git.ErrNoPath) {
		return id == string(c.Memory.First()), nil
	}
	if err != nil {
		return true, nil
	}
	text, err := files.Read(ctx, blob)
	if err != nil {
		return false, err
	}
	settings := config.Default()
	err = settings.Restrict(id, text)
	return err == nil || errors.Is(err, config.ErrNewer), nil
}

// CheckFormat returns an error wrapping config.ErrNewer if a newer Reverie wrote the memory, and
// nil for every other state of it, also a damaged one.
func CheckFormat(ctx context.Context, c *Clone) error {
	var text []byte
	err := c.Memory.View(ctx, func(t *gitstore.Tree) (err error) { text, err = t.Read("reverie.toml"); return err })
	if err == nil {
		settings := config.Default()
		err = settings.Restrict(c.Branch()+":reverie.toml", text)
	}
	if errors.Is(err, config.ErrNewer) {
		return err
	}
	return nil
}
