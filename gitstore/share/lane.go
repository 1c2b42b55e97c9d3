package share

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/pattern"
)

// lane synchronises one ref with the remote's ref of the same name.
type lane struct {
	*session
	name  string // memory, journal, or proposal/memory
	ref   string
	store *gitstore.Store
	out   *LaneResult

	race git.Report // of the last push that lost a race
}

// seen names the ref that keeps the remote's tip as it was last accepted.
func (l *lane) seen() string { return "refs/reverie/remotes/" + l.remote.Name + "/" + l.name }

// fresh names the ref that a fetch fills before its content is judged.
func (l *lane) fresh() string { return "refs/reverie/remotes/" + l.remote.Name + "/new/" + l.name }

// ahead asks git, during a fetch, the questions that follow a fetch without news.
func (l *lane) ahead(ctx context.Context) {
	repo := l.c.Repo
	repo.Config().Identity(ctx)
	seen, err := repo.Refs().Read(ctx, l.seen())
	ours, err2 := repo.Refs().Read(ctx, l.ref)
	if err == nil && err2 == nil {
		l.remote.Apart(ctx, seen, ours)
	}
}

// bring exchanges the lane. It repeats that if git skipped objects which it already had,
// unreachable, and which a prune removed meanwhile.
func (l *lane) bring(ctx context.Context) error {
	err := l.exchange(ctx)
	if err == nil || ctx.Err() != nil || l.remote.Refetch {
		return err
	}
	if l.remote.Refetch = l.dropBroken(ctx); !l.remote.Refetch {
		return err
	}
	l.o.Report(ObjectsLost{l.remote.Name})
	return l.exchange(ctx)
}

// dropBroken removes the refs of the remote's history that reach missing objects. It reports
// whether it found one, or whether our own history is incomplete.
func (l *lane) dropBroken(ctx context.Context) (found bool) {
	repo := l.c.Repo
	if _, err := repo.Recent().Restore(ctx); err != nil {
		return false
	}
	refs, err := repo.Refs().List(ctx, "refs/reverie/remotes/"+l.remote.Name+"/", l.ref)
	if err != nil {
		return false
	}
	for _, r := range refs {
		if ctx.Err() != nil || repo.History().Complete(ctx, r.ID) {
			continue
		}
		found = true
		if r.Name != l.ref && repo.Refs().Delete(ctx, r.Name, r.ID) != nil {
			return false
		}
	}
	return found && ctx.Err() == nil
}

// Bounds on the attempts of one sync. Each but the first follows a push that another clone won.
const (
	maxRaces = 30
	maxStuck = 5 // lost races with a remote that has not moved
	maxPause = 2 * time.Second
)

// exchange fetches, merges and pushes, and begins again when another clone pushed meanwhile.
// Fetched commits stay merged even if the push fails.
func (l *lane) exchange(ctx context.Context) error {
	pause, stuck, last := 50*time.Millisecond, 0, gitstore.ID("none")
	for try := 1; ; try++ {
		l.out.Attempts = try
		theirs, lost, err := l.attempt(ctx, try == 1)
		if !lost || err != nil {
			return err
		}
		if try == maxRaces {
			return exit.New(exit.Failed, fmt.Errorf("%s: another push was faster %d times", l.remote.Name, try), "what was fetched is merged here; run it again to push")
		}
		if theirs == last { // no other clone won
			stuck++
		}
		if last = theirs; stuck == maxStuck {
			l.quote(l.race)
			return exit.New(exit.Failed, fmt.Errorf("push to %s: the server does not move %s: %s", l.remote.Name, l.ref, l.race.Refs[0].Reason),
				"what was fetched is merged here. On the server, rename the branch that is in the way, or remove the lock that a dead process left")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause/2 + rand.N(pause)):
		}
		pause = min(2*pause, maxPause)
	}
}

// attempt returns one round of exchange. It returns the remote's tip, and whether the push lost a
// race.
func (l *lane) attempt(ctx context.Context, first bool) (theirs gitstore.ID, lost bool, err error) {
	theirs, clean, err := l.fetch(ctx)
	if err != nil {
		return theirs, false, err
	}
	ours, err := l.store.Tip(ctx)
	if clone.NoMemory(err) {
		ours, err = "", nil
	}
	switch {
	case err != nil:
		return theirs, false, err
	case ours == "" && theirs == "" && l.name == "journal":
		l.o.Report(NoJournal{l.remote.Name})
		return theirs, false, nil
	case ours == "" && theirs == "":
		return theirs, false, exit.New(exit.NoStore, fmt.Errorf("neither this clone nor %s: %w", l.remote.Name, gitstore.ErrNoStore), exit.Start)
	case l.o.DryRun:
		return theirs, false, l.preview(ctx, ours, theirs)
	}
	tip, err := l.merge(ctx, ours, clean)
	if err == nil && l.name == "memory" {
		err = l.proposals.settle(ctx, tip, clean)
	}
	if err != nil {
		return theirs, false, err
	}
	if l.name == "memory" {
		l.o.Land(ctx)
		if tip, err = l.store.Tip(ctx); err != nil {
			return theirs, false, err
		}
	}
	if clean != theirs {
		err := fmt.Errorf("%s still holds what was purged here: nothing was pushed", l.remote.Name)
		return theirs, false, exit.New(exit.NeedsPerson, err, "replace its branch: reverie purge --push "+l.remote.Name)
	}
	if first { // to receive needs no consent
		if err := l.consent(ctx, tip, theirs); err != nil {
			return theirs, false, err
		}
	}
	lost, err = l.publish(ctx, tip, theirs)
	return theirs, lost, err
}

// preview reports the work of a sync without doing it.
func (l *lane) preview(ctx context.Context, ours, theirs gitstore.ID) error {
	var err error
	l.out.Fetched, _, err = l.remote.Apart(ctx, string(theirs), string(ours))
	if err == nil && ours != "" && !l.withholds() {
		l.out.Publishes, l.out.Pushed, err = l.unpublished(ctx, ours, theirs)
	}
	l.out.Commit = string(ours)
	return err
}

// merge brings theirs into our store and returns our tip.
func (l *lane) merge(ctx context.Context, ours, theirs gitstore.ID) (gitstore.ID, error) {
	l.out.Way, l.out.Commit = string(gitstore.Nothing), string(ours)
	n := 0
	if theirs != "" && ours != theirs {
		var err error
		if n, _, err = l.remote.Apart(ctx, string(theirs), string(ours)); err != nil {
			return ours, err
		}
	}
	if n == 0 {
		return ours, nil
	}
	l.out.Fetched += n
	var m gitstore.Merged
	var err error
	message := gitstore.Commit{Subject: "merge: " + l.name + " of " + l.remote.Name, Trailers: []gitstore.Trailer{{Key: "Reverie-Op", Value: "sync"}}}
	switch {
	case l.name == "journal":
		m, err = l.c.Book.MergeJournal(ctx, theirs, message)
	case ours == "":
		m.Way = gitstore.FastForward
		m.Result, err = l.store.Adopt(ctx, l.seen())
	default:
		m, err = l.c.Book.Merge(ctx, theirs, message, l.accept)
	}
	if err != nil {
		return ours, l.explainMerge(err)
	}
	l.said(m.Note)
	if m.Way != gitstore.Nothing || l.out.Way == "" {
		l.out.Way = string(m.Way)
	}
	l.out.Commit, l.out.Dropped = string(m.Commit), append(l.out.Dropped, m.Dropped...)
	if m.Backup != "" {
		l.out.Backup = m.Backup
	}
	arrived, err := l.out.add(ctx, l.store, m, theirs)
	if ours != "" {
		l.out.Arrived = append(l.out.Arrived, arrived...)
	}
	return m.Commit, err
}

// publish pushes the tip or, where the server takes no pushes of the branch, a proposal. It reports
// whether another clone was faster.
func (l *lane) publish(ctx context.Context, tip, theirs gitstore.ID) (lost bool, err error) {
	if tip == theirs || l.withholds() {
		return false, nil
	}
	if l.name == "memory" && l.known.ReviewOnly != "" && !l.o.Push {
		return false, l.proposals.branch(ctx, tip, theirs)
	}
	l.contested = l.findContested(ctx)
	report, err := l.remote.Push(ctx, git.Update{Ref: l.ref, ID: string(tip), Old: string(theirs)})
	if err != nil {
		return false, explainPush(err)
	}
	p := report.Refs[0]
	switch p.Outcome {
	case git.LostRace:
		l.race = report
		return true, nil
	case git.Broken:
		return false, l.broken(p, report)
	case git.Refused:
		return false, l.refused(ctx, p, report, tip, theirs)
	}
	l.out.Pushed = p.Commits
	if l.known.ReviewOnly != "" && l.name == "memory" {
		l.known.ReviewOnly = ""
		if err := l.file.Save(); err != nil {
			return false, err
		}
	}
	return false, l.moveSeen(ctx, string(tip), string(theirs), "push")
}

// signing matches a server's words about commits that must be signed.
var signing = pattern.New(`(?i)\b(?:signatures?|unsigned|must be (?:gpg[- ])?signed|signed commits?)\b`)

// refused proposes the changes if the server rejects the branch. It reports the server's words, and
// notes the remote as review-only if that accepts the proposal.
func (l *lane) refused(ctx context.Context, p git.Pushed, report git.Report, tip, theirs gitstore.ID) error {
	l.quote(report)
	err := fmt.Errorf("push to %s: refused: %s", l.remote.Name, p.Reason)
	if l.name != "memory" || theirs == "" {
		next := "ask the remote's maintainer to allow pushes to " + l.ref
		if theirs == "" && signing.MatchString(strings.Join(append(report.Said, p.Reason), "\n")) {
			next = fmt.Sprintf("the first commit of every memory, %.8s, is never signed: ask the remote's maintainer to lift the rule for %s, at least for this push", l.store.First(), l.ref)
		}
		return exit.New(exit.NeedsPerson, err, next+"; the fetched changes are merged here")
	}
	l.o.Report(ReviewOnly{l.remote.Name, l.c.Branch(), p.Reason})
	before := l.known.ReviewOnly
	l.known.ReviewOnly = p.Reason
	if perr := l.proposals.branch(ctx, tip, theirs); perr != nil {
		l.known.ReviewOnly = before
		return errors.Join(perr, err)
	}
	return l.file.Save()
}

// purged follows a purge. It runs on every fetched history before the comparison with the last seen
// tip and before a merge. If their history or ours was purged, it rewrites our own refs and returns
// the commit to merge in place of theirs. If the two differ, nothing can be pushed on top.
func (l *lane) purged(ctx context.Context, theirs gitstore.ID) (clean gitstore.ID, err error) {
	c, err := l.o.Purge()
	if err != nil {
		return "", err
	}
	done, err := purge.Settle(ctx, c, l.store, theirs, func(records int, found purge.Found) error { return l.agreeToFollow(theirs, records, found) })
	if done.New != nil {
		l.rewrote = done.New
	}
	l.said(done.Notes...)
	if err != nil {
		return "", err
	}
	if done.Records > 0 {
		l.o.Report(PurgeFollowed{l.remote.Name, done.Found, done.Left})
	}
	if l.rewrote == nil {
		return done.To, nil
	}
	dropped, err := purge.DropProposals(l.file, l.rewrote)
	l.o.Report(StillThere(dropped))
	return done.To, err
}

// agreeToFollow reports the parts that following a purge removes here, and asks.
func (s *session) agreeToFollow(theirs gitstore.ID, records int, found purge.Found) error {
	s.o.Report(Purged{s.remote.Name, records, found})
	if !s.o.Yes && !s.o.Ask(FollowPurge{s.remote.Name}) {
		return exit.New(exit.NeedsPerson, fmt.Errorf("%s was purged, and this clone still holds what went there: nothing was merged", s.remote.Name),
			"look at 'git log "+string(theirs)+" -- purged', then: reverie sync --yes")
	}
	return nil
}
