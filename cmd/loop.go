package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/git"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/urfave/cli/v2"
)

// loopVariable is in the environment of everything that a loop starts: the loop's name.
const loopVariable = "REVERIE_LOOP"

// loopBackoff is how long a loop waits after a first error, if nothing else is asked for.
const loopBackoff = 2 * time.Second

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
	waive      string
	reason     string

	max, minAudits, maxErrors, maxStalls, maxRepeats int
	stall, turn, verify, total, backoff              time.Duration
	maxFile                                          int64

	command []string               // resume: who codes from now on, in the place of whoever did
	set     func(flag string) bool // whether a flag was given
}

func loopCommand(env *Env) *cli.Command {
	d := worktree.DefaultSettings()
	seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	var o loopOptions
	return &cli.Command{
		Name:      "loop",
		Usage:     "have an agent carry out a plan in a work tree of its own, checked after each iteration",
		ArgsUsage: "lint PLAN | start PLAN [-- COMMAND…] | status [NAME] | findings [NAME] | cancel [NAME] | resume [NAME] | remove NAME",
		Description: "PLAN is a Markdown file, or -; the commands that show that it is done stand in a block marked ```verify. Each iteration an\n" +
			"agent codes, what it made is committed on the branch reverie/loop/NAME, the plan's commands run, and an audit looks for\n" +
			"defects. It is done when the commands pass and no finding blocks. COMMAND gets the prompt on standard input. An audit\n" +
			"prints {\"findings\":[{\"file\",\"line\",\"severity\",\"text\"}]}.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "name", Usage: "of the loop; else from the plan's title", Destination: &o.name},
			&cli.StringFlag{Name: "agent", Usage: "who codes: " + strings.Join(loopAgentNames(), ", ") + ", a command after --, or hand: whoever commits in its work tree", Destination: &o.agent},
			&cli.StringFlag{Name: "model", Usage: "that the agent asks", Destination: &o.model},
			&cli.StringFlag{Name: "audit", Usage: "`CMD` of a shell that looks for defects", Destination: &o.audit},
			&cli.StringFlag{Name: "audit-agent", Usage: "agent that looks for defects", Destination: &o.auditAgent},
			&cli.StringFlag{Name: "audit-model", Usage: "local `MODEL` that looks for defects, or auto; with --audit-agent the model that it asks", Destination: &o.auditModel},
			&cli.StringFlag{Name: "base", Usage: "`REV` to begin from; else HEAD", Destination: &o.base},
			&cli.StringFlag{Name: "sandbox", Usage: "`ENGINE` that keeps all commands from this machine: docker, podman, or off; else what sandbox.mode says", Destination: &o.sandbox},
			&cli.BoolFlag{Name: "in-place", Usage: "work in this work tree, on its branch; it must be clean", Destination: &o.inPlace},
			&cli.BoolFlag{Name: "detach", Usage: "go on in the background", Destination: &o.detach},
			&cli.BoolFlag{Name: "promise", Usage: "the coder has to say, too, that all is done", Destination: &o.promise},
			&cli.IntFlag{Name: "max", Usage: "iterations; 0: no limit", Value: d.MaxIterations, Destination: &o.max},
			&cli.IntFlag{Name: "min-audits", Usage: "that have to come to an end; 0 makes do without an audit", Value: d.MinAudits, Destination: &o.minAudits},
			&cli.IntFlag{Name: "max-errors", Usage: "of a phase in a row; 0: no limit", Value: d.MaxErrors, Destination: &o.maxErrors},
			&cli.IntFlag{Name: "max-repeats", Usage: "iterations in a row that bring no new tree; 0: no limit", Value: d.MaxRepeats, Destination: &o.maxRepeats},
			&cli.DurationFlag{Name: "stall", Usage: "without output, that counts as a stall; 0: none does", Value: seconds(d.StallTime), Destination: &o.stall},
			&cli.IntFlag{Name: "max-stalls", Usage: "in a row; 0: no limit", Value: d.MaxStalls, Destination: &o.maxStalls},
			&cli.DurationFlag{Name: "turn-time", Usage: "of one agent or audit; 0: no limit", Value: seconds(d.TurnTime), Destination: &o.turn},
			&cli.DurationFlag{Name: "verify-time", Usage: "of one command of the plan; 0: no limit", Value: seconds(d.VerifyTime), Destination: &o.verify},
			&cli.DurationFlag{Name: "time", Usage: "of the whole loop; 0: no limit", Destination: &o.total},
			&cli.DurationFlag{Name: "backoff", Usage: "after a first error", Value: loopBackoff, Destination: &o.backoff},
			&cli.StringFlag{Name: "block-on", Usage: "severities that keep it from being done, with commas", Value: strings.Join(d.BlockOn, ","), Destination: &o.blockOn},
			&cli.Int64Flag{Name: "max-file", Usage: "`BYTES` of a file that is committed", Value: d.MaxFile, Destination: &o.maxFile},
			&cli.BoolFlag{Name: "remove-worktree", Usage: "the work tree goes when the loop ends, if it is clean; the branch stays", Destination: &o.removeTree},
			&cli.BoolFlag{Name: "watch", Usage: "status: tell steps and what is printed until the loop ends", Destination: &o.watch},
			&cli.BoolFlag{Name: "run", Usage: "lint: run the plan's commands on the commit to begin from", Destination: &o.run},
			&cli.BoolFlag{Name: "strict", Usage: "lint: warnings count", Destination: &o.strict},
			&cli.BoolFlag{Name: "yes", Usage: "remove: do not ask", Destination: &o.yes},
			&cli.BoolFlag{Name: "all", Usage: "findings: those that are settled too", Destination: &o.all},
			&cli.StringFlag{Name: "waive", Usage: "findings: settle the open finding `ID`", Destination: &o.waive},
			&cli.StringFlag{Name: "reason", Usage: "of a waiver", Destination: &o.reason},
		},
		Action: func(c *cli.Context) error {
			o.set = c.IsSet
			verb, rest := c.Args().First(), c.Args().Tail()
			if verb == "start" && len(rest) > 0 {
				return runLoopStart(c.Context, env, rest[0], rest[1:], o)
			}
			if verb == "resume" && len(rest) > 1 { // NAME -- COMMAND
				o.command, rest = rest[1:], rest[:1]
			}
			if verb == "lint" && len(rest) == 1 {
				return runLoopLint(c.Context, env, rest[0], o)
			}
			run := map[string]func(context.Context, *Env, string, loopOptions) error{
				"status": runLoopStatus, "findings": runLoopFindings, "cancel": runLoopCancel, "remove": runLoopRemove, "resume": runLoopResume, "hook": runLoopHook, "wake": runLoopWake, "carry": runLoopCarry,
			}[verb]
			if run == nil || len(rest) > 1 {
				return usage("'reverie help loop' shows what it takes", "loop wants lint PLAN, start PLAN, status, findings, cancel, resume or remove")
			}
			name := ""
			if len(rest) > 0 {
				name = rest[0]
			}
			return run(c.Context, env, name, o)
		},
	}
}

// loopFailure is how a loop ends that is not done: its exit code is 20 and the reason's place.
func loopFailure(reason worktree.Reason, err error, hint string) error {
	return &failure{exitLoop + slices.Index(worktree.Reasons[:], reason), err, hint}
}

// notInLoop refuses a command to what a loop has started.
func notInLoop(command string) error {
	if name := os.Getenv(loopVariable); name != "" {
		return loopFailure(worktree.Refusal, fmt.Errorf("loop %s: refused inside the loop %s", command, name),
			"who started that loop does it, or, if this is no agent of its: unset "+loopVariable)
	}
	return nil
}

// openLoop finds a loop by its name; without one, the only one that has not ended, or the only one.
func (w *workspace) openLoop(ctx context.Context, name string) (*worktree.Record, worktree.Loop, error) {
	var l worktree.Loop
	names, err := worktree.List(ctx, w.repo)
	if err != nil {
		return nil, l, err
	}
	if name != "" && !slices.Contains(names, name) {
		begin := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !strings.HasPrefix(n, name) })
		if len(begin) != 1 {
			return nil, l, &failure{exitFailed, fmt.Errorf("%s: %w", name, worktree.ErrNoLoop), "'reverie loop status' lists them"}
		}
		name = begin[0]
	}
	if name == "" {
		var going []string
		for _, n := range names {
			one, err := worktree.Open(w.repo, n, w.scanner).Load(ctx)
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
		if len(going) != 1 {
			return nil, l, &failure{exitUsage, fmt.Errorf("there are %s; say which", count(len(going), "loop", "loops")), "'reverie loop status' lists them"}
		}
		name = going[0]
	}
	record := worktree.Open(w.repo, name, w.scanner)
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

// loopPlace is the place of a loop that was begun: one that works in the user's own work tree is opened from there. That one may be gone, or
// no work tree of this repository any more: then its Check says so.
func (w *workspace) loopPlace(ctx context.Context, s worktree.State) (*worktree.Place, error) {
	repo := w.repo
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
	place, err := worktree.PlaceOf(repo, s, w.scanner)
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
			err = w.env.object(j)
		}
		if err != nil {
			return err
		}
	}
	branch := strings.TrimPrefix(s.Branch, "refs/heads/")
	switch {
	case s.Phase == worktree.Done:
		if !w.env.JSON {
			w.env.print("%s\n", branch)
		}
		w.env.say("loop %s is done after %s; look at it: git diff %.12s...%s", s.Name, count(s.Iteration, "iteration", "iterations"), s.Base, branch)
		return nil
	case s.Phase != worktree.Stopped:
		return nil
	}
	why := fmt.Errorf("loop %s stopped in iteration %d: %s", s.Name, s.Iteration, s.Reason)
	if s.Detail != "" {
		why = fmt.Errorf("%w: %s", why, oneLine(s.Detail, 600))
	}
	hint := "its work is on " + branch + "; to go on: reverie loop resume " + s.Name
	switch {
	case s.At == worktree.Starting:
		hint = ""
	case s.Reason == worktree.MaxIterations:
		hint += fmt.Sprintf(" --max %d", s.Settings.MaxIterations*2)
	}
	return loopFailure(s.Reason, why, hint)
}

// explainLoop gives errors of the package worktree their exit codes.
func explainLoop(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(*failure)):
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
		return usage("'reverie loop lint PLAN' shows all that is wrong with it", "%v", err)
	case errors.Is(err, worktree.ErrHeld):
		return &failure{exitFailed, err, "'reverie loop status' shows it, 'reverie loop cancel' ends it"}
	case errors.Is(err, worktree.ErrEnded):
		return &failure{exitFailed, err, "give it more: --max N, --time T; or start another"}
	}
	return err
}

// loopFolder is a loop's in the state folder.
func (w *workspace) loopFolder(name string) string { return filepath.Join(w.state, "loops", name) }
