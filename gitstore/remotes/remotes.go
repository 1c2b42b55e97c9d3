// Package remotes is what a clone remembers of the remotes it synced with: the file remotes.json of
// the state folder, with what a person agreed to publish where, and the proposals that are open. It
// holds addresses without passwords, ids and names, and no text of a memory. Without it everything
// is asked and found out again.
//
// Read it, change what it gives, Save it. Whoever writes it holds the lock of git.Repo.LockSync.
package remotes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
)

// Name is the file's name in the state folder.
const Name = "remotes.json"

// File is what is known of all remotes.
type File struct {
	Remotes map[string]*Remote `json:"remotes"` // by name
	path    string
}

// Remote is what is known of one remote.
type Remote struct {
	// Published says, for the memory, the journal and proposals, to which address a person agreed to
	// publish it.
	Published map[string]string `json:"published,omitempty"`
	// ReviewOnly is why the server refused the branch itself; changes then go there as proposals.
	ReviewOnly string     `json:"reviewOnly,omitempty"`
	Proposals  []Proposal `json:"proposals,omitempty"`
	// Seen is, by lane, what a sync last set the ref to that keeps the remote's tip. A ref at
	// something else was rewritten here, and proves nothing about the remote.
	Seen map[string]string `json:"seen,omitempty"`
}

// Read reads the file in a state folder; none is an empty one. An error names the file.
func Read(dir string) (*File, error) {
	f := &File{Remotes: map[string]*Remote{}, path: filepath.Join(dir, Name)}
	text, err := file.Read(f.path, file.MaxState)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err == nil {
		err = json.Unmarshal(text, f)
	}
	if err != nil {
		return nil, exit.New(exit.Failed, fmt.Errorf("read %s: %w", f.path, file.Bare(err)), "remove it: sync then asks again what it needs to know")
	}
	if f.Remotes == nil {
		f.Remotes = map[string]*Remote{}
	}
	return f, nil
}

// At is what is known of a remote; of a new one, nothing.
func (f *File) At(name string) *Remote {
	if f.Remotes[name] == nil {
		f.Remotes[name] = &Remote{}
	}
	return f.Remotes[name]
}

// Save writes the file, readable by the owner alone. An error names it.
func (f *File) Save() error {
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	if err := file.Replace(f.path, append(text, '\n'), 0o600, true); err != nil {
		return fmt.Errorf("write %s: %w", f.path, file.Bare(err))
	}
	return nil
}

// Agreed reports whether a person agreed to publish a lane to this address.
func (r *Remote) Agreed(lane, url string) bool { return r.Published[lane] == git.Address(url) }

// Agree notes that a person did.
func (r *Remote) Agree(lane, url string) {
	if r.Published == nil {
		r.Published = map[string]string{}
	}
	r.Published[lane] = git.Address(url)
}

// See notes what the ref of a lane was set to; "" forgets it.
func (r *Remote) See(lane, id string) {
	if r.Seen == nil {
		r.Seen = map[string]string{}
	}
	if r.Seen[lane] = id; id == "" {
		delete(r.Seen, lane)
	}
}

// Saw reports whether the ref of a lane is at what a sync set it to. Of a lane that none was noted
// of, it is.
func (r *Remote) Saw(lane, id string) bool { return r.Seen[lane] == "" || r.Seen[lane] == id }

// Own is the proposal of the branch itself, which a server made necessary that refuses the branch;
// nil if there is none. Those of operations have Ops.
func (r *Remote) Own() *Proposal {
	for i := range r.Proposals {
		if r.Proposals[i].Ops == nil {
			return &r.Proposals[i]
		}
	}
	return nil
}

// Drop forgets the proposal on a branch.
func (r *Remote) Drop(branch string) {
	r.Proposals = slices.DeleteFunc(r.Proposals, func(p Proposal) bool { return p.Branch == branch })
}
