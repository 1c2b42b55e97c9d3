package loop

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/loop/fault"
	"github.com/reverie-memory/reverie/worktree/loop/plan"
)

const (
	planBranches = "plan/"        // begins the branches whose plan starts a loop
	planFile     = "plan.md"      // the plan of such a branch
	planTrailer  = "Reverie-Plan" // names the plan of a commit
)

// Planned finds the plan that the newest commit of this work tree starts a loop with, as
// "<commit>:<path>", or returns "". The user's own settings must allow it. By git's reflog, a plain
// git commit in this work tree made the commit: no amend, merge, pull, rebase or cherry-pick. So a
// stranger's branch starts nothing, whatever its contents.
func Planned(ctx context.Context, r *reader.Reader) (at string, err error) {
	if err := r.Narrow(ctx); err != nil || r.Repo.WorkTree == "" || r.Shields() || os.Getenv(job.Loop) != "" {
		return "", err
	}
	of := r.Settings.Config
	if len(of.Loop.StartOn) == 0 || of.Background == config.Off {
		return "", nil
	}
	head := "HEAD"
	if r.Repo.GitDir != r.Repo.CommonDir {
		head = "worktrees/" + filepath.Base(r.Repo.GitDir) + "/HEAD"
	}
	who, err := r.Repo.Config().Identity(ctx)
	if err != nil {
		return "", err
	}
	const format = "%H%x00%P%x00%ae%x00%ce%x00%gs%x00%(trailers:key=" + planTrailer + ",valueonly,unfold,separator=%x00)"
	out, err := r.Repo.Git(ctx, nil, "log", "-g", "-1", "--no-show-signature", "--format="+format, head, "--")
	if err != nil {
		return "", err
	}
	said := strings.Split(strings.TrimSuffix(string(out), "\n"), "\x00")
	if len(said) < 6 {
		return "", nil // no reflog is kept
	}
	commit, parents, how, named := said[0], strings.Fields(said[1]), said[4], said[5:]
	_, branch, err := r.Repo.Head(ctx)
	switch {
	case err != nil:
		return "", err
	case branch == "", len(parents) > 1, said[2] != who.Email, said[3] != who.Email:
		return "", nil
	case !strings.HasPrefix(how, "commit: ") && !strings.HasPrefix(how, "commit (initial): "):
		return "", nil
	}
	file := ""
	switch on := of.Loop.StartOn; {
	case slices.Contains(on, "trailer") && len(named) == 1 && named[0] != "":
		file = path.Clean(named[0])
	case slices.Contains(on, "branch") && strings.HasPrefix(strings.TrimPrefix(branch, "refs/heads/"), planBranches):
		added, err := r.Repo.Git(ctx, nil, "diff-tree", "--root", "--no-commit-id", "-r", "-z", "--no-renames", "--name-only", "--diff-filter=A", commit, "--", ":(literal)"+planFile)
		if err != nil || len(added) == 0 {
			return "", err
		}
		file = planFile
	}
	if file == "" || !filepath.IsLocal(file) {
		return "", nil
	}
	entry, err := r.Repo.History().Entry(ctx, commit, file)
	if err != nil || !strings.HasPrefix(entry.Mode, "100") { // missing, or not a regular file
		return "", err
	}
	return commit + ":" + file, nil
}

// Begin starts the loop of a plan that Planned has found. It runs in a sandbox. Without a coder in
// the settings, the user codes on in the same work tree: each commit there is an iteration.
func (l *Loops) Begin(ctx context.Context, at string) (*Claim, error) {
	if err := l.Narrow(ctx); err != nil {
		return nil, err
	}
	of := l.Settings.Config
	if of.Sandbox.Mode == config.Off {
		return nil, fault.New(worktree.Refusal, errors.New("a loop that a commit starts runs in a sandbox, and the setting sandbox.mode is off"), "reverie config --user sandbox.mode docker")
	}
	text, err := l.Repo.Git(ctx, nil, "cat-file", "blob", at)
	if err != nil {
		return nil, err
	}
	o := plan.Order{Plan: string(text)}
	o.Base, o.File, _ = strings.Cut(at, ":")
	o.Agent = cmp.Or(of.Loop.Agent, worktree.Hand)
	o.Given = func(option string) bool { return option == "agent" }
	if o.Agent == worktree.Hand {
		o.InPlace, o.Base = true, ""
	}
	return l.Start(ctx, o)
}
