package upkeep

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/brief"
	"github.com/reverie-memory/reverie/gitstore/guard"
	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/recall/vector"
	"github.com/reverie-memory/reverie/gitstore/remotes"
	"github.com/reverie-memory/reverie/gitstore/share"
	"github.com/reverie-memory/reverie/gitstore/trust"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/kv"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/prompts/door"
	"github.com/reverie-memory/reverie/reflect/transcript"
	"github.com/reverie-memory/reverie/worktree"
)

// Purgeable describes a clone to a purge. A caller that changes something with it has held the lock
// of git.State.LockSync since before.
func Purgeable(c *clone.Clone) (*purge.Clone, error) {
	known, err := remotes.Read(c.State)
	if err != nil {
		return nil, err
	}
	return &purge.Clone{
		Repo: c.Repo, Memory: c.Memory, Journal: clone.JournalRef, Book: c.Book, Scanner: c.Sessions.Scanner, Now: c.Now,
		First: share.FirstFiles(), Agents: c.Config.Agents, Remotes: known,
		State: purge.State{Dir: c.State, Kind: stateKind, Session: sessionPath, Drop: func(ctx context.Context) error { return dropDerived(ctx, c) }},
		Loops: purge.Loops{Records: worktree.Refs, Branches: worktree.Branches, Kept: worktree.Kept, Dir: worktree.Folder(c.Repo),
			Held: func(ctx context.Context, name string) bool { return worktree.Held(ctx, c.Repo, name) != nil }},
	}, nil
}

// stateKind tells a purge how to treat a file or folder of the state folder, by its path there.
func stateKind(path string) purge.Kind {
	top, rest, inside := strings.Cut(path, "/")
	switch {
	case path == "tips", path == "loose", path == remotes.Name, path == trust.ApprovedFile:
		return purge.Passed // ids, names of refs and a person's decisions, without a memory's text
	case inside && top == reader.VectorsDir:
		return purge.Passed // numbers, which all go anyway
	case top == "loops":
		if parts := strings.SplitN(rest, "/", 3); len(parts) > 1 && (parts[1] == "tree" || parts[1] == "left") {
			return purge.Passed // the user's code in a loop's worktree
		}
	case inside && top == "sessions":
		return purge.Session
	case inside && top == kv.Dir:
		return purge.Note
	case path == "config.toml":
		return purge.Settings
	case path == reader.CatalogFile, path == guard.File, path == trust.WithheldFile, strings.HasPrefix(path, "authors-"):
		return purge.Whole
	case inside && (top == OriginalsDir || top == "code" || top == brief.PreparedDir || top == AnswersDir):
		return purge.Whole
	}
	return purge.Plain
}

// sessionPath returns the path of a session in the state folder.
func sessionPath(client, id string) string {
	return "sessions/" + transcript.SafeID(client) + "-" + transcript.SafeID(id) + ".jsonl"
}

// dropDerived removes prepared blocks, models' answers, vectors and the index, which can all be
// made again. A vector does not tell whether it was made from purged text.
func dropDerived(ctx context.Context, c *clone.Clone) error {
	old := os.RemoveAll(filepath.Join(c.State, "index")) // of versions with a separate index
	if err := errors.Join(old, os.RemoveAll(filepath.Join(c.State, brief.PreparedDir)), door.Forget(Answers(c))); err != nil {
		return err
	}
	if err := vector.Drop(ctx, filepath.Join(c.State, reader.VectorsDir)); err != nil {
		return err
	}
	return recall.Drop(filepath.Join(c.State, reader.CatalogFile))
}
