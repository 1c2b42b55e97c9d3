package cmd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/gitstore/recall"
	"github.com/reverie-memory/reverie/gitstore/recall/vector"
	"github.com/reverie-memory/reverie/gitstore/remotes"
	"github.com/reverie-memory/reverie/gitstore/trust"
	"github.com/reverie-memory/reverie/internal/derived"
	"github.com/reverie-memory/reverie/internal/kv"
	"github.com/reverie-memory/reverie/prompts/door"
	"github.com/reverie-memory/reverie/reflect/transcript"
	"github.com/reverie-memory/reverie/worktree"
)

// purgeable is what a purge works on here. Whoever changes something with it holds the lock of LockSync since before.
func (w *workspace) purgeable() (*purge.Clone, error) {
	known, err := w.readRemotes()
	if err != nil {
		return nil, err
	}
	return &purge.Clone{
		Repo: w.repo, Memory: w.memory, Journal: journalRef, Book: w.book, Scanner: w.sessions.Scanner, Now: w.env.Now,
		First: firstFiles(), Agents: w.config.Agents, Remotes: known,
		State: purge.State{Dir: w.state, Kind: stateKind, Session: sessionPath, Drop: w.dropDerived},
		Loops: purge.Loops{Records: worktree.Refs, Branches: worktree.Branches, Kept: worktree.Kept, Dir: w.loopFolder(""),
			Held: func(ctx context.Context, name string) bool { return worktree.Held(ctx, w.repo, name) != nil }},
	}, nil
}

// stateKind says what a file or a folder of the state folder is to a purge, by its path there.
func stateKind(path string) purge.Kind {
	top, rest, inside := strings.Cut(path, "/")
	switch {
	case path == "tips", path == "loose", path == remotes.Name, path == trust.ApprovedFile:
		return purge.Passed // ids and names of refs; no text of a memory, and a person's decisions
	case inside && (top == vectorsDir || top == indexDir):
		return purge.Passed // numbers, and the index: all of it goes in any case
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
	case path == "cache", path == trust.WithheldFile, strings.HasPrefix(path, "authors-"):
		return purge.Whole
	case inside && (top == originalsDir || top == "code" || top == contextDir || top == answersDir):
		return purge.Whole
	}
	return purge.Plain
}

// sessionPath is where in the state folder a session lies.
func sessionPath(client, id string) string {
	return "sessions/" + transcript.SafeID(client) + "-" + transcript.SafeID(id) + ".jsonl"
}

// dropDerived removes what was prepared for sessions, what models answered, the vectors and the index: they are made again. Of a
// vector nobody can tell whether it was made from what a purge takes.
func (w *workspace) dropDerived(ctx context.Context) error {
	if err := errors.Join(os.RemoveAll(filepath.Join(w.state, contextDir)), door.Forget(w.answers())); err != nil {
		return err
	}
	if err := vector.Drop(ctx, filepath.Join(w.state, vectorsDir)); err != nil {
		return err
	}
	return recall.Drop(filepath.Join(w.state, indexDir))
}

// markPurges notes the mark for a view that is about to be taken. What it returns ends that.
func (w *workspace) markPurges() (done func()) {
	before := w.mark
	w.mark = purge.Mark(w.state)
	return func() { w.mark = before }
}

// keepDerived is derived.Write of what follows from the view that is open, unless a purge came since that was taken: it may be what
// went. A purge changes the mark before it takes files, so whoever looks at the mark behind the writing leaves nothing.
func (w *workspace) keepDerived(path string, value any) {
	derived.Write(path, value)
	if purge.Since(w.state, w.mark) != nil {
		os.Remove(path)
	}
}
