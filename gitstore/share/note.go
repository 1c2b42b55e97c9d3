package share

import (
	"github.com/reverie-memory/reverie/gitstore/purge"
)

// Note is a message about the progress of a sync.
type Note interface{ note() }

// Question is a decision for a person during a sync.
type Question interface{ question() }

type (
	// Publish asks whether What may be published to a remote's address for the first time.
	Publish struct{ What, Remote, URL string }
	// FollowPurge asks whether what Purged lists may be taken out here too.
	FollowPurge struct{ Remote string }
)

type (
	GitSaid    string                        // about a commit, such as on signing
	Unreadable []string                      // records that were passed over, and why
	RemoteSaid struct{ Remote, Line string } // on stderr, during a push
	Publishing struct{ What, Remote, URL string }

	// ObjectsLost reports that a prune took objects of the remote's history here; they are fetched
	// again.
	ObjectsLost struct{ Remote string }
	// NoJournal reports that neither side has a journal.
	NoJournal struct{ Remote string }
	// Restoring reports that Commits of Ref, which the remote lost, are published again. Backup keeps
	// its old tip.
	Restoring struct {
		Commits             int
		Ref, Remote, Backup string
	}
)

type (
	// ReviewOnly reports that a server refused the branch for Reason: its changes are proposed
	// instead.
	ReviewOnly struct{ Remote, Branch, Reason string }
	// UndecidedHere reports that nothing is proposed while N memories are contested here and not
	// there.
	UndecidedHere struct{ N int }
	// ProposalGone reports that a proposal's branch is gone from the remote and a new one takes its
	// place.
	ProposalGone struct{ Branch, Remote string }
	// ProposalMerged reports that another person's commits to a proposal's branch were merged.
	ProposalMerged struct{ Branch, Remote string }
	// ProposedBefore reports that an operation is not proposed again. It did not land if Closed.
	ProposedBefore struct {
		Operation, Branch string
		Closed            bool
	}
	// NothingPending reports that the inbox holds nothing to propose.
	NothingPending struct{}
	// Refreshed reports that a proposal was brought up to date with Base, or why it could not be.
	Refreshed struct {
		Branch, Base, Remote string
		Err                  error
	}
)

type (
	// Purged reports that a remote was purged, and what following that removes here.
	Purged struct {
		Remote  string
		Records int
		Found   purge.Found
	}
	// PurgeFollowed says what was removed, and what is left to do here.
	PurgeFollowed struct {
		Remote string
		Found  purge.Found
		Left   []purge.Left
	}
	// StillThere lists places that may still hold what was purged.
	StillThere []purge.Left
)

func (Publish) question()     {}
func (FollowPurge) question() {}

func (GitSaid) note()        {}
func (Unreadable) note()     {}
func (RemoteSaid) note()     {}
func (Publishing) note()     {}
func (ObjectsLost) note()    {}
func (NoJournal) note()      {}
func (Restoring) note()      {}
func (ReviewOnly) note()     {}
func (UndecidedHere) note()  {}
func (ProposalGone) note()   {}
func (ProposalMerged) note() {}
func (ProposedBefore) note() {}
func (NothingPending) note() {}
func (Refreshed) note()      {}
func (Purged) note()         {}
func (PurgeFollowed) note()  {}
func (StillThere) note()     {}
