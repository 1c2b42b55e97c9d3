package cmd

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/worktree"
)

// loopJSON is a loop in an answer.
type loopJSON struct {
	worktree.State
	Dir      string           `json:"dir"`     // top of its work tree
	Holder   *worktree.Holder `json:"holder"`  // the process that carries it on; null if none does
	Commits  []string         `json:"commits"` // that agents made themselves
	Runs     []runsJSON       `json:"runs"`    // what was made in a sandbox and the host would obey
	Findings struct {
		Open   int `json:"open"`
		Blocks int `json:"blocking"`
		Fixed  int `json:"fixed"`
		Waived int `json:"waived"`
	} `json:"findings"`
}

func (w *workspace) loopJSON(ctx context.Context, name string) (loopJSON, error) {
	var j loopJSON
	l, err := worktree.Open(w.repo, name, w.scanner).Load(ctx)
	if err != nil {
		return j, err
	}
	place, err := worktree.PlaceOf(w.repo, l.State, w.scanner)
	if err != nil {
		return j, err
	}
	j.State, j.Dir, j.Commits = l.State, place.Dir, list(place.Commits())
	j.Runs = runsOf(l.Findings)
	j.Holder = worktree.Held(ctx, w.repo, name)
	for _, f := range l.Findings {
		switch f.State {
		case worktree.OpenFinding:
			j.Findings.Open++
		case worktree.Fixed:
			j.Findings.Fixed++
		case worktree.Waived:
			j.Findings.Waived++
		}
		if l.State.Settings.Blocks(f) {
			j.Findings.Blocks++
		}
	}
	return j, nil
}

// runLoopStatus tells about one loop, or all of them.
func runLoopStatus(ctx context.Context, env *Env, name string, o loopOptions) error {
	w, err := env.open(ctx)
	if err != nil {
		return err
	}
	if o.watch {
		return explainLoop(w.watchLoop(ctx, name))
	}
	if name != "" {
		_, l, err := w.openLoop(ctx, name)
		if err != nil {
			return err
		}
		j, err := w.loopJSON(ctx, l.State.Name)
		if err != nil || env.JSON {
			if err == nil {
				err = env.object(j)
			}
			return err
		}
		w.tellLoop(ctx, j)
		return nil
	}
	names, err := worktree.List(ctx, w.repo)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		env.say("there is no loop here; start one: reverie loop start PLAN --agent NAME --audit CMD")
	}
	for _, n := range names {
		j, err := w.loopJSON(ctx, n)
		if err != nil {
			return err
		}
		if env.JSON {
			if err := env.object(j); err != nil {
				return err
			}
			continue
		}
		env.print("%s\n", loopLine(j))
	}
	return nil
}

// loopLine is a loop in one line.
func loopLine(j loopJSON) string {
	what := string(j.Phase)
	if j.Phase == worktree.Stopped {
		what = "stopped: " + string(j.Reason)
	}
	line := fmt.Sprintf("%s  %s  iteration %s", j.Name, what, iterationOf(j))
	if j.Findings.Open > 0 {
		line += "  " + count(j.Findings.Open, "finding open", "findings open")
	}
	switch {
	case j.Phase.Over() || j.Holder != nil:
	case j.waits():
		line += "  waits for a commit"
	default:
		line += "  nobody carries it on"
	}
	return visible(line)
}

// waits reports whether a loop is where it should be without a process.
func (j loopJSON) waits() bool { return j.ByHand() && j.Phase == worktree.Coding && j.Holder == nil }

func iterationOf(j loopJSON) string {
	if j.Settings.MaxIterations > 0 {
		return fmt.Sprintf("%d/%d", j.Iteration, j.Settings.MaxIterations)
	}
	return fmt.Sprint(j.Iteration)
}

// tellLoop shows one loop.
func (w *workspace) tellLoop(ctx context.Context, j loopJSON) {
	const width = 10
	row := func(name, value string) {
		if value != "" {
			w.env.row(width, name, value)
		}
	}
	row("name", j.Name)
	row("title", j.Title)
	row("phase", string(j.Phase))
	row("reason", strings.TrimSuffix(string(j.Reason)+": "+oneLine(j.Detail, 600), ": "))
	row("iteration", iterationOf(j))
	row("branch", strings.TrimPrefix(j.Branch, "refs/heads/"))
	row("base", fmt.Sprintf("%.12s", j.Base))
	row("tip", fmt.Sprintf("%.12s", j.Tip))
	row("dir", j.Dir)
	if sandboxed(j.Settings) {
		row("sandbox", fmt.Sprintf("%s, image %.19s", j.Settings.Sandbox, j.Settings.Image))
	}
	row("coder", strings.TrimSpace(j.Settings.Agent+" "+strings.Join(j.Settings.Command, " ")))
	row("audit", j.Settings.Audit+j.Settings.AuditAgent)
	row("audits", fmt.Sprint(j.Audits))
	row("errors", fmt.Sprintf("%d of %d, %s of %d", j.Errors, j.Settings.MaxErrors, count(j.Stalls, "stall", "stalls"), j.Settings.MaxStalls))
	row("findings", fmt.Sprintf("%d open (%d blocking), %d fixed, %d waived", j.Findings.Open, j.Findings.Blocks, j.Findings.Fixed, j.Findings.Waived))
	for _, f := range j.Runs {
		row("look at", visible(f.File+"  "+oneLine(f.Why, 200)+"  "+f.Finding))
	}
	row("spent", time.Duration(j.Spent*float64(time.Second)).Round(time.Second).String())
	row("changed", ago(w.env.Now().Sub(j.Changed)))
	if j.Holder != nil {
		row("process", fmt.Sprintf("%d on %s since %s", j.Holder.PID, j.Holder.Host, j.Holder.Since.Local().Format(time.DateTime)))
	} else if !j.Phase.Over() {
		row("process", w.howOn(ctx, j.State))
	}
}

// watchEvery is how often a loop is looked at.
const watchEvery = time.Second

// watchLoop tells each step of a loop until it ends, and ends as it does.
func (w *workspace) watchLoop(ctx context.Context, name string) error {
	record, l, err := w.openLoop(ctx, name)
	if err != nil {
		return err
	}
	last, waited := "", 0
	for {
		if l, err = record.Load(ctx); err != nil {
			return err
		}
		j, err := w.loopJSON(ctx, l.State.Name)
		if err != nil {
			return err
		}
		if line := loopLine(j); line != last && !l.State.Phase.Over() && (j.Holder != nil || j.waits()) {
			last = line
			if w.env.JSON {
				err = w.env.object(j)
			} else {
				w.env.print("%s\n", line)
			}
			if err != nil {
				return err
			}
		}
		switch {
		case l.State.Phase.Over():
			return w.tellEnd(ctx, l.State)
		case j.Holder == nil && !j.waits():
			if waited++; waited > 10 { // one that was just started in the background is not there yet
				return &failure{exitFailed, fmt.Errorf("nobody carries the loop %s on", l.State.Name), "reverie loop resume " + l.State.Name}
			}
		default:
			waited = 0
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(watchEvery):
		}
	}
}
