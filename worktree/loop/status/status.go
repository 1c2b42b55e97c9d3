// Package status finds the loops of a clone (Open) and describes them (Read, All, Watch, Outputs).
// It changes nothing, so any number of processes may use it.
package status

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/clone"
	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/unseen"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/agent"
)

// Status describes a loop. docs/json.md and docs/loops-record.md document its fields.
type Status struct {
	worktree.State
	Dir      string           `json:"dir"`     // top of its work tree
	Holder   *worktree.Holder `json:"holder"`  // the process that carries it on; nil if none does
	Commits  []string         `json:"commits"` // that agents made themselves
	Runs     []Runnable       `json:"runs"`    // files from a sandbox that the host would obey
	Live     *worktree.Live   `json:"live"`    // of the running phase; nil if none runs
	Foreign  bool             `json:"foreign"` // a fetch brought it: it is shown and never run
	Findings struct {
		Open   int `json:"open"`
		Blocks int `json:"blocking"`
		Fixed  int `json:"fixed"`
		Waived int `json:"waived"`
	} `json:"findings"`

	Unseen string `json:"-"` // a commit by hand that waits to be looked at
}

// Runnable is a file of a sandboxed loop that the host would obey, and that no person has waived.
type Runnable struct {
	File    string `json:"file"`
	Why     string `json:"why"`
	Finding string `json:"finding"` // its id
}

// Waits reports whether a loop waits for a commit by hand, so that it needs no process.
func (s Status) Waits() bool {
	return !s.Foreign && s.ByHand() && s.Phase == worktree.Coding && s.Holder == nil
}

// maxStatusLive bounds the output of a running command in a Status, in bytes.
const maxStatusLive = 8 << 10

// Read describes the loop of exactly a name.
func Read(ctx context.Context, c *clone.Clone, name string) (Status, error) {
	found, err := worktree.Open(c.Repo, name, c.Scanner).Load(ctx)
	if err != nil {
		return Status{}, err
	}
	place, err := worktree.PlaceOf(c.Repo, found.State, c.Scanner)
	if err != nil {
		return Status{}, err
	}
	s := Status{State: found.State, Dir: place.Dir, Commits: place.Commits(), Runs: []Runnable{}, Foreign: !found.Own, Unseen: unseenCommit(ctx, c.Repo, found.State)}
	if s.Commits == nil {
		s.Commits = []string{}
	}
	if s.Holder = worktree.Held(ctx, c.Repo, name); s.Holder != nil && !s.Phase.Over() {
		s.Live = live(c.Repo, s.State, maxStatusLive)
	}
	for _, f := range found.Findings {
		switch f.State {
		case worktree.OpenFinding:
			s.Findings.Open++
			if f.OfContent() {
				s.Runs = append(s.Runs, Runnable{f.File, f.Text, f.ID})
			}
		case worktree.Fixed:
			s.Findings.Fixed++
		case worktree.Waived:
			s.Findings.Waived++
		}
		if s.Settings.Blocks(f) {
			s.Findings.Blocks++
		}
	}
	return s, nil
}

// unseenCommit returns the last commit of a loop by hand that no process has looked at, or "".
func unseenCommit(ctx context.Context, repo *git.Repo, s worktree.State) string {
	if !s.ByHand() || s.Phase != worktree.Coding || s.Given != "" {
		return s.Given
	}
	tip, err := repo.Refs().Read(ctx, s.Branch)
	if err != nil || tip == s.Tip {
		return ""
	}
	return tip
}

// live describes the running phase of a loop, with at most n bytes of output, or returns nil.
func live(repo *git.Repo, s worktree.State, n int) *worktree.Live {
	now := worktree.LiveOf(repo, s.Name)
	if now == nil || now.Phase != s.Phase || now.Iteration != s.Iteration {
		return nil
	}
	now.Text = worktree.LastLines(now.Text, n)
	return now
}

// Spoilt is a loop whose record cannot be read.
type Spoilt struct {
	Name string
	Err  error
}

// All describes the loops of the repository, the last changed first, and names those whose records
// cannot be read.
func All(ctx context.Context, c *clone.Clone) (all []Status, bad []Spoilt, err error) {
	names, err := worktree.List(ctx, c.Repo)
	if err != nil {
		return nil, nil, err
	}
	for _, n := range names {
		s, err := Read(ctx, c, n)
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case err != nil:
			bad = append(bad, Spoilt{n, err})
		default:
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b Status) int { return b.Changed.Compare(a.Changed) })
	return all, bad, nil
}

const (
	watchEvery = time.Second
	startTries = 10 // looks at a loop without a process: one in the background may be starting
)

// Watch calls tell with the status of a loop every second until it ends, and returns its last
// state. The Live of that call has all the output that is kept.
func Watch(ctx context.Context, c *clone.Clone, name string, tell func(Status, *worktree.Live) error) (worktree.State, error) {
	_, found, err := Open(ctx, c, name)
	if err != nil {
		return found.State, err
	}
	idle := 0
	for {
		s, err := Read(ctx, c, found.State.Name)
		if err != nil {
			return s.State, err
		}
		if err := tell(s, live(c.Repo, s.State, worktree.MaxLive)); err != nil || s.Phase.Over() {
			return s.State, err
		}
		if idle++; s.Holder != nil || s.Waits() {
			idle = 0
		}
		if idle > startTries {
			return s.State, exit.New(exit.Failed, fmt.Errorf("nobody carries the loop %s on", s.Name), "reverie loop resume "+s.Name)
		}
		select {
		case <-ctx.Done():
			return s.State, ctx.Err()
		case <-time.After(watchEvery):
		}
	}
}

// Output is the output of one phase of an iteration.
type Output struct {
	Iteration int            `json:"iteration"`
	Phase     worktree.Phase `json:"phase"`
	Text      string         `json:"text"`

	Live *worktree.Live `json:"-"` // of the running phase, else nil
}

// Outputs returns the output of the phases of an iteration, and of the running phase. With 0 it
// takes the last two iterations.
func Outputs(ctx context.Context, c *clone.Clone, name string, iteration int) (all []Output, err error) {
	record, found, err := Open(ctx, c, name)
	if err != nil {
		return nil, err
	}
	s := found.State
	from, to := iteration, iteration
	switch {
	case iteration > s.Iteration:
		return nil, exit.New(exit.Failed, fmt.Errorf("loop %s is at iteration %d", s.Name, s.Iteration), "reverie loop output "+s.Name)
	case iteration == 0:
		from, to = max(1, s.Iteration-1), s.Iteration
	}
	for n := from; n <= to; n++ {
		for _, phase := range []worktree.Phase{worktree.Coding, worktree.Verifying, worktree.Auditing} {
			text, err := record.Output(ctx, n, phase)
			if err != nil {
				return nil, err
			}
			if phase != worktree.Verifying {
				text = agent.Readable(text, unseen.OneLine)
			}
			if text != "" {
				all = append(all, Output{Iteration: n, Phase: phase, Text: text})
			}
		}
	}
	if s.Phase.Over() || to < s.Iteration || worktree.Held(ctx, c.Repo, s.Name) == nil {
		return all, nil
	}
	if now := live(c.Repo, s, worktree.MaxLive); now != nil {
		all = append(all, Output{now.Iteration, now.Phase, now.Text + now.Rest, now})
	}
	return all, nil
}

// Open finds a loop by its name or a prefix of it. Without a name it is the only loop that has not
// ended, else the only loop.
func Open(ctx context.Context, c *clone.Clone, name string) (*worktree.Record, worktree.Loop, error) {
	var found worktree.Loop
	names, err := worktree.List(ctx, c.Repo)
	if err != nil {
		return nil, found, err
	}
	switch {
	case name == "":
		name, err = only(ctx, c, names)
	case !slices.Contains(names, name):
		begin := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !strings.HasPrefix(n, name) })
		if len(begin) != 1 {
			err = exit.New(exit.Failed, fmt.Errorf("%s: %w", name, worktree.ErrNoLoop), "'reverie loop status' lists them")
			break
		}
		name = begin[0]
	}
	if err != nil {
		return nil, found, err
	}
	record := worktree.Open(c.Repo, name, c.Scanner)
	found, err = record.Load(ctx)
	return record, found, err
}

// only returns the name of the only loop that has not ended, else of the only loop.
func only(ctx context.Context, c *clone.Clone, names []string) (string, error) {
	var going []string
	for _, n := range names {
		one, err := worktree.Open(c.Repo, n, c.Scanner).Load(ctx)
		if err != nil {
			return "", err
		}
		if one.Own && !one.State.Phase.Over() {
			going = append(going, n)
		}
	}
	if len(going) == 0 {
		going = names
	}
	switch {
	case len(going) == 0:
		return "", exit.New(exit.Failed, errors.New("there is no loop here"), "start one: reverie loop start PLAN --agent NAME --audit CMD")
	case len(going) > 1:
		return "", exit.New(exit.BadUsage, fmt.Errorf("there are %d loops; say which", len(going)), "'reverie loop status' lists them")
	}
	return going[0], nil
}

// Line describes a loop in one line.
func (s Status) Line() string { return strings.Join(s.Cells(), "  ") }

// Cells returns the parts of a loop's line: name, phase, iteration and remarks.
func (s Status) Cells() []string {
	phase := string(s.Phase)
	if s.Phase == worktree.Stopped {
		phase = "stopped: " + string(s.Reason)
	}
	cells := []string{unseen.Visible(s.Name), unseen.Visible(phase), "iteration " + s.Iterations()}
	if s.Findings.Open > 0 {
		cells = append(cells, plural.Count(s.Findings.Open, "finding open", "findings open"))
	}
	switch {
	case s.Foreign:
		cells = append(cells, "not started here")
	case s.Phase.Over() || s.Holder != nil:
	case s.Unseen != "":
		cells = append(cells, "a commit waits to be checked")
	case s.Waits():
		cells = append(cells, "waits for a commit")
	default:
		cells = append(cells, "no process runs it")
	}
	return cells
}

// Iterations returns the number of the iteration, and the limit if there is one.
func (s Status) Iterations() string {
	if s.Settings.MaxIterations > 0 {
		return fmt.Sprintf("%d/%d", s.Iteration, s.Settings.MaxIterations)
	}
	return fmt.Sprint(s.Iteration)
}
