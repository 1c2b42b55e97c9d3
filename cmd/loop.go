package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/internal/job"
	"github.com/reverie-memory/reverie/internal/ollama"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/agent"
	"github.com/urfave/cli/v2"
)

type loopOptions struct {
	name       string
	agent      string
	model      string
	audit      string
	auditAgent string
	auditModel string
	base       string
	sandbox    string
	blockOn    string
	inPlace    bool
	detach     bool
	promise    bool
	removeTree bool
	watch      bool
	all        bool
	run        bool
	strict     bool
	yes        bool
	waive      []string // ids
	reason     string

	max, minAudits, maxErrors, maxStalls, maxRepeats int
	stall, turn, verify, total, backoff              time.Duration
	maxFile                                          int64

	command []string               // resume: who codes from now on, in the place of whoever did
	set     func(flag string) bool // whether a flag was given
}

func loopCommand(env *Env) *cli.Command {
	var o loopOptions
	var none []cli.Flag
	// verb is a command below loop that takes at least so many words, and at most so many.
	verb := func(name, args, says string, least, most int, flags []cli.Flag, run func(ctx context.Context, words, command []string) error) *cli.Command {
		return &cli.Command{Name: name, Usage: says, ArgsUsage: args, Flags: flags, Action: takes(least, most, func(c *cli.Context, words, command []string) error {
			o.set = c.IsSet
			return run(c.Context, words, command)
		})}
	}
	named := func(run func(context.Context, *Env, string, loopOptions) error) func(context.Context, []string, []string) error {
		return func(ctx context.Context, words, _ []string) error {
			return run(ctx, env, strings.Join(words, ""), o)
		}
	}
	hidden := func(c *cli.Command) *cli.Command {
		c.Hidden = true
		return c
	}
	start := verb("start", "PLAN [-- COMMAND [ARG…]]", "start a loop and run it to its end", 1, 1, o.startFlags(), func(ctx context.Context, words, command []string) error {
		return runLoopStart(ctx, env, words[0], command, o)
	})
	start.Description = "PLAN is a Markdown file, or -. Say who codes, by --agent or a COMMAND, which gets the prompt on standard input; and who looks\n" +
		"for defects, by --audit, --audit-agent or --audit-model: an audit prints {\"findings\":[{\"file\",\"line\",\"severity\",\"text\"}]}.\n" +
		"Paths in COMMAND and --audit count from the top of the loop's work tree."
	status := verb("status", "[NAME]", "show the state of all loops, or of one in full", 0, 1, []cli.Flag{
		&cli.BoolFlag{Name: "watch", Usage: "tell steps and what is printed until the loop ends", Destination: &o.watch},
	}, named(runLoopStatus))
	remove := verb("remove", "NAME…", "delete the records of ended loops; branches stay", 1, 1<<10, []cli.Flag{
		&cli.BoolFlag{Name: "yes", Usage: "do not ask", Destination: &o.yes},
	}, func(ctx context.Context, words, _ []string) error {
		for _, name := range words {
			if err := runLoopRemove(ctx, env, name, o); err != nil {
				return err
			}
		}
		return nil
	})
	return &cli.Command{
		Name:      "loop",
		Usage:     "run an agent on a plan until its checks pass",
		ArgsUsage: "COMMAND",
		Description: "A plan is a Markdown file; the commands that show that it is done stand in a block marked ```verify. Each iteration an agent\n" +
			"codes, what it made is committed on the branch reverie/loop/NAME, the plan's commands run, and an audit looks for defects. It\n" +
			"is done when the commands pass and no finding blocks. Without NAME it is the only loop that has not ended, else the only one.",
		Subcommands: []*cli.Command{
			verb("lint", "PLAN", "check a plan before a loop starts", 1, 1, o.lintFlags(), func(ctx context.Context, words, _ []string) error {
				return runLoopLint(ctx, env, words[0], o)
			}),
			start,
			status,
			verb("output", "[NAME [ITERATION]]", "print the output of agent, checks and audit", 0, 2, none, func(ctx context.Context, words, _ []string) error {
				words = append(words, "", "")
				return runLoopOutput(ctx, env, words[0], words[1])
			}),
			verb("findings", "[NAME]", "list the findings of audits, or settle some", 0, 1, o.findingsFlags(), func(ctx context.Context, words, _ []string) error {
				return runLoopFindings(ctx, env, strings.Join(words, ""), o)
			}),
			verb("cancel", "[NAME]", "end a loop and commit its work", 0, 1, []cli.Flag{
				&cli.BoolFlag{Name: "remove-worktree", Usage: "the work tree goes, if it is clean; the branch stays", Destination: &o.removeTree},
			}, named(runLoopCancel)),
			verb("resume", "[NAME] [-- COMMAND [ARG…]]", "continue a stopped or interrupted loop", 0, 1, o.resumeFlags(), func(ctx context.Context, words, command []string) error {
				o.command = command
				return runLoopResume(ctx, env, strings.Join(words, ""), o)
			}),
			remove,
			hidden(verb("hook", "HOOK", "called by git's hooks", 1, 1, none, named(runLoopHook))),
			hidden(verb("wake", "NAME", "called after a commit", 1, 1, none, named(runLoopWake))),
			hidden(verb("carry", "NAME", "called by --detach", 1, 1, none, named(runLoopCarry))),
		},
		Action: noVerb,
	}
}

// loopFailure is how a loop ends that is not done: its exit code is 20 and the reason's place.
func loopFailure(reason worktree.Reason, err error, hint string) error {
	return exit.New(exit.Loop+slices.Index(worktree.Reasons[:], reason), err, hint)
}

// notInLoop refuses a command to what a loop has started.
func notInLoop(command string) error {
	if name := os.Getenv(job.Loop); name != "" {
		return loopFailure(worktree.Refusal, fmt.Errorf("loop %s: refused inside the loop %s", command, name),
			"who started that loop does it, or, if this is no agent of its: unset "+job.Loop)
	}
	return nil
}

// openLoop finds a loop by its name; without one, the only one that has not ended, or the only one.
func (w *workspace) openLoop(ctx context.Context, name string) (*worktree.Record, worktree.Loop, error) {
	var l worktree.Loop
	names, err := worktree.List(ctx, w.Repo)
	if err != nil {
		return nil, l, err
	}
	if name != "" && !slices.Contains(names, name) {
		begin := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !strings.HasPrefix(n, name) })
		if len(begin) != 1 {
			return nil, l, exit.New(exit.Failed, fmt.Errorf("%s: %w", name, worktree.ErrNoLoop), "'reverie loop status' lists them")
		}
		name = begin[0]
	}
	if name == "" {
		var going []string
		for _, n := range names {
			one, err := worktree.Open(w.Repo, n, w.Scanner).Load(ctx)
			if err != nil {
				return nil, l, err
			}
			if one.Own && !one.State.Phase.Over() {
				going = append(going, n)
			}
		}
		if len(going) == 0 {
			going = names
		}
		if len(names) == 0 {
			return nil, l, exit.New(exit.Failed, errors.New("there is no loop here"), "start one: reverie loop start PLAN --agent NAME --audit CMD")
		}
		if len(going) != 1 {
			return nil, l, exit.New(exit.BadUsage, fmt.Errorf("there are %s; say which", term.Count(len(going), "loop", "loops")), "'reverie loop status' lists them")
		}
		name = going[0]
	}
	record := worktree.Open(w.Repo, name, w.Scanner)
	l, err = record.Load(ctx)
	return record, l, err
}

// ownLoop is openLoop for whoever is to do what the record says, or to end what it names.
func (w *workspace) ownLoop(ctx context.Context, name string) (*worktree.Record, worktree.Loop, error) {
	record, l, err := w.openLoop(ctx, name)
	if err == nil {
		l, err = record.LoadOwn(ctx)
	}
	return record, l, explainLoop(err)
}

// branchFree refuses the branch of a loop that begins where another one is in its way.
func (w *workspace) branchFree(ctx context.Context, branch string) error {
	for dir := path.Dir(branch); strings.HasPrefix(dir, "refs/heads/"); dir = path.Dir(dir) {
		if _, err := w.Repo.ReadRef(ctx, dir); err == nil {
			name := strings.TrimPrefix(dir, "refs/heads/")
			return loopFailure(worktree.Refusal, fmt.Errorf("the branch %s is in the way of %s", name, strings.TrimPrefix(branch, "refs/heads/")),
				"rename it: git branch -m "+name+" NAME; or work on a branch of yours: --in-place")
		}
	}
	return nil
}

// loopPlace is the place of a loop that was begun: one that works in the user's own work tree is opened from there. That one may be gone, or
// no work tree of this repository any more: then its Check says so.
func (w *workspace) loopPlace(ctx context.Context, s worktree.State) (*worktree.Place, error) {
	repo := w.Repo
	if s.InPlace != "" && s.InPlace != repo.WorkTree {
		found, err := git.Find(ctx, s.InPlace)
		_, missing := os.Lstat(s.InPlace)
		switch {
		case err == nil && found.CommonDir == repo.CommonDir:
			repo = found
		case err != nil && !errors.Is(err, git.ErrNotRepository) && !errors.Is(missing, fs.ErrNotExist):
			return nil, loopFailure(worktree.WorktreeGone, err, "")
		}
	}
	place, err := worktree.PlaceOf(repo, s, w.Scanner)
	if err == nil {
		w.guard(s, place)
	}
	return place, err
}

// tellEnd says how a loop ended, and is the error of one that is not done.
func (w *workspace) tellEnd(ctx context.Context, s worktree.State) error {
	if w.env.JSON {
		j, err := w.loopJSON(ctx, s.Name)
		if err == nil {
			err = w.env.Object(j)
		}
		if err != nil {
			return err
		}
	}
	branch := strings.TrimPrefix(s.Branch, "refs/heads/")
	switch {
	case s.Phase == worktree.Done:
		if !w.env.JSON {
			w.env.Print("%s\n", branch)
		}
		w.env.Say("loop %s is done after %s; look at it: git diff %.12s...%s", s.Name, term.Count(s.Iteration, "iteration", "iterations"), s.Base, branch)
		if s.InPlace == "" {
			w.env.Say("to take it: git merge %s; then: reverie loop remove %s, git branch -d %s", branch, s.Name, branch)
		}
		return nil
	case s.Phase != worktree.Stopped:
		return nil
	}
	why := fmt.Errorf("loop %s stopped in iteration %d: %s", s.Name, s.Iteration, s.Reason)
	if s.Detail != "" {
		why = fmt.Errorf("%w: %s", why, term.OneLine(s.Detail, 600))
	}
	hint := whereWork(s) + "; to go on: reverie loop resume " + s.Name
	switch {
	case s.At == worktree.Starting:
		hint = ""
	case s.Reason == worktree.MaxIterations:
		hint += fmt.Sprintf(" --max %d", s.Settings.MaxIterations*2)
	}
	return loopFailure(s.Reason, why, hint)
}

// whereWork says where a loop's work is, if it has any.
func whereWork(s worktree.State) string {
	branch := strings.TrimPrefix(s.Branch, "refs/heads/")
	if s.Tip == "" || s.Tip == s.Base {
		return "nothing was committed on " + branch
	}
	return "its work is on " + branch
}

// explainLoop gives errors of the package worktree their exit codes.
func explainLoop(err error) error {
	unknown := new(agent.UnknownError)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &unknown):
		return exit.Usage("known are "+strings.Join(agent.Names(), ", ")+"; any other one: reverie loop start PLAN -- COMMAND…; to commit yourself: --agent "+worktree.Hand, "%w", err)
	case errors.Is(err, ollama.ErrUnavailable):
		return exit.New(exit.Failed, err, "'ollama serve' starts the server; or have somebody else look for defects: --audit CMD, --audit-agent NAME")
	case errors.As(err, new(*exit.Error)):
		return err
	case errors.Is(err, worktree.ErrDirty):
		return loopFailure(worktree.Refusal, err, "commit it, or take it away, first")
	case errors.Is(err, worktree.ErrGone):
		return loopFailure(worktree.WorktreeGone, err, "")
	case errors.Is(err, worktree.ErrForeign):
		return loopFailure(worktree.Refusal, err, "'reverie loop remove' takes its record away")
	case errors.Is(err, worktree.ErrRefused):
		return loopFailure(worktree.Refusal, err, "")
	case errors.Is(err, worktree.ErrSandbox):
		return loopSandboxFailure(err)
	case errors.As(err, new(*worktree.PlanError)):
		return exit.Usage("'reverie loop lint PLAN' shows all that is wrong with it", "%v", err)
	case errors.Is(err, worktree.ErrHeld):
		return exit.New(exit.Failed, err, "'reverie loop status' shows it, 'reverie loop cancel' ends it")
	case errors.Is(err, worktree.ErrDone):
		return exit.New(exit.Failed, err, "there is nothing to go on with; begin another from its branch: reverie loop start PLAN --base BRANCH")
	case errors.Is(err, worktree.ErrEnded):
		return exit.New(exit.Failed, err, "give it more: --max N, --time T; or start another")
	}
	return err
}

// loopFolder is a loop's in the state folder.
func (w *workspace) loopFolder(name string) string { return filepath.Join(w.State, "loops", name) }
