package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/sandbox"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/container"
)

// sandboxed reports whether a loop's commands run in containers.
func sandboxed(set worktree.Settings) bool { return set.Sandbox != "" && set.Sandbox != config.Off }

// insideOf is what the commands of a loop run in, with dir for their work tree; nil where they run on this machine.
func (w *workspace) insideOf(ctx context.Context, s worktree.State, dir string) (*container.Runner, error) {
	if !sandboxed(s.Settings) {
		return nil, nil
	}
	c, err := w.env.sandboxSettings(ctx)
	if err != nil {
		return nil, err
	}
	in := &container.Runner{Tree: container.Tree{Repo: w.Repo, Base: s.Base, Dir: dir, Removed: w.tellRemoved}}
	if in.Spec, err = sandboxSpec(c); err != nil {
		return nil, err
	}
	in.Spec.Image, in.Spec.Loop = s.Settings.Image, s.Name
	if in.Engine, err = sandbox.Find(ctx, s.Settings.Sandbox); err != nil {
		return nil, loopSandboxFailure(err)
	}
	return in, nil
}

// loopSandboxFailure is how a loop ends that cannot have its sandbox.
func loopSandboxFailure(err error) error {
	f := new(exit.Error)
	if errors.As(sandboxFailure(err), &f) {
		return loopFailure(worktree.SandboxFailed, err, f.Hint)
	}
	return err
}

// wantSandbox finds what a loop that begins is to run in, and has a container look for what it will call. It makes nothing that stays.
func (w *workspace) wantSandbox(ctx context.Context, set *worktree.Settings, o loopOptions) error {
	c, err := w.env.sandboxSettings(ctx)
	if err != nil {
		return err
	}
	set.Sandbox = c.Mode
	if o.set("sandbox") {
		set.Sandbox = o.sandbox
	}
	switch {
	case set.Sandbox == "" || set.Sandbox == config.Off:
		set.Sandbox = config.Off
		if c.Mode != config.Off { // a person, or the team, wants one
			return w.WantPerson("loop start --sandbox off")
		}
		return nil
	case !slices.Contains(sandbox.Engines(), set.Sandbox):
		return exit.Usage("", "--sandbox %s: known are %s, and off", set.Sandbox, strings.Join(sandbox.Engines(), ", "))
	case set.Agent == worktree.Hand:
		return byHand(*set)
	case o.inPlace:
		return exit.Usage("leave one of the two out", "--in-place works in your own work tree, and --sandbox keeps from it")
	}
	in, err := w.insideOf(ctx, worktree.State{Settings: *set}, "")
	if err != nil {
		return err
	}
	if set.Image, err = in.Engine.Image(ctx, c.Image); err != nil {
		return loopSandboxFailure(err)
	}
	in.Spec.Image = set.Image
	return w.lookInside(ctx, in, *set)
}

// interrupted puts the work tree back to where a turn began that the sandbox failed: it is begun anew when the loop goes on. What was made is kept by a ref.
func (l *looper) interrupted(ctx context.Context, t worktree.Turn, err error) error {
	if l.place == nil || errors.Is(err, sandbox.ErrLeft) {
		return err
	}
	_, back := l.place.Restore(ctx, t.Loop.State.Tip, true, l.w.env.Now())
	return errors.Join(err, back)
}

// insideText is what a prompt begins with in a sandbox.
const insideText = "You are in a sandbox: there is no git directory in this folder, git does not work here, and nothing but this folder and /tmp can be written.\n\n"

// guard has a place for a sandbox take out only what may leave it.
func (w *workspace) guard(s worktree.State, place *worktree.Place) {
	if sandboxed(s.Settings) && !place.InPlace {
		container.Guard(place, container.Tree{Repo: w.Repo, Base: s.Base, Dir: place.Dir, Removed: w.tellRemoved}, s, w.Scanner)
	}
}

// tellRemoved says what was taken out of a work tree.
func (w *workspace) tellRemoved(gone []sandbox.Change) {
	for i, g := range gone {
		if i == 20 {
			w.env.Warn("removed %d more like these", len(gone)-i)
			break
		}
		w.env.Warn("removed %s, which was made inside: %s", term.Visible(g.Path), g.Why)
	}
}

// askPerson is an error that stops a sandboxed loop in which nothing but what a person has to look at is left to do.
func askPerson(l worktree.Loop) error {
	if !sandboxed(l.State.Settings) || !l.State.Verified {
		return nil
	}
	n := 0
	for _, f := range l.Findings {
		switch {
		case !l.State.Settings.Blocks(f):
		case f.OfContent():
			n++
		default:
			return nil
		}
	}
	if n == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s that the host would obey; look at them: reverie loop status %s; then reverie loop findings %s --waive ID", worktree.ErrPerson, term.Count(n, "file was made or changed", "files were made or changed"), l.State.Name, l.State.Name)
}

// uncommittedHint says what to do about work of a loop that is not committed. What a container has written, nothing of the host is to run in.
func uncommittedHint(s worktree.State) string {
	if !sandboxed(s.Settings) {
		return "commit it there, take it away, or go on: reverie loop resume " + s.Name
	}
	return "take it away, or have the loop commit it: reverie loop resume " + s.Name + "; run nothing there, git included: it was written in a sandbox"
}

// runsJSON is a file of a sandboxed loop that the host would obey, and that nobody has waived.
type runsJSON struct {
	File    string `json:"file"`
	Why     string `json:"why"`
	Finding string `json:"finding"` // its id
}

func runsOf(findings []worktree.Finding) []runsJSON {
	all := []runsJSON{}
	for _, f := range findings {
		if f.State == worktree.OpenFinding && f.OfContent() {
			all = append(all, runsJSON{f.File, f.Text, f.ID})
		}
	}
	return all
}
