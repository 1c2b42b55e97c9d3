package remotes

import (
	"cmp"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
)

// Proposal is a branch under review, which has not landed yet.
type Proposal struct {
	Branch string      `json:"branch"` // without refs/heads/
	Commit gitstore.ID `json:"commit"` // the proposed commit
	Tree   gitstore.ID `json:"tree"`   // of Commit
	Base   gitstore.ID `json:"base"`   // its base
	Ops    []string    `json:"ops,omitempty"`
	URL    string      `json:"url,omitempty"` // page for opening its pull request
	Time   time.Time   `json:"time"`
	// Closed means that the branch left the remote and its content did not land.
	Closed bool `json:"closed,omitempty"`

	// For an updated proposal of operations, Head is its branch's tip, which may hold commits of
	// others. With is the included tip of the remote's branch. Commit stays this clone's own proposal,
	// on Base.
	Head gitstore.ID `json:"head,omitempty"`
	With gitstore.ID `json:"with,omitempty"`
}

// Tip returns the last known tip of a proposal's branch.
func (p Proposal) Tip() gitstore.ID { return cmp.Or(p.Head, p.Commit) }

// On returns the newest commit of the remote's branch that a proposal is known to contain.
func (p Proposal) On() gitstore.ID { return cmp.Or(p.With, p.Base) }

// Proposed maps the ids of proposed operations to their branches.
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
