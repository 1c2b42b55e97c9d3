package cmd

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/gitstore/remotes"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/urfave/cli/v2"
)

type syncOptions struct {
	remote  string
	yes     bool // publish what was never published there
	journal bool
	dryRun  bool
	push    bool // try the branch of a remote that refused it before
	restore bool // go on though the remote lost commits
	propose bool
	ops     []string // to propose; none is all
	timeout time.Duration
}

func syncCommand(env *Env) *cli.Command {
	o := syncOptions{}
	return &cli.Command{
		Name:      "sync",
		Usage:     "fetch, merge and push the memory branch",
		ArgsUsage: "[REMOTE] | --propose [OP…]",
		Description: "Nothing is forced and nothing of yours is touched but the memory branch. Where the server refuses the\n" +
			"branch, the changes are pushed as a proposal, for a pull request. The journal stays here unless asked for.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "yes", Usage: "do not ask: publish, the first time too, and take out here what the remote was purged of", Destination: &o.yes},
			&cli.BoolFlag{Name: "journal", Usage: "the journal too: reflections, dreams, checkpoints and private memories", Destination: &o.journal},
			&cli.BoolFlag{Name: "propose", Usage: "publish pending operations, all or those named, as a branch to review", Destination: &o.propose},
			&cli.StringFlag{Name: "remote", Usage: "the `REMOTE`, where operations are named", Destination: &o.remote},
			&cli.BoolFlag{Name: "dry-run", Usage: "fetch, and say what would be merged and pushed", Destination: &o.dryRun},
			&cli.BoolFlag{Name: "push", Usage: "try to push the branch to a remote that takes proposals only", Destination: &o.push},
			&cli.BoolFlag{Name: "restore", Usage: "go on though the remote has lost commits, and publish again what is here of them", Destination: &o.restore},
			&cli.DurationFlag{Name: "timeout", Usage: "give up after this `TIME` without progress, or ten times as long in all", Value: time.Minute, Destination: &o.timeout},
		},
		Action: func(c *cli.Context) error {
			switch {
			case o.propose:
				o.ops = c.Args().Slice()
			case c.NArg() > 1 || c.NArg() == 1 && o.remote != "":
				return exit.Usage("'git remote' lists them; operations are named after --propose", "sync wants one remote at most")
			case c.NArg() == 1:
				o.remote = c.Args().First()
			}
			if o.timeout <= 0 {
				return exit.Usage("", "a timeout is more than nothing: %s", o.timeout)
			}
			return runSync(c.Context, env, o)
		},
	}
}

func runSync(ctx context.Context, env *Env, o syncOptions) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	bounded, watch := git.NewWatch(ctx, o.timeout)
	defer watch.Stop()
	s := &syncer{w: w, o: o, reworded: map[string][]rewordedJSON{}, watch: watch}
	late := func(err error) error {
		if err == nil || bounded.Err() == nil || ctx.Err() != nil {
			return err
		}
		return exit.New(exit.Failed, fmt.Errorf("sync: %w", context.Cause(bounded)),
			"nothing is lost or half-done, and the next run goes on from here; give it a longer --timeout if the remote is slow")
	}
	err = late(s.run(bounded))
	if err = errors.Join(late(s.tell(bounded, err)), err); err != nil {
		return err
	}
	w.tidy(ctx)
	if s.done.Memory.Fetched == 0 || o.dryRun {
		return nil
	}
	return w.tellForeign(ctx) // of what came
}

// syncer is one sync with one remote, under the lock of LockSync.
type syncer struct {
	w      *workspace
	o      syncOptions
	remote *git.Remote
	all    *remotes.File
	known  *remotes.Remote // of all
	watch  *git.Watch      // ends the sync; paused while a person thinks
	report git.Report      // of the last push that lost a race

	contested func() ([]record.Memory, error) // waits for a look at them that began before the push; may be nil

	heads     map[string]string         // the remote's branches of proposals, once they were asked for
	reworded  map[string][]rewordedJSON // by branch of a proposal
	proposing []record.Operation        // by a run that only says so
	tracked   bool                      // a plain fetch brings the remote's branches

	done syncJSON
}

// lane is one ref that is brought together with the remote's of the same name.
type lane struct {
	name  string // memory or journal
	ref   string
	store *gitstore.Store
	out   *laneJSON
}

// seen is the ref that keeps what the remote was last seen to have; fresh is where a fetch puts what
// it has now, before that is judged.
func (s *syncer) seen(l lane) string { return "refs/reverie/remotes/" + s.remote.Name + "/" + l.name }
func (s *syncer) fresh(l lane) string {
	return "refs/reverie/remotes/" + s.remote.Name + "/new/" + l.name
}

func (s *syncer) run(ctx context.Context) error {
	var err error
	if s.remote, err = s.w.Repo.Remote(ctx, s.o.remote, s.w.Branch()); err != nil {
		return explainRemote(err)
	}
	s.done.Remote, s.done.URL = s.remote.Name, git.Address(s.remote.PushURL)
	unlock, err := s.w.Repo.LockSync(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if s.all, err = s.w.readRemotes(); err != nil {
		return err
	}
	s.known = s.all.At(s.remote.Name)
	if _, err := s.w.Repo.RestoreRecent(ctx); err != nil { // git itself reads from here on
		return err
	}
	memory := lane{name: "memory", ref: s.w.Config.Ref, store: s.w.Memory, out: &s.done.Memory}
	s.w.Repo.AwaitCollection(ctx)
	go s.ahead(ctx, memory)
	if err := s.bring(ctx, memory); err != nil {
		return err
	}
	if !s.o.dryRun {
		if err := s.refresh(ctx, memory); err != nil {
			return err
		}
	}
	if s.o.propose {
		if err := s.propose(ctx, memory); err != nil {
			return err
		}
	}
	if s.o.journal {
		s.done.Journal = &laneJSON{}
		return s.bring(ctx, lane{name: "journal", ref: clone.JournalRef, store: gitstore.Open(s.w.Repo, clone.JournalRef), out: s.done.Journal})
	}
	return nil
}

// ahead asks git, while the fetch runs, what will be asked after it if nothing came.
func (s *syncer) ahead(ctx context.Context, l lane) {
	s.w.Repo.Identity(ctx)
	seen, err := s.w.Repo.ReadRef(ctx, s.seen(l))
	ours, err2 := s.w.Repo.ReadRef(ctx, l.ref)
	if err == nil && err2 == nil {
		s.remote.Apart(ctx, seen, ours)
	}
}

func explainRemote(err error) error {
	var own *git.ProgramError
	switch {
	case errors.As(err, &own):
		return exit.New(exit.NeedsPerson, err, "if it is yours, say it in your own configuration: git config --global "+own.Keys[0]+" … (or in a file that includeIf names), and take it out here")
	case errors.As(err, new(*git.AddressError)):
		return exit.New(exit.NeedsPerson, err, "")
	case errors.Is(err, git.ErrNoRemote):
		return exit.New(exit.BadUsage, err, "reverie sync REMOTE, with a name that 'git remote' lists")
	}
	return err
}

// Bounds on the attempts of one sync, each after somebody else was faster.
const (
	maxRaces = 30
	maxStuck = 5 // of them, with a remote that is where it was
	maxPause = 2 * time.Second
)

// bring is lane, once more if what git has of the remote turns out not to be complete: git found it here, reached by
// nothing, and did not ask for it, and a prune that ran beside took it. The remote has all of it still.
func (s *syncer) bring(ctx context.Context, l lane) error {
	err := s.lane(ctx, l)
	if err == nil || ctx.Err() != nil || s.remote.Refetch {
		return err
	}
	if s.remote.Refetch = s.dropBroken(ctx, l); !s.remote.Refetch {
		return err
	}
	s.w.env.Say("objects of %s were lost here, as to a git prune: fetching all of it again", s.remote.Name)
	return s.lane(ctx, l)
}

// dropBroken removes the refs that keep what the remote was seen to have and that reach objects which are not here. It
// reports whether there was one, or whether our own history is such.
func (s *syncer) dropBroken(ctx context.Context, l lane) (found bool) {
	repo := s.w.Repo
	if _, err := repo.RestoreRecent(ctx); err != nil {
		return false
	}
	refs, err := repo.Refs(ctx, "refs/reverie/remotes/"+s.remote.Name+"/", l.ref)
	if err != nil {
		return false
	}
	for _, r := range refs {
		if ctx.Err() != nil || repo.Complete(ctx, r.ID) {
			continue
		}
		found = true
		if r.Name != l.ref && repo.DeleteRef(ctx, r.Name, r.ID) != nil {
			return false
		}
	}
	return found && ctx.Err() == nil
}

// lane fetches, merges and pushes one ref, and begins again when somebody else pushed meanwhile. What was
// fetched and merged stands whatever becomes of the push.
func (s *syncer) lane(ctx context.Context, l lane) error {
	pause, stuck, last := 50*time.Millisecond, 0, gitstore.ID("none")
	for try := 1; ; try++ {
		l.out.Attempts = try
		theirs, clean, err := s.fetch(ctx, l)
		if err != nil {
			return err
		}
		ours, err := l.store.Tip(ctx)
		if clone.NoMemory(err) {
			ours, err = "", nil
		}
		if err != nil {
			return err
		}
		if ours == "" && theirs == "" {
			return s.nothing(l)
		}
		if s.o.dryRun {
			return s.preview(ctx, l, ours, theirs)
		}
		tip, err := s.merge(ctx, l, ours, clean)
		if err != nil {
			return err
		}
		if tip != ours && l.name == "memory" {
			s.w.landAll(ctx)
			if tip, err = l.store.Tip(ctx); err != nil {
				return err
			}
		}
		if clean != theirs {
			err := fmt.Errorf("%s still holds what was purged here: nothing was pushed", s.remote.Name)
			return exit.New(exit.NeedsPerson, err, "replace its branch: reverie purge --push "+s.remote.Name)
		}
		if try == 1 { // receiving needs nobody's leave
			if err := s.consent(ctx, l, tip, theirs); err != nil {
				return err
			}
		}
		lost, err := s.publish(ctx, l, tip, theirs)
		if !lost || err != nil {
			return err
		}
		if try == maxRaces {
			return exit.New(exit.Failed, fmt.Errorf("%s: somebody else was faster %d times", s.remote.Name, try), "what was fetched is merged here; run it again to push")
		}
		if theirs == last { // lost to nobody
			stuck++
		}
		if last = theirs; stuck == maxStuck {
			s.quote(s.report)
			return exit.New(exit.Failed, fmt.Errorf("push to %s: the server does not move %s: %s", s.remote.Name, l.ref, s.report.Refs[0].Reason),
				"what was fetched is merged here. A lock that a dead process left on the server has to be removed there")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause/2 + rand.N(pause)):
		}
		pause = min(2*pause, maxPause)
	}
}

// nothing is for a ref that neither side has.
func (s *syncer) nothing(l lane) error {
	if l.name == "journal" {
		s.w.env.Say("neither %s nor this clone has a journal", s.remote.Name)
		return nil
	}
	err := fmt.Errorf("neither this clone nor %s: %w", s.remote.Name, gitstore.ErrNoStore)
	_, hint := explain(err)
	return exit.New(exit.NoStore, err, hint) // which is not to name sync
}

// fetch brings what the remote has and returns its tip, empty where it has none, and what of it may be
// merged. What the remote was seen to have moves on only if nothing of it is gone.
func (s *syncer) fetch(ctx context.Context, l lane) (theirs, clean gitstore.ID, err error) {
	repo := s.w.Repo
	if err := repo.ClearRefLock(s.fresh(l)); err != nil {
		return "", "", err
	}
	now, err := s.remote.Fetch(ctx, l.ref, s.fresh(l))
	absent := errors.Is(err, git.ErrNoRemoteRef)
	if err != nil && !absent {
		return "", "", explainFetch(err)
	}
	theirs, clean = gitstore.ID(now), gitstore.ID(now)
	if !absent && !s.o.dryRun {
		if clean, err = s.purged(ctx, l, theirs); err != nil {
			return "", "", err
		}
		now = string(clean) // what was purged is not kept as seen either
	}
	seen, err := repo.ReadRef(ctx, s.seen(l))
	if errors.Is(err, git.ErrNoRef) || err == nil && seen == now {
		if !absent && err != nil {
			return theirs, clean, s.see(ctx, l, now, "")
		}
		return theirs, clean, nil
	}
	if err != nil {
		return "", "", err
	}
	descends := false
	if !absent {
		if descends, err = repo.IsAncestor(ctx, seen, now); err != nil {
			return "", "", err
		}
	}
	if !descends && s.known.Saw(l.name, seen) || absent {
		if err := s.rewritten(ctx, l, seen, now); err != nil || absent {
			return "", "", err
		}
	}
	return theirs, clean, s.see(ctx, l, now, seen)
}

// see notes what the remote has, once all of it may be taken over: what is refused and then taken out of
// the remote again was never seen.
func (s *syncer) see(ctx context.Context, l lane, now, seen string) error {
	known := seen // and looked at then
	if tip, err := l.store.Tip(ctx); err == nil && known == "" {
		known = string(tip)
	}
	var base gitstore.ID
	if known != "" {
		if err := l.store.ViewAt(ctx, known, func(t *gitstore.Tree) error { base = t.ID(); return nil }); err != nil {
			return err
		}
	}
	err := l.store.ViewAt(ctx, now, func(t *gitstore.Tree) error {
		if _, err := t.Admit(base); err != nil || l.name != "memory" {
			return err
		}
		return s.accept(t)
	})
	if err != nil {
		return s.explainMerge(err)
	}
	if s.o.dryRun {
		return nil
	}
	return s.moveSeen(ctx, l, now, seen, "fetch")
}

func explainFetch(err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, git.ErrObjects):
		return exit.New(exit.NeedsPerson, err, "somebody pushed what git itself does not write; nothing of it was taken over. Ask whoever keeps the remote")
	}
	return exit.New(exit.Failed, err, "nothing was changed here; try again when the remote can be reached")
}

// moveSeen notes what the remote has.
func (s *syncer) moveSeen(ctx context.Context, l lane, now, old, why string) error {
	ctx, unlock, err := l.store.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.w.Repo.MoveRef(ctx, s.seen(l), now, old, "reverie sync: "+why); err != nil {
		return err
	}
	s.known.See(l.name, now)
	return s.all.Save()
}

// preview says what a sync would do.
func (s *syncer) preview(ctx context.Context, l lane, ours, theirs gitstore.ID) error {
	var err error
	l.out.Fetched, _, err = s.remote.Apart(ctx, string(theirs), string(ours))
	if err == nil && ours != "" && !s.withholds(l) {
		l.out.What, l.out.Pushed, err = s.unpublished(ctx, l, ours, theirs)
	}
	l.out.Commit = string(ours)
	return err
}
