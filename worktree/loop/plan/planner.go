// Package plan decides whether a loop can start or resume, and with which settings. It combines a
// person's choice with the settings of the user and the team, checks the plan, and looks for the
// programs and the sandbox that the loop needs. Begin with Planner.Start, Planner.Resume or
// Planner.Check.
package plan

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"path/filepath"
	"time"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/prompts"
	"github.com/reverie-memory/reverie/sandbox"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/container"
	"github.com/reverie-memory/reverie/worktree/loop/fault"
	"github.com/reverie-memory/reverie/worktree/program"
)

// Planner plans the loops of a clone.
type Planner struct {
	*reader.Reader

	// Model returns the model of a name and its prompts. It returns nil where no model is wanted.
	Model func(ctx context.Context, name string) (*prompts.Model, prompts.Set, error)
	// Notify hears notes.
	Notify func(Note)
}

// Note tells of something that a person may want to know.
type Note any

// Notes that a Planner reports.
type (
	// Doubtful counts doubts about a plan.
	Doubtful struct {
		Plan string // the name of its file
		N    int
	}
	// Removed lists what was removed from a work tree after a command in a sandbox.
	Removed []sandbox.Change
)

// Order says which loop to start.
type Order struct {
	Choice
	Name    string // "": from the plan's title
	Plan    string // its text
	File    string // the name of the plan's file, for notes
	Base    string // the revision to start from; "": HEAD
	InPlace bool   // work in the user's own work tree, on its branch
}

// Start returns the first state of a loop, but for the name and branch that its order leaves open.
// It changes nothing.
func (p *Planner) Start(ctx context.Context, o Order) (s worktree.State, plan worktree.Plan, err error) {
	usual, err := p.usual(ctx, o.Choice)
	if err != nil {
		return s, plan, err
	}
	set, err := o.apply(usual, true)
	if err != nil {
		return s, plan, err
	}
	found := p.read(ctx, o.Plan, set)
	if plan = found.Plan; len(found.Wrong) > 0 {
		return s, plan, found.Wrong[0]
	}
	if n := len(found.Doubtful); n > 0 {
		p.Notify(Doubtful{o.File, n})
	}
	base, err := start(ctx, p.Repo, o.Base)
	if err != nil {
		return s, plan, err
	}
	if err := p.choose(ctx, &set, o.Choice, o.InPlace); err != nil {
		return s, plan, err
	}
	if err := checkHand(set); err != nil {
		return s, plan, err
	}
	programs := program.Place{Repo: p.Repo, Inside: set.Sandboxed(), Commit: base}
	if o.InPlace {
		programs.Dir = p.Repo.WorkTree
	}
	if err := canRun(ctx, programs, set); err != nil {
		return s, plan, err
	}
	if set.AuditModel != "" && set.AuditAgent == "" {
		if _, _, err := p.Model(ctx, set.AuditModel); err != nil {
			return s, plan, err
		}
	}
	now := p.Now().UTC().Truncate(time.Second)
	s = worktree.State{Name: o.Name, Title: plan.Title, Phase: worktree.Starting, Run: randomHex(8), Started: now, Changed: now, Base: base, Settings: set}
	if set.Promise {
		s.Nonce = randomHex(6)
	}
	return s, plan, nil
}

// Resume returns the settings of a loop that goes on, with a choice applied.
func (p *Planner) Resume(ctx context.Context, s worktree.State, c Choice) (worktree.Settings, error) {
	set, err := c.apply(s.Settings, false)
	if err == nil {
		err = checkHand(set)
	}
	if err == nil && set.Sandboxed() && (set.Agent == worktree.Hand) != s.ByHand() {
		// one kind of work tree holds a .git, and the other must never have one
		err = exit.Usage("start another one from its branch: reverie loop start PLAN --base BRANCH …", "in a sandbox, a loop by %s stays one, and no other becomes one", worktree.Hand)
	}
	if err == nil {
		err = p.canResume(ctx, s, set)
	}
	return set, fault.Explain(err)
}

// canResume refuses to resume a loop whose programs cannot be run.
func (p *Planner) canResume(ctx context.Context, s worktree.State, set worktree.Settings) error {
	if s.Phase == worktree.Done {
		return nil
	}
	at := program.Place{Repo: p.Repo, Inside: set.Sandboxed(), Commit: cmp.Or(s.Tip, s.Base), Dir: cmp.Or(s.InPlace, filepath.Join(worktree.Folder(p.Repo), s.Name, "tree"))}
	if err := canRun(ctx, at, set); err != nil || !at.Inside {
		return err
	}
	for _, c := range callers {
		was, _, err := program.Of(s.Settings, c.phase, true)
		is, _, err2 := program.Of(set, c.phase, true)
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		if is != was { // the start searched the image for the others
			in, err := p.Runner(ctx, worktree.State{Settings: set}, "")
			if err != nil {
				return err
			}
			return p.imageHas(ctx, in, set)
		}
	}
	return nil
}

// Tree returns the work tree of a sandboxed loop, which containers write into.
func (p *Planner) Tree(s worktree.State, dir string) container.Tree {
	return container.Tree{Repo: p.Repo, Base: s.Base, Dir: dir, Removed: func(gone []sandbox.Change) {
		if len(gone) > 0 {
			p.Notify(Removed(gone))
		}
	}}
}

// Runner returns the containers that the commands of a loop run in, with dir as their work tree. It
// returns nil where they run on this machine.
func (p *Planner) Runner(ctx context.Context, s worktree.State, dir string) (*container.Runner, error) {
	if !s.Settings.Sandboxed() {
		return nil, nil
	}
	if err := p.Narrow(ctx); err != nil {
		return nil, err
	}
	in := &container.Runner{Tree: p.Tree(s, dir)}
	var err error
	if in.Spec, err = sandbox.FromSettings(p.Settings.Config.Sandbox); err != nil {
		return nil, err
	}
	in.Spec.Image, in.Spec.Loop = s.Settings.Image, s.Name
	if in.Engine, err = sandbox.Find(ctx, s.Settings.Sandbox); err != nil {
		return nil, fault.Sandbox(err)
	}
	return in, nil
}

func randomHex(n int) string {
	b := make([]byte, n)
	rand.Read(b)
	return hex.EncodeToString(b)
}
