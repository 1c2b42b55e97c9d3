package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/gitstore/record"
	"github.com/reverie-memory/reverie/hooks"
	"github.com/reverie-memory/reverie/hooks/githook"
	"github.com/reverie-memory/reverie/internal/block"
	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/file"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/worktree"
)

// Artefact is an addition of Reverie to a clone or to a user's file.
type Artefact struct {
	Name   string
	Remove func(context.Context) error // nil if Removal.Remove removes it with the clone's state
	Shared bool                        // it is in the user's own settings, for every repository
}

// Scope selects the parts that an uninstall removes. With Agents or GitHooks, everything else
// stays.
type Scope struct {
	Agents   []string // named ones, in every repository
	Project  bool     // agents' settings of this work tree instead of the user's
	GitHooks bool
	Memory   bool // the memory branch, too
	// Values counts the entries of the key-value store, to be reported.
	Values int
	Loops  func(context.Context) ([]Artefact, error) // finds the work trees of loops; may be nil
	// FilterOf is that of AgentOptions, for files that other clones use too.
	FilterOf func(commonDir string) hooks.Filter
}

// partial reports whether some part stays.
func (s Scope) partial() bool { return s.GitHooks || len(s.Agents) > 0 }

// Removal is a planned uninstall.
type Removal struct {
	Found    []Artefact // in the order of removal
	OnlyHere OnlyHere

	scope  Scope
	c      *clone.Clone
	report func(Note)
}

// OnlyHere counts the memories in force whose current version no remote is known to have.
type OnlyHere struct {
	Private int
	Shared  int // on the memory branch, counted if that goes too
}

// Note is a message about an uninstall: PassedOver, NotCalling, Uncounted or Ending.
type Note interface{ note() }

type (
	// PassedOver is a file that stays unchanged.
	PassedOver struct{ Err error }
	// NotCalling is a file from which an agent does not call us.
	NotCalling struct{ Agent, File string }
	// Uncounted is the reason that the memories that exist only here could not be counted.
	Uncounted struct{ Err error }
	// Ending is a background job that is about to be killed.
	Ending struct {
		Job string
		PID int
	}
)

func (PassedOver) note() {}
func (NotCalling) note() {}
func (Uncounted) note()  {}
func (Ending) note()     {}

// FindRemoval lists the parts that an uninstall removes, and changes nothing.
func FindRemoval(ctx context.Context, c *clone.Clone, s Scope, report func(Note)) (*Removal, error) {
	r := &Removal{scope: s, c: c, report: report}
	if s.partial() {
		return r, r.findPart(ctx)
	}
	return r, r.findAll(ctx)
}

func (r *Removal) add(name string, remove func(context.Context) error) {
	r.Found = append(r.Found, Artefact{Name: name, Remove: remove})
}

func (r *Removal) findPart(ctx context.Context) error {
	if err := r.findNamedAgents(); err != nil || !r.scope.GitHooks {
		return err
	}
	if err := r.findGitHooks(ctx); err != nil {
		return err
	}
	scripts := filepath.Join(r.c.State, githook.ScriptDir)
	if _, err := os.Lstat(scripts); err == nil {
		r.add("what git's hooks call, in "+scripts, func(context.Context) error {
			os.Remove(filepath.Join(r.c.State, hooks.LookFile))
			os.Remove(filepath.Join(r.c.State, hooks.LookDueFile))
			return os.RemoveAll(scripts)
		})
	}
	return nil
}

func (r *Removal) findAll(ctx context.Context) error {
	if err := r.findAgents(); err != nil {
		return err
	}
	if err := r.findBlock(); err != nil {
		return err
	}
	if err := r.findGitHooks(ctx); err != nil {
		return err
	}
	if r.scope.Loops != nil {
		loops, err := r.scope.Loops(ctx)
		if err != nil {
			return err
		}
		r.Found = append(r.Found, loops...)
	}
	refs, err := r.refs(ctx)
	if err != nil {
		return err
	}
	for _, ref := range refs {
		r.add(ref, nil)
	}
	if r.OnlyHere, err = onlyHere(ctx, r.c, r.scope.Memory); err != nil {
		r.report(Uncounted{err})
	}
	if n := r.OnlyHere.Private; n > 0 {
		r.add(plural.Count(n, "private memory that exists", "private memories that exist")+" only here", nil)
	}
	if n := r.OnlyHere.Shared; n > 0 {
		r.add(plural.Count(n, "memory of the branch that exists", "memories of the branch that exist")+" only here", nil)
	}
	if n := record.CountOperations(ctx, gitstore.Open(r.c.Repo, clone.InboxRef)); n > 0 {
		r.add(plural.Count(n, "operation that waits", "operations that wait")+" for review", nil)
	}
	if n := r.scope.Values; n > 0 {
		r.add(plural.Count(n, "value", "values")+" that 'reverie kv list' shows", nil)
	}
	for _, dir := range stateFolders(r.c.State) {
		r.add("sessions, settings and caches in "+dir, nil)
	}
	return nil
}

// Left lists the parts that a person may remove after an uninstall.
type Left struct {
	Mentions  []githook.Mention // lines that a person added for git's hooks
	Workflows []string          // files on the memory branch that a forge reads
}

// Remove removes everything that was found.
func (r *Removal) Remove(ctx context.Context) (left Left, err error) {
	release := func() {}
	if !r.scope.partial() {
		if release, err = quiesce(ctx, r.c, r.report); err != nil {
			return left, err
		}
		defer release()
	}
	for _, a := range r.Found {
		if a.Remove == nil {
			continue
		}
		if err := a.Remove(ctx); err != nil {
			return left, fmt.Errorf("remove %s: %w", a.Name, err)
		}
	}
	if !r.scope.partial() {
		if err := r.removeRefs(ctx); err != nil {
			return left, err
		}
		if err := removeState(r.c.State, release); err != nil {
			return left, err
		}
		left.Workflows = workflows(ctx, r.c)
	}
	if r.scope.GitHooks || !r.scope.partial() {
		if place, err := githook.FindPlace(ctx, r.c.Repo); err == nil {
			left.Mentions = place.Mentions(r.c.Repo)
		}
	}
	return left, nil
}

// findGitHooks finds our sections in git's hooks. The scripts are part of the state folder.
func (r *Removal) findGitHooks(ctx context.Context) error {
	place, err := githook.FindPlace(ctx, r.c.Repo)
	if err != nil {
		return err
	}
	configured, err := git.ConfiguredHooks(ctx, r.c.Repo)
	if err != nil {
		return err
	}
	if names := githook.Configured(configured); len(names) > 0 {
		r.add("in git's configuration: "+strings.Join(names, ", "), func(ctx context.Context) error { return githook.Unconfigure(ctx, r.c.Repo) })
	}
	for _, dir := range place.Dirs(r.c.Repo) {
		r.findUnfinished(dir)
		for _, h := range githook.All {
			if path := filepath.Join(dir, h.Name); githook.HasSection(path) {
				r.add("the reverie section in "+path, func(context.Context) error { return h.Remove(dir) })
			}
		}
	}
	return nil
}

// findUnfinished finds the files that a killed process left in a folder of the user's.
func (r *Removal) findUnfinished(dir string) {
	if left := file.Unfinished(dir); len(left) > 0 {
		r.add("what was begun and not finished: "+strings.Join(left, ", "), func(context.Context) error {
			file.Sweep(dir)
			return nil
		})
	}
}

// findBlock finds the managed block in the file of a work tree.
func (r *Removal) findBlock() error {
	if r.c.Repo.WorkTree == "" {
		return nil
	}
	path := r.c.AgentsFile()
	info, err := os.Stat(path)
	to, strange := clone.FindDestination(r.c.Repo, path)
	if strange == nil && !to.Inside {
		strange = to.Refuse()
	}
	if strange != nil && (err != nil || !info.IsDir()) {
		r.report(PassedOver{strange}) // render would not have written there
	} else if _, b, err := readBlock(path); err != nil {
		return err
	} else if b.State == block.OK {
		r.add("the reverie block in "+path, func(context.Context) error { return removeBlock(path) })
	}
	r.findUnfinished(filepath.Dir(path))
	return nil
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

// removeBlock cuts the block out of a file's current text, and removes a file without other
// content. A symbolic link stays, and its target is emptied.
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
	return clone.Destination{Named: path, Real: path}.Write([]byte(rest))
}

// refs lists the refs to remove, with their current values.
func (r *Removal) refs(ctx context.Context) (there []string, err error) {
	kept, err := r.c.Repo.Git(ctx, nil, "for-each-ref", "--format=%(refname)", "refs/reverie/remotes/", "refs/reverie/backup/", "refs/reverie/proposals/", worktree.Refs)
	if err != nil {
		return nil, err
	}
	refs := append([]string{clone.JournalRef, clone.InboxRef}, strings.Fields(string(kept))...)
	if r.scope.Memory {
		refs = append(refs, r.c.Config.Ref)
	}
	for _, ref := range refs {
		switch _, err := r.c.Repo.Refs().Read(ctx, ref); {
		case err == nil:
			there = append(there, ref)
		case !errors.Is(err, git.ErrNoRef):
			return nil, err
		}
	}
	return there, nil
}

// removeRefs deletes the refs that exist by now, because another process may have written
// meanwhile.
func (r *Removal) removeRefs(ctx context.Context) error {
	refs, err := r.refs(ctx)
	if err != nil {
		return err
	}
	for _, ref := range refs {
		id, err := r.c.Repo.Refs().Read(ctx, ref)
		if err == nil {
			err = r.c.Repo.Refs().Delete(ctx, ref, id)
		}
		if err != nil && !errors.Is(err, git.ErrNoRef) {
			return fmt.Errorf("remove %s: %w", ref, err)
		}
	}
	return nil
}

// onlyHere compares with the last known journals and memory branches of remotes. Without branch,
// it counts no shared memories.
func onlyHere(ctx context.Context, c *clone.Clone, branch bool) (n OnlyHere, err error) {
	err = c.View(ctx, func(v *record.View, _ clone.Team) error {
		n = OnlyHere{}
		private, err := published(ctx, c.Repo, "refs/reverie/remotes/*/journal")
		if err != nil {
			return err
		}
		var shared map[string]bool
		if branch {
			if shared, err = published(ctx, c.Repo, "refs/reverie/remotes/*/memory", "refs/remotes/*/"+c.Branch()); err != nil {
				return err
			}
		}
		for _, m := range v.Memories() {
			blob, ok := v.Blob(m.ID)
			switch {
			case !ok || !m.Live(c.Now()):
			case m.Private && !private[string(blob)]:
				n.Private++
			case !m.Private && branch && !shared[string(blob)]:
				n.Shared++
			}
		}
		return nil
	})
	if clone.NoMemory(err) {
		return n, nil
	}
	return n, err
}

// published returns the blobs of memories in refs that match a pattern.
func published(ctx context.Context, repo *git.Repo, patterns ...string) (map[string]bool, error) {
	refs, err := repo.Git(ctx, nil, append([]string{"for-each-ref", "--format=%(refname)"}, patterns...)...)
	if err != nil {
		return nil, err
	}
	blobs := map[string]bool{}
	for _, ref := range strings.Fields(string(refs)) {
		tree, err := repo.Git(ctx, nil, "ls-tree", "-r", "--full-tree", "--format=%(objectname)", ref, "memories/")
		if err != nil {
			return nil, err
		}
		for _, blob := range strings.Fields(string(tree)) {
			blobs[blob] = true
		}
	}
	return blobs, nil
}
