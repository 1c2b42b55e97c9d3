package cmd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/brief"
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

// purgeable is what a purge works on here. Whoever changes something with it holds the lock of
// LockSync since before.
func (w *workspace) purgeable() (*purge.Clone, error) {
	known, err := remotes.Read(w.State)
	if err != nil {
		return nil, err
	}
	return &purge.Clone{
		Repo: w.Repo, Memory: w.Memory, Journal: clone.JournalRef, Book: w.Book, Scanner: w.Sessions.Scanner, Now: w.env.Now,
		First: share.FirstFiles(), Agents: w.Config.Agents, Remotes: known,
		State: purge.State{Dir: w.State, Kind: stateKind, Session: sessionPath, Drop: w.dropDerived},
		Loops: purge.Loops{Records: worktree.Refs, Branches: worktree.Branches, Kept: worktree.Kept, Dir: worktree.Folder(w.Repo),
			Held: func(ctx context.Context, name string) bool { return worktree.Held(ctx, w.Repo, name) != nil }},
	}, nil
}

// stateKind says what a file or a folder of the state folder is to a purge, by its path there.
func stateKind(path string) purge.Kind {
	top, rest, inside := strings.Cut(path, "/")
	switch {
	case path == "tips", path == "loose", path == remotes.Name, path == trust.ApprovedFile:
		return purge.Passed // ids and names of refs; no text of a memory, and a person's decisions
	case inside && top == reader.VectorsDir:
		return purge.Passed // numbers: all of them go in any case
	case top == "loops":
		if parts := strings.SplitN(rest, "/", 3); len(parts) > 1 && (parts[1] == "tree" || parts[1] == "left") {
			return purge.Passed // code, and not ours: files of a loop's work tree, or set aside in it
		}
	case inside && top == "sessions":
		return purge.Session
	case inside && top == kv.Dir:
		return purge.Note
	case path == "config.toml":
		return purge.Settings
	case path == reader.CatalogFile, path == trust.WithheldFile, strings.HasPrefix(path, "authors-"):
		return purge.Whole
	case inside && (top == originalsDir || top == "code" || top == brief.PreparedDir || top == answersDir):
		return purge.Whole
	}
	return purge.Plain
}

// sessionPath is where in the state folder a session lies.
func sessionPath(client, id string) string {
	return "sessions/" + transcript.SafeID(client) + "-" + transcript.SafeID(id) + ".jsonl"
}

// dropDerived removes what was prepared for sessions, what models answered, the vectors and the
// index: they are made again. Of a vector nobody can tell whether it was made from what a purge
// takes.
func (w *workspace) dropDerived(ctx context.Context) error {
	old := os.RemoveAll(filepath.Join(w.State, "index")) // of versions that kept the index apart
	if err := errors.Join(old, os.RemoveAll(filepath.Join(w.State, brief.PreparedDir)), door.Forget(w.answers())); err != nil {
		return err
	}
	if err := vector.Drop(ctx, filepath.Join(w.State, reader.VectorsDir)); err != nil {
		return err
	}
	return recall.Drop(filepath.Join(w.State, reader.CatalogFile))
}
