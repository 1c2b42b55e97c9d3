package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reverie-memory/reverie/internal/exit"
	"github.com/reverie-memory/reverie/internal/plural"
	"github.com/reverie-memory/reverie/internal/term"
	"github.com/reverie-memory/reverie/worktree"
	"github.com/reverie-memory/reverie/worktree/loop"
	"github.com/reverie-memory/reverie/worktree/loop/status"
	"github.com/urfave/cli/v2"
)

func loopStatusCommand(env *Env) *cli.Command {
	var watch bool
	return &cli.Command{
		Name:      "status",
		Usage:     "show the state of all loops, or of one in full",
		ArgsUsage: "[NAME]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "watch", Usage: "print steps and output until the loop ends", Destination: &watch},
		},
		Action: loopAction(env, 0, 1, func(w *workspace, c *cli.Context, words, _ []string) error {
			name := strings.Join(words, "")
			switch {
			case watch:
				return runLoopWatch(c.Context, w, name)
			case name != "":
				return runLoopStatus(c.Context, w, name)
			}
			return runLoopList(c.Context, w)
		}),
	}
}

// shownLines bounds the lines of a running command that status shows.
const shownLines = 10

// runLoopStatus shows one loop.
func runLoopStatus(ctx context.Context, w *workspace, name string) error {
	_, l, err := status.Open(ctx, w.Clone, name)
	if err != nil {
		return err
	}
	j, err := status.Read(ctx, w.Clone, l.State.Name)
	if err != nil {
		return err
	}
	if w.env.JSON {
		return w.env.Object(j)
	}
	tellLoop(ctx, w, j, func() {})
	if lines := lastLines(w, j.Live, shownLines); len(lines) > 0 {
		w.env.Print("\n%s\n", strings.Join(lines, "\n"))
	}
	return nil
}

// runLoopList lists all loops.
func runLoopList(ctx context.Context, w *workspace) error {
	all, bad, err := status.All(ctx, w.Clone)
	if err != nil {
		return err
	}
	if len(all)+len(bad) == 0 {
		w.env.Say("there is no loop here; start one: reverie loop start PLAN --agent NAME --audit CMD")
	}
	var rows [][]string
	for _, j := range all {
		if w.env.JSON {
			if err := w.env.Object(j); err != nil {
				return err
			}
			continue
		}
		rows = append(rows, slices.Insert(j.Cells(), 1, plural.Ago(w.env.Now().Sub(j.Changed))))
	}
	for _, line := range term.Columns(4, rows) {
		w.env.Print("%s\n", line)
	}
	return tellSpoilt(w, bad)
}

// tellSpoilt names the loops whose records cannot be read. It returns an error if there are any. It
// hides the reason from an agent: the reason quotes text of everyone who can push.
func tellSpoilt(w *workspace, bad []status.Spoilt) error {
	if len(bad) == 0 {
		return nil
	}
	for _, l := range bad {
		if w.Shields() {
			w.env.Warn("the record of the loop %s cannot be read", term.Visible(l.Name))
		} else {
			w.env.Warn("the record of the loop %s cannot be read: %s", term.Visible(l.Name), term.OneLine(l.Err.Error(), 600))
		}
	}
	name := term.Visible(bad[0].Name)
	return exit.New(exit.Failed, fmt.Errorf("%s cannot be read", plural.Count(len(bad), "loop", "loops")),
		"to remove a record: git update-ref -d "+worktree.Refs+name+"; then the rest of it: reverie loop remove "+name)
}

// tellLoop shows a loop: its progress, the output of between, and its settings.
func tellLoop(ctx context.Context, w *workspace, j status.Status, between func()) {
	const width = 10
	row := func(name, value string) {
		if value != "" {
			w.env.Row(width, name, value)
		}
	}
	row("name", j.Name)
	row("title", j.Title)
	row("phase", string(j.Phase)+since(w, j.Live))
	row("reason", strings.TrimSuffix(string(j.Reason)+": "+term.OneLine(j.Detail, 600), ": "))
	row("iteration", j.Iterations())
	switch {
	case j.Failing != nil:
		row("verified", "no: "+term.Visible(j.Failing.String()))
	case j.Verified:
		row("verified", "the plan's commands passed")
	}
	row("findings", fmt.Sprintf("%d open (%d blocking), %d fixed, %d waived", j.Findings.Open, j.Findings.Blocks, j.Findings.Fixed, j.Findings.Waived))
	for _, f := range j.Runs {
		row("look at", term.Visible(f.File+"  "+term.OneLine(f.Why, 200)+"  "+f.Finding))
	}
	row("errors", fmt.Sprintf("%d of %d, %s of %d", j.Errors, j.Settings.MaxErrors, plural.Count(j.Stalls, "stall", "stalls"), j.Settings.MaxStalls))
	if j.Foreign {
		row("process", "none: "+worktree.ErrForeign.Error()+"; to remove its record: reverie loop remove "+j.Name)
	} else if j.Holder == nil && !j.Phase.Over() {
		row("process", loop.Next(ctx, w.Reader, j, ""))
	}
	between()
	row("audits", fmt.Sprint(j.Audits))
	row("spent", time.Duration(j.Spent*float64(time.Second)).Round(time.Second).String())
	row("changed", plural.Ago(w.env.Now().Sub(j.Changed)))
	row("branch", strings.TrimPrefix(j.Branch, "refs/heads/"))
	row("base", fmt.Sprintf("%.12s", j.Base))
	row("tip", fmt.Sprintf("%.12s", j.Tip))
	row("dir", j.Dir)
	if j.Settings.Sandboxed() {
		row("sandbox", fmt.Sprintf("%s, image %.19s", j.Settings.Sandbox, j.Settings.Image))
	}
	row("coder", strings.TrimSpace(j.Settings.Agent+" "+strings.Join(j.Settings.Command, " ")))
	row("audit", j.Settings.Audit+j.Settings.AuditAgent)
	if j.Holder != nil {
		row("process", fmt.Sprintf("%d on %s since %s", j.Holder.PID, j.Holder.Host, j.Holder.Since.Local().Format(time.DateTime)))
	}
}

// since says for how long a phase has run, and for how long it has been silent.
func since(w *workspace, l *worktree.Live) string {
	if l == nil {
		return ""
	}
	passed := func(from time.Time) time.Duration { return max(0, w.env.Now().Sub(from)).Round(time.Second) }
	return fmt.Sprintf(" for %s, silent for %s", passed(l.Began), passed(l.Heard))
}

// lastLines returns at most n of the last lines that the running command printed, indented.
func lastLines(w *workspace, l *worktree.Live, n int) []string {
	if l == nil || l.Text+l.Rest == "" {
		return nil
	}
	lines := strings.Split(strings.TrimRight(l.Text+l.Rest, "\n"), "\n")
	lines = lines[max(0, len(lines)-n):]
	for i, line := range lines {
		line = strings.TrimRight(term.Visible(strings.ReplaceAll(line, "\t", "    ")), " ")
		if w.env.Screen {
			line = term.Truncate(line, max(term.MinMeasure, w.env.Width-2))
		}
		lines[i] = "  " + line
	}
	return lines
}

// runLoopWatch tells each step of a loop and the output of its commands until the loop ends.
func runLoopWatch(ctx context.Context, w *workspace, name string) error {
	last := ""
	var seen worktree.Live
	end, err := status.Watch(ctx, w.Clone, name, func(j status.Status, live *worktree.Live) (err error) {
		if line := j.Line(); line != last && !j.Phase.Over() && (j.Holder != nil || j.Waits()) {
			last = line
			if w.env.JSON {
				return w.env.Object(j)
			}
			w.env.Print("%s\n", line)
		}
		if !w.env.JSON && live != nil {
			tellNewLines(w, &seen, live)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return tellLoopEnd(ctx, w, end)
}

// tellNewLines prints the lines of now that are not in seen, indented, and adds them to seen.
func tellNewLines(w *workspace, seen, now *worktree.Live) {
	if !now.Began.Equal(seen.Began) {
		*seen = worktree.Live{Began: now.Began}
	}
	fresh := now.Lines - seen.Lines
	lines := slices.Collect(strings.Lines(now.Text))
	if gone := fresh - len(lines); gone > 0 {
		w.env.Print("  [… %s …]\n", plural.Count(gone, "line", "lines"))
	}
	for _, line := range lines[max(0, len(lines)-fresh):] {
		w.env.Print("  %s\n", strings.TrimRight(term.VisibleLines(line), " \n"))
	}
	seen.Lines = now.Lines
}
