package remotes

import (
	"cmp"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
)

// Proposal is a branch that was published for review and has not landed yet.
type Proposal struct {
	Branch string      `json:"branch"` // without refs/heads/
	Commit gitstore.ID `json:"commit"` // what was proposed
	Tree   gitstore.ID `json:"tree"`   // of Commit
	Base   gitstore.ID `json:"base"`   // what it was made on
	Ops    []string    `json:"ops,omitempty"`
	URL    string      `json:"url,omitempty"` // where its pull request is opened
	Time   time.Time   `json:"time"`
	Closed bool        `json:"closed,omitempty"` // the branch is gone from the remote and its content did not land

	// A proposal of operations that was brought up to date: what its branch names now, in which there
	// may be what others added, and with what of the remote's branch. Commit stays what this clone
	// proposed itself, on Base.
	Head gitstore.ID `json:"head,omitempty"`
	With gitstore.ID `json:"with,omitempty"`
}

// Tip is what a proposal's branch was last known to name.
func (p Proposal) Tip() gitstore.ID { return cmp.Or(p.Head, p.Commit) }

// On is the newest commit of the remote's branch that is known to be in a proposal.
func (p Proposal) On() gitstore.ID { return cmp.Or(p.With, p.Base) }

// Proposed says for the operations that are open as proposals on which branch, by their ids.
func (f *File) Proposed() map[string]string {
	branches := map[string]string{}
	for _, r := range f.Remotes {
		for _, p := range r.Proposals {
			for _, op := range p.Ops {
				if !p.Closed {
					branches[op] = p.Branch
				}
			}
		}
	}
	return branches
}
