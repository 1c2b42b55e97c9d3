package cmd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
)

// remotes is what this clone remembers of the remotes it synced with: the file remotes.json of the
// state folder. It holds addresses without passwords, ids and names, and no text of a memory. Without
// it everything is asked and found out again. Whoever writes it holds the lock of LockSync.
type remotes struct {
	Remotes map[string]*knownRemote `json:"remotes"`
	file    string
}

// knownRemote is one remote, by its name.
type knownRemote struct {
	// Published says, for the memory, the journal and proposals, to which address a person agreed to publish it.
	Published map[string]string `json:"published,omitempty"`
	// ReviewOnly is why the server refused the branch itself; changes then go there as proposals.
	ReviewOnly string     `json:"reviewOnly,omitempty"`
	Proposals  []proposal `json:"proposals,omitempty"`
}

// proposal is a branch that was published for review and has not landed yet.
type proposal struct {
	Branch string      `json:"branch"` // without refs/heads/
	Commit gitstore.ID `json:"commit"` // what was proposed
	Tree   gitstore.ID `json:"tree"`   // of Commit
	Base   gitstore.ID `json:"base"`   // what it was made on
	Ops    []string    `json:"ops,omitempty"`
	URL    string      `json:"url,omitempty"` // where its pull request is opened
	Time   time.Time   `json:"time"`
	Closed bool        `json:"closed,omitempty"` // the branch is gone from the remote and its content did not land

	// A proposal of operations that was brought up to date: what its branch names now, in which there may be what others
	// added, and with what of the remote's branch. Commit stays what this clone proposed itself, on Base.
	Head gitstore.ID `json:"head,omitempty"`
	With gitstore.ID `json:"with,omitempty"`
}

// head is what a proposal's branch was last known to name.
func (p proposal) head() gitstore.ID { return cmp.Or(p.Head, p.Commit) }

// on is the newest commit of the remote's branch that is known to be in a proposal.
func (p proposal) on() gitstore.ID { return cmp.Or(p.With, p.Base) }

// readRemotes reads the file; none is an empty one.
func (w *workspace) readRemotes() (*remotes, error) {
	r := &remotes{Remotes: map[string]*knownRemote{}, file: filepath.Join(w.state, "remotes.json")}
	text, err := file.Read(r.file, file.MaxState)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(text, r)
	}
	if err != nil {
		return nil, &failure{exitFailed, fmt.Errorf("read %s: %w", r.file, unwrapPath(err)), "remove it: sync then asks again what it needs to know"}
	}
	if r.Remotes == nil {
		r.Remotes = map[string]*knownRemote{}
	}
	return r, nil
}

// at is what is known of a remote.
func (r *remotes) at(name string) *knownRemote {
	if r.Remotes[name] == nil {
		r.Remotes[name] = &knownRemote{}
	}
	return r.Remotes[name]
}

// save writes the file, readable by the owner alone.
func (r *remotes) save() error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := file.Replace(r.file, append(text, '\n'), 0o600, true); err != nil {
		return fmt.Errorf("write %s: %w", r.file, unwrapPath(err))
	}
	return nil
}

// agreed reports whether a person agreed to publish a lane to this address.
func (k *knownRemote) agreed(lane, url string) bool { return k.Published[lane] == git.Address(url) }

func (k *knownRemote) agree(lane, url string) {
	if k.Published == nil {
		k.Published = map[string]string{}
	}
	k.Published[lane] = git.Address(url)
}

// own is the proposal of the branch itself, which a server made necessary that refuses the branch; nil
// if there is none. Those of operations have Ops.
func (k *knownRemote) own() *proposal {
	for i := range k.Proposals {
		if k.Proposals[i].Ops == nil {
			return &k.Proposals[i]
		}
	}
	return nil
}

func (k *knownRemote) drop(branch string) {
	k.Proposals = slices.DeleteFunc(k.Proposals, func(p proposal) bool { return p.Branch == branch })
}

// proposed says for the operations that are open as proposals on which branch.
func (w *workspace) proposed() (map[string]string, error) {
	known, err := w.readRemotes()
	if err != nil {
		return nil, err
	}
	branches := map[string]string{}
	for _, r := range known.Remotes {
		for _, p := range r.Proposals {
			for _, op := range p.Ops {
				if !p.Closed {
					branches[op] = p.Branch
				}
			}
		}
	}
	return branches, nil
}

// hasRemote reports whether the repository has a remote to sync with.
func (env *Env) hasRemote(ctx context.Context) bool {
	repo, err := git.Find(ctx, env.Dir)
	if err != nil {
		return false
	}
	names, err := repo.Git(ctx, nil, "remote")
	return err == nil && len(bytes.TrimSpace(names)) > 0
}
