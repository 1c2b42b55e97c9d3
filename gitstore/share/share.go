// Package share exchanges memory with a team. It merges a remote's branches, publishes changes, and
// proposes them for review if a server refuses pushes. Begin with Sync, or with Merge for a commit
// that is already in this clone. lane.publish decides what is pushed where, and consent.go whether
// anything may be sent to an address.
//
// The package neither prints nor asks: Options.Report receives notes on the progress, and
// Options.Ask puts the two questions for a person. One sync of a clone runs at a time, under
// git.State.LockSync.
package share

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/remotes"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
)

// Options are the inputs of a sync. Its functions must not be nil.
type Options struct {
	// Remote is its name; "" is the one that the memory branch follows. For a person's own memory it
	// may be an address, which later runs use too.
	Remote     string
	Yes        bool     // publish to a new address and follow purges without asking
	Journal    bool     // exchange the journal too
	DryRun     bool     // fetch, and report the merge and the push instead of doing them
	Push       bool     // try the branch of a remote that refused it before
	Restore    bool     // go on though the remote lost commits
	Propose    bool     // publish pending operations for review
	Operations []string // prefixes of the ids to propose; empty means all

	Report func(Note)
	Ask    func(Question) bool
	Land   func(context.Context)        // upkeep of the memory branch before the push
	Purge  func() (*purge.Clone, error) // opens the clone for following a purge
}

// Result describes a sync, complete or failed.
type Result struct {
	Remote string `json:"remote"`
	URL    string `json:"url"`
	DryRun bool   `json:"dryRun"`
	// ReviewOnly is the reason that the server takes only proposals, or empty.
	ReviewOnly string `json:"reviewOnly"`
	NoPush     string `json:"noPush,omitempty"` // the reason that nothing is pushed there
	// Consent names the data that needs consent for its first publication.
	Consent   string      `json:"consent,omitempty"`
	Memory    LaneResult  `json:"memory"`
	Journal   *LaneResult `json:"journal,omitempty"` // with Options.Journal
	Contested []string    `json:"contested"`         // ids of all contested memories
	// Proposals are the open ones, and those that landed or were closed now.
	Proposals []ProposalResult `json:"proposals"`

	Undecided []record.Memory    `json:"-"` // the memories of Contested
	Proposing []record.Operation `json:"-"` // that a dry run would propose
	Tracked   bool               `json:"-"` // a plain fetch brings the remote's branches
}

// LaneResult describes the outcome for one ref.
type LaneResult struct {
	Fetched int    `json:"fetched"` // commits that were new here
	Way     string `json:"way"`     // how they were merged: nothing, fast-forward, adopted, joined
	Tally
	Pushed   int      `json:"pushed"`   // commits
	Commit   string   `json:"commit"`   // our tip now
	Attempts int      `json:"attempts"` // one more for each lost race
	Backup   string   `json:"backup,omitempty"`
	Dropped  []string `json:"dropped,omitempty"` // files of which one side's text is in history only
	Lost     []string `json:"lost,omitempty"`    // commits that the remote no longer has

	Publishes string   `json:"-"` // the push of a dry run, in words
	Arrived   []string `json:"-"` // ids of memories that were added or changed beside ours
}

// ProposalResult tells how a proposal fares.
type ProposalResult struct {
	Branch     string   `json:"branch"`
	Commit     string   `json:"commit"`
	URL        string   `json:"url"` // opens its pull request; empty where the forge is not known
	Operations []string `json:"operations"`
	// State is would propose (a dry run), proposed (now), open, landed, withdrawn or closed.
	State string `json:"state"`

	Base gitstore.ID `json:"-"` // newest commit of the remote's branch in it

	Reworded []Reworded `json:"reworded,omitempty"` // of the operations that landed
}

// Reworded is an operation that a reviewer accepted in other words.
type Reworded struct {
	Operation string `json:"operation"`
	Proposed  string `json:"proposed"`
	Landed    string `json:"landed"`
}

// Sync synchronises the memory branch with a remote's: it fetches, merges and pushes, or proposes.
// The result is nil if it did not begin, and valid even with an error.
func Sync(ctx context.Context, c *clone.Clone, o Options) (*Result, error) {
	s := &session{c: c, o: o, done: &Result{DryRun: o.DryRun}}
	failed := s.run(ctx)
	if s.known == nil {
		return nil, failed
	}
	return s.result(ctx, failed)
}

// session is the state of one sync with one remote, under the lock of git.State.LockSync.
type session struct {
	c      *clone.Clone
	o      Options
	remote *git.Remote
	file   *remotes.File
	known  *remotes.Remote // of file

	proposals *proposals
	// contested waits for a search that began before the push. It may be nil.
	contested func() ([]record.Memory, error)
	rewrote   map[gitstore.ID]gitstore.ID // commits that following a purge replaced

	done *Result
}

func (s *session) run(ctx context.Context) error {
	repo := s.c.Repo
	if s.c.Own {
		name, err := follow(ctx, repo, s.o.Remote)
		if err != nil {
			return err
		}
		s.o.Remote = name
	}
	remote, err := repo.Remote(ctx, s.o.Remote, s.c.Branch())
	if err != nil {
		return ExplainRemote(err)
	}
	s.remote, s.done.Remote, s.done.URL = remote, remote.Name, git.Address(remote.PushURL)
	if remote.NoPush != nil {
		s.done.NoPush = remote.NoPush.Error()
	}
	if err := clone.CheckFormat(ctx, s.c); err != nil {
		return err
	}
	unlock, err := repo.State().LockSync(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if s.file, err = remotes.Read(s.c.State); err != nil {
		return err
	}
	s.known = s.file.At(remote.Name)
	if _, err := repo.Recent().Restore(ctx); err != nil { // git itself reads from here on
		return err
	}
	memory := &lane{session: s, name: "memory", ref: s.c.Config.Ref, store: s.c.Memory, out: &s.done.Memory}
	s.proposals = &proposals{lane: memory, reworded: map[string][]Reworded{}}
	repo.Upkeep().AwaitCollection(ctx)
	go memory.ahead(ctx)
	if err := memory.bring(ctx); err != nil {
		return err
	}
	if !s.o.DryRun {
		if err := s.proposals.refresh(ctx); err != nil {
			return err
		}
	}
	if s.o.Propose {
		if err := s.proposals.propose(ctx); err != nil {
			return err
		}
	}
	if s.o.Journal {
		s.done.Journal = &LaneResult{}
		journal := &lane{session: s, name: "journal", ref: clone.JournalRef, store: s.c.Journal(), out: s.done.Journal}
		return journal.bring(ctx)
	}
	return nil
}

// result completes the result, also of a sync that failed.
func (s *session) result(ctx context.Context, failed error) (*Result, error) {
	s.done.ReviewOnly = s.known.ReviewOnly
	for _, p := range s.known.Proposals {
		s.proposals.note(p, "open")
	}
	if s.contested == nil {
		s.contested = s.findContested(ctx)
	}
	contested, err := s.contested()
	if err != nil && failed == nil {
		return nil, err
	}
	s.done.Undecided, s.done.Contested = contested, []string{}
	for _, m := range contested {
		s.done.Contested = append(s.done.Contested, m.ID)
	}
	if s.done.Proposals == nil {
		s.done.Proposals = []ProposalResult{}
	}
	return s.done, failed
}

// findContested reads all memories while other work goes on. It returns a function that waits for
// the contested ones.
func (s *session) findContested(ctx context.Context) func() ([]record.Memory, error) {
	var found []record.Memory
	done := make(chan error, 1)
	go func() {
		done <- s.c.Book.View(ctx, func(v *record.View) error {
			found = Contested(v)
			return nil
		})
	}()
	return func() ([]record.Memory, error) {
		err := <-done
		return found, err
	}
}

// Contested returns the memories of a view that a merge could not decide.
func Contested(v *record.View) []record.Memory {
	var found []record.Memory
	for _, m := range v.Memories() {
		if m.Status == record.Contested {
			found = append(found, m)
		}
	}
	return found
}

// accept refuses a tree that is no memory branch, or one whose format is newer than this program.
func (s *session) accept(theirs *gitstore.Tree) error {
	return Accept(s.c.Config, s.remote.Name+"/"+s.c.Branch(), theirs)
}

// quote reports the server's words.
func (s *session) quote(report git.Report) {
	for _, line := range report.Said {
		s.o.Report(RemoteSaid{s.remote.Name, line})
	}
}

// said reports git's remarks about commits, such as on signing.
func (s *session) said(notes ...string) {
	for _, note := range notes {
		if note != "" {
			s.o.Report(GitSaid(note))
		}
	}
}

// tolerate reports records that cannot be read, which hide no others, and returns every other
// error.
func (s *session) tolerate(err error) error {
	bad, rest := record.Unreadable(err)
	if len(bad) > 0 {
		s.o.Report(Unreadable(bad))
	}
	return rest
}

// pending reads the inbox.
func (s *session) pending(v *record.View) ([]record.Operation, error) {
	ops, err := v.Inbox().Operations()
	return ops, s.tolerate(err)
}

// book opens a book on a store that takes the place of the memory branch and of the inbox.
func (s *session) book(memory *gitstore.Store) *record.Book {
	return record.Open(record.Stores{Memory: memory, Journal: s.c.Journal(), Inbox: memory}, s.c.State, s.c.Scanner)
}

// broken is the error of a server failure that a retry may cure and a proposal would not.
func (s *session) broken(p git.Pushed, report git.Report) error {
	s.quote(report)
	return exit.New(exit.Failed, fmt.Errorf("push to %s: the server failed: %s", s.remote.Name, p.Reason), "what was fetched is merged here, and nothing is lost; run it again")
}

// explainMerge adds a hint to an error about the remote's history.
func (s *session) explainMerge(err error) error {
	if errors.Is(err, gitstore.ErrShallow) {
		return exit.New(exit.NeedsPerson, err, "deepen it: git fetch --unshallow "+s.remote.Name)
	}
	return refusedEntries(err, s.remote.Name)
}

// ExplainRemote adds a hint to an error about finding a remote.
func ExplainRemote(err error) error {
	var own *git.ProgramError
	switch {
	case errors.As(err, &own):
		return exit.New(exit.NeedsPerson, err, "if it is yours, say it in your own configuration: git config --global "+own.Keys[0]+" … (or in a file that includeIf names), and take it out here")
	case errors.As(err, new(*git.AddressError)):
		return exit.New(exit.NeedsPerson, err, "")
	case errors.Is(err, git.ErrNoRemote):
		return exit.New(exit.BadUsage, err, "reverie sync REMOTE, with a name that 'git remote' lists; 'git remote add NAME URL' adds one")
	}
	return err
}

func explainFetch(err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, git.ErrObjects):
		return exit.New(exit.NeedsPerson, err, "the remote has objects that git does not write; nothing of them was merged. Ask its maintainer")
	}
	return exit.New(exit.Failed, err, "nothing was changed here; try again when the remote can be reached")
}

func explainPush(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return exit.New(exit.Failed, err, "what was fetched is merged here, and nothing is lost; run it again when the remote can be reached")
}

// follow notes an address as the only remote of the person's own memory, and returns the name of
// that. An empty address is the one noted before.
func follow(ctx context.Context, repo *git.Repo, address string) (name string, err error) {
	name = "origin"
	_, unknown := repo.Git(ctx, nil, "remote", "get-url", name)
	switch {
	case (address == "" || address == name) && unknown != nil:
		return "", exit.New(exit.BadUsage, errors.New("your own memory has no remote yet"), "give the address of a repository of your own: reverie sync --user ADDRESS")
	case address == "" || address == name:
	case !strings.ContainsAny(address, `/:\`):
		return "", exit.Usage("reverie sync --user git@example.com:ann/memory.git", "%q is no address of a repository", address)
	case unknown != nil:
		_, err = repo.Git(ctx, nil, "remote", "add", name, "--", address)
	default:
		_, err = repo.Git(ctx, nil, "remote", "set-url", name, "--", address)
	}
	return name, err
}
