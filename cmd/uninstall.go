package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/hooks/githook"
	"github.com/reverie-memory/reverie/internal/block"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/urfave/cli/v2"
)

type uninstallOptions struct {
	agents                       cli.StringSlice
	dryRun, yes, memory, project bool
	gitHooks                     bool
}

func uninstallCommand(env *Env) *cli.Command {
	var o uninstallOptions
	return &cli.Command{
		Name:  "uninstall",
		Usage: "remove Reverie from this clone and from the agents",
		Description: "Agents' settings are yours and count in every repository: they go when no other clone on this machine relies on them,\n" +
			"which is said. --agent takes out the hooks of one agent, for every repository, or with --project those of this work tree;\n" +
			"--git-hooks takes out git's hooks of this clone. With either, all else stays.",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "agent", Usage: "only have `NAME` no longer call Reverie; may be given again", Destination: &o.agents},
			&cli.BoolFlag{Name: "project", Usage: "with --agent: from this work tree's settings, not from yours", Destination: &o.project},
			&cli.BoolFlag{Name: "git-hooks", Usage: "only git's hooks", Destination: &o.gitHooks},
			&cli.BoolFlag{Name: "dry-run", Usage: "say what would go", Destination: &o.dryRun},
			&cli.BoolFlag{Name: "yes", Usage: "do not ask", Destination: &o.yes},
			&cli.BoolFlag{Name: "memory", Usage: "the memory branch too", Destination: &o.memory},
		},
		Action: func(c *cli.Context) error {
			switch some := o.gitHooks || len(o.agents.Value()) > 0; {
			case c.NArg() > 0:
				return exit.Usage("", "uninstall takes no arguments")
			case some && o.memory:
				return exit.Usage("leave one of them out", "--memory takes out everything, and --agent and --git-hooks only themselves")
			case o.project && len(o.agents.Value()) == 0:
				return exit.Usage("reverie uninstall --agent claude --project", "--project says where --agent looks, and there is no --agent")
			case some:
				return runUninstallPart(c.Context, env, o)
			}
			return runUninstall(c.Context, env, o)
		},
	}
}

// artefact is something of ours in a clone, and how it goes.
type artefact struct {
	what   string
	remove func(context.Context) error
	shared bool // it was in the user's own settings, for every repository
}

func runUninstall(ctx context.Context, env *Env, o uninstallOptions) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	found, err := w.artefacts(ctx)
	if err != nil {
		return err
	}
	loops, err := w.loopArtefacts(ctx)
	if err != nil {
		return err
	}
	found = append(found, loops...)
	refs, err := w.ownRefs(ctx, o.memory)
	if err != nil {
		return err
	}
	for _, ref := range refs {
		found = append(found, artefact{what: ref})
	}
	only, err := w.onlyHere(ctx)
	if err != nil {
		env.Warn("whether there are private memories that exist only here could not be seen: %v", err)
	}
	if only > 0 {
		found = append(found, artefact{what: term.Count(only, "private memory that exists", "private memories that exist") + " only here"})
	}
	if n, _ := w.kv().Count(); n > 0 {
		found = append(found, artefact{what: term.Count(n, "value", "values") + " that 'reverie kv list' shows"})
	}
	states := w.stateFolders()
	for _, dir := range states {
		found = append(found, artefact{what: "sessions, settings and caches in " + dir})
	}
	if only > 0 {
		env.Say("to keep what is private: reverie export --private >FILE; 'reverie import --accept FILE' takes it in again")
	}
	if goes, err := w.tellArtefacts(o, found); err != nil || !goes {
		return err
	}
	release, err := w.quiesce(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := removeAll(ctx, found); err != nil {
		return err
	}
	if err := w.removeRefs(ctx, o.memory); err != nil {
		return err
	}
	if err := w.removeState(release); err != nil {
		return err
	}
	w.tellMentions(ctx)
	if !o.memory {
		env.Say("the branch %s stays; to delete it too: git branch -D %s", w.Branch(), w.Branch())
		for _, file := range w.ciOnBranch(ctx) {
			env.Say("%s stays on it, where the forge reads it; a commit that removes it ends the checks", file)
		}
	}
	return nil
}

// runUninstallPart takes out agents or git's hooks, and leaves all else.
func runUninstallPart(ctx context.Context, env *Env, o uninstallOptions) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	found, err := w.namedAgentArtefacts(o.agents.Value(), o.project)
	if err != nil {
		return err
	}
	if o.gitHooks {
		sections, err := w.gitHookArtefacts(ctx)
		if err != nil {
			return err
		}
		found = append(found, sections...)
		scripts := filepath.Join(w.State, githook.ScriptDir)
		if _, err := os.Lstat(scripts); err == nil {
			found = append(found, artefact{what: "what git's hooks call, in " + scripts, remove: func(context.Context) error { return os.RemoveAll(scripts) }})
		}
	}
	if goes, err := w.tellArtefacts(o, found); err != nil || !goes {
		return err
	}
	err = removeAll(ctx, found)
	if o.gitHooks && err == nil {
		w.tellMentions(ctx)
	}
	return err
}

// tellArtefacts says what is about to go, and reports whether it shall.
func (w *workspace) tellArtefacts(o uninstallOptions, found []artefact) (goes bool, err error) {
	if len(found) == 0 {
		w.env.Say("there is nothing of Reverie here")
		return false, nil
	}
	shared := false
	for _, a := range found {
		shared = shared || a.shared
		if w.env.JSON {
			if err := w.env.Object(map[string]string{"what": a.what}); err != nil {
				return false, err
			}
			continue
		}
		w.env.Print("%s\n", a.what)
	}
	if shared {
		w.env.Say("what goes from your own settings goes for every repository; 'reverie init --agent NAME' brings it back")
	}
	if o.dryRun {
		return false, nil
	}
	if err := w.WantPerson("uninstall"); err != nil {
		return false, err
	}
	if !o.yes && !w.env.Ask("Remove these?", "n") {
		return false, exit.New(exit.NeedsPerson, errors.New("uninstall: nothing was removed"), "to go ahead: reverie uninstall --yes")
	}
	return true, nil
}

func removeAll(ctx context.Context, found []artefact) error {
	for _, a := range found {
		if a.remove == nil {
			continue
		}
		if err := a.remove(ctx); err != nil {
			return fmt.Errorf("remove %s: %w", a.what, err)
		}
	}
	return nil
}

// artefacts lists what is here in files of others, in the order in which it can be removed.
func (w *workspace) artefacts(ctx context.Context) ([]artefact, error) {
	found, err := w.agentArtefacts()
	if err != nil {
		return nil, err
	}
	if w.Repo.WorkTree != "" {
		path := w.agentsFile()
		there := false
		info, err := os.Stat(path)
		to, strange := w.destination(path)
		if strange == nil && !to.inside {
			strange = to.refuse()
		}
		if strange != nil && (err != nil || !info.IsDir()) {
			w.env.Warn("passed over: %v", strange) // render would not have written there
		} else if there, err = hasBlock(path); err != nil {
			return nil, err
		}
		if there {
			found = append(found, artefact{what: "the reverie block in " + path, remove: func(context.Context) error { return removeBlock(path) }})
		}
		found = append(found, unfinished(filepath.Dir(path))...)
	}
	sections, err := w.gitHookArtefacts(ctx)
	if err != nil {
		return nil, err
	}
	return append(found, sections...), nil
}

// ownRefs are the refs that go, as they are now.
func (w *workspace) ownRefs(ctx context.Context, memory bool) (there []string, err error) {
	kept, err := w.Repo.Git(ctx, nil, "for-each-ref", "--format=%(refname)", "refs/reverie/remotes/", "refs/reverie/backup/", "refs/reverie/proposals/", worktree.Refs)
	if err != nil {
		return nil, err
	}
	refs := append([]string{clone.JournalRef, clone.InboxRef}, strings.Fields(string(kept))...)
	if memory {
		refs = append(refs, w.Config.Ref)
	}
	for _, ref := range refs {
		switch _, err := w.Repo.ReadRef(ctx, ref); {
		case err == nil:
			there = append(there, ref)
		case !errors.Is(err, git.ErrNoRef):
			return nil, err
		}
	}
	return there, nil
}

// removeRefs deletes what ownRefs lists; while it looked, somebody may have written.
func (w *workspace) removeRefs(ctx context.Context, memory bool) error {
	refs, err := w.ownRefs(ctx, memory)
	if err != nil {
		return err
	}
	for _, ref := range refs {
		id, err := w.Repo.ReadRef(ctx, ref)
		if err == nil {
			err = w.Repo.DeleteRef(ctx, ref, id)
		}
		if err != nil && !errors.Is(err, git.ErrNoRef) {
			return fmt.Errorf("remove %s: %w", ref, err)
		}
	}
	return nil
}

// How long uninstall waits for the worker to end by itself, and for it to be gone once it was ended.
const (
	workerPatience = 5 * time.Second
	workerDeath    = 10 * time.Second
)

// quiesce sees that nobody works in this clone in the background until release is called, and that nobody writes to the memory:
// a worker that goes on is ended, and others are waited for.
func (w *workspace) quiesce(ctx context.Context) (release func(), err error) {
	var unlocks []func()
	release = func() {
		for _, unlock := range unlocks {
			unlock()
		}
		unlocks = nil
	}
	if info, err := os.Lstat(w.State); err != nil || !info.IsDir() {
		return release, nil
	}
	for _, s := range job.Kinds {
		lock, err := w.takeFrom(ctx, s)
		if err != nil {
			release()
			return release, err
		}
		unlocks = append(unlocks, func() { lock.Close() })
	}
	for _, take := range []func(context.Context) (func(), error){w.Repo.LockSync, w.Repo.Lock} {
		unlock, err := take(ctx)
		if err != nil {
			release()
			return release, fmt.Errorf("uninstall: nothing was removed: %w", err)
		}
		unlocks = append(unlocks, unlock)
	}
	return release, nil
}

// takeFrom takes the lock of a station: when whoever is at it has ended, or else by ending it.
func (w *workspace) takeFrom(ctx context.Context, s job.Kind) (*os.File, error) {
	wait := func(d time.Duration) (*os.File, error) {
		ctx, cancel := context.WithTimeout(ctx, d)
		defer cancel()
		return job.Lock(ctx, w.State, s)
	}
	lock, err := wait(workerPatience)
	if lock != nil || err != nil {
		return lock, err
	}
	if at := job.ReadStatus(w.State, s); at != nil {
		w.env.Say("ending the %s, process %d", s, at.PID)
		job.Kill(at.PID)
	}
	if lock, err = wait(workerDeath); lock != nil || err != nil {
		return lock, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return nil, exit.New(exit.Failed, fmt.Errorf("uninstall: nothing was removed: a %s is at work in this clone", s), "'reverie status' says which; try again when it has ended")
}

// removedSuffix follows the name of a state folder that is on its way out.
const removedSuffix = ".removed-"

// stateFolders are the state folder, and what uninstalls that were killed left of it.
func (w *workspace) stateFolders() []string {
	left, _ := filepath.Glob(globLiteral(w.State+removedSuffix) + "*")
	if _, err := os.Lstat(w.State); err == nil {
		return append([]string{w.State}, left...)
	}
	return left
}

// globLiteral is a pattern that matches a path alone.
func globLiteral(path string) string {
	if os.PathSeparator == '\\' {
		return path // there is no way to write it
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// removeState takes the state folder away as a whole and then removes it: a hook finds all of it or nothing. One that was about
// to write may have begun another; that goes too. release gives back the locks that lie in it.
func (w *workspace) removeState(release func()) error {
	if os.PathSeparator == '\\' {
		release() // a folder in which a file is open cannot be moved there
	}
	for n := range 10 {
		away := fmt.Sprintf("%s%s%d-%d", w.State, removedSuffix, os.Getpid(), n)
		if err := os.Rename(w.State, away); errors.Is(err, os.ErrNotExist) {
			break
		} else if err != nil {
			return fmt.Errorf("remove %s: %w", w.State, err)
		}
	}
	release()
	for _, dir := range w.stateFolders() {
		if dir == w.State {
			continue // begun after all: somebody uses Reverie here again
		}
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("remove %s: %w", dir, err)
		}
	}
	return nil
}

// unfinished are the files that a Reverie left in a folder of the user's, which was killed while it wrote there.
func unfinished(dir string) []artefact {
	left := file.Unfinished(dir)
	if len(left) == 0 {
		return nil
	}
	return []artefact{{what: "what was begun and not finished: " + strings.Join(left, ", "), remove: func(context.Context) error {
		file.Sweep(dir)
		return nil
	}}}
}

// hasBlock reports whether a file has the managed block; a file that is not there has none.
func hasBlock(file string) (bool, error) {
	_, b, err := readBlock(file)
	return b.State == block.OK, err
}

func readBlock(file string) (text string, b block.Block, err error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return "", block.Find(""), nil
	}
	if err != nil {
		return "", block.Block{}, fmt.Errorf("uninstall: %w", err)
	}
	b = block.Find(string(data))
	if b.State != block.OK && b.State != block.Absent {
		return "", block.Block{}, b.Refuse(file)
	}
	return string(data), b, nil
}

// removeBlock cuts the block out of a file as it is now, and removes a file that held nothing else.
// A symbolic link stays, and so does what it points to, emptied.
func removeBlock(path string) error {
	text, b, err := readBlock(path)
	if err != nil || b.State == block.Absent {
		return err
	}
	rest := b.Cut(text)
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if rest == "" && info.Mode().IsRegular() {
		return os.Remove(path)
	}
	return destination{named: path, real: path}.write([]byte(rest))
}
