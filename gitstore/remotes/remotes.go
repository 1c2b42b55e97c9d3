// Package remotes stores a clone's knowledge of its remotes in remotes.json of the state folder:
// consent to publish, and open proposals. It holds addresses without passwords, ids and names, but
// no text of a memory. If the file is lost, Reverie asks for consent again and finds the proposals
// again.
//
// Read returns the file's contents; change them, then Save. Writers hold the lock of
// git.State.LockSync.
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

// File holds the known remotes.
type File struct {
	Remotes map[string]*Remote `json:"remotes"` // by name
	path    string
}

// Remote holds the knowledge of one remote.
type Remote struct {
	// Published maps each lane (memory, journal, proposals) to the address to which a person agreed to
	// publish it.
	Published map[string]string `json:"published,omitempty"`
	// ReviewOnly is the reason that the server refused the branch. Changes then go there as proposals.
	ReviewOnly string     `json:"reviewOnly,omitempty"`
	Proposals  []Proposal `json:"proposals,omitempty"`
	// Seen maps each lane to the value that the last sync gave its ref. If the ref has another value,
	// it was rewritten here and proves nothing about the remote.
	Seen map[string]string `json:"seen,omitempty"`
}

// Read reads the file in a state folder; a missing file is empty. An error names the file.
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

// At returns the entry of a remote, and adds an empty one if it is new.
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

// Agree records that consent.
func (r *Remote) Agree(lane, url string) {
	if r.Published == nil {
		r.Published = map[string]string{}
	}
	r.Published[lane] = git.Address(url)
}

// See records the value of a lane's ref; "" forgets it.
func (r *Remote) See(lane, id string) {
	if r.Seen == nil {
		r.Seen = map[string]string{}
	}
	if r.Seen[lane] = id; id == "" {
		delete(r.Seen, lane)
	}
}

// Saw reports whether a lane's ref still has the value of the last sync. It is true for a lane
// without a record.
func (r *Remote) Saw(lane, id string) bool { return r.Seen[lane] == "" || r.Seen[lane] == id }

// Own returns the proposal of the branch itself, needed if a server refuses the branch, or nil.
// Proposals of operations have Ops.
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
