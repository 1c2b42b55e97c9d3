package loop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/hooks/githook"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/config"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/internal/reader"
	"github.com/reverie-memory/reverie/internal/redact"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/loop/fault"
)

// CheckStaged refuses a commit of an agent that holds files which a loop does not commit. index is
// git's file, "" for the usual one.
func CheckStaged(ctx context.Context, c *clone.Clone, index string) error {
	limit := worktree.DefaultSettings().MaxFile
	if found, err := worktree.Open(c.Repo, os.Getenv(job.Loop), c.Scanner).Load(ctx); err == nil {
		limit = found.State.Settings.MaxFile
	}
	left, err := worktree.CheckStaged(ctx, c.Repo, index, limit, c.Scanner)
	if err != nil || len(left) == 0 {
		return err
	}
	var lines []string
	for _, f := range left {
		lines = append(lines, fmt.Sprintf("%s must not be committed: %s", f.Path, f.Why))
	}
	return fault.New(worktree.Refusal, errors.New(strings.Join(lines, "\n")), "git restore --staged FILE, or have .gitignore name it")
}

// CheckMessage refuses a message of an agent's commit that holds a secret. It passes over the diff
// below the line at which git cuts a message.
func CheckMessage(text string, scanner *redact.Scanner) error {
	message, _, _ := strings.Cut(text, "\n# ------------------------ >8 ------------------------\n")
	if why := worktree.CheckMessage(message, scanner); why != "" {
		return fault.New(worktree.Refusal, errors.New("it must not be committed: "+why), "commit with another message")
	}
	return nil
}

// AfterCommit starts a process that carries on the loop of a commit in this work tree, or one that
// the commit starts, if there is such a loop. Git's hook waits for nothing and reads nothing.
func AfterCommit(ctx context.Context, r *reader.Reader) error {
	verb, dir := "wake", r.Repo.WorkTree
	name, err := Committed(ctx, r, os.Getenv(job.Loop))
	switch {
	case err != nil:
		return err
	case name == "":
		verb = "begin"
		if name, err = Planned(ctx, r); err != nil || name == "" {
			return err
		}
	case !worktree.Free(ctx, r.Repo, name):
		return nil
	case filepath.Dir(dir) == folder(r.Repo, name):
		dir = r.Repo.CommonDir // the loop's own work tree may vanish when it ends
	}
	// The process belongs neither to an agent's session nor to the loop whose processes end now.
	for _, v := range append(hooks.Marks(os.Getenv), "REVERIE_PHASE", "REVERIE_ITERATION") {
		os.Unsetenv(v)
	}
	return job.Start(dir, r.State, "loop", verb, name)
}

// Committed names the loop that a commit in this work tree, on its branch, belongs to, or returns
// "". inside names the loop whose agent made the commit: only that loop can be meant.
func Committed(ctx context.Context, r *reader.Reader, inside string) (string, error) {
	if err := r.Narrow(ctx); err != nil || r.Settings.Config.Background == config.Off || r.Repo.WorkTree == "" {
		return "", err
	}
	for _, name := range []string{"rebase-merge", "rebase-apply", "sequencer"} { // more commits follow
		if _, err := os.Lstat(filepath.Join(r.Repo.GitDir, name)); err == nil {
			return "", nil
		}
	}
	_, branch, err := r.Repo.Head(ctx)
	if err != nil || branch == "" {
		return "", err
	}
	names, err := worktree.List(ctx, r.Repo)
	if err != nil {
		return "", err
	}
	for _, name := range names {
		found, err := worktree.Open(r.Repo, name, r.Scanner).Load(ctx)
		s := found.State
		if err != nil || !found.Own || inside != "" && inside != name || s.Phase.Over() || s.Phase != worktree.Coding && !s.ByHand() {
			continue
		}
		place, err := worktree.PlaceOf(r.Repo, s, r.Scanner)
		if err != nil {
			return "", err
		}
		if branchName(s) == strings.TrimPrefix(branch, "refs/heads/") && file.Same(place.Dir, r.Repo.WorkTree) {
			return name, nil
		}
	}
	return "", worktree.ForgetPlaces(ctx, r.Repo)
}

// Wakes reports whether a commit in a loop's work tree, made outside of the loop, wakes the loop.
func Wakes(ctx context.Context, r *reader.Reader) bool {
	hook := githook.All[0]
	script, err := os.ReadFile(hook.ScriptFile(r.Repo))
	if err != nil || !strings.Contains(string(script), "loop hook "+hook.Name) || r.Narrow(ctx) != nil || r.Settings.Config.Background == config.Off {
		return false
	}
	return hook.Runs(ctx, r.Repo)
}

// Wake claims a loop that a commit has work for. It returns nil if there is nothing to do.
func (l *Loops) Wake(ctx context.Context, name string) (*Claim, error) {
	if err := fault.Outside("wake"); err != nil {
		return nil, err
	}
	record, found, err := l.own(ctx, name)
	if err != nil {
		return nil, err
	}
	lease, err := worktree.TakeLease(ctx, l.Repo, found.State.Name, worktree.Mark(found.State))
	if errors.Is(err, worktree.ErrHeld) { // the holder reads the branch after the commit
		return nil, nil
	}
	if err != nil {
		return nil, fault.Explain(err)
	}
	place, err := l.place(ctx, found.State)
	wanted := false
	if err == nil {
		found.State, wanted, err = worktree.Wake(ctx, record, place, l.Now())
	}
	if err != nil || !wanted {
		lease.Release()
		return nil, fault.Explain(err)
	}
	return &Claim{found.State, l, record, lease}, nil
}
