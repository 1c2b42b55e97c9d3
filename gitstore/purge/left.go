package purge

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reverie-memory/reverie/gitstore"
	"github.com/reverie-memory/reverie/internal/git"
)

// Left is a place beyond our sole control that may still hold the target.
type Left struct {
	Place    Place
	Name     string // as Place says
	Of       string
	Count    int
	Followed bool // of InRef: the remote has already dropped it
}

// Place is a kind of such places.
type Place string

const (
	InSettings   Place = "settings"    // of this clone: the file Name in the state folder
	InMemory     Place = "memory"      // Name, which repeats the text
	InLoopRef    Place = "loop ref"    // Name, a result of the loop Of
	InLoopBranch Place = "loop branch" // Name
	InLoopFiles  Place = "loop files"  // the folder Name of the loop Of
	InRef        Place = "ref"         // Name, of the user's
	InLog        Place = "log"         // the reflog of the ref Name
	// InWorkTree is the folder Name, which has the branch checked out, and its index.
	InWorkTree Place = "work tree"
	// InUnknown is an index, a stash or a log of the user's that git does not name.
	InUnknown      Place = "unknown"
	InPacks        Place = "packs"         // Count objects in packs, which nothing reaches
	InReached      Place = "reached"       // objects that the places named before reach
	InRefName      Place = "name of a ref" // Name, one of our refs
	InPeople       Place = "people"        // author or committer of Count commits
	InAgents       Place = "agents"        // the file Name of the work tree
	InRemote       Place = "remote"        // Name, if it was ever published there
	Elsewhere      Place = "elsewhere"     // other clones, forges, backups
	InProposal     Place = "proposal"      // the branch Name on the remote Of
	InJournal      Place = "journal"       // on the remote Name, not published from here
	InRemoteBranch Place = "remote branch" // the branch Name of the remote Of, which may hold it

	// Reasons that none of the old objects was removed:
	WhileGitWorks Place = "while git works" // the file Name of the repository shows it
	WhileGitFails Place = "while git fails" // git cannot list the objects it needs; Name is its error
	WhileRefsMove Place = "while refs move"
)

// Finish removes the unreachable loose objects of the old history and lists the remains, even with
// an error. pushed names the remote of an earlier Push, or is "". Call it after every Apply that
// returns a Done.
func (d *Done) Finish(ctx context.Context, pushed string) (left []Left, err error) {
	ctx, unlock, err := d.c.Memory.Lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	left = d.leftEverywhere(ctx, pushed)
	names, unnamed := d.leftNames(ctx)
	left = append(left, names...)
	rest, err := d.c.restOf(nil)
	if err != nil || len(rest) == 0 {
		return left, errors.Join(unnamed, err)
	}
	reached, packed, later, err := d.c.dropOld(ctx, rest)
	if err != nil {
		return left, errors.Join(unnamed, err)
	}
	if later != nil {
		refs, err := d.refsTo(ctx)
		return append(append(left, *later), refs...), errors.Join(unnamed, err)
	}
	inside, err := d.leftInRepository(ctx, reached, packed)
	left = append(left, inside...)
	if err != nil || !d.Complete {
		return left, errors.Join(unnamed, err)
	}
	return left, errors.Join(unnamed, d.c.forgetRest())
}

// leftInRepository lists the user's refs, logs and indexes that still reach the old history. It
// also lists packs, which only git gc rewrites.
func (d *Done) leftInRepository(ctx context.Context, reached map[string]bool, packed []string) ([]Left, error) {
	old := map[string]bool{}
	for before, now := range d.rw.New {
		if before != now && reached[string(before)] {
			old[string(before)] = true
		}
	}
	for _, ids := range d.plan.kinds {
		for id := range ids {
			if reached[id] {
				old[id] = true
			}
		}
	}
	var left []Left
	if len(old) > 0 {
		refs, err := d.refsTo(ctx)
		if err != nil {
			return nil, err
		}
		left = append(left, refs...)
		logs := d.logsTo()
		for _, log := range logs {
			if !slices.ContainsFunc(refs, func(r Left) bool { return r.Name == log }) {
				// The log of a listed ref is part of it.
				left = append(left, Left{Place: InLog, Name: log})
			}
		}
		trees, err := d.c.worktreesOn(ctx, d.c.Memory.Ref())
		if err != nil {
			return left, err
		}
		for _, dir := range trees {
			left = append(left, Left{Place: InWorkTree, Name: dir})
		}
		if len(refs)+len(logs)+len(trees) == 0 {
			left = append(left, Left{Place: InUnknown})
		}
	}
	if len(packed) > 0 {
		left = append(left, Left{Place: InPacks, Count: len(packed)})
	} else if len(old) > 0 {
		left = append(left, Left{Place: InReached})
	}
	return left, nil
}

// refsTo lists the user's refs whose histories hold replaced commits.
func (d *Done) refsTo(ctx context.Context) ([]Left, error) {
	have, err := d.c.Repo.Have(ctx, d.rw.Oldest) // unreachable ones are removed already
	if err != nil {
		return nil, err
	}
	if len(have) == 0 {
		return nil, nil
	}
	var args []string
	for _, id := range have[:min(len(have), 100)] {
		args = append(args, "--contains="+id)
	}
	refs, err := d.c.Repo.Refs().List(ctx, args...)
	var out []Left
	for _, r := range refs {
		if r.Name != d.c.Memory.Ref() && !strings.HasPrefix(r.Name, ourRefs) {
			out = append(out, Left{Place: InRef, Name: r.Name, Followed: d.followed})
		}
	}
	return out, err
}

// logsTo returns the user's refs whose logs name a replaced commit.
func (d *Done) logsTo() []string {
	var out []string
	look := func(dir, prefix string) {
		root := filepath.Join(dir, "logs")
		filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return nil
			}
			name, _ := filepath.Rel(root, path)
			name = filepath.ToSlash(name)
			if name == d.c.Memory.Ref() || strings.HasPrefix(name, ourRefs) {
				return nil
			}
			text, err := os.ReadFile(path)
			if err == nil && namesReplaced(string(text), d.rw) {
				out = append(out, prefix+name)
			}
			return nil
		})
	}
	look(d.c.Repo.CommonDir, "")
	trees, _ := os.ReadDir(filepath.Join(d.c.Repo.CommonDir, "worktrees"))
	for _, t := range trees {
		look(filepath.Join(d.c.Repo.CommonDir, "worktrees", t.Name()), "worktrees/"+t.Name()+"/")
	}
	slices.Sort(out)
	return out
}

func namesReplaced(log string, rw *gitstore.Rewriting) bool {
	for line := range strings.Lines(log) {
		for i, word := range strings.Fields(line) {
			if to, known := rw.New[gitstore.ID(word)]; i < 2 && known && to != gitstore.ID(word) {
				return true
			}
		}
	}
	return false
}

// worktreesOn lists the work trees that have a branch checked out.
func (c *Clone) worktreesOn(ctx context.Context, ref string) ([]string, error) {
	out, err := c.Repo.Git(ctx, nil, "worktree", "list", "--porcelain")
	if err != nil {
		return nil, err
	}
	var dirs []string
	dir := ""
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSuffix(line, "\n")
		if path, ok := strings.CutPrefix(line, "worktree "); ok {
			dir = path
		} else if line == "branch "+ref {
			dirs = append(dirs, dir)
		}
	}
	return dirs, nil
}

// leftNames lists the names that survive a rewriting: those of committers and refs.
func (d *Done) leftNames(ctx context.Context) (left []Left, err error) {
	p := d.plan
	if p.local {
		return nil, nil
	}
	names := []string{}
	for _, s := range p.shelves {
		for _, r := range s.refs {
			if slices.Contains(p.loops, r.Name) {
				continue // it is gone
			}
			names = append(names, r.Name)
			if p.in([]byte(r.Name)) {
				left = append(left, Left{Place: InRefName, Name: r.Name})
			}
		}
	}
	if len(names) == 0 {
		return left, nil
	}
	out, err := d.c.Repo.Git(ctx, strings.NewReader(strings.Join(names, "\n")+"\n"), "log", "--no-show-signature", "--format=%an <%ae> %cn <%ce>", "--stdin")
	if err != nil {
		return left, err
	}
	n := 0
	for line := range strings.Lines(string(out)) {
		if p.in([]byte(strings.TrimSuffix(line, "\n"))) {
			n++
		}
	}
	if n > 0 {
		left = append(left, Left{Place: InPeople, Count: n})
	}
	return left, nil
}

// leftEverywhere lists the places that we cannot read or must not change.
func (d *Done) leftEverywhere(ctx context.Context, pushed string) (left []Left) {
	c := d.c
	if c.Repo.WorkTree != "" {
		file := filepath.Join(c.Repo.WorkTree, filepath.FromSlash(c.Agents))
		if data, err := os.ReadFile(file); err == nil && d.plan.in(data) {
			left = append(left, Left{Place: InAgents, Name: c.Agents})
		}
	}
	if len(d.rw.Gone) == 0 {
		return left
	}
	for _, remote := range c.remotesWith(ctx) {
		if remote != pushed {
			left = append(left, Left{Place: InRemote, Name: remote})
		}
	}
	return append(left, Left{Place: Elsewhere})
}

// remotesWith lists the remotes on which one of our branches was seen.
func (c *Clone) remotesWith(ctx context.Context) []string {
	var out []string
	refs, err := c.Repo.Refs().List(ctx, "refs/remotes/", ourRefs+"remotes/")
	if err != nil {
		return nil
	}
	branch := branch(c.Memory)
	add := func(r git.Ref, prefix, suffix string) {
		if rest, ok := strings.CutPrefix(r.Name, prefix); ok {
			if remote, ok := strings.CutSuffix(rest, suffix); ok && !slices.Contains(out, remote) {
				out = append(out, remote)
			}
		}
	}
	for _, r := range refs {
		add(r, "refs/remotes/", "/"+branch)
		add(r, ourRefs+"remotes/", "/memory")
	}
	for i := range out {
		out[i] = strings.TrimSuffix(out[i], "/new")
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Loops lose audit findings, output and messages as other stores do. A record whose plan or state
// holds the target goes whole, because it is useless without them. The code that a loop made
// belongs to the user, on a branch, in a kept ref or in a work tree. A purge only reports it.

// goneLoops returns the refs of the records to remove. The record of a running loop is an error.
func (c *Clone) goneLoops(ctx context.Context, p *Plan) (gone []string, err error) {
	for _, s := range p.shelves {
		for _, r := range s.refs {
			name, ok := strings.CutPrefix(r.Name, c.Loops.Records)
			if !ok {
				continue
			}
			out, err := c.Repo.Git(ctx, nil, "ls-tree", "--format=%(objectname)", r.ID, "--", "state.json", "plan.md")
			if err != nil {
				return nil, err
			}
			if !slices.ContainsFunc(strings.Fields(string(out)), func(id string) bool { return p.omit.Blobs[gitstore.ID(id)] }) {
				continue
			}
			if c.Loops.Held(ctx, name) {
				return nil, &Refused{Why: LoopGoesOn, Name: name}
			}
			gone = append(gone, r.Name)
		}
	}
	return gone, nil
}

// leftInLoops lists the places where code made by loops holds the target.
func (c *Clone) leftInLoops(ctx context.Context, p *Plan) ([]Left, error) {
	refs, err := c.Repo.Refs().List(ctx, strings.TrimSuffix(c.Loops.Branches, "/"), strings.TrimSuffix(c.Loops.Kept, "/"))
	if err != nil {
		return nil, err
	}
	var left []Left
	for _, r := range refs {
		holds, err := c.madeHolds(ctx, p, r)
		if err != nil {
			return nil, err
		}
		if !holds {
			continue
		}
		if rest, ok := strings.CutPrefix(r.Name, c.Loops.Kept); ok {
			name, _, _ := strings.Cut(rest, "/")
			left = append(left, Left{Place: InLoopRef, Name: r.Name, Of: name})
			continue
		}
		left = append(left, Left{Place: InLoopBranch, Name: strings.TrimPrefix(r.Name, "refs/heads/")})
	}
	loops, err := os.ReadDir(c.Loops.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	for _, l := range loops {
		dir := filepath.Join(c.Loops.Dir, l.Name())
		for _, sub := range []string{"tree", "left"} {
			if treeHolds(p, filepath.Join(dir, sub)) {
				left = append(left, Left{Place: InLoopFiles, Name: filepath.Join(dir, sub), Of: l.Name()})
			}
		}
	}
	return left, err
}

// madeHolds reports whether a commit that only loops' branches have, or its content, holds the
// target.
func (c *Clone) madeHolds(ctx context.Context, p *Plan, r git.Ref) (bool, error) {
	out, err := c.Repo.Git(ctx, nil, "rev-list", "--objects", "--no-object-names", r.ID, "--not", "--exclude="+strings.TrimPrefix(c.Loops.Branches, "refs/heads/")+"*", "--branches", "--tags", "--remotes", "--")
	if err != nil {
		return false, err
	}
	files := map[gitstore.ID]string{}
	for _, id := range strings.Fields(string(out)) {
		files[gitstore.ID(id)] = ""
	}
	holds := false
	err = readBlobs(ctx, c.Repo, files, func(_ string, _ gitstore.ID, data []byte) { holds = holds || p.in(data) })
	return holds, err
}

// maxOfLoop bounds the files of a loop's work tree that a purge reads, in bytes.
const maxOfLoop = 64 << 20

// treeHolds reports whether a file below a folder holds the target.
func treeHolds(p *Plan, dir string) (holds bool) {
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if info, err := d.Info(); err != nil || info.Size() > maxOfLoop {
			return nil
		}
		if data, err := os.ReadFile(path); err == nil && p.in(data) {
			holds = true
			return filepath.SkipAll
		}
		return nil
	})
	return holds
}
