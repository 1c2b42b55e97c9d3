package cmd

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

// pastState finds the commit, or tree, of the memory that a revision names. That is a commit of the memory branch;
// or, for a commit, branch or tag of the code, the newest one on the branch's first parents' line that is not
// younger than that commit, and from then on memories stand as they do at that commit.
func (w *workspace) pastState(ctx context.Context, rev string) (string, error) {
	if rest, ok := afterHead(rev); ok {
		rev = w.Code.Here(ctx).ID + rest // this worktree's
	}
	id, err := w.Memory.Resolve(ctx, rev)
	if err != nil || rev[0] == '~' || rev[0] == '^' || strings.HasPrefix(rev, "@{") {
		return string(id), err
	}
	ours, err := w.ofMemory(ctx, string(id))
	if ours || err != nil {
		return string(id), err
	}
	at, err := w.Repo.Committed(ctx, string(id))
	if err != nil {
		return "", err
	}
	ref := w.Config.Ref
	if _, err := w.Memory.Tip(ctx); errors.Is(err, gitstore.ErrNoStore) {
		ref = "refs/remotes/origin/" + w.Branch()
		if _, ferr := w.Repo.ReadRef(ctx, ref); ferr != nil {
			return "", err
		}
	}
	state, err := w.Repo.Before(ctx, ref, at)
	if err != nil {
		return "", err
	}
	if state == "" {
		err := fmt.Errorf("revision %q: nothing was remembered yet on %s: %w", rev, at.UTC().Format(time.DateOnly), gitstore.ErrRevision)
		return "", exit.New(exit.Failed, err, "'reverie log' shows when the memory began")
	}
	branch := ""
	if _, err := w.Repo.ReadRef(ctx, "refs/heads/"+rev); err == nil {
		branch = rev
	}
	w.Code.Stand(string(id), branch)
	return state, nil
}

// judged is the code that a check of the memory branch itself looks at: what is checked out, or, where that is the
// memory, as in the checkout of a pull request, the default branch.
func (w *workspace) judged(ctx context.Context) *anchor.Commit {
	here := w.Code.Here(ctx)
	if here.ID == "" {
		return here
	}
	if ours, err := w.ofMemory(ctx, here.ID); !ours || err != nil {
		return here
	}
	main := w.Code.Mainline(ctx)
	if len(main.Tips) == 0 {
		return here
	}
	w.Code.Stand(main.Tips[len(main.Tips)-1], main.Name) // origin's where it is here: the local one may lag behind
	return w.Code.Here(ctx)
}

// afterHead is what follows HEAD or @ in a revision that begins with one of them.
func afterHead(rev string) (rest string, ok bool) {
	for _, head := range []string{"HEAD", "@"} {
		rest, ok := strings.CutPrefix(rev, head)
		if ok && (rest == "" || rest[0] == '~' || rest[0] == '^') {
			return rest, true
		}
	}
	return "", false
}

// ofMemory reports whether a commit or tree is one of a memory: it is the first commit of every store, or has the
// file reverie.toml with a format. What cannot be read as either is left to whoever opens it.
func (w *workspace) ofMemory(ctx context.Context, id string) (bool, error) {
	files := w.Repo.Code(id)
	defer files.Close()
	blob, err := files.File(ctx, "reverie.toml")
	if errors.Is(err, git.ErrNoPath) {
		return id == string(w.Memory.First()), nil
	}
	if err != nil {
		return true, nil
	}
	text, err := files.Read(ctx, blob)
	if err != nil {
		return false, err
	}
	c := config.Default()
	err = c.Restrict(id, text)
	return err == nil || errors.Is(err, config.ErrNewer), nil
}
