package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/purge"
	"github.com/reverie-memory/reverie/gitstore/share"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/internal/upkeep"
	"github.com/urfave/cli/v2"
)

func syncCommand(env *Env) *cli.Command {
	var o share.Options
	var timeout time.Duration
	return &cli.Command{
		Name:      "sync",
		Usage:     "fetch, merge and push the memory branch",
		ArgsUsage: "[REMOTE] | --propose [OP…]",
		Description: "Nothing is forced, and only the memory branch changes. If the server refuses the branch, sync pushes\n" +
			"the changes as a proposal, for a pull request. The journal stays here unless you ask for it.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "yes", Usage: "do not ask: publish for the first time too, and erase here what was purged from the remote", Destination: &o.Yes},
			&cli.BoolFlag{Name: "journal", Usage: "also sync the journal: reflections, dreams, checkpoints and private memories", Destination: &o.Journal},
			&cli.BoolFlag{Name: "propose", Usage: "publish all or the named pending operations as a branch to review", Destination: &o.Propose},
			&cli.StringFlag{Name: "remote", Usage: "use this `REMOTE` when operations are named", Destination: &o.Remote},
			&cli.BoolFlag{Name: "dry-run", Usage: "fetch, then print what would change, and change nothing", Destination: &o.DryRun},
			&cli.BoolFlag{Name: "push", Usage: "try to push the branch to a remote that accepts only proposals", Destination: &o.Push},
			&cli.BoolFlag{Name: "restore", Usage: "continue although the remote lost commits, and publish the ones kept here again", Destination: &o.Restore},
			&cli.DurationFlag{Name: "timeout", Usage: "give up after `TIME` without progress, or ten times as long in all", Value: time.Minute, Destination: &timeout},
		},
		Action: func(c *cli.Context) error {
			switch {
			case o.Propose:
				o.Operations = c.Args().Slice()
			case c.NArg() > 1 || c.NArg() == 1 && o.Remote != "":
				return exit.Usage("'git remote' lists them; operations are named after --propose", "sync takes at most one remote")
			case c.NArg() == 1:
				o.Remote = c.Args().First()
			}
			if timeout <= 0 {
				return exit.Usage("", "--timeout must be more than 0: %s", timeout)
			}
			return env.with(c.Context, func(w *workspace) error { return runSync(c.Context, w, o, timeout) })
		},
	}
}

func runSync(ctx context.Context, w *workspace, o share.Options, timeout time.Duration) error {
	bounded, watch := git.NewWatch(ctx, timeout)
	defer watch.Stop()
	t := syncTeller{w}
	o.Report = t.note
	o.Ask = func(q share.Question) bool {
		watch.Pause()
		defer watch.Resume()
		return t.ask(q)
	}
	o.Land = w.learner().Land
	o.Purge = func() (*purge.Clone, error) { return upkeep.Purgeable(w.Clone) }
	done, err := share.Sync(bounded, w.Clone, o)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		err = exit.New(exit.Failed, fmt.Errorf("sync: %w", context.Cause(bounded)),
			"nothing is lost or half-done, and the next run continues from here; if the remote is slow, give a longer --timeout")
	}
	if done != nil {
		err = errors.Join(t.result(ctx, done, err), err)
	}
	if err != nil {
		return err
	}
	w.tidy(ctx)
	if w.Own && w.RefreshIndex(ctx) == nil { // for the next hook
		return nil
	}
	if done.Memory.Fetched == 0 || o.DryRun {
		return nil
	}
	return tellForeign(ctx, w) // about fetched memories
}

// syncTeller puts a sync into words.
type syncTeller struct{ w *workspace }

// ask puts a question to a person.
func (t syncTeller) ask(q share.Question) bool {
	switch q := q.(type) {
	case share.Publish:
		return t.w.env.Ask(fmt.Sprintf("Publish %s to %s, %s?", q.What, q.Remote, q.URL), "n")
	case share.FollowPurge:
		return t.w.env.Ask("Erase the same here?", "n")
	}
	return false
}

// note tells what happens on the way.
func (t syncTeller) note(n share.Note) {
	say := t.w.env.Say
	switch n := n.(type) {
	case share.GitSaid:
		t.w.tellCommitted(string(n))
	case share.Unreadable:
		t.w.tellPassedOver(n)
	case share.RemoteSaid:
		t.w.env.Warn("%s says: %s", n.Remote, n.Line)
	case share.Publishing:
		say("publish  %s to %s, %s", n.What, n.Remote, n.URL)
	case share.ObjectsLost:
		say("objects of %s were lost here, perhaps by git prune: fetching all of it again", n.Remote)
	case share.NoJournal:
		say("neither %s nor this clone has a journal", n.Remote)
	case share.Restoring:
		say("restore  %s of %s that %s has lost; its old tip is kept as %s", plural.Count(n.Commits, "commit", "commits"), n.Ref, n.Remote, n.Backup)
	case share.ReviewOnly:
		say("%s takes no pushes of %s (%s): proposing the changes instead", n.Remote, n.Branch, n.Reason)
	case share.UndecidedHere:
		if n.N > 0 {
			say("nothing is proposed while %s undecided here; next: reverie conflicts", plural.Count(n.N, "memory is", "memories are"))
		}
	case share.ProposalGone:
		say("%s is gone from %s: a new proposal replaces it", n.Branch, n.Remote)
	case share.ProposalMerged:
		say("merged new commits of %s from %s", n.Branch, n.Remote)
	case share.ProposedBefore:
		if n.Closed {
			say("%s was proposed in %s and did not land; name it to propose it again", n.Operation, n.Branch)
		} else {
			say("%s is already proposed in %s", n.Operation, n.Branch)
		}
	case share.NothingPending:
		say("no pending operations to propose")
	case share.Refreshed:
		if n.Err != nil {
			t.w.env.Warn("%s is not updated: %v", n.Branch, n.Err)
		} else {
			say("updated %s with %s of %s", n.Branch, n.Base, n.Remote)
		}
	case share.Purged:
		t.purged(n)
	case share.PurgeFollowed:
		t.followed(n)
	case share.StillThere:
		for _, l := range purge.Remedies(n, t.w.State) {
			say("still there: %s: %s", l.What, l.Next)
		}
	}
}

// maxGone bounds the statements that are shown before a person lets them go.
const maxGone = 10

// purged shows what following a purge removes here.
func (t syncTeller) purged(n share.Purged) {
	say := t.w.env.Say
	files := 0
	for _, n := range n.Found.Files {
		files += n
	}
	say("%s was purged (%s); following it erases here for good:", n.Remote, plural.Count(n.Records, "record", "records"))
	say("%s, %s in %s, %s", plural.Count(len(n.Found.Memories), "memory", "memories"), plural.Count(files, "file", "files"),
		plural.Count(len(n.Found.Refs), "ref", "refs"), plural.Count(len(n.Found.Sessions), "session", "sessions"))
	gone := slices.DeleteFunc(slices.Clone(n.Found.Memories), func(v purge.Versions) bool { return v.Newest.ID == "" })
	for _, v := range gone[:min(maxGone, len(gone))] {
		say("  - %s %s", v.ID[:8], term.Visible(v.Newest.Text))
	}
	if more := len(gone) - maxGone; more > 0 {
		say("  and %d more", more)
	}
	tellGoing(t.w.env, n.Found)
}

// followed tells what is left to do here after another clone's purge, and which memories went.
func (t syncTeller) followed(n share.PurgeFollowed) {
	for _, l := range purge.Remedies(n.Left, t.w.State) {
		if l.Next != "" && !strings.Contains(l.Next, "--push") { // their remote needs no push
			t.w.env.Say("still there: %s: %s", l.What, l.Next)
		}
	}
	var ids []string
	for _, v := range n.Found.Memories {
		if !v.Kept {
			ids = append(ids, v.ID)
		}
	}
	if len(ids) > 0 {
		t.w.env.Say("gone, as from %s: %s: %s", n.Remote, plural.Count(len(ids), "memory", "memories"), strings.Join(ids, " "))
	}
}

// result tells what was done, also when the sync failed on the way.
func (t syncTeller) result(ctx context.Context, r *share.Result, failed error) error {
	env := t.w.env
	if env.JSON {
		return env.Object(r)
	}
	t.lane(r, "", r.Memory, failed)
	if r.Journal != nil {
		t.lane(r, "journal: ", *r.Journal, failed)
	}
	if r.NoPush != "" {
		env.Say("nothing is pushed: %s", r.NoPush)
	}
	for _, p := range r.Proposals {
		t.proposal(r, p)
	}
	for _, m := range r.Undecided {
		line(t.w, "!", term.Red, m, "contested")
	}
	if n := len(r.Undecided); n > 0 {
		env.Say("%s: both sides changed the text; next: reverie conflicts", plural.Count(n, "memory is contested", "memories are contested"))
	}
	return tellContradictions(ctx, t.w, r.Memory.Arrived)
}

func (t syncTeller) lane(r *share.Result, prefix string, l share.LaneResult, failed error) {
	env := t.w.env
	row := func(name, format string, args ...any) { tellRow(env, prefix+name, format, args...) }
	if r.DryRun {
		if failed == nil {
			row("fetched", "%s not here yet", plural.Count(l.Fetched, "commit", "commits"))
			if l.Publishes != "" {
				row("would push", "%s to %s", l.Publishes, r.Remote)
			}
		}
		return
	}
	if l.Fetched > 0 {
		row("fetched", "%s from %s", plural.Count(l.Fetched, "commit", "commits"), r.Remote)
	}
	if l.Way != "" && l.Way != string(gitstore.Nothing) {
		row("merged", "%s%s", tallyWords(l.Tally), wayWords(l.Way))
	}
	tellOverruled(env, l.Overruled)
	for _, path := range l.Dropped {
		env.Warn("both sides changed %s: one text was kept, the other is in the branch's history", path)
	}
	switch {
	case l.Pushed > 0:
		row("pushed", "%s to %s", plural.Count(l.Pushed, "commit", "commits"), r.Remote)
	case failed == nil && l.Fetched == 0 && l.Way == string(gitstore.Nothing) && len(r.Proposals) == 0 && r.NoPush == "":
		env.Say("%salready together with %s", prefix, r.Remote)
	}
}

// tellRow is one line of the answer.
func tellRow(env *Env, name, format string, args ...any) {
	env.Row(8, name, fmt.Sprintf(format, args...))
}

// wayWords adds to a tally how a merge was made.
func wayWords(way string) string {
	switch way {
	case string(gitstore.Adopted):
		return ", and adopted their history, which has the same content"
	case string(gitstore.Joined):
		return ", with changes from both sides"
	}
	return ""
}

func (t syncTeller) proposal(r *share.Result, p share.ProposalResult) {
	env := t.w.env
	what := "the branch's changes"
	if n := len(p.Operations); n > 0 {
		what = plural.Count(n, "operation", "operations")
	}
	switch p.State {
	case "would propose":
		tellRow(env, p.State, "%s to %s as %s", what, r.Remote, p.Branch)
		for _, o := range r.Proposing {
			line(t.w, "?", term.Dim, o.Memory, "")
		}
	case "proposed":
		tellRow(env, p.State, "%s on %s as %s", what, r.Remote, p.Branch)
		if p.URL != "" {
			tellRow(env, "", "%s", p.URL)
		} else {
			env.Say("open a pull request of %s into %s there", p.Branch, t.w.Branch())
		}
		env.Say("to see its changes: %s", t.checkLine(r, p))
	case "open":
		tellRow(env, p.State, "%s on %s as %s: to be reviewed and merged there", what, r.Remote, p.Branch)
		if p.URL != "" {
			tellRow(env, "", "%s", p.URL)
		}
	case "landed":
		tellRow(env, p.State, "%s of %s; the branch on %s may be deleted", what, p.Branch, r.Remote)
	case "withdrawn":
		tellRow(env, p.State, "%s of %s: you rejected it; close the pull request and delete the branch on %s", what, p.Branch, r.Remote)
	case "closed":
		next := "to propose it again: reverie sync --propose " + strings.Join(p.Operations, " ")
		if len(p.Operations) == 0 {
			next = "the next learn proposes it again"
		}
		tellRow(env, p.State, "%s: the branch is gone from %s, and its content did not land; %s", p.Branch, r.Remote, next)
	}
	for _, w := range p.Reworded {
		tellRow(env, "landed", "reworded: %s", term.OneLine(w.Landed, 200))
		tellRow(env, "", "proposed: %s", term.OneLine(w.Proposed, 200))
	}
}

// checkLine is the command that judges a proposal. It names branches where a fetch brings them,
// else commits.
func (t syncTeller) checkLine(r *share.Result, p share.ProposalResult) string {
	base, ok := strings.CutPrefix(t.w.Config.Ref, "refs/heads/")
	if ok && r.Tracked && !strings.ContainsFunc(r.Remote+base, shellSpecial) {
		return fmt.Sprintf("git fetch %s && reverie check --diff %s/%s...%s/%s", r.Remote, r.Remote, base, r.Remote, p.Branch)
	}
	return fmt.Sprintf("reverie check --diff %s...%s", p.Base, p.Commit)
}

// shellSpecial reports whether a character of a name may mean something to a shell.
func shellSpecial(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._/-", r))
}
