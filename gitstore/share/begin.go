package share

import (
	"context"
	_ "embed"
	"errors"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/git"
)

// The first files of a memory branch.
var (
	//go:embed first/README.md
	firstReadme string
	//go:embed first/reverie.toml
	firstConfig string
)

// FirstFiles returns the files with which a memory branch begins, by path.
func FirstFiles() map[string]string {
	return map[string]string{"README.md": firstReadme, "reverie.toml": firstConfig}
}

// Begun tells how a clone got its memory branch.
type Begun int

const (
	Existed Begun = iota // the branch was there, or another process was first
	Adopted              // it was taken from origin's branch
	Created              // it was started
)

// Begin makes the memory branch of a clone that has none: from origin's branch, or a new one.
func Begin(ctx context.Context, c *clone.Clone) (Begun, error) {
	if _, err := c.Memory.Tip(ctx); !errors.Is(err, gitstore.ErrNoStore) {
		return Existed, err
	}
	if branch, ok := strings.CutPrefix(c.Config.Ref, "refs/heads/"); ok {
		_, err := c.Memory.Adopt(ctx, "refs/remotes/origin/"+branch)
		switch {
		case err == nil:
			return Adopted, nil
		case errors.Is(err, gitstore.ErrExists):
			return Existed, nil
		case !errors.Is(err, git.ErrNoRef):
			return Existed, refusedEntries(err, "origin/"+branch)
		}
	}
	err := c.Book.Create(ctx, FirstFiles())
	switch {
	case err == nil:
		return Created, nil
	case errors.Is(err, gitstore.ErrExists):
		return Existed, nil
	}
	return Existed, err
}
